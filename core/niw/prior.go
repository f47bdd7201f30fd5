package niw

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Prior is the Normal-inverse-Wishart distribution
//
//	Sigma ~ IW(L Lᵀ, Nu),   mu | Sigma ~ N(M, Sigma/Kappa)
//
// where M has length d, Kappa > 0, L is d×d lower triangular with a positive diagonal and
// Nu > d-1. In place of L a prior may have Spiked, which stores S = L Lᵀ in d(r+1)+r numbers. Points
// whitened by Spiked and by the L of the same S differ by a rotation, which changes no density.
// [Prior.Validate] checks all of these conditions; the other methods assume them.
type Prior struct {
	M      []float64
	Kappa  float64
	L      *mat.TriDense // nil if Spiked is set
	Spiked *Spiked       // nil if L is set
	Nu     float64
}

// HandCrafted returns a prior of dimension d without learning: m = 0, S = s²I, kappa = 1,
// nu = d. With s = 1 it is the start of Algorithm 1 and the hand-crafted prior of the paper's
// ablation. It panics if d < 1 or s is not a positive finite number.
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

// Dense returns a prior with the factor L: p itself if it has one, else a copy that shares M.
// Cost O(d³) for a spiked prior.
func (p *Prior) Dense() *Prior {
	if p.Spiked == nil {
		return p
	}
	return &Prior{M: p.M, Kappa: p.Kappa, L: p.Spiked.factor(), Nu: p.Nu}
}

// Validate returns nil if p is a proper prior, else a *[DimensionError] or a *[ValueError] with
// the quantity and the value. Cost O(d²).
func (p *Prior) Validate() error {
	d := p.Dim()
	if d == 0 {
		return &DimensionError{Name: "prior mean m", Got: 0, Want: 1, Remedy: "give it one number for each dimension"}
	}
	err := cmp.Or(
		CheckPriorVector("prior mean m", p.M, d),
		CheckValue(p.Kappa > 0 && p.Kappa <= math.MaxFloat64, "kappa", p.Kappa, "a positive finite number"),
		CheckValue(p.Nu > float64(d-1) && p.Nu <= math.MaxFloat64, "nu", p.Nu, "a finite number above d-1, one less than the dimension"),
	)
	switch {
	case err != nil:
		return err
	case p.Spiked == nil:
		return p.validateL(d)
	case p.L != nil:
		return &ValueError{Name: "factor L", Index: -1, Form: "set beside Spiked", Want: "only one of both: set the other to nil"}
	case len(p.Spiked.Scale) != d:
		return &DimensionError{Name: "scale of S", Got: len(p.Spiked.Scale), Want: d, Remedy: anew}
	}
	return nil
}

func (p *Prior) validateL(d int) error {
	if p.L == nil {
		return &DimensionError{Name: "diagonal of L", Got: 0, Want: d, Remedy: "set L or Spiked"}
	}
	n, kind := p.L.Triangle()
	if n != d {
		return &DimensionError{Name: "diagonal of L", Got: n, Want: d, Remedy: anew}
	}
	if kind != mat.Lower {
		return &ValueError{Name: "factor L", Index: -1, Form: "upper triangular", Want: "a lower triangular matrix: transpose it"}
	}
	raw := p.L.RawTriangular()
	for i := range d {
		row := raw.Data[i*raw.Stride : i*raw.Stride+i+1]
		if err := CheckPriorVector("factor L", row, i+1); err != nil {
			return err
		}
		if !(row[i] > 0) {
			return &ValueError{Name: "diagonal of L", Index: i, Value: row[i], Want: "a positive number: " + anew}
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
