package metaqda

import "testing"

func TestPercentIsHonestAtTheEnds(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0 %", 1e-300: "< 1 %", 0.00499: "< 1 %", 0.005: "1 %", 0.83: "83 %",
		0.9949: "99 %", 0.995: "> 99 %", 1 - 1e-16: "> 99 %", 1: "100 %",
	} {
		if got := Percent(p); got != want {
			t.Errorf("Percent(%v) = %q, want %q", p, got, want)
		}
	}
}
