package discriminant

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// pool is the posterior of classes that share one scale matrix (linear discriminant
// analysis), or of a single class,
//
//	S' = S + Σ_j (scatter of class j),   nu' = nu + N,   N = Σ_j K_j
//
// with a mean per class. The whitened examples w_i = L⁻¹(x_i-m) are the N rows of W. The densities
// need only their Gram matrix G = W Wᵀ. With B block diagonal,
//
//	B_j = I - 11ᵀ/(kappa+K_j),   B_j⁻¹ = I + 11ᵀ/kappa,   S' = L (I + Wᵀ B W) Lᵀ,   M = B⁻¹ + G
//
// the determinant lemma and the Woodbury identity give
//
//	log det S' = log det S + Σ_j ln(kappa/(kappa+K_j)) + log det M
//	(x-m_j)ᵀ S'⁻¹ (x-m_j) = r2 - u_jᵀ M⁻¹ u_j,   u_j = g - G e_j/(kappa+K_j)
//	r2 = |z|² - 2 (e_jᵀg)/(kappa+K_j) + (e_jᵀ G e_j)/(kappa+K_j)²
//
// where z = L⁻¹(x-m) is the whitened query, g = W z and e_j the indicator of class j. M is at least
// the identity, so its Cholesky factor C exists, up to rounding. A query costs one N×N solve for all
// classes together. If N >= d, or N = 0, the d×d matrix is used.
type pool struct {
	post  niw.Posterior // of an unseen class: Kappa is without K_j
	kappa float64
	w     blas64.General    // N×d, nil in the dense form
	chol  blas64.Triangular // C: of M, or of A in the dense form
	useD  bool
	// By class:
	first  []int          // first row of the class in w
	counts []int          // K_j
	shift  blas64.General // low rank: C⁻¹ G e_j/(kappa+K_j), N long; dense: C⁻¹ m_j, d long
	self   []float64      // e_jᵀ G e_j/(kappa+K_j)²
	cross  []float64      // scratch: W z
	solved []float64      // scratch: C⁻¹ W z, or C⁻¹ z
}

// newPool builds the pool for the given classes. Cost O(N² d + N³) or O(N d² + d³).
func newPool(p *niw.Prior, given []*mat.Dense) *pool {
	q := &pool{kappa: p.Kappa}
	n := 0
	classes := make([]blas64.General, len(given))
	for j, x := range given {
		if x != nil {
			classes[j] = x.RawMatrix()
		}
		q.first = append(q.first, n)
		q.counts = append(q.counts, classes[j].Rows)
		n += classes[j].Rows
	}
	q.useD = n >= p.Dim() || n == 0
	if q.useD {
		q.buildDense(p, classes, n)
	} else {
		q.buildLowRank(p, classes, n)
	}
	return q
}

// buildDense factorises A = I + Wᵀ B W = C Cᵀ, which is
//
//	A = I + Σ_j { Σ_i (w_i - w̄_j)(w_i - w̄_j)ᵀ + kappa K_j/(kappa+K_j) w̄_j w̄_jᵀ }
//
// Rows are centred before they are squared, so a common offset costs no digits.
func (q *pool) buildDense(p *niw.Prior, classes []blas64.General, n int) {
	d := p.Dim()
	upper := blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: make([]float64, d*d)}
	a := blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: make([]float64, d*d)}
	for i := range d {
		upper.Data[i*d+i] = 1
	}
	for _, c := range classes {
		if c.Rows > 0 {
			addScatter(upper, c, p.Kappa)
		}
	}
	for i := range d {
		for j := i; j < d; j++ {
			a.Data[j*d+i] = upper.Data[i*d+j]
		}
	}
	q.post = niw.Posterior{Dim: d, Kappa: p.Kappa, Nu: p.Nu + float64(n), LogDetS: p.LogDetS() + q.factorize(a)}
	q.shift = blas64.General{Rows: len(classes), Cols: d, Stride: d, Data: make([]float64, len(classes)*d)}
	for j, c := range classes {
		m := q.shift.Data[j*d : (j+1)*d]
		if c.Rows > 0 {
			scaledSum(m, c, p.Kappa+float64(c.Rows)) // L⁻¹(m_j-m)
		}
		niw.SolveTo(m, q.chol)
	}
	q.solved = make([]float64, d)
}

// addScatter adds the summand of one class, the rows of w, to A.
func addScatter(a blas64.Symmetric, w blas64.General, kappa float64) {
	k, d := float64(w.Rows), w.Cols
	mean := make([]float64, d)
	scaledSum(mean, w, k)
	c := blas64.General{Rows: w.Rows, Cols: d, Stride: d, Data: make([]float64, w.Rows*d)}
	for i := range w.Rows {
		floats.SubTo(c.Data[i*d:(i+1)*d], w.Data[i*w.Stride:i*w.Stride+d], mean)
	}
	blas64.Syrk(blas.Trans, 1, c, 1, a)
	blas64.Syr(kappa*k/(kappa+k), vector(mean), a)
}

// scaledSum stores the sum of the rows of w, divided by n, in dst, which must hold zeros.
func scaledSum(dst []float64, w blas64.General, n float64) {
	for i := range w.Rows {
		floats.Add(dst, w.Data[i*w.Stride:i*w.Stride+w.Cols])
	}
	floats.Scale(1/n, dst)
}

func (q *pool) buildLowRank(p *niw.Prior, classes []blas64.General, n int) {
	d := p.Dim()
	q.w = blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, 0, n*d)}
	for _, c := range classes {
		for i := range c.Rows {
			q.w.Data = append(q.w.Data, c.Data[i*c.Stride:i*c.Stride+d]...)
		}
	}
	gram := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: make([]float64, n*n)}
	blas64.Syrk(blas.NoTrans, 1, q.w, 0, gram)
	mirror(gram)
	q.cross, q.solved = make([]float64, n), make([]float64, n)
	q.shift = blas64.General{Rows: len(classes), Cols: n, Stride: n, Data: make([]float64, len(classes)*n)}
	q.self = make([]float64, len(classes))
	logDet := q.factorizeM(gram, p)
	for j, k := range q.counts {
		logDet += math.Log(p.Kappa / (p.Kappa + float64(k)))
		q.shiftClass(j, gram)
	}
	q.post = niw.Posterior{Dim: d, Kappa: p.Kappa, Nu: p.Nu + float64(n), LogDetS: p.LogDetS() + logDet}
}

// factorizeM stores the Cholesky factor of M and returns log det M.
func (q *pool) factorizeM(gram blas64.Symmetric, p *niw.Prior) float64 {
	n := gram.N
	m := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: append([]float64(nil), gram.Data...)}
	for j, k := range q.counts {
		for r := q.first[j]; r < q.first[j]+k; r++ {
			for s := q.first[j]; s < q.first[j]+k; s++ {
				m.Data[r*n+s] += 1 / p.Kappa
			}
			m.Data[r*n+r]++
		}
	}
	return q.factorize(m)
}

// factorize overwrites m, which is at least the identity, with its Cholesky factor. It keeps the
// factor and returns log det m.
func (q *pool) factorize(m blas64.Symmetric) (logDet float64) {
	q.chol = niw.Factorise(m)
	for i := range m.N {
		logDet += 2 * math.Log(m.Data[i*m.Stride+i])
	}
	return logDet
}

// shiftClass computes shift and self of class j.
func (q *pool) shiftClass(j int, gram blas64.Symmetric) {
	n, kj := gram.N, q.kappa+float64(q.counts[j])
	row := q.shift.Data[j*n : (j+1)*n]
	for r := q.first[j]; r < q.first[j]+q.counts[j]; r++ {
		floats.AddScaled(row, 1/kj, gram.Data[r*n:(r+1)*n])
	}
	q.self[j] = floats.Sum(row[q.first[j]:q.first[j]+q.counts[j]]) / kj
	niw.SolveTo(row, q.chol)
}

// prepare takes the whitened query z. Cost O(N d + N²) or O(d²).
func (q *pool) prepare(z []float64) {
	if q.w.Rows > 0 {
		blas64.Gemv(blas.NoTrans, 1, q.w, vector(z), 0, vector(q.cross))
	}
	if copy(q.solved, q.cross); q.useD {
		copy(q.solved, z)
	}
	niw.SolveTo(q.solved, q.chol)
}

// logProb returns the log density of the prepared query under class j, or under an unseen class if
// j < 0.
func (q *pool) logProb(j int, inf niw.Inference, r2 float64) float64 {
	post := q.post
	if j >= 0 {
		post.Kappa += float64(q.counts[j])
	}
	return post.LogProb(inf, math.Max(q.quad(j, r2), 0))
}

func (q *pool) quad(j int, r2 float64) float64 {
	if j < 0 {
		n2 := floats.Dot(q.solved, q.solved)
		if q.useD {
			return n2
		}
		return r2 - n2
	}
	n2 := distance2(q.solved, q.shift.Data[j*q.shift.Stride:j*q.shift.Stride+q.shift.Cols])
	if q.useD {
		return n2
	}
	kj := q.kappa + float64(q.counts[j])
	sum := floats.Sum(q.cross[q.first[j] : q.first[j]+q.counts[j]])
	return r2 - 2*sum/kj + q.self[j] - n2
}

// distance2 returns |a-b|².
func distance2(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += (v - b[i]) * (v - b[i])
	}
	return s
}

// mirror copies the lower triangle to the upper one.
func mirror(a blas64.Symmetric) {
	for i := range a.N {
		for j := range i {
			a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }
