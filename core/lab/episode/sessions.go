package episode

import "math/rand/v2"

// A session has 1 to SessionWay classes, of 1 to SessionShot examples each. Its queries are
// SessionQueries rows of these classes and as many of others, or fewer if the pool has fewer rows
// for one kind.
const (
	SessionWay     = 8
	SessionShot    = 12
	SessionQueries = 10
)

// A burst is a group of two rows or more. With a probability of burstShare, the support of a class
// with bursts is 1 to mostBursts of them, cut to SessionShot rows together. Otherwise it is single
// rows.
const (
	burstShare = 1. / 3
	mostBursts = 3
)

// Sessions draws sessions as people make them. They have a few classes with various numbers of
// examples, some of them bursts. Half of the queries are of classes without any example. Classes
// are drawn uniformly without replacement, numbers uniformly from their ranges. The support of a
// class leaves rows for its part of the queries, or half of its rows if that is less. No group is in
// both support and queries. Known queries are spread evenly over the classes with support, queries
// labelled [Unknown] over all other classes.
//
// A class of one row or one group can only supply unknown queries.
type Sessions struct {
	pool     Pool
	known    []int   // classes that can have support
	nonEmpty []int   // classes that have rows
	bursts   [][]int // groups of two rows or more of each class, in the order of their first rows
	seed     uint64
}

// NewSessions returns a sampler over the pool. It fails when no class can have support, or
// no other is left for unknown queries.
func NewSessions(pool Pool, seed uint64) (*Sessions, error) {
	s := &Sessions{pool: separated(pool)[0], seed: seed}
	for k, rows := range s.pool.Rows {
		if len(rows) > 0 {
			s.nonEmpty = append(s.nonEmpty, k)
		}
		if s.pool.mostSupport(k, 1) > 0 {
			s.known = append(s.known, k)
		}
		s.bursts = append(s.bursts, s.pool.burstsOf(k))
	}
	if len(s.nonEmpty) < 2 {
		return nil, &TooFewError{Pool: pool.Name, Have: len(s.nonEmpty), Need: 2}
	}
	if len(s.known) == 0 {
		return nil, s.pool.need(1, 1, 1) // tells which class is too small
	}
	return s, nil
}

// Episode returns session i.
func (s *Sessions) Episode(i int) Episode {
	rng := generator(s.seed, i)
	way := Range{1, min(SessionWay, len(s.known), len(s.nonEmpty)-1)}.draw(rng)
	var e Episode
	known := make([]bool, len(s.pool.Rows))
	rest := make([][]int, way) // rows that may be queries, of each class
	left := 0
	for j, k := range choose(rng, len(s.known), way) {
		class := s.known[k]
		known[class] = true
		var support []int
		support, rest[j] = s.support(rng, class, (SessionQueries+way-1)/way)
		e.Classes, e.Support = append(e.Classes, class), append(e.Support, support)
		left += len(rest[j])
	}
	unknown, rows := s.unknown(rng, known)
	n := min(SessionQueries, left, rows)
	for j, k := range spread(n, rest) {
		e.addQueries(rest[j][:k], j)
	}
	for j, k := range spread(n, unknown) {
		e.addQueries(pick(rng, unknown[j], k), Unknown)
	}
	return e
}

// support draws the support of a class. rest is the rows left for queries, in random order: at least
// least rows, or half of the rows of the class if that is less.
func (s *Sessions) support(rng *rand.Rand, class, least int) (support, rest []int) {
	rows := s.pool.Rows[class]
	least = min(least, len(rows)/2)
	shot := Range{1, SessionShot}.draw(rng)
	if len(s.bursts[class]) > 0 && rng.Float64() < burstShare {
		if support, rest = s.supportOfBursts(rng, class, least); len(support) > 0 {
			return support, rest
		}
	}
	return s.pool.divide(rng, class, shot, len(rows), least)
}

// supportOfBursts is like support, but draws whole bursts, as long as least rows are left. It returns
// no support if every burst is too large.
func (s *Sessions) supportOfBursts(rng *rand.Rand, class, least int) (support, rest []int) {
	left := len(s.pool.Rows[class]) - least
	frames := map[int32][]int{} // rows of each group
	var bursts [][]int
	for _, row := range s.pool.Rows[class] {
		g := s.pool.Groups[row]
		frames[g] = append(frames[g], row)
	}
	number := Range{1, mostBursts}.draw(rng)
	chosen := map[int32]bool{}
	for _, g := range pick(rng, s.bursts[class], len(s.bursts[class])) {
		rows := frames[int32(g)]
		if len(bursts) < number && len(rows) <= left {
			chosen[int32(g)] = true
			bursts = append(bursts, rows)
			left -= len(rows)
		}
	}
	for j, k := range spread(SessionShot, bursts) {
		support = append(support, bursts[j][:k]...)
	}
	for _, row := range pick(rng, s.pool.Rows[class], len(s.pool.Rows[class])) {
		if !chosen[s.pool.Groups[row]] {
			rest = append(rest, row)
		}
	}
	return support, rest
}

// unknown returns the rows of each class that is not known, classes in random
// order, and the number of all these rows.
func (s *Sessions) unknown(rng *rand.Rand, known []bool) (classes [][]int, rows int) {
	for _, k := range pick(rng, s.nonEmpty, len(s.nonEmpty)) {
		if !known[k] {
			classes = append(classes, s.pool.Rows[k])
			rows += len(s.pool.Rows[k])
		}
	}
	return classes, rows
}

// spread divides n among lists, or the sum of their lengths if n is larger. The numbers differ as little
// as the lengths allow; the first lists get more.
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
