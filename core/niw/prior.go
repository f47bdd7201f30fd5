package niw

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Prior is the Normal-inverse-Wishart distribution
//
//	Sigma ~ IW(L Lᵀ, Nu),   mu | Sigma ~ N(M, Sigma/Kappa)
//
// where M has length d, Kappa > 0, L is d×d lower triangular with a positive
// diagonal and Nu > d-1. In place of L a prior may have Spiked, a scale matrix
// of few numbers; whitened points then differ from those of L by a rotation,
// which no density notices. [Prior.Validate] checks all of it; the other methods
// assume it.
type Prior struct {
	M      []float64
	Kappa  float64
	L      *mat.TriDense // nil if Spiked is not
	Spiked *Spiked       // nil if L is not
	Nu     float64
}

// HandCrafted returns the prior of dimension d that nothing was learned for:
// m = 0, S = s²I, kappa = 1, nu = d. With s = 1 it is the start of Algorithm 1
// and the hand-crafted prior of the paper's ablation. It panics if d < 1 or s
// is not a positive finite number.
func HandCrafted(d int, s float64) *Prior {
	if d < 1 {
		panic("niw: dimension below one")
	}
	if !(s > 0) || math.IsInf(s, 1) {
		panic("niw: scale not positive")
	}
	l := mat.NewTriDense(d, mat.Lower, nil)
	for i := range d {
		l.SetTri(i, i, s)
	}
	return &Prior{M: make([]float64, d), Kappa: 1, L: l, Nu: float64(d)}
}

// Dim returns d.
func (p *Prior) Dim() int { return len(p.M) }

// Clone returns a copy that shares nothing that may be changed.
func (p *Prior) Clone() *Prior {
	c := &Prior{M: append([]float64(nil), p.M...), Kappa: p.Kappa, Spiked: p.Spiked, Nu: p.Nu}
	if p.L != nil {
		c.L = mat.NewTriDense(p.Dim(), mat.Lower, nil)
		c.L.Copy(p.L)
	}
	return c
}

// Dense returns a prior with the factor L: p itself if it has one, else a copy
// that shares m. Cost O(d³) for a spiked prior.
func (p *Prior) Dense() *Prior {
	if p.Spiked == nil {
		return p
	}
	return &Prior{M: p.M, Kappa: p.Kappa, L: p.Spiked.factor(), Nu: p.Nu}
}

// Validate returns nil if p is a proper prior, else a *[DimensionError] or a
// *[ValueError] that names the quantity and the value. Cost O(d²).
func (p *Prior) Validate() error {
	d := p.Dim()
	if d == 0 {
		return &DimensionError{Name: "prior mean m", Got: 0, Want: 1}
	}
	if err := CheckVector("prior mean m", p.M, d); err != nil {
		return err
	}
	if !(p.Kappa > 0) || math.IsInf(p.Kappa, 1) {
		return &ValueError{Name: "kappa", Index: -1, Value: p.Kappa, Want: "a positive finite number"}
	}
	if !(p.Nu > float64(d-1)) || math.IsInf(p.Nu, 1) {
		return &ValueError{Name: "nu", Index: -1, Value: p.Nu, Want: "a finite number above d-1, one less than the dimension"}
	}
	if p.Spiked == nil {
		return p.validateL(d)
	}
	if p.L != nil {
		return &ValueError{Name: "factor L", Index: -1, Value: math.NaN(), Want: "none beside a spiked scale matrix"}
	}
	if n := len(p.Spiked.Scale); n != d {
		return &DimensionError{Name: "scale of S", Got: n, Want: d}
	}
	return nil
}

func (p *Prior) validateL(d int) error {
	if p.L == nil {
		return &DimensionError{Name: "factor L", Got: 0, Want: d}
	}
	n, kind := p.L.Triangle()
	if n != d {
		return &DimensionError{Name: "factor L", Got: n, Want: d}
	}
	if kind != mat.Lower {
		return &ValueError{Name: "factor L", Index: -1, Value: math.NaN(), Want: "a lower triangular matrix"}
	}
	raw := p.L.RawTriangular()
	for i := range d {
		row := raw.Data[i*raw.Stride : i*raw.Stride+i+1]
		if err := CheckVector("factor L", row, i+1); err != nil {
			return err
		}
		if !(row[i] > 0) {
			return &ValueError{Name: "diagonal of L", Index: i, Value: row[i], Want: "a positive number"}
		}
	}
	return nil
}

// LogDetS returns log det S = 2 Σ log L_ii. Cost O(d).
func (p *Prior) LogDetS() float64 {
	if p.Spiked != nil {
		return p.Spiked.logDet()
	}
	var s float64
	raw := p.L.RawTriangular()
	for i := range raw.N {
		s += math.Log(raw.Data[i*raw.Stride+i])
	}
	return 2 * s
}
