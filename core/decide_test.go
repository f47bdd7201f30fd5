package metaqda

import (
	"testing"

	"metaqda/core/test"
)

func TestPercentIsHonestAtTheEnds(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0 %", 1e-300: "< 1 %", 0.00499: "< 1 %", 0.005: "1 %", 0.83: "83 %",
		0.9949: "99 %", 0.995: "> 99 %", 1 - 1e-16: "> 99 %", 1: "100 %",
	} {
		got := Percent(p)
		test.FailIf(t, got != want, "Percent(%v) = %q, want %q", p, got, want)
	}
}
