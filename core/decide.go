package metaqda

import (
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/qda"
)

// Decision is what a vector is taken for by its probabilities.
type Decision struct {
	Class    int    // index into Classes, -1 for none of them; see [qda.Decide]
	Doubtful bool   // somebody should look at it
	Headline string // one sentence: the largest number, if it has one, leads
}

// Of a decision that is made at less than probable somebody is told, and Headline says
// almost certainly from nearSure on. Words follow whole percents, as they are shown. A
// runner-up is named when it is at least alsoNamed times as probable. One class of fewer
// than enough examples tells nothing of what else there is.
const (
	probable  = 60
	nearSure  = 97
	alsoNamed = 0.5
	enough    = 3
)

// Decide says what probabilities, C of the classes and none, are taken for; see
// [DecideAmong]. classes must be of length C.
func (c *Classifier) Decide(classes []float64, none float64) Decision {
	return DecideAmong(c.Labels(), c.Bursts(), classes, none)
}

// DecideAmong says what probabilities are taken for, of C classes with their labels and
// how many examples they have, a burst being one, and of none of them. It is doubtful
// where something else is more probable than what is decided on, where that is less than
// 60 %, and where only one class has examples and these are fewer than three: how other things
// differ from it cannot be known from them.
func DecideAmong(labels []string, bursts []int, classes []float64, none float64) Decision {
	d := Decision{Class: qda.Decide(classes, none)}
	p := append([]float64{none}, classes...) // none before the i-th class at i+1, since of equal ones it is taken
	spoken := func(i int) string {
		if i == 0 {
			return "none of these " + Percent(none)
		}
		return labels[i-1] + " " + Percent(p[i])
	}
	leads := floats.MaxIdx(p)
	if percents(p[d.Class+1]) == percents(p[leads]) { // of numbers that look equal what is decided on leads
		leads = d.Class + 1
	}
	if only := onlyTaught(bursts); only >= 0 && only+1 == leads {
		d.Doubtful, d.Headline = true, "Looks like "+labels[only]+"; I know nothing else yet"
		return d
	}
	switch percent := percents(p[leads]); {
	case leads-1 != d.Class || percent < probable:
		d.Doubtful, d.Headline = true, "Not sure, perhaps "+spoken(leads)
		most := p[leads]
		p[leads] = -1
		if next := floats.MaxIdx(p); p[next] >= alsoNamed*most {
			p[leads] = most
			d.Headline = "Not sure: " + spoken(leads) + " or " + spoken(next)
		}
	case leads == 0:
		d.Headline = NoneName + ", most likely: " + Percent(none)
	case percent >= nearSure:
		d.Headline = "Almost certainly " + labels[leads-1] + ": " + Percent(p[leads])
	default:
		d.Headline = "Probably " + labels[leads-1] + ": " + Percent(p[leads])
	}
	return d
}

// onlyTaught returns the index of the one class that has examples, where these are too few,
// else -1.
func onlyTaught(bursts []int) int {
	only := -1
	for i, n := range bursts {
		switch {
		case n == 0:
		case only >= 0 || n >= enough:
			return -1
		default:
			only = i
		}
	}
	return only
}

// Percent rounds p in [0, 1] to whole percents, but calls nothing certain or
// impossible that is not exactly so.
func Percent(p float64) string {
	switch {
	case p > 0 && p < 0.005:
		return "< 1 %"
	case p < 1 && p >= 0.995:
		return "> 99 %"
	}
	return strconv.Itoa(percents(p)) + " %"
}

func percents(p float64) int { return int(p*100 + 0.5) }
