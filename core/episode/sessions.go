package episode

import "math/rand/v2"

// SessionConfig describes sessions as people make them: a few classes, each with
// as many examples as there happened to be, some of them taken by holding the
// shutter down; then queries, half of them of classes without any example.
type SessionConfig struct {
	Way  Range // classes with support; one class at least is left for unknown queries
	Shot Range // support rows of a class, drawn for each class alone

	// Burst is the probability that the support of a class which has bursts, groups
	// of two rows or more, is Bursts of them, cut to Shot.Max rows together, in
	// place of single rows.
	Burst  float64
	Bursts Range

	// Queries is the number of queries of classes with support, and again of unknown
	// queries; where the pool has fewer rows for one kind, both are as few.
	Queries int
}

// AsPeopleMake returns what the evaluation asks for: 1 to 8 classes of 1 to 12
// examples, every third of one to three bursts, 10 known and 10 unknown queries.
func AsPeopleMake() SessionConfig {
	return SessionConfig{Way: Range{1, 8}, Shot: Range{1, 12}, Burst: 1. / 3, Bursts: Range{1, 3}, Queries: 10}
}

// Sessions draws sessions as [SessionConfig] describes them: classes uniformly
// without replacement, numbers uniformly from their ranges. The support of a class
// leaves it rows for its part of the queries, or half of its rows if they are
// fewer, in groups of their own. Queries are spread evenly over the classes with
// support, and over all other classes, where they are labelled Unknown.
//
// A class of one row or one group can only supply unknown queries.
type Sessions struct {
	pool     Pool
	known    []int   // classes that can have support
	nonEmpty []int   // classes that have rows
	bursts   [][]int // groups of two rows or more of each class, in the order of their first rows
	c        SessionConfig
	seed     uint64
}

// NewSessions returns a sampler over the pool. It fails when a number of the
// configuration makes no sense, when no class is left for unknown queries, or
// too few can have support.
func NewSessions(pool Pool, c SessionConfig, seed uint64) (*Sessions, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Sessions{pool: separated(pool)[0], c: c, seed: seed}
	for k, rows := range s.pool.Rows {
		if len(rows) > 0 {
			s.nonEmpty = append(s.nonEmpty, k)
		}
		if s.pool.mostSupport(k, 1) > 0 {
			s.known = append(s.known, k)
		}
		s.bursts = append(s.bursts, s.pool.burstsOf(k))
	}
	if len(s.nonEmpty) <= c.Way.Min {
		return nil, &TooFewError{Pool: pool.Name, Have: len(s.nonEmpty), Need: c.Way.Min + 1}
	}
	if len(s.known) < c.Way.Min {
		return nil, s.pool.need(c.Way.Min, 1, 1) // one of them is too small
	}
	return s, nil
}

func (c *SessionConfig) check() error {
	if err := checkRanges(named{"way", c.Way, 1}, named{"shot", c.Shot, 1}, named{"bursts of a class", c.Bursts, 1}, named{"queries of known classes", Exactly(c.Queries), 1}); err != nil {
		return err
	}
	if !(c.Burst >= 0 && c.Burst <= 1) {
		return &ConfigError{"percentage of classes whose support is bursts", int(100 * c.Burst), "from 0 to 100"}
	}
	return nil
}

// Episode returns session i.
func (s *Sessions) Episode(i int) Episode {
	rng := generator(s.seed, i)
	way := Range{s.c.Way.Min, min(s.c.Way.Max, len(s.known), len(s.nonEmpty)-1)}.draw(rng)
	var e Episode
	known := make([]bool, len(s.pool.Rows))
	rest := make([][]int, way) // what may be queries of each class
	left := 0
	for j, k := range choose(rng, len(s.known), way) {
		class := s.known[k]
		known[class] = true
		var support []int
		support, rest[j] = s.support(rng, class, (s.c.Queries+way-1)/way)
		e.Classes, e.Support = append(e.Classes, class), append(e.Support, support)
		left += len(rest[j])
	}
	unknown, rows := s.unknown(rng, known)
	n := min(s.c.Queries, left, rows)
	for j, k := range spread(n, rest) {
		e.addQueries(rest[j][:k], j)
	}
	for j, k := range spread(n, unknown) {
		e.addQueries(pick(rng, unknown[j], k), Unknown)
	}
	return e
}

// support draws the support of a class, and in random order what is left for its
// queries: least rows, where half of the rows are as many.
func (s *Sessions) support(rng *rand.Rand, class, least int) (support, rest []int) {
	rows := s.pool.Rows[class]
	least = min(least, len(rows)/2)
	shot := s.c.Shot.draw(rng)
	if len(s.bursts[class]) > 0 && rng.Float64() < s.c.Burst {
		if support, rest = s.supportOfBursts(rng, class, least); len(support) > 0 {
			return support, rest
		}
	}
	return s.pool.divide(rng, class, shot, len(rows), least)
}

// supportOfBursts is support with whole bursts, as many of those drawn as leave
// least rows. It returns no support where none does.
func (s *Sessions) supportOfBursts(rng *rand.Rand, class, least int) (support, rest []int) {
	left := len(s.pool.Rows[class]) - least
	frames := map[int32][]int{} // rows of each group
	var bursts [][]int
	for _, row := range s.pool.Rows[class] {
		g := s.pool.Groups[row]
		frames[g] = append(frames[g], row)
	}
	number := s.c.Bursts.draw(rng)
	chosen := map[int32]bool{}
	for _, g := range pick(rng, s.bursts[class], len(s.bursts[class])) {
		rows := frames[int32(g)]
		if len(bursts) < number && len(rows) <= left {
			chosen[int32(g)] = true
			bursts = append(bursts, rows)
			left -= len(rows)
		}
	}
	for j, k := range spread(s.c.Shot.Max, bursts) {
		support = append(support, bursts[j][:k]...)
	}
	for _, row := range pick(rng, s.pool.Rows[class], len(s.pool.Rows[class])) {
		if !chosen[s.pool.Groups[row]] {
			rest = append(rest, row)
		}
	}
	return support, rest
}

// unknown returns the rows of the classes that are not known, classes in random
// order, and how many they are.
func (s *Sessions) unknown(rng *rand.Rand, known []bool) (classes [][]int, rows int) {
	for _, k := range pick(rng, s.nonEmpty, len(s.nonEmpty)) {
		if !known[k] {
			classes = append(classes, s.pool.Rows[k])
			rows += len(s.pool.Rows[k])
		}
	}
	return classes, rows
}

// spread returns how many of n, or of all there are, to take from each list so
// that the numbers differ as little as the lengths allow; the first get more.
func spread(n int, lists [][]int) []int {
	count := make([]int, len(lists))
	for more := true; n > 0 && more; {
		more = false
		for j := range lists {
			if n > 0 && count[j] < len(lists[j]) {
				count[j]++
				n--
				more = true
			}
		}
	}
	return count
}

// burstsOf returns the groups of class c that have two rows or more.
func (p *Pool) burstsOf(c int) (bursts []int) {
	if !p.grouped() {
		return nil
	}
	size := p.groupSizes(c)
	for _, row := range p.Rows[c] {
		if g := p.Groups[row]; size[g] > 1 {
			bursts = append(bursts, int(g))
			size[g] = 0 // listed
		}
	}
	return bursts
}
