package episode

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"metaqda/core/test"
)

// groupsOf returns a pool whose class c has groups of the given sizes, with rows
// that count on over all classes.
func groupsOf(classes ...[]int) Pool {
	p := Pool{Name: "bursts", Groups: []int32{}}
	group := int32(0)
	for _, sizes := range classes {
		var rows []int
		for _, n := range sizes {
			for range n {
				rows = append(rows, len(p.Groups))
				p.Groups = append(p.Groups, group)
			}
			group++
		}
		p.Rows = append(p.Rows, rows)
	}
	return p
}

func repeated(n int, sizes ...int) [][]int {
	classes := make([][]int, n)
	for c := range classes {
		classes[c] = sizes
	}
	return classes
}

// checkGroups verifies that no query shares a group with a support row.
func checkGroups(t *testing.T, p *Pool, support [][]int, query []int) {
	t.Helper()
	taught := map[int32]bool{}
	for _, rows := range support {
		if len(rows) == 0 {
			t.Error("a class is taught by nothing")
		}
		for _, row := range rows {
			taught[p.Groups[row]] = true
		}
	}
	for _, row := range query {
		if taught[p.Groups[row]] {
			t.Errorf("query %d is of group %d, which was taught", row, p.Groups[row])
		}
	}
}

func TestNoSamplerAsksAboutAGroupItTaught(t *testing.T) {
	p := groupsOf(repeated(12, 1, 1, 1, 1, 3, 12, 6)...)
	shared := groupsOf(repeated(12, 1, 1, 1, 1, 3, 12, 6)...)
	for i := range shared.Groups { // now the last group of a class is the first of the next, and that of the first class of all
		if shared.Groups[i]%7 == 6 {
			shared.Groups[i]++
		}
		if shared.Groups[i]%7 == 1 {
			shared.Groups[i] = 1
		}
	}
	for name, p := range map[string]Pool{"each class its own": p, "shared by classes": shared} {
		t.Run(name, func(t *testing.T) {
			uniform := test.Must(NewUniform(p, Config{Way: Range{2, 6}, Shot: Range{1, 5}, Query: Range{2, 7}, UnknownClasses: 2, Imbalanced: true}, 3))(t)
			meta := test.Must(NewMetaDataset(p, 3))(t)
			training := test.Must(NewTraining([]Pool{p}, Tasks{Way: Range{2, 8}, Shot: Range{1, 20}, Query: Exactly(5), UnknownClasses: Range{0, 2}, Imbalanced: true}, 3))(t)
			for i := range 200 {
				for _, s := range []Sampler{uniform, meta, training} {
					e := s.Episode(i)
					checkGroups(t, &p, e.Support, e.Query)
					if !reflect.DeepEqual(e, s.Episode(i)) {
						t.Fatalf("%T: an episode drawn twice differs", s)
					}
				}
				e := uniform.Episode(i)
				q := len(e.Query)
				if q%(e.Way()+2) != 0 || q/(e.Way()+2) < 2 || q/(e.Way()+2) > 7 {
					t.Fatalf("%d queries for %d classes and 2 unknown ones", q, e.Way())
				}
				for _, label := range meta.Episode(i).QueryLabel {
					if label == Unknown {
						t.Error("an unknown query without having asked for one")
					}
				}
			}
		})
	}
}

func TestIncrementalKeepsGroupsApart(t *testing.T) {
	p := groupsOf(repeated(12, 4, 4, 4, 4, 4)...)
	base, novel := p, p
	base.Rows, novel.Rows = p.Rows[:4], p.Rows[4:]
	sessions := test.Must(Incremental{Way: 3, Shot: 5, HeldOut: 5}.Increments(base, novel, 1, 0))(t)
	for n, s := range sessions {
		checkGroups(t, &p, s.Support, slices.Concat(s.Query...))
		for j := range s.Classes {
			want := map[bool]int{true: 12, false: 5}[n == 0]
			if len(s.Support[j]) != want || len(s.Query[j]) != 5 {
				t.Errorf("session %d: %d support and %d query rows", n, len(s.Support[j]), len(s.Query[j]))
			}
		}
	}
}

// Degenerate groups: one for the whole class, two too large to be split as
// asked.
func TestGroupsThatCannotBeKeptApartAreRefused(t *testing.T) {
	few := test.Refused[*TooFewError](t, test.Err(NewUniform(groupsOf(repeated(5, 20)...), Fixed(5, 1, 1), 0)), "one group a class")
	if !few.Grouped || few.Have != 1 || few.Need != 2 {
		t.Errorf("one group a class: %v", few)
	}
	test.OK(t, test.Err(NewUniform(groupsOf(repeated(5, 10, 10)...), Fixed(5, 5, 10), 0)))
	few = test.Refused[*TooFewError](t, test.Err(NewUniform(groupsOf(repeated(5, 10, 10)...), Fixed(5, 5, 11), 0)), "two groups of ten for eleven queries")
	if !few.Grouped {
		t.Errorf("two groups of ten for eleven queries: %v", few)
	}
	one := groupsOf(repeated(6, 1, 1, 1, 1, 1)...)
	clear(one.Groups)
	test.Refused[*TooFewError](t, test.Err(NewMetaDataset(one, 0)), "one group for all")
}

// The oracle packs in every order.
func TestLeastFullAgreesWithAllOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		sizes := make([]int, 1+rng.IntN(6))
		total := 0
		for i := range sizes {
			sizes[i] = 1 + rng.IntN(6)
			total += sizes[i]
		}
		most := rng.IntN(total + 1)
		want := most
		for set := range 1 << len(sizes) {
			sum, full := 0, true
			for i, n := range sizes {
				if set>>i&1 == 1 {
					sum += n
				}
			}
			for i, n := range sizes {
				full = full && (set>>i&1 == 1 || sum+n > most)
			}
			if full && sum <= most {
				want = min(want, sum)
			}
		}
		got := leastFull(slices.Clone(sizes), most)
		if got != want {
			t.Fatalf("sizes %v within %d: got %d, want %d", sizes, most, got, want)
		}
	}
}

// Episodes without groups are what they were before there were groups.
func TestEpisodesWithoutGroupsStayAsTheyWere(t *testing.T) {
	sizes := pool(equalSizes(20, 20)...)
	uniform, _ := NewUniform(sizes, Config{Way: Range{2, 6}, Shot: Range{1, 4}, Query: Range{1, 5}, Imbalanced: true, UnknownClasses: 2}, 7)
	fixed, _ := NewUniform(sizes, Fixed(5, 1, 15), 3)
	meta, _ := NewMetaDataset(uneven(60), 2)
	training, _ := NewTraining([]Pool{uneven(12), uneven(30)}, Tasks{Way: Range{5, 20}, Shot: Range{1, 10}, Query: Range{2, 5}, UnknownClasses: Range{0, 3}, Imbalanced: true, MaxRows: 120}, 7)
	h := sha256.New()
	for i := range 300 {
		fmt.Fprintln(h, uniform.Episode(i), fixed.Episode(i), meta.Episode(i), training.Episode(i))
	}
	sessions, _ := Incremental{Way: 5, Shot: 5, HeldOut: 4}.Increments(sizes, sizes, 9, 1)
	fmt.Fprintln(h, sessions)
	const want = "35535e83eb2a79e80bc2160e8f9c499a4c4af3e07bdd643e2458fe08300c1aab"
	got := fmt.Sprintf("%x", h.Sum(nil))
	if got != want {
		t.Errorf("the episodes have the digest %s, want %s", got, want)
	}
}
