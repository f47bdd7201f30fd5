package episode

import (
	"math"
	"math/rand/v2"
)

// MetaDataset draws episodes with random way, random shot and unequal classes
// as the Meta-Dataset benchmark does:
//
//	way    C   ~ U{5, ..., min(50, classes)}
//	query  q   = min(10, min_c floor(n_c / 2))             the same for every class
//	total  |S| = min(500, sum_c ceil(beta min(100, n_c - q))),  beta ~ U(0, 1]
//	share  R_c = exp(a_c) n_c / sum_c' exp(a_c') n_c',      a_c ~ U[log 0.5, log 2)
//	shot   k_c = min(floor(R_c (|S| - C)) + 1, n_c - q)
//
// n_c is the number of rows of class c, sums run over the episode's classes.
// The benchmark's class hierarchies (ImageNet's tree, Omniglot's alphabets)
// are not used: classes are drawn uniformly.
//
// Source: Triantafillou et al., Meta-Dataset, ICLR 2020, section 3.2 and
// appendix.
type MetaDataset struct {
	pool Pool
	seed uint64
}

const (
	metaWayMin, metaWayMax = 5, 50
	metaQueryMax           = 10
	metaSupportMax         = 500
	metaClassMax           = 100
)

// NewMetaDataset returns a sampler over the pool. The pool needs at least five classes of at least
// two rows, or of two groups if there are groups. A class in few groups may have fewer support rows
// than its shot.
func NewMetaDataset(pool Pool, seed uint64) (*MetaDataset, error) {
	pool = separated(pool)[0]
	if err := pool.need(metaWayMin, 1, 1); err != nil {
		return nil, err
	}
	return &MetaDataset{pool, seed}, nil
}

// Episode returns episode i.
func (s *MetaDataset) Episode(i int) Episode {
	rng := generator(s.seed, i)
	way := Range{metaWayMin, min(metaWayMax, len(s.pool.Rows))}.draw(rng)
	e := Episode{Classes: choose(rng, len(s.pool.Rows), way)}
	size := make([]int, way)
	for j, c := range e.Classes {
		size[j] = len(s.pool.Rows[c])
	}
	query := metaQuery(size)
	shots := metaShots(rng, size, query)
	for j, c := range e.Classes {
		support, queries := s.pool.divide(rng, c, shots[j], query, query)
		e.Support = append(e.Support, support)
		e.addQueries(queries, j)
	}
	return e
}

func metaQuery(size []int) int {
	q := metaQueryMax
	for _, n := range size {
		q = min(q, n/2)
	}
	return q
}

// metaShots draws the support count of each class.
func metaShots(rng *rand.Rand, size []int, query int) []int {
	beta := 1 - rng.Float64() // (0, 1]
	total := 0
	for _, n := range size {
		total += int(math.Ceil(beta * float64(min(metaClassMax, n-query))))
	}
	total = min(total, metaSupportMax)
	share := make([]float64, len(size))
	sum := 0.0
	for j, n := range size {
		a := math.Log(0.5) + rng.Float64()*(math.Log(2)-math.Log(0.5))
		share[j] = math.Exp(a) * float64(n)
		sum += share[j]
	}
	shots := make([]int, len(size))
	for j, n := range size {
		k := int(math.Floor(share[j]/sum*float64(total-len(size)))) + 1
		shots[j] = min(k, n-query)
	}
	return shots
}
