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

// Table returns the posterior's nodes that weigh anything.
func (q *Posterior) Table() (t Table) {
	for k, w := range q.hardness.weight {
		if w > 0 {
			t.InverseT, t.HardWeight = append(t.InverseT, q.hardness.inverseT[k]), append(t.HardWeight, w)
		}
	}
	for k, w := range q.known.weight {
		if w > 0 {
			l := q.known.lines[k]
			t.Slope, t.Offset, t.KnownWeight = append(t.Slope, l.slope), append(t.Offset, l.offset), append(t.KnownWeight, w)
		}
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
