package episode

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"metaqda/core/test"
)

// checkSession verifies what every session promises.
func checkSession(t *testing.T, p *Pool, e Episode) (known, unseen int) {
	t.Helper()
	checkEpisode(t, p, e)
	for _, rows := range e.Support {
		if len(rows) < 1 || len(rows) > 12 {
			t.Errorf("a class is taught by %d rows", len(rows))
		}
	}
	for _, label := range e.QueryLabel {
		if label == Unknown {
			unseen++
		} else {
			known++
		}
	}
	if known != unseen || known < 1 || known > 10 {
		t.Errorf("%d known queries, %d unknown", known, unseen)
	}
	return known, unseen
}

func TestSessionsAreAsPeopleMakeThem(t *testing.T) {
	p := pool(equalSizes(20, 30)...)
	s := test.Must(NewSessions(p, 3))(t)
	ways, shots := make([]int, 9), make([]int, 13)
	classes := 0.0
	for i := range 4000 {
		e := s.Episode(i)
		known, _ := checkSession(t, &p, e)
		if known != 10 {
			t.Fatalf("session %d has %d queries of taught classes", i, known)
		}
		if !reflect.DeepEqual(e, s.Episode(i)) {
			t.Fatal("a session drawn twice differs")
		}
		ways[e.Way()]++
		for _, rows := range e.Support {
			shots[len(rows)]++
			classes++
		}
		perClass := make([]int, e.Way())
		for _, label := range e.QueryLabel {
			if label != Unknown {
				perClass[label]++
			}
		}
		if slices.Max(perClass)-slices.Min(perClass) > 1 {
			t.Fatalf("queries of the classes: %v", perClass)
		}
	}
	for way := 1; way <= 8; way++ { // 500 with a standard deviation of 21
		if !(math.Abs(float64(ways[way])-500) <= 5*21) {
			t.Errorf("%d sessions of %d classes, want about 500", ways[way], way)
		}
	}
	for shot := 1; shot <= 12; shot++ {
		got := float64(shots[shot]) / classes
		if !(math.Abs(got-1./12) <= 0.012) {
			t.Errorf("%d examples with frequency %.4f, want 1/12", shot, got)
		}
	}
	other, _ := NewSessions(p, 4)
	if reflect.DeepEqual(other.Episode(0), s.Episode(0)) {
		t.Error("another seed drew the same session")
	}
}

func TestSessionsTeachAThirdByBursts(t *testing.T) {
	p := groupsOf(repeated(12, 1, 1, 1, 1, 1, 5, 5, 5, 14, 1, 1, 1, 1, 1, 1, 1, 1, 1)...)
	s := test.Must(NewSessions(p, 1))(t)
	var classes, bursts float64
	number := make([]int, 4)
	for i := range 2000 {
		e := s.Episode(i)
		checkSession(t, &p, e)
		for j, rows := range e.Support {
			classes++
			count := burstsIn(&p, e.Classes[j], rows)
			if count == 0 {
				continue
			}
			bursts++
			number[count]++
		}
	}
	// Single examples are whole bursts by chance once in a hundred times.
	share := bursts / classes
	if !(math.Abs(share-1./3) <= 0.03) {
		t.Errorf("a share of %.3f of the classes is taught by bursts, want 1/3", share)
	}
	if number[1] == 0 || number[2] == 0 || number[3] == 0 || number[0] != 0 {
		t.Errorf("classes by their number of bursts: %v", number)
	}
}

// burstsIn returns how many bursts of class c the rows are, 0 where they are
// anything else. A burst may lack its last rows only where there are twelve.
func burstsIn(p *Pool, c int, rows []int) int {
	frames, count := map[int32][]int{}, map[int32]int{}
	for _, row := range p.Rows[c] {
		frames[p.Groups[row]] = append(frames[p.Groups[row]], row)
	}
	for _, row := range rows {
		g := p.Groups[row]
		if len(frames[g]) < 2 || row != frames[g][count[g]] {
			return 0
		}
		count[g]++
	}
	for g, n := range count {
		if n != len(frames[g]) && len(rows) != 12 {
			return 0
		}
	}
	return len(count)
}

// Degenerate data: the fewest there can be of everything.
func TestSessionsOfLittleData(t *testing.T) {
	for name, p := range map[string]Pool{
		"two classes of two rows":                 pool(2, 2),
		"one class to enrol, one unknown row":     pool(5, 1),
		"a class without rows":                    pool(4, 0, 3),
		"two bursts a class":                      groupsOf(repeated(3, 12, 12)...),
		"a burst and one picture":                 groupsOf(repeated(3, 12, 1)...),
		"one burst of a class and an unknown one": groupsOf([]int{2, 2}, []int{9}),
		"long bursts":                             groupsOf(repeated(9, 40, 40, 40)...),
	} {
		t.Run(name, func(t *testing.T) {
			s := test.Must(NewSessions(p, 0))(t)
			for i := range 200 {
				e := s.Episode(i)
				checkSession(t, &p, e)
				if e.Way() >= len(s.nonEmpty) {
					t.Fatalf("%d of %d classes are taught", e.Way(), len(s.nonEmpty))
				}
			}
		})
	}
}

func TestSessionsReject(t *testing.T) {
	for name, p := range map[string]Pool{"one class": pool(20), "classes of one row": pool(1, 1, 1), "one group a class": groupsOf(repeated(4, 9)...), "nothing": {}} {
		test.Refused[*TooFewError](t, test.Err(NewSessions(p, 0)), "%s", name)
	}
}
