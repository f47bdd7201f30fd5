package anomaly

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
)

// projections by d. There is one for each length of embeddings, as a rule one in all.
var projections = struct {
	sync.Mutex
	of map[int]blas64.General
}{of: map[int]blas64.General{}}

// projection returns P, size×d, of signs over √size: inner products are kept in the mean
// (Achlioptas, Database-friendly random projections, 2003). It is the same for all, so pictures
// described at different times can be compared.
func projection(d int) blas64.General {
	projections.Lock()
	defer projections.Unlock()
	p, ok := projections.of[d]
	if ok {
		return p
	}
	p = blas64.General{Rows: size, Cols: d, Stride: d, Data: make([]float64, size*d)}
	rng := rand.NewPCG(37, uint64(d))
	var bits uint64
	for i := range p.Data {
		if i%64 == 0 {
			bits = rng.Uint64()
		}
		p.Data[i] = (float64(bits&1)*2 - 1) / math.Sqrt(size)
		bits >>= 1
	}
	projections.of[d] = p
	return p
}
