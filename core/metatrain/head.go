package metatrain

import "math"

// Degree is one more than the degree of the polynomials in ln K of a [Head].
const Degree = 3

// Head turns the log densities of a task into logits. With l_j the log density
// of class j, l_0 that of the prior predictive (an example of no class seen),
// K_j the examples of class j, K̄ their mean, C the number of classes and π the
// prior probability of none of these,
//
//	logit_j    = ln((1-π)/C) + (l_j - l_0)/T(K_j) + b(K_j)
//	logit_none = ln π + o(K̄, C)
//	ln T(K)    = Σ_r LogT_r  (ln K)^r
//	b(K)       = Σ_r Bias_r  (ln K)^r
//	o(K̄, C)    = None_0 + None_1 ln K̄ + None_2 ln C
//
// The zero Head is T = 1 without offsets. A temperature shared by all classes
// leaves l_0 without effect among the classes themselves.
type Head struct {
	LogT [Degree]float64
	Bias [Degree]float64
	None [3]float64
}

// headSize is the number of values of a Head in the order of [Head.values].
const headSize = 2*Degree + 3

func (h *Head) values() (v [headSize]float64) {
	copy(v[:], h.LogT[:])
	copy(v[Degree:], h.Bias[:])
	copy(v[2*Degree:], h.None[:])
	return v
}

func (h *Head) setValues(v []float64) {
	copy(h.LogT[:], v)
	copy(h.Bias[:], v[Degree:])
	copy(h.None[:], v[2*Degree:])
}

// headTerms are the parts of the head that depend on the task but on no query.
type headTerms struct {
	logK      []float64 // of each class
	invT      []float64 // 1/T(K_j)
	shift     []float64 // ln((1-π)/C) + b(K_j)
	none      float64   // logit of none of these
	meanLogK  float64   // ln K̄
	logWay    float64
	openWorld bool // π > 0
}

// prepare evaluates the head for classes with the given numbers of examples.
func (h *Head) prepare(t *headTerms, shots []int, pi float64) {
	way := float64(len(shots))
	t.logK, t.invT, t.shift = grown(t.logK, len(shots)), grown(t.invT, len(shots)), grown(t.shift, len(shots))
	var total float64
	for j, k := range shots {
		t.logK[j] = math.Log(math.Max(float64(k), 1))
		t.invT[j] = math.Exp(-polynomial(h.LogT[:], t.logK[j]))
		t.shift[j] = math.Log((1-pi)/way) + polynomial(h.Bias[:], t.logK[j])
		total += math.Max(float64(k), 1)
	}
	t.meanLogK, t.logWay, t.openWorld = math.Log(total/way), math.Log(way), pi > 0
	t.none = math.Log(pi) + h.None[0] + h.None[1]*t.meanLogK + h.None[2]*t.logWay
}

// logits stores the logits of one query in dst, of length C or, with none of
// these among the hypotheses, C+1. l are the log densities, l0 the prior's.
func (t *headTerms) logits(dst, l []float64, l0 float64) {
	for j, v := range l {
		dst[j] = (v-l0)*t.invT[j] + t.shift[j]
	}
	if t.openWorld {
		dst[len(l)] = t.none
	}
}

// reverse carries g, the gradient by the logits of one query, to the log
// densities (stored in dl, which may be g), to l_0 (returned) and to the head's
// values (added to grad).
func (t *headTerms) reverse(dl, g, l []float64, l0 float64, grad *[headSize]float64) (dl0 float64) {
	for j, v := range l {
		gj := g[j]
		dl[j] = gj * t.invT[j]
		dl0 -= dl[j]
		slope := -dl[j] * (v - l0)
		for r := range Degree {
			grad[r] += slope
			grad[Degree+r] += gj
			slope *= t.logK[j]
			gj *= t.logK[j]
		}
	}
	if t.openWorld {
		gn := g[len(l)]
		grad[2*Degree] += gn
		grad[2*Degree+1] += gn * t.meanLogK
		grad[2*Degree+2] += gn * t.logWay
	}
	return dl0
}

// polynomial returns Σ c_r x^r by Horner's rule.
func polynomial(c []float64, x float64) float64 {
	var s float64
	for r := len(c) - 1; r >= 0; r-- {
		s = s*x + c[r]
	}
	return s
}
