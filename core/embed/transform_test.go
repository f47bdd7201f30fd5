package embed

import (
	"errors"
	"math"
	"testing"

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
		{"huge", Transform{Kind: L2}, []float64{3e300, -4e300}, []float64{0.6, -0.8}},
		{"tiny", Transform{Kind: L2}, []float64{3e-300, -4e-300}, []float64{0.6, -0.8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]float64, len(c.x))
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
