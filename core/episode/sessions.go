package episode

import "math/rand/v2"

// SessionConfig describes sessions as people make them: a few classes, each
// taught by as many examples as there happened to be, some of them by holding
// the shutter down; then questions, half of them about things never taught.
type SessionConfig struct {
	Way  Range // taught classes; one class at least is left to strangers
	Shot Range // examples of a class, drawn for each class alone

	// Burst is the probability that a class which has bursts, groups of two rows
	// or more, is taught by Bursts of them, cut to Shot.Max rows together, in
	// place of single examples.
	Burst  float64
	Bursts Range

	// Queries is the number of queries of taught classes, and again of strangers;
	// where the pool has fewer rows for one, both are as few.
	Queries int
}

// AsPeopleMake returns what the evaluation asks for: 1 to 8 classes of 1 to 12
// examples, every third of one to three bursts, 10 queries and 10 of strangers.
func AsPeopleMake() SessionConfig {
	return SessionConfig{Way: Range{1, 8}, Shot: Range{1, 12}, Burst: 1. / 3, Bursts: Range{1, 3}, Queries: 10}
}

// Sessions draws sessions as [SessionConfig] describes them: classes uniformly
// without replacement, numbers uniformly from their ranges. What teaches a class
// leaves it rows for its share of the queries, or half of its rows if they are
// fewer, in groups of their own. Queries are spread evenly over the taught
// classes, and over all other classes, where they are labelled Unseen.
//
// A class of one row or one group can be a stranger, but not be taught.
type Sessions struct {
	pool   Pool
	taught []int   // classes that can be
	asked  []int   // classes that have rows
	bursts [][]int // groups of two rows or more of each class, in the order of their first rows
	c      SessionConfig
	seed   uint64
}

// NewSessions returns a sampler over the pool. It fails when a number of the
// configuration makes no sense, when no class is left to strangers, or too few
// can be taught.
func NewSessions(pool Pool, c SessionConfig, seed uint64) (*Sessions, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Sessions{pool: separated(pool)[0], c: c, seed: seed}
	for k, rows := range s.pool.Rows {
		if len(rows) > 0 {
			s.asked = append(s.asked, k)
		}
		if s.pool.teachable(k, 1) > 0 {
			s.taught = append(s.taught, k)
		}
		s.bursts = append(s.bursts, s.pool.burstsOf(k))
	}
	if len(s.asked) <= c.Way.Min {
		return nil, &TooFewError{Pool: pool.Name, Have: len(s.asked), Need: c.Way.Min + 1}
	}
	if len(s.taught) < c.Way.Min {
		return nil, s.pool.need(c.Way.Min, 1, 1) // one of them is too small
	}
	return s, nil
}

func (c *SessionConfig) check() error {
	for _, r := range []struct {
		name string
		Range
	}{{"way", c.Way}, {"shot", c.Shot}, {"bursts of a class", c.Bursts}, {"queries of taught classes", Exactly(c.Queries)}} {
		if r.Min < 1 {
			return &ConfigError{r.name, r.Min, "at least 1"}
		}
		if r.Max < r.Min {
			return &ConfigError{r.name, r.Max, "no less than the smallest of its range"}
		}
	}
	if !(c.Burst >= 0 && c.Burst <= 1) {
		return &ConfigError{"percentage of classes taught by bursts", int(100 * c.Burst), "from 0 to 100"}
	}
	return nil
}

// Episode returns session i.
func (s *Sessions) Episode(i int) Episode {
	rng := generator(s.seed, i)
	way := Range{s.c.Way.Min, min(s.c.Way.Max, len(s.taught), len(s.asked)-1)}.draw(rng)
	var e Episode
	taught := make([]bool, len(s.pool.Rows))
	rest := make([][]int, way) // what each class may be asked about
	known := 0
	for j, k := range choose(rng, len(s.taught), way) {
		class := s.taught[k]
		taught[class] = true
		var support []int
		support, rest[j] = s.teach(rng, class, (s.c.Queries+way-1)/way)
		e.Classes, e.Support = append(e.Classes, class), append(e.Support, support)
		known += len(rest[j])
	}
	strangers, unseen := s.strangers(rng, taught)
	n := min(s.c.Queries, known, unseen)
	for j, k := range spread(n, rest) {
		e.addQueries(rest[j][:k], j)
	}
	for j, k := range spread(n, strangers) {
		e.addQueries(pick(rng, strangers[j], k), Unseen)
	}
	return e
}

// teach draws what teaches a class, and in random order what it may be asked
// about: its share of the queries at least, where half of the rows are as many.
func (s *Sessions) teach(rng *rand.Rand, class, share int) (support, rest []int) {
	rows := s.pool.Rows[class]
	share = min(share, len(rows)/2)
	shot := s.c.Shot.draw(rng)
	if len(s.bursts[class]) > 0 && rng.Float64() < s.c.Burst {
		if support, rest = s.teachBursts(rng, class, share); len(support) > 0 {
			return support, rest
		}
	}
	return s.pool.divide(rng, class, shot, len(rows), share)
}

// teachBursts is teach with whole bursts, as many of those drawn as leave the
// share. It returns no support where none does.
func (s *Sessions) teachBursts(rng *rand.Rand, class, share int) (support, rest []int) {
	left := len(s.pool.Rows[class]) - share
	frames := map[int32][]int{} // of the bursts that teach
	var bursts [][]int
	for _, row := range s.pool.Rows[class] {
		g := s.pool.Groups[row]
		frames[g] = append(frames[g], row)
	}
	number := s.c.Bursts.draw(rng)
	taught := map[int32]bool{}
	for _, g := range pick(rng, s.bursts[class], len(s.bursts[class])) {
		rows := frames[int32(g)]
		if len(bursts) < number && len(rows) <= left {
			taught[int32(g)] = true
			bursts = append(bursts, rows)
			left -= len(rows)
		}
	}
	for j, k := range spread(s.c.Shot.Max, bursts) {
		support = append(support, bursts[j][:k]...)
	}
	for _, row := range pick(rng, s.pool.Rows[class], len(s.pool.Rows[class])) {
		if !taught[s.pool.Groups[row]] {
			rest = append(rest, row)
		}
	}
	return support, rest
}

// strangers returns the rows of the classes that are not taught, classes in
// random order, and how many they are.
func (s *Sessions) strangers(rng *rand.Rand, taught []bool) (classes [][]int, rows int) {
	for _, k := range pick(rng, s.asked, len(s.asked)) {
		if !taught[k] {
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
