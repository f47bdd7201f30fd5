// Package embed turns the output of a feature extractor into the vector that the classifier models.
// The output stays as it is, is scaled to length one, or is centred first and then scaled, which is
// CL2N of Wang et al., SimpleShot, 2019. A power before these steps makes heavy tails lighter: Tukey's
// ladder of powers, as in Yang, Liu and Xu, Free Lunch for Few-shot Learning, 2021. The package is
// not for pictures, nor for learned transforms.
package embed

import (
	"errors"
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

// Kind names a feature transform.
type Kind string

const (
	None Kind = "none" // as extracted
	L2   Kind = "l2"   // x/|x|
	CL2N Kind = "cl2n" // (x-c)/|x-c|, c the mean of the training classes
)

// Transform maps an embedding x of length d, or (x_i - Mean_i) Scale_i if Mean and Scale are given,
// to
//
//	y_i = sign(x_i) |x_i|^Power            if Shift = 0
//	y_i = max(x_i + Shift, 0)^Power        if Shift > 0
//
// and then to y, y/|y| or (y-Centre)/|y-Centre| by Kind. Power 0 counts as 1. A
// vector of length zero stays zero.
//
// If Constant is not zero, it follows the d numbers as number d+1 before the division. Then rows that
// differ only in length still differ in direction.
//
// The shift is for activations bounded below by a negative constant, such as averages of hard-swish
// (>= -0.375). Their spread grows with their height; a square root after the shift evens it out.
type Transform struct {
	Kind   Kind      `json:"kind"`
	Power  float64   `json:"power,omitempty"`
	Shift  float64   `json:"shift,omitempty"`
	Centre []float64 `json:"-"` // of length d, for CL2N: the mean of the y above

	// Mean and Scale are of length d, or nil. They standardise columns of numbers that have units
	// of their own. Files of priors have neither.
	Mean, Scale []float64 `json:"-"`
	Constant    float64   `json:"-"` // files of priors have none
}

// Len returns how many numbers the transform of d numbers has.
func (t *Transform) Len(d int) int {
	if t.Constant != 0 {
		return d + 1
	}
	return d
}

// ParseKind returns the kind of the given name, or an error that lists them.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case None, L2, CL2N:
		return k, nil
	}
	return None, errors.New("transform " + strconv.Quote(s) + ": want none, l2 or cl2n")
}

// Validate checks t for embeddings of length d.
func (t *Transform) Validate(d int) error {
	if _, err := ParseKind(string(t.Kind)); err != nil {
		return err
	}
	if t.Power < 0 || t.Power > 4 || math.IsNaN(t.Power) {
		return &niw.ValueError{Name: "power", Index: -1, Value: t.Power, Want: "a number from 0 to 4"}
	}
	if !(t.Shift >= 0 && t.Shift <= 1e6) {
		return &niw.ValueError{Name: "shift", Index: -1, Value: t.Shift, Want: "a number from 0 to 1e6"}
	}
	if t.Kind != CL2N {
		return nil
	}
	return niw.CheckPriorVector("centre", t.Centre, d)
}

// ApplyTo stores the transform of x in dst, of length [Transform.Len], which may begin with x
// itself. It returns a *[niw.DimensionError] if x is not as long as Mean or Centre. It returns a
// *[niw.ValueError] if x is not finite or overflows. Cost O(d).
func (t *Transform) ApplyTo(dst, x []float64) error {
	if len(dst) != t.Len(len(x)) {
		panic("embed: destination of wrong length")
	}
	want := len(x)
	if t.Mean != nil {
		want = len(t.Mean)
	}
	if t.Kind == CL2N {
		want = len(t.Centre)
	}
	if err := niw.CheckVector("embedding", x, want); err != nil {
		return err
	}
	y := dst[:len(x)]
	if t.Mean != nil {
		floats.SubTo(y, x, t.Mean)
		floats.Mul(y, t.Scale)
		x = y
	}
	t.spread(y, x)
	if t.Kind == CL2N {
		blas64.Axpy(-1, vector(t.Centre), vector(y))
	}
	if t.Constant != 0 {
		dst[len(y)] = t.Constant
	}
	if t.Kind == None {
		return niw.CheckVector("transformed embedding", dst, len(dst))
	}
	return normalize(dst)
}

// vector returns x in the form that BLAS takes.
func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// spread stores the shifted and powered x in dst.
func (t *Transform) spread(dst, x []float64) {
	if t.Shift == 0 && (t.Power == 0 || t.Power == 1) {
		copy(dst, x)
		return
	}
	for i, v := range x {
		if t.Shift > 0 {
			v = max(v+t.Shift, 0)
		}
		dst[i] = t.signedPower(v)
	}
}

func (t *Transform) signedPower(v float64) float64 {
	switch t.Power {
	case 0, 1:
		return v
	case 0.25:
		return math.Copysign(math.Sqrt(math.Sqrt(math.Abs(v))), v)
	case 0.5:
		return math.Copysign(math.Sqrt(math.Abs(v)), v)
	}
	return math.Copysign(math.Pow(math.Abs(v), t.Power), v)
}

// normalize scales y to length one. If the sum of squares may lose digits, because it is too small
// or too large, the largest entry is divided out first.
func normalize(y []float64) error {
	const tiny, huge = 1e-280, 1e280
	if s := blas64.Dot(vector(y), vector(y)); s > tiny && s < huge {
		blas64.Scal(1/math.Sqrt(s), vector(y))
		return nil
	}
	top, err := largest(y)
	if err != nil || top == 0 {
		return err
	}
	for i := range y {
		y[i] /= top
	}
	blas64.Scal(1/math.Sqrt(blas64.Dot(vector(y), vector(y))), vector(y))
	return nil
}

// largest returns the largest magnitude in y, or an error for a number that is not finite.
func largest(y []float64) (top float64, err error) {
	for i, v := range y {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return 0, &niw.ValueError{Name: "transformed embedding", Index: i, Value: v, Want: "a smaller number: leave this vector out"}
		}
		top = math.Max(top, math.Abs(v))
	}
	return top, nil
}

// SplitTo splits wᵀy into parts of n cells and stores them in dst, of length n. y is the transform
// of the mean of the cells. cells holds n vectors of length d, one after the other; w is as long as
// y. It returns the part that belongs to no cell: all parts sum to wᵀy.
//
// Number i of y is (h(x_i) - Centre_i)/l. h is the power after the shift, and l scales y to length
// one. Centre and Constant belong to no cell. Each cell gets a part of h(x_i) in proportion to what
// it adds to x_i. These are the integrated gradients from zero activation, with l kept constant
// (Sundararajan, Taly and Yan, Axiomatic attribution for deep networks, 2017). If some cells add to
// x_i and others subtract, h(x_i) is first split between the two sides by their Shapley values.
// Errors are those of [Transform.ApplyTo]. Cost O(n d).
func (t *Transform) SplitTo(dst, cells, w []float64) (rest float64, err error) {
	n := len(dst)
	d := len(cells) / max(1, n)
	if d == 0 || len(cells) != n*d || len(w) != t.Len(d) {
		panic("embed: cells of wrong length")
	}
	x := make([]float64, d) // the mean of the cells
	for c := range n {
		blas64.Axpy(1/float64(n), vector(cells[c*d:(c+1)*d]), vector(x))
	}
	y := make([]float64, len(w))
	if err := t.ApplyTo(y, x); err != nil {
		return 0, err
	}
	length, err := t.lengthOf(x)
	clear(dst)
	if err != nil || length == 0 {
		return 0, err
	}
	sum, size := make([]float64, d), make([]float64, d) // of the numbers, and of their magnitudes
	for c := range n {
		for i, v := range cells[c*d : (c+1)*d] {
			v = t.shifted(i, v)
			sum[i] += v
			size[i] += math.Abs(v)
		}
	}
	for i, s := range sum {
		p, q := (size[i]+s)/2/float64(n), (size[i]-s)/2/float64(n) // p - q is x_i after the shift: cells above zero add p, the others take away q
		whole, onlyP, onlyQ := t.raised(p-q), t.raised(p), t.raised(-q)
		var added, taken float64 // a cell's part of h(x_i) for each unit that it adds, or takes away
		if p > 0 {
			added = (onlyP + whole - onlyQ) / 2 / p
		}
		if q > 0 {
			taken = (onlyQ + whole - onlyP) / 2 / q
		}
		scale := w[i] / float64(n) / length
		sum[i], size[i] = scale*(added-taken)/2, scale*(added+taken)/2
		if t.Kind == CL2N {
			rest -= w[i] * t.Centre[i] / length
		}
	}
	if t.Constant != 0 {
		rest += w[d] * t.Constant / length
	}
	for c := range n {
		part := 0.0
		for i, v := range cells[c*d : (c+1)*d] {
			v = t.shifted(i, v)
			part += sum[i]*v + size[i]*math.Abs(v)
		}
		dst[c] = part
	}
	return rest, nil
}

// shifted is number i of a cell before the power.
func (t *Transform) shifted(i int, v float64) float64 {
	if t.Mean != nil {
		v = (v - t.Mean[i]) * t.Scale[i]
	}
	return v + t.Shift
}

// raised is the power of a number to which the shift was added.
func (t *Transform) raised(v float64) float64 {
	if t.Shift > 0 {
		v = max(v, 0)
	}
	return t.signedPower(v)
}

// lengthOf returns the divisor of the transform of x.
func (t *Transform) lengthOf(x []float64) (float64, error) {
	if t.Kind == None {
		return 1, nil
	}
	plain := *t
	plain.Kind, plain.Centre = None, nil
	y := make([]float64, t.Len(len(x)))
	if err := plain.ApplyTo(y, x); err != nil {
		return 0, err
	}
	if t.Kind == CL2N {
		floats.Sub(y[:len(x)], t.Centre)
	}
	return blas64.Nrm2(vector(y)), nil
}
