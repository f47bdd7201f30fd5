package qda

import (
	"math"

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
// Now and then progress, unless it is nil, is told how much is done of how much. When
// ctx ends, Suggest returns its error. A row that is not a finite embedding of length d
// is reported as a *[RowError]. Cost m'² d + m' d for each example taught, m' the lesser
// of m and 1,024, and 8 m'² bytes.
func (c *Classifier) Suggest(ctx Context, x *mat.Dense, n int, progress func(done, total int)) ([]int, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	m := 0
	if x != nil && !x.IsEmpty() {
		m, _ = x.Dims()
	}
	m = min(m, suggestible)
	n = max(0, min(n, m))
	done, examples := 0, 0
	for _, k := range c.taught {
		examples += k.count()
	}
	step := func(more int) error {
		done += more
		progress(done, 2*m+examples+n)
		return ctx.Err()
	}
	w, rows, err := c.whitenSome(x, m, step)
	if err != nil || m == 0 {
		return nil, err
	}
	s, covered, err := c.similarities(w, step)
	if err != nil {
		return nil, err
	}
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
		if err := step(1); err != nil {
			return nil, err
		}
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

// whitenSome whitens k rows of x at equal steps, and returns which.
func (c *Classifier) whitenSome(x *mat.Dense, k int, step func(more int) error) (w blas64.General, rows []int, err error) {
	w = blas64.General{Rows: k, Cols: c.Dim(), Stride: c.Dim(), Data: make([]float64, k*c.Dim())}
	for j := range k {
		m, _ := x.Dims()
		i := j * m / k
		err := niw.CheckVector("embedding", x.RawRowView(i), c.Dim())
		if err == nil {
			c.prior.WhitenTo(rowOf(w, j), x.RawRowView(i))
			_, err = checkedNorm2(squaredNorm(rowOf(w, j)))
		}
		if err != nil {
			return w, nil, &RowError{Row: i, Err: err}
		}
		rows = append(rows, i)
		if j%batchBlock == batchBlock-1 {
			if err := step(batchBlock); err != nil {
				return w, nil, err
			}
		}
	}
	return w, rows, step(k % batchBlock)
}

// similarities returns the cosines of whitened rows about their mean, and for each
// row its largest one to an example of the classifier. It overwrites w.
func (c *Classifier) similarities(w blas64.General, step func(more int) error) (s blas64.General, covered []float64, err error) {
	mean := make([]float64, w.Cols)
	for i := range w.Rows {
		floats.AddScaled(mean, 1/float64(w.Rows), rowOf(w, i))
	}
	for i := range w.Rows {
		direct(rowOf(w, i), mean)
	}
	s = blas64.General{Rows: w.Rows, Cols: w.Rows, Stride: w.Rows, Data: make([]float64, w.Rows*w.Rows)}
	for first := 0; first < w.Rows; first += batchBlock {
		n := min(batchBlock, w.Rows-first)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(w, first, n), w, 0, rowsOf(s, first, n))
		if err := step(n); err != nil {
			return s, nil, err
		}
	}
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
			if err := step(1); err != nil {
				return s, nil, err
			}
		}
	}
	return s, covered, nil
}

// rowsOf returns n rows of a matrix from the first on.
func rowsOf(m blas64.General, first, n int) blas64.General {
	return blas64.General{Rows: n, Cols: m.Cols, Stride: m.Stride, Data: m.Data[first*m.Stride : (first+n)*m.Stride]}
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
