package anomaly

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Model is the model of N good pictures of K bursts. [Fit] makes it. Several goroutines may ask it at
// once.
type Model struct {
	good     []*Picture // N
	bursts   int        // K
	whole    *span
	lnE, lnC spread // of ln E_k and ln C_k
}

// Answer is the answer of a [Model] about a picture.
type Answer struct {
	Wrong float64   // p(wrong), in [0, 1]
	Whole float64   // u: standard deviations by which ln E lies above the mean of ln E_k
	Place float64   // v: the same for ln C
	Cells []float64 // n: min_b |z_c - b|² of each cell, divided by the geometric mean of the C_k
}

// Fit returns the model of good pictures, which it keeps. If there are more than [Most], it takes
// the last ones. burst has a number for each picture. Pictures of one burst are nearly the same, so
// they are left out together, and K is the number of bursts. It returns a *[FewError] for fewer
// than [Fewest] bursts, and a *[CellsError] if the pictures differ in the number or the length of
// their cells. Cost 16 (N n)² + K N² (N+d), for N pictures of n cells.
func Fit(good []*Picture, burst []int) (*Model, error) {
	if len(burst) != len(good) {
		panic("anomaly: bursts of wrong length")
	}
	from := max(0, len(good)-Most)
	good, burst = slices.Clone(good[from:]), burst[from:]
	frames := map[int][]*Picture{}
	for k, p := range good {
		frames[burst[k]] = append(frames[burst[k]], p)
	}
	if len(frames) < Fewest {
		return nil, &FewError{len(frames)}
	}
	for _, p := range good {
		if !p.fits(good[0]) {
			return nil, errOther
		}
	}
	m := &Model{good: good, bursts: len(frames), whole: newSpan(good)}
	for _, b := range slices.SortedStableFunc(maps.Keys(frames), cmp.Compare[int]) { // the sort of core/lda: a second kind makes programs 17 KB larger
		left := frames[b]
		var others []*Picture
		asked := make([]bool, len(good))
		for k, p := range good {
			if asked[k] = burst[k] != b; asked[k] {
				others = append(others, p)
			}
		}
		s, share := newSpan(others), 1/float64(len(frames)*len(left))
		for _, p := range left {
			m.lnE.add(share, logOf(s.distance(p.mean), leastE))
			m.lnC.add(share, logOf(places(m.nearest(p, asked)), leastC))
		}
	}
	return m, nil
}

var errOther = &CellsError{"These cells have another length or number than those of the good examples: use one network and one size of pictures for all."}

// Ask says how probable it is that something is wrong with a picture. It returns a *[CellsError] for
// cells of another length or number. Cost 16 N n² + N d + N², for N good pictures of n cells.
func (m *Model) Ask(p *Picture) (*Answer, error) {
	if !p.fits(m.good[0]) {
		return nil, errOther
	}
	a := &Answer{Cells: m.nearest(p, nil)}
	a.Whole = m.lnE.of(logOf(m.whole.distance(p.mean), leastE), m.bursts, usualE)
	a.Place = m.lnC.of(logOf(places(a.Cells), leastC), m.bursts, usualC)
	a.Wrong = 1 / (1 + math.Exp(-floats.Dot(population, m.Terms(a))))
	floats.Scale(math.Exp(-m.lnC.mean), a.Cells)
	return a, nil
}

// Good returns K, the number of bursts that a picture is compared with.
func (m *Model) Good() int { return m.bursts }

// logOf is the logarithm of a distance. Below least, distances are noise of the camera and of coding.
func logOf(v, least float64) float64 { return math.Log(max(v, least)) }

// places returns C, the mean of the four largest distances of the cells.
func places(nearest []float64) float64 {
	sorted := slices.Sorted(slices.Values(nearest))
	top := sorted[max(0, len(sorted)-farthest):]
	return floats.Sum(top) / float64(len(top))
}

// nearest returns min_b |z_c - b|² of each cell of a picture. b runs over the cells of the good
// pictures k with asked[k], or of all if asked is nil.
func (m *Model) nearest(p *Picture, asked []bool) []float64 {
	dst := make([]float64, len(p.cells))
	for c := range dst {
		least := bitsOf
		for k, q := range m.good {
			if asked != nil && !asked[k] {
				continue
			}
			for i := range q.cells {
				least = min(least, p.cells[c].apart(&q.cells[i]))
			}
		}
		dst[c] = distances[least]
	}
	return dst
}

func square(x []float64) float64 {
	v := blas64.Vector{N: len(x), Data: x, Inc: 1}
	return blas64.Dot(v, v)
}

// span holds m, R and the Cholesky factor of s I + R Rᵀ, for k pictures.
type span struct {
	mean   []float64         // d
	r      blas64.General    // k×d
	factor blas64.Triangular // k×k
	exact  bool              // the factor exists; if not, distance uses m alone
}

func newSpan(good []*Picture) *span {
	k, d := len(good), len(good[0].mean)
	s := &span{mean: make([]float64, d), r: blas64.General{Rows: k, Cols: d, Stride: d, Data: make([]float64, k*d)}}
	for _, p := range good {
		floats.AddScaled(s.mean, 1/float64(k), p.mean)
	}
	scatter := 0.0
	for i, p := range good {
		row := s.r.Data[i*d : (i+1)*d]
		floats.SubTo(row, p.mean, s.mean)
		scatter += square(row) / float64(k-1)
	}
	gram := blas64.Symmetric{Uplo: blas.Lower, N: k, Stride: k, Data: make([]float64, k*k)}
	blas64.Syrk(blas.NoTrans, 1, s.r, 0, gram)
	for i := range k {
		gram.Data[i*k+i] += scatter/weight + tiny
	}
	s.factor, s.exact = lapack64.Potrf(gram)
	return s
}

// distance returns E of y. Woodbury's identity replaces the d×d matrix by one of k×k:
//
//	E = q'q - (R q)ᵀ (s I + R Rᵀ)⁻¹ (R q),   q = y - m
func (s *span) distance(y []float64) float64 {
	q := make([]float64, len(y))
	floats.SubTo(q, y, s.mean)
	e := square(q)
	if !s.exact {
		return e
	}
	v := blas64.Vector{N: s.r.Rows, Data: make([]float64, s.r.Rows), Inc: 1}
	blas64.Gemv(blas.NoTrans, 1, s.r, blas64.Vector{N: len(q), Data: q, Inc: 1}, 0, v)
	blas64.Trsv(blas.NoTrans, s.factor, v)
	return max(0, e-square(v.Data))
}
