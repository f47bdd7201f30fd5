package embed

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
	"metaqda/core/test"
)

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name string
		t    Transform
		x    []float64
		want []float64
	}{
		{"none", Transform{Kind: None}, []float64{3, -4}, []float64{3, -4}},
		{"l2", Transform{Kind: L2}, []float64{3, -4}, []float64{0.6, -0.8}},
		{"cl2n", Transform{Kind: CL2N, Centre: []float64{1, 1}}, []float64{4, -3}, []float64{0.6, -0.8}},
		{"signed root then l2", Transform{Kind: L2, Power: 0.5}, []float64{9, -16}, []float64{0.6, -0.8}},
		{"shifted root", Transform{Kind: None, Power: 0.5, Shift: 1}, []float64{8, -5}, []float64{3, 0}},
		{"cube root", Transform{Kind: None, Power: 1. / 3}, []float64{27, -8}, []float64{3, -2}},
		{"at the centre", Transform{Kind: CL2N, Centre: []float64{4, -3}}, []float64{4, -3}, []float64{0, 0}},
		{"zero", Transform{Kind: L2}, []float64{0, 0}, []float64{0, 0}},
		{"with a constant", Transform{Kind: L2, Constant: 12, Mean: []float64{1, 1}, Scale: []float64{1, 2}}, []float64{4, -1}, []float64{3. / 13, -4. / 13, 12. / 13}},
		{"zero with a constant", Transform{Kind: L2, Constant: 2}, []float64{0, 0}, []float64{0, 0, 1}},
		{"huge", Transform{Kind: L2}, []float64{3e300, -4e300}, []float64{0.6, -0.8}},
		{"tiny", Transform{Kind: L2}, []float64{3e-300, -4e-300}, []float64{0.6, -0.8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]float64, len(c.want))
			test.OK(t, c.t.ApplyTo(got, c.x))
			for i := range got {
				if !(math.Abs(got[i]-c.want[i]) <= 1e-15) {
					t.Fatalf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestApplyRejects(t *testing.T) {
	cl2n := Transform{Kind: CL2N, Centre: []float64{1, 1}}
	var dim *niw.DimensionError
	err := cl2n.ApplyTo(make([]float64, 3), make([]float64, 3))
	if !errors.As(err, &dim) {
		t.Errorf("three numbers for a centre of two: got %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var val *niw.ValueError
		err := cl2n.ApplyTo(make([]float64, 2), []float64{0, bad})
		if !errors.As(err, &val) || val.Index != 1 {
			t.Errorf("%v: got %v, want a ValueError at index 1", bad, err)
		}
	}
	squared := Transform{Kind: L2, Power: 2}
	if squared.ApplyTo(make([]float64, 1), []float64{1e200}) == nil {
		t.Error("overflow in the power passed")
	}
}

func TestApplyInPlace(t *testing.T) {
	x := []float64{3, -4}
	tr := Transform{Kind: L2}
	err := tr.ApplyTo(x, x)
	if err != nil || math.Abs(x[0]-0.6) > 1e-15 {
		t.Fatalf("got %v, %v", x, err)
	}
}

func TestValidate(t *testing.T) {
	for _, bad := range []Transform{
		{Kind: "zscore"}, {Kind: CL2N}, {Kind: CL2N, Centre: []float64{1, math.NaN()}}, {Kind: L2, Power: -1}, {Kind: L2, Power: math.NaN()}, {Kind: L2, Shift: -1},
	} {
		if bad.Validate(2) == nil {
			t.Errorf("%+v passed", bad)
		}
	}
	for _, good := range []Transform{{Kind: None}, {Kind: L2, Power: 0.5}, {Kind: CL2N, Centre: []float64{1, 2}}} {
		err := good.Validate(2)
		if err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}

// cellsOf returns n cells of length d, some numbers of which are zero.
func cellsOf(rng *rand.Rand, n, d int, least float64) []float64 {
	cells := make([]float64, n*d)
	for i := range cells {
		if rng.IntN(4) > 0 {
			cells[i] = max(rng.NormFloat64(), least)
		}
	}
	return cells
}

// Whatever the transform, the parts sum to wᵀy, equal cells have equal parts, and the order of
// the cells does not matter.
func TestPartsOfCellsSumToTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []Kind{None, L2, CL2N} {
		for _, power := range []float64{0, 0.4, 0.5, 1, 2} {
			for _, shift := range []float64{0, 0.376} {
				for _, least := range []float64{0, -0.376, -9} {
					const n, d = 5, 7
					f := Transform{Kind: kind, Power: power, Shift: shift, Centre: make([]float64, d)}
					if rng.IntN(2) == 0 {
						f.Mean, f.Scale = make([]float64, d), slices.Repeat([]float64{2}, d)
						if kind != CL2N {
							f.Constant = 3
						}
					}
					w := make([]float64, f.Len(d))
					for i := range d {
						f.Centre[i] = rng.NormFloat64()
					}
					for i := range w {
						w[i] = rng.NormFloat64()
					}
					cells := cellsOf(rng, n, d, least)
					copy(cells[d:2*d], cells[:d])
					parts := make([]float64, n)
					rest := test.Must(f.SplitTo(parts, cells, w))(t)
					x := make([]float64, d)
					for i, v := range cells {
						x[i%d] += v / n
					}
					y := make([]float64, len(w))
					test.OK(t, f.ApplyTo(y, x))
					if got, want := floats.Sum(parts)+rest, floats.Dot(w, y); !(math.Abs(got-want) < 1e-12) {
						t.Errorf("%+v: the parts sum to %v, want %v", f, got, want)
					}
					if parts[0] != parts[1] {
						t.Errorf("%+v: equal cells have the parts %v and %v", f, parts[0], parts[1])
					}
					turned := make([]float64, n)
					test.Must(f.SplitTo(turned, slices.Concat(cells[d:], cells[:d]), w))(t)
					for i := range n {
						if !(math.Abs(turned[i]-parts[(i+1)%n]) < 1e-12) {
							t.Errorf("%+v: in another order %v, want those of %v", f, turned, parts)
						}
					}
				}
			}
		}
	}
}

// The oracle integrates gradients by small steps.
func TestPartsOfCellsIntegrateGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, d, steps, power = 4, 3, 20_000, 0.4
	f := Transform{Kind: CL2N, Power: power, Centre: []float64{0.5, 0.1, 0.9}}
	w, cells := []float64{1, -2, 0.5}, cellsOf(rng, n, d, 0)
	parts := make([]float64, n)
	test.Must(f.SplitTo(parts, cells, w))(t)
	x, length := make([]float64, d), 0.0
	for i, v := range cells {
		x[i%d] += v / n
	}
	for i, v := range x {
		length += math.Pow(math.Pow(v, power)-f.Centre[i], 2)
	}
	for c := range n {
		want := 0.0
		for i, v := range x {
			for k := range steps {
				if v > 0 { // the derivative of the power at s⁵ of the line, in the middle of a step of s
					s := (float64(k) + 0.5) / steps
					want += w[i] * power * math.Pow(math.Pow(s, 5)*v, power-1) * cells[c*d+i] / n * 5 * math.Pow(s, 4) / steps / math.Sqrt(length)
				}
			}
		}
		if !(math.Abs(parts[c]-want) < 1e-6) {
			t.Errorf("part of cell %d is %v, want %v", c, parts[c], want)
		}
	}
}

func TestPartsOfCellsOfDegenerateData(t *testing.T) {
	f := Transform{Kind: L2, Power: 0.4}
	parts := []float64{1, 1}
	if rest, err := f.SplitTo(parts, make([]float64, 4), []float64{1, 1}); err != nil || rest != 0 || parts[0] != 0 || parts[1] != 0 {
		t.Errorf("cells of zeros have the parts %v, %v, %v", parts, rest, err)
	}
	test.Must(f.SplitTo(parts, []float64{1, -3, -1, 3}, []float64{1, 1}))(t)
	for _, v := range parts {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("cells that cancel have the parts %v", parts)
		}
	}
	_, err := f.SplitTo(parts, []float64{1, math.NaN(), 2, 3}, []float64{1, 1})
	test.Refused[*niw.ValueError](t, err, "a cell that is not a number")
}
