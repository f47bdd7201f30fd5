package metatrain

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// Base is a closed-form start: the d×d scale matrix
//
//	S0 = (1-shrink) W + shrink I,   W scaled to a mean diagonal of one
//
// where W is the mean over the domains of their pooled within-class covariance (of the rows about
// their class's mean). Training runs on rows whitened by its Cholesky factor L0, where every
// direction has the same variance. It learns (m', L'), which stand for m = L0 m' and L = L0 L'.
// This is a preconditioned descent.
type Base struct {
	l *factor
}

// Labelled is a domain with the rows of the classes to learn from.
type Labelled struct {
	*Domain
	Classes [][]int // rows of each class
}

// NewBase returns the base of the domains. ok is false if S0 is not positive
// definite, which takes a shrink of 0. It panics if shrink is outside [0, 1] or
// a domain has other than d columns. Cost N d² for N rows in all, and d³/3.
func NewBase(d int, domains []Labelled, shrink float64, workers int) (b *Base, ok bool) {
	if !(shrink >= 0 && shrink <= 1) {
		panic("metatrain: shrink outside [0, 1]")
	}
	sum := make([]float64, d*d)
	one := make([]float64, d*d)
	for _, dom := range domains {
		clear(one)
		rows := withinScatter(one, d, dom, workers)
		if rows == 0 {
			continue
		}
		blas64.Axpy(1/float64(rows), vector(one), vector(sum))
	}
	var trace float64
	for i := range d {
		trace += sum[i*d+i]
	}
	if trace > 0 {
		blas64.Scal((1-shrink)*float64(d)/trace, vector(sum))
	}
	for i := range d {
		sum[i*d+i] += shrink
	}
	_, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: sum})
	f := &factor{d: d, lower: sum, upper: one}
	clear(f.upper)
	for i := range d {
		clear(f.lower[i*d+i+1 : (i+1)*d])
	}
	f.transpose()
	return &Base{l: f}, ok
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// withinScatter adds Σ (x-x̄)(x-x̄)ᵀ over the domain's classes to the lower
// triangle of dst and returns the number of rows.
func withinScatter(dst []float64, d int, dom Labelled, workers int) (rows int) {
	if dom.Dim != d {
		panic("metatrain: domain of wrong dimension")
	}
	var centred, t []float64
	flush := func() {
		n := len(centred) / d
		if n == 0 {
			return
		}
		t = grown(t, len(centred))
		xt := blas64.General{Rows: d, Cols: n, Stride: n, Data: t}
		transposeTo(xt, blas64.General{Rows: n, Cols: d, Stride: d, Data: centred})
		parallel(blockRows(d), workers, func(b int) { subOuter(dst, d, b, xt, xt) })
		centred = centred[:0]
	}
	mean := make([]float64, d)
	for _, class := range dom.Classes {
		classMean(mean, dom.Domain, class)
		for _, r := range class {
			for c, v := range dom.row(r) {
				centred = append(centred, float64(v)-mean[c])
			}
			if len(centred) == rowBlock*d {
				flush()
			}
		}
		rows += len(class)
	}
	flush()
	blas64.Scal(-1, vector(dst)) // subOuter subtracts
	return rows
}

func classMean(dst []float64, dom *Domain, rows []int) {
	clear(dst)
	for _, r := range rows {
		for c, v := range dom.row(r) {
			dst[c] += float64(v)
		}
	}
	for c := range dst {
		dst[c] /= math.Max(float64(len(rows)), 1)
	}
}

// Whiten returns the domain with every row multiplied by L0⁻¹. Cost N d²/2.
func (b *Base) Whiten(dom *Domain, workers int) *Domain {
	d, n := b.l.d, len(dom.X)/dom.Dim
	out := &Domain{Name: dom.Name, Dim: d, X: make([]float32, len(dom.X))}
	parallel((n+rowBlock-1)/rowBlock, workers, func(i int) {
		lo, hi := i*rowBlock*d, min((i+1)*rowBlock, n)*d
		x := make([]float64, hi-lo)
		for k, v := range dom.X[lo:hi] {
			x[k] = float64(v)
		}
		b.l.whiten(blas64.General{Rows: len(x) / d, Cols: d, Stride: d, Data: x})
		for k, v := range x {
			out.X[lo+k] = float32(v)
		}
	})
	return out
}

// Compose returns the parameters on rows as they are, for parameters learned
// on whitened rows: m = L0 m', L = L0 L'. Cost d³/3.
func (b *Base) Compose(p *Params) *Params {
	d := b.l.d
	l0 := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d, Stride: d, Data: b.l.lower}
	m := append([]float64(nil), p.Prior.M...)
	blas64.Trmv(blas.NoTrans, l0, vector(m))
	l := mat.NewTriDense(d, mat.Lower, nil)
	raw := p.Prior.L.RawTriangular()
	product := make([]float64, d*d)
	for i := range d {
		copy(product[i*d:i*d+i+1], raw.Data[i*raw.Stride:])
	}
	blas64.Trmm(blas.Left, blas.NoTrans, 1, l0, blas64.General{Rows: d, Cols: d, Stride: d, Data: product})
	for i := range d {
		copy(l.RawTriangular().Data[i*d:i*d+i+1], product[i*d:])
	}
	return &Params{Prior: &niw.Prior{M: m, Kappa: p.Prior.Kappa, L: l, Nu: p.Prior.Nu}, Head: p.Head}
}
