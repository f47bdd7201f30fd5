package episode

import (
	"math"
	"reflect"
	"testing"

	"metaqda/core/test"
)

// uneven returns a pool of n classes; class c has 2 + c rows.
func uneven(n int) Pool {
	p := Pool{Name: "uneven"}
	row := 0
	for c := range n {
		var rows []int
		for range 2 + c {
			rows = append(rows, row)
			row++
		}
		p.Rows = append(p.Rows, rows)
	}
	return p
}

func TestTrainingStaysWithinItsBounds(t *testing.T) {
	pools := []Pool{uneven(12), uneven(30)}
	c := Tasks{Way: Range{5, 20}, Shot: Range{1, 10}, Query: Range{2, 5}, UnknownClasses: Range{0, 3}, Imbalanced: true, MaxRows: 120}
	s := test.Must(NewTraining(pools, c, 7))(t)
	for i := range 400 {
		e := s.Episode(i)
		if e.Pool != i%2 {
			t.Fatalf("episode %d from pool %d", i, e.Pool)
		}
		checkEpisode(t, &pools[i%2], e)
		rows := len(e.Query)
		for j, support := range e.Support {
			if len(support) < 1 || len(support) > 10 {
				t.Fatalf("episode %d: class %d has %d shots", i, j, len(support))
			}
			rows += len(support)
		}
		if rows > 120 || e.Way() < 5 || e.Way() > 20 {
			t.Fatalf("episode %d: %d rows, %d ways", i, rows, e.Way())
		}
		if !reflect.DeepEqual(e, s.Episode(i)) {
			t.Fatal("an episode drawn twice differs")
		}
	}
}

// Unseen classes leave enough of a small pool for the episode.
func TestUnseenClassesLeaveTheWay(t *testing.T) {
	pool := uneven(6)
	s := test.Must(NewTraining([]Pool{pool}, Tasks{Way: Range{2, 9}, Shot: Range{1, 2}, Query: Range{1, 2}, UnknownClasses: Range{2, 9}}, 7))(t)
	for i := range 100 {
		e := s.Episode(i)
		checkEpisode(t, &pool, e)
		if e.Way() < 2 {
			t.Fatalf("episode %d: %d ways", i, e.Way())
		}
	}
}

func TestLogUniform(t *testing.T) {
	rng := generator(1, 2)
	r := Range{1, 8}
	count := make([]float64, 9)
	const n = 60000
	for range n {
		count[r.logUniform(rng)]++
	}
	for k := 1; k <= 8; k++ {
		want := math.Log((float64(k)+1)/float64(k)) / math.Log(9)
		got := count[k] / n
		if !(math.Abs(got-want) <= 0.01) {
			t.Errorf("%d: drawn with frequency %.3f, want %.3f", k, got, want)
		}
	}
}

func TestTrainingRejects(t *testing.T) {
	ok := Tasks{Way: Exactly(5), Shot: Exactly(1), Query: Exactly(2)}
	test.Refused[*TooFewError](t, test.Err(NewTraining([]Pool{uneven(4)}, ok, 0)), "four classes for five ways")
	test.Refused[*TooFewError](t, test.Err(NewTraining([]Pool{{Rows: [][]int{{1}, {2}, {3}, {4}, {5}}}}, ok, 0)), "one row a class")
	for _, bad := range []Tasks{
		{Way: Range{0, 1}, Shot: Exactly(1), Query: Exactly(1)}, {Way: Range{5, 4}, Shot: Exactly(1), Query: Exactly(1)},
		{Way: Exactly(5), Shot: Exactly(0), Query: Exactly(1)}, {Way: Exactly(5), Shot: Exactly(1), Query: Exactly(0)},
		{Way: Exactly(5), Shot: Exactly(1), Query: Exactly(1), UnknownClasses: Range{-1, 0}}, {Way: Exactly(5), Shot: Exactly(1), Query: Exactly(1), MaxRows: -1},
	} {
		test.Refused[*ConfigError](t, test.Err(NewTraining([]Pool{uneven(9)}, bad, 0)), "%+v", bad)
	}
}
