package qda

import "testing"

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		classes []float64
		none    float64
		want    int
	}{
		{"the most probable", []float64{.2, .7}, .1, 1},
		{"none, though a class is more probable", []float64{.66, 0}, .34, -1},
		{"a class, though none is more probable", []float64{.23, .24, .23}, .3, 1},
		{"on the edge", []float64{.665}, NoneFrom, -1},
		{"the first of equals", []float64{.4, .4}, .2, 0},
		{"without none", []float64{0, 1}, 0, 1},
		{"without classes", nil, 0, -1},
	} {
		if got := Decide(c.classes, c.none); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
