package anomaly

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// sketch stands for a cell: it is the signs of [bitsOf] random projections of the cell.
type sketch [bitsOf / 64]uint64

const bitsOf = 1024

// sketcher makes sketches of cells of d numbers. Its projections depend only on d, so the sketches of
// two sketchers can be compared.
type sketcher struct {
	turns [2][]float64 // the diagonals of D and D', of a length that is a power of two, at least bitsOf and d
	x     []float64
}

func newSketcher(d int) *sketcher {
	n := max(bitsOf, 1<<bits.Len(uint(d-1)))
	s, rng := &sketcher{x: make([]float64, n)}, rand.NewPCG(37, uint64(d))
	for t := range s.turns {
		s.turns[t] = make([]float64, n)
		var signs uint64
		for i := range n {
			if i%64 == 0 {
				signs = rng.Uint64()
			}
			s.turns[t][i] = float64(signs&1)*2 - 1
			signs >>= 1
		}
	}
	return s
}

// of returns the signs of the first numbers of H D' H D x, in O(n log n). H is the Hadamard matrix, and
// D and D' have random signs on their diagonals. The product is nearly a random rotation (Andoni et
// al., Practical and optimal LSH for angular distance, 2015).
func (s *sketcher) of(x []float64) (k sketch) {
	n := copy(s.x, x)
	clear(s.x[n:])
	for _, signs := range s.turns {
		for i, v := range signs {
			s.x[i] *= v
		}
		hadamard(s.x)
	}
	for i, v := range s.x[:bitsOf] {
		if v > 0 {
			k[i/64] |= 1 << (i % 64)
		}
	}
	return k
}

// hadamard overwrites x, of a length that is a power of two, by H x.
func hadamard(x []float64) {
	for half := 1; half < len(x); half *= 2 {
		for i := 0; i < len(x); i += 2 * half {
			a, b := x[i:i+half], x[i+half:i+2*half]
			for j, v := range a {
				a[j], b[j] = v+b[j], v-b[j]
			}
		}
	}
}

// distances has, for each number of signs that differ, the squared distance of two vectors of length
// one. Signs differ with the probability θ/π, where θ is the angle of the vectors (Charikar 2002,
// section 3). An inner product c is found with a standard deviation of at most π/2/√bitsOf = .05.
var distances = func() (of [bitsOf + 1]float64) {
	for k := range of {
		of[k] = 2 - 2*math.Cos(math.Pi*float64(k)/bitsOf)
	}
	return of
}()

// apart returns how many signs differ.
func (a *sketch) apart(b *sketch) (n int) {
	for i, v := range a {
		n += bits.OnesCount64(v ^ b[i])
	}
	return n
}
