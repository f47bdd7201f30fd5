package episode

import "math/rand/v2"

// Incremental describes few-shot class-incremental learning: base classes
// with all their rows, then sessions that each add a few new classes with a
// few rows.
type Incremental struct {
	Way     int // new classes of a session
	Shot    int // support rows of a new class
	HeldOut int // query rows of every class, base or new; they are never support
}

// Increment is one session of an incremental run: session 0 holds the base classes, each
// later session the classes that it adds.
type Increment struct {
	Classes []int   // new classes: index into the base pool in session 0, else into the novel pool
	Support [][]int // support rows of each new class
	Query   [][]int // held-out rows of each new class; a session is tested on those of all sessions so far
}

// Increments returns a run by its number: as many sessions as the novel classes allow. All runs have
// the same base session and the same held-out rows of every class, as in the benchmark. Runs differ
// in the order of the novel classes and in the rows of their support. It fails when a class is too
// small, or there are too few novel classes for one session.
func (c Incremental) Increments(base, novel Pool, seed uint64, run int) ([]Increment, error) {
	pools := separated(base, novel)
	base, novel = pools[0], pools[1]
	if err := c.check(base, novel); err != nil {
		return nil, err
	}
	rng := generator(seed, -1)
	var first Increment
	for k := range base.Rows {
		rest, held := base.holdOut(rng, k, c.HeldOut)
		first.add(k, rest, held)
	}
	rest, held := make([][]int, len(novel.Rows)), make([][]int, len(novel.Rows))
	for k := range novel.Rows {
		rest[k], held[k] = novel.holdOut(rng, k, c.HeldOut)
	}
	sessions := []Increment{first}
	rng = generator(seed, run)
	order := choose(rng, len(novel.Rows), len(novel.Rows))
	for ; len(order) >= c.Way; order = order[c.Way:] {
		var s Increment
		for _, k := range order[:c.Way] {
			s.add(k, pick(rng, rest[k], c.Shot), held[k])
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

func (c Incremental) check(base, novel Pool) error {
	if err := checkRanges(named{"new classes of a session", Exactly(c.Way), 1}, named{"shot", Exactly(c.Shot), 1}, named{"held-out rows", Exactly(c.HeldOut), 1}); err != nil {
		return err
	}
	if err := base.need(1, 1, c.HeldOut); err != nil {
		return err
	}
	return novel.need(c.Way, c.Shot, c.HeldOut)
}

// holdOut shuffles the rows of class c and keeps n of them for queries. The others may be support
// unless they share a group with these.
func (p *Pool) holdOut(rng *rand.Rand, c, n int) (rest, held []int) {
	if p.grouped() {
		return p.divide(rng, c, len(p.Rows[c]), n, n)
	}
	rows := pick(rng, p.Rows[c], len(p.Rows[c]))
	return rows[n:], rows[:n]
}

func (s *Increment) add(class int, support, query []int) {
	s.Classes = append(s.Classes, class)
	s.Support = append(s.Support, support)
	s.Query = append(s.Query, query)
}
