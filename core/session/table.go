package session

import "math"

// Table is a [Posterior] as numbers: with u and s of section 1 of MODEL.md
//
//	p(y=j | x, known) = Σ_k HardWeight_k softmax_j(ln π_j + u_j InverseT_k)
//	p(known | x)      = Σ_k KnownWeight_k σ(Slope_k s + Offset_k + ln π_known/π_none)
type Table struct {
	InverseT, HardWeight       []float64
	Slope, Offset, KnownWeight []float64
}

// Table returns the nodes of the posterior, which must not be changed.
func (q *Posterior) Table() Table {
	n := len(q.known.lines)
	lines := make([]float64, 2*n)
	t := Table{q.temperature.inverseT[:], q.temperature.weight[:], lines[:n], lines[n:], q.known.weight[:]}
	for k, l := range q.known.lines {
		t.Slope[k], t.Offset[k] = l.slope, l.offset
	}
	return t
}

// LogOdds returns ln π_known/π_none for the prior probability of none of the classes,
// a number beyond all scores if that is zero.
func LogOdds(none float64) float64 {
	if none == 0 {
		return math.MaxFloat64
	}
	return math.Log1p(-none) - math.Log(none)
}
