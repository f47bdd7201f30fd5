package episode

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Tasks describes the episodes to learn from. Every number is drawn log-uniformly from a range, so
// that every doubling is equally common. If the pool has too few rows or classes, it is lower.
type Tasks struct {
	Way   Range // classes of an episode
	Shot  Range // support rows of a class
	Query Range // query rows of a class

	// UnknownClasses is the number of classes outside the episode that supply
	// queries labelled Unknown. The facts of a prior file have it under its tag.
	UnknownClasses Range `json:"Strangers"`

	// Imbalanced draws the shot for each class; otherwise all classes of an
	// episode have the same.
	Imbalanced bool

	// MaxRows bounds support and queries together, 0 for no bound: shots and
	// queries per class shrink until they fit.
	MaxRows int
}

// Training draws episodes from several pools in turn. A large pool gets no
// more than a small one.
type Training struct {
	pools []Pool
	c     Tasks
	seed  uint64
}

// NewTraining returns a sampler over the pools. It fails if a range is empty or a pool has too few
// classes. It also fails if a class has less than one row for the support and one for the queries.
func NewTraining(pools []Pool, c Tasks, seed uint64) (*Training, error) {
	if err := checkRanges(named{"data sets", Exactly(len(pools)), 1}, named{"way", c.Way, 1}, named{"shot", c.Shot, 1}, named{"queries per class", c.Query, 1},
		named{"unseen classes", c.UnknownClasses, 0}, named{"rows of an episode", Exactly(c.MaxRows), 0}); err != nil {
		return nil, err
	}
	pools = slices.Clone(pools)
	for i := range pools {
		pools[i] = separated(pools[i])[0]
		if err := pools[i].need(c.Way.Min+c.UnknownClasses.Min, 1, 1); err != nil {
			return nil, err
		}
	}
	return &Training{pools, c, seed}, nil
}

// Episode returns episode i, from pool i modulo the number of pools.
func (s *Training) Episode(i int) Episode {
	rng := generator(s.seed, i)
	e := Episode{Pool: i % len(s.pools)}
	pool := &s.pools[e.Pool]
	unknown := min(s.c.UnknownClasses.logUniform(rng), len(pool.Rows)-s.c.Way.Min)
	way := min(s.c.Way.logUniform(rng), len(pool.Rows)-unknown)
	shot, query := s.c.Shot.logUniform(rng), s.c.Query.logUniform(rng)
	if s.c.Imbalanced {
		shot = s.c.Shot.Max
	}
	shot, query = s.fit(way, unknown, shot, query)
	classes := choose(rng, len(pool.Rows), way+unknown)
	for j, c := range classes {
		if j >= way {
			e.addQueries(pick(rng, pool.Rows[c], min(query, len(pool.Rows[c]))), Unknown)
			continue
		}
		k := shot
		if s.c.Imbalanced {
			k = Range{min(s.c.Shot.Min, shot), shot}.logUniform(rng)
		}
		support, queries := pool.divide(rng, c, k, query, 1)
		e.Classes = append(e.Classes, c)
		e.Support = append(e.Support, support)
		e.addQueries(queries, j)
	}
	return e
}

// fit lowers the larger of shot and query by one until the episode has no more
// than MaxRows rows, or both are one.
func (s *Training) fit(way, unknown, shot, query int) (int, int) {
	for s.c.MaxRows > 0 && way*shot+(way+unknown)*query > s.c.MaxRows && shot+query > 2 {
		if query > shot {
			query--
		} else {
			shot--
		}
	}
	return shot, query
}

// logUniform draws a whole number n of the range with probability proportional
// to ln((n+1)/n): the whole part of a number whose logarithm is uniform.
func (r Range) logUniform(rng *rand.Rand) int {
	if r.Min == r.Max {
		return r.Min
	}
	lo, hi := math.Log(math.Max(float64(r.Min), 0.5)), math.Log(float64(r.Max)+1)
	n := int(math.Exp(lo + rng.Float64()*(hi-lo)))
	return max(r.Min, min(n, r.Max))
}
