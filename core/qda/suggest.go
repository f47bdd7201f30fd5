package qda

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// suggestible bounds the pictures that are compared with each other: of more, that
// many are taken at equal steps.
const suggestible = 1024

// Suggest returns which n of the unlabelled pictures x, m×d, tell most once they are
// taught, the best one first; fewer where there are fewer. They are those that leave
// the least of the others unlike anything taught, one after the other:
//
//	next = argmax_i Σ_u max(0, s(i,u) - max_{t taught or chosen} s(t,u))
//
// with s the cosine of whitened pictures about the mean of x, zero where it is
// negative. That is greedy maximisation of facility location (Nemhauser, Wolsey and
// Fisher 1978: within 1-1/e of the best), of which every early choice is typical of
// many and like none before. No label is needed to begin. Ties go to the first.
//
// It returns the row in the name of a *[niw.DimensionError] or *[niw.ValueError].
// Cost m'² d + m' d for each example taught, m' the lesser of m and 1,024, and 8 m'²
// bytes.
func (c *Classifier) Suggest(x *mat.Dense, n int) ([]int, error) {
	w, rows, err := c.whitenSome(x)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	s, covered := c.similarities(w)
	n = min(n, len(rows))
	var chosen []int
	for range n {
		best, most := -1, math.Inf(-1)
		for i := range rows {
			if g := gain(rowOf(s, i), covered); g > most && s.Data[i*s.Stride+i] >= 0 {
				best, most = i, g
			}
		}
		for u, v := range rowOf(s, best) {
			covered[u] = max(covered[u], v)
		}
		s.Data[best*s.Stride+best] = -1 // chosen
		chosen = append(chosen, rows[best])
	}
	return chosen, nil
}

// gain returns how much better the pictures are covered with one more.
func gain(s, covered []float64) (sum float64) {
	for u, v := range s {
		sum += max(0, v-covered[u])
	}
	return sum
}

// whitenSome whitens at most [suggestible] rows of x, and returns which.
func (c *Classifier) whitenSome(x *mat.Dense) (w blas64.General, rows []int, err error) {
	m := 0
	if x != nil && !x.IsEmpty() {
		m, _ = x.Dims()
	}
	k := min(m, suggestible)
	w = blas64.General{Rows: k, Cols: c.Dim(), Stride: c.Dim(), Data: make([]float64, k*c.Dim())}
	for j := range k {
		i := j * m / k
		if err := niw.CheckVector("embedding "+strconv.Itoa(i), x.RawRowView(i), c.Dim()); err != nil {
			return w, nil, err
		}
		c.prior.WhitenTo(rowOf(w, j), x.RawRowView(i))
		if _, err := checkedNorm2(squaredNorm(rowOf(w, j))); err != nil {
			return w, nil, err
		}
		rows = append(rows, i)
	}
	return w, rows, nil
}

// similarities returns the cosines of whitened rows about their mean, and for each
// row its largest one to an example of the classifier. It overwrites w.
func (c *Classifier) similarities(w blas64.General) (s blas64.General, covered []float64) {
	mean := make([]float64, w.Cols)
	for i := range w.Rows {
		floats.AddScaled(mean, 1/float64(w.Rows), rowOf(w, i))
	}
	for i := range w.Rows {
		direct(rowOf(w, i), mean)
	}
	s = blas64.General{Rows: w.Rows, Cols: w.Rows, Stride: w.Rows, Data: make([]float64, w.Rows*w.Rows)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, w, w, 0, s)
	for i, v := range s.Data {
		s.Data[i] = max(0, v)
	}
	covered = make([]float64, w.Rows)
	example, products := make([]float64, w.Cols), make([]float64, w.Rows)
	for _, k := range c.taught {
		for i := range k.count() {
			copy(example, k.row(i))
			direct(example, mean)
			gemv(w, example, 0, products)
			for u, v := range products {
				covered[u] = max(covered[u], v)
			}
		}
	}
	return s, covered
}

// direct makes v the direction from mean to v, zero where rounding leaves none.
func direct(v, mean []float64) {
	floats.Sub(v, mean)
	if n := math.Sqrt(squaredNorm(v)); n > 1e-9*math.Sqrt(squaredNorm(mean)) {
		floats.Scale(1/n, v)
	} else {
		clear(v)
	}
}
