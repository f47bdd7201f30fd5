package episode

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"metaqda/core/test"
)

// pool returns classes of the given sizes; row 1000 c + i is the i-th of class c.
func pool(sizes ...int) Pool {
	p := Pool{Name: "toy"}
	for c, n := range sizes {
		var rows []int
		for i := range n {
			rows = append(rows, 1000*c+i)
		}
		p.Rows = append(p.Rows, rows)
	}
	return p
}

func equalSizes(classes, n int) []int { return slices.Repeat([]int{n}, classes) }

// checkEpisode verifies what every episode promises: rows belong to their class, none is used
// twice, and no query shares a group with the support.
func checkEpisode(t *testing.T, p *Pool, e Episode) {
	t.Helper()
	class := map[int]int{}
	for c, rows := range p.Rows {
		for _, row := range rows {
			class[row] = c
		}
	}
	used := map[int]bool{}
	use := func(row int) {
		if used[row] {
			t.Errorf("row %d is used twice", row)
		}
		used[row] = true
	}
	own := map[int]bool{}
	for j, c := range e.Classes {
		if own[c] {
			t.Errorf("class %d stands twice in the episode", c)
		}
		own[c] = true
		for _, row := range e.Support[j] {
			use(row)
			if class[row] != c {
				t.Errorf("support row %d is not of class %d", row, c)
			}
		}
	}
	for i, row := range e.Query {
		use(row)
		label := e.QueryLabel[i]
		if label == Unknown && own[class[row]] {
			t.Errorf("query %d is called unseen but its class is in the episode", row)
		}
		if label != Unknown && e.Classes[label] != class[row] {
			t.Errorf("query %d is labelled as of the class at %d of %v", row, label, e.Classes)
		}
	}
	if p.Groups != nil {
		checkGroups(t, p, e.Support, e.Query)
	}
}

func TestUniformKeepsItsCounts(t *testing.T) {
	c := Config{Way: Range{2, 6}, Shot: Range{1, 4}, Query: Range{3, 5}, Imbalanced: true, UnknownClasses: 2}
	p := pool(equalSizes(10, 12)...)
	s := test.Must(NewUniform(p, c, 7))(t)
	ways, shots := map[int]bool{}, map[int]bool{}
	unequal := false
	for i := range 300 {
		e := s.Episode(i)
		checkEpisode(t, &p, e)
		ways[e.Way()] = true
		for _, rows := range e.Support {
			shots[len(rows)] = true
			unequal = unequal || len(rows) != len(e.Support[0])
		}
		q := len(e.Query)
		if q%(e.Way()+2) != 0 || q/(e.Way()+2) < 3 || q/(e.Way()+2) > 5 {
			t.Fatalf("%d queries for %d classes and 2 unknown ones", q, e.Way())
		}
	}
	if len(ways) != 5 || len(shots) != 4 || !unequal {
		t.Errorf("300 episodes had ways %v and shots %v, unequal %v", ways, shots, unequal)
	}
}

func TestEpisodeDependsOnSeedAndNumberOnly(t *testing.T) {
	p := pool(equalSizes(20, 20)...)
	a, _ := NewUniform(p, Fixed(5, 1, 15), 3)
	b, _ := NewUniform(p, Fixed(5, 1, 15), 3)
	want := make([]Episode, 50)
	for i := range want {
		want[i] = a.Episode(i)
	}
	var wg sync.WaitGroup
	for i := range want {
		wg.Go(func() {
			got := b.Episode(49 - i)
			if !reflect.DeepEqual(got, want[49-i]) {
				t.Errorf("episode %d differs when drawn out of order", 49-i)
			}
		})
	}
	wg.Wait()
	other, _ := NewUniform(p, Fixed(5, 1, 15), 4)
	if reflect.DeepEqual(other.Episode(0), want[0]) || reflect.DeepEqual(want[0], want[1]) {
		t.Error("another seed or number drew the same episode")
	}
}

// Every class must come equally often, every row too. 20,000 draws of 5 of 20
// give each class 5,000 times with a standard deviation of 61; five of them
// are a failure once in 100,000 tests, and the seed is fixed.
func TestUniformIsUniform(t *testing.T) {
	s := test.Must(NewUniform(pool(equalSizes(20, 10)...), Fixed(5, 1, 2), 1))(t)
	class, row := make([]int, 20), make([]int, 10)
	for i := range 20000 {
		e := s.Episode(i)
		for j, c := range e.Classes {
			class[c]++
			row[e.Support[j][0]%1000]++
		}
	}
	for c, n := range class {
		if !(math.Abs(float64(n-5000)) <= 5*61) {
			t.Errorf("class %d came %d times in 20000, want 5000", c, n)
		}
	}
	for r, n := range row {
		if !(math.Abs(float64(n-10000)) <= 5*95) {
			t.Errorf("row %d was support %d times in 100000, want 10000", r, n)
		}
	}
}

func TestTooSmallPoolsAreRefused(t *testing.T) {
	few := test.Refused[*TooFewError](t, test.Err(NewUniform(pool(equalSizes(4, 20)...), Fixed(5, 1, 1), 0)), "four classes for five ways")
	if few.Have != 4 || few.Need != 5 {
		t.Errorf("four classes for five ways: %v", few)
	}
	few = test.Refused[*TooFewError](t, test.Err(NewUniform(pool(20, 20, 20, 20, 15), Fixed(5, 1, 15), 0)), "15 rows for 16")
	if few.Class != "4" || few.Have != 15 || few.Need != 16 {
		t.Errorf("15 rows for 16: %v", few)
	}
	test.Refused[*TooFewError](t, test.Err(NewMetaDataset(pool(9, 9, 9, 9, 1), 0)), "one row for support and query")
	for _, c := range []Config{Fixed(0, 1, 1), Fixed(1, 0, 1), Fixed(1, 1, -1), {Way: Range{3, 2}, Shot: Exactly(1)}, {Way: Exactly(1), Shot: Exactly(1), UnknownClasses: -1}, {Way: Exactly(1), Shot: Exactly(1), Concentration: -1}} {
		test.Refused[*ConfigError](t, test.Err(NewUniform(pool(20, 20), c, 0)), "%+v", c)
	}
}

func TestMetaDatasetStaysWithinTheBenchmarksBounds(t *testing.T) {
	sizes := make([]int, 60)
	for c := range sizes {
		sizes[c] = 4 + 7*c
	}
	p := pool(sizes...)
	s := test.Must(NewMetaDataset(p, 2))(t)
	ways := map[int]int{}
	for i := range 500 {
		e := s.Episode(i)
		checkEpisode(t, &p, e)
		ways[e.Way()]++
		smallest := sizes[slices.MinFunc(e.Classes, func(a, b int) int { return sizes[a] - sizes[b] })]
		query := min(10, smallest/2)
		if len(e.Query) != query*e.Way() {
			t.Fatalf("%d queries for way %d, smallest class %d", len(e.Query), e.Way(), smallest)
		}
		total := 0
		for j, rows := range e.Support {
			total += len(rows)
			if len(rows) < 1 || len(rows) > sizes[e.Classes[j]]-query {
				t.Fatalf("%d shots of a class with %d rows", len(rows), sizes[e.Classes[j]])
			}
		}
		if total > 500 {
			t.Fatalf("support of %d rows", total)
		}
	}
	for w := range ways {
		if w < 5 || w > 50 {
			t.Errorf("way %d", w)
		}
	}
	if len(ways) < 40 {
		t.Errorf("only %d different ways in 500 episodes", len(ways))
	}
}

// At most 100 rows of a class count toward the support: five large classes give 250
// in the mean, of which none gets more than four times the share of another.
func TestMetaDatasetCountsAHundredRowsOfAClass(t *testing.T) {
	s := test.Must(NewMetaDataset(pool(equalSizes(5, 1000)...), 4))(t)
	const n = 1000
	total := 0.0
	most := 1.0
	for i := range n {
		e := s.Episode(i)
		least, largest := math.Inf(1), 0.0
		for _, rows := range e.Support {
			total += float64(len(rows)) / n
			least, largest = math.Min(least, float64(len(rows))), math.Max(largest, float64(len(rows)))
		}
		if least > 20 { // then rounding down is little
			most = math.Max(most, largest/least)
		}
	}
	if !(math.Abs(total-250) <= 5*500/math.Sqrt(12*n)) {
		t.Errorf("%.1f rows of support in the mean, want 250", total)
	}
	if !(most > 2.5 && most <= 4.2) {
		t.Errorf("the largest support has %.2f times the rows of the smallest, want up to 4", most)
	}
}

func TestSessionsNeverTestOnWhatTheyTaught(t *testing.T) {
	c := Incremental{Way: 5, Shot: 5, HeldOut: 4}
	base, novel := pool(equalSizes(8, 20)...), pool(equalSizes(12, 20)...)
	for k := range novel.Rows {
		for i := range novel.Rows[k] {
			novel.Rows[k][i] += 100000
		}
	}
	heldOut := map[int]bool{}
	runs := make([][]Increment, 2)
	for r := range runs {
		var err error
		runs[r], err = c.Increments(base, novel, 9, r)
		test.OK(t, err)
		if len(runs[r]) != 3 || len(runs[r][0].Classes) != 8 || len(runs[r][2].Classes) != 5 {
			t.Fatalf("%d sessions", len(runs[r]))
		}
		used := map[int]bool{}
		classes := map[int]bool{}
		for n, s := range runs[r] {
			for j, k := range s.Classes {
				if n > 0 && classes[k] {
					t.Errorf("class %d is added twice", k)
				}
				classes[k] = n > 0 || classes[k]
				if len(s.Query[j]) != 4 || (n > 0 && len(s.Support[j]) != 5) || (n == 0 && len(s.Support[j]) != 16) {
					t.Errorf("session %d: %d support and %d query rows", n, len(s.Support[j]), len(s.Query[j]))
				}
				for _, row := range s.Query[j] {
					heldOut[row] = true
				}
				for _, row := range append(slices.Clone(s.Support[j]), s.Query[j]...) {
					if used[row] {
						t.Errorf("row %d is used twice", row)
					}
					used[row] = true
				}
			}
		}
	}
	most := (8 + 12) * 4
	if len(heldOut) > most {
		t.Errorf("%d rows are held out over two runs, want the same %d at most", len(heldOut), most)
	}
	if !reflect.DeepEqual(runs[0][0], runs[1][0]) || reflect.DeepEqual(runs[0][1], runs[1][1]) {
		t.Error("runs must share the base session and differ in the others")
	}
}
