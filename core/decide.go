package metaqda

import (
	"strconv"

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
	a := among{labels, classes, none}
	leads := a.largest(-2)
	if only := onlyTaught(bursts); only >= 0 && only == leads {
		d.Doubtful, d.Headline = true, "Looks like "+labels[only]+"; I know nothing else yet"
		return d
	}
	p := percents(a.p(leads))
	switch d.Doubtful = leads != d.Class || p < probable; {
	case d.Doubtful:
		d.Headline = a.doubt(leads)
	case leads < 0:
		d.Headline = NoneName + ", most likely: " + Percent(none)
	case p >= nearSure:
		d.Headline = "Almost certainly " + labels[leads] + ": " + Percent(classes[leads])
	default:
		d.Headline = "Probably " + labels[leads] + ": " + Percent(classes[leads])
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

// among is an answer; the index -1 stands for none of the classes.
type among struct {
	labels  []string
	classes []float64
	none    float64
}

func (a among) p(i int) float64 {
	if i < 0 {
		return a.none
	}
	return a.classes[i]
}

// largest returns the index of the largest number but that of an index, of equal ones that
// of none.
func (a among) largest(but int) int {
	best := -2
	for i := -1; i < len(a.classes); i++ {
		if i != but && (best == -2 || a.p(i) > a.p(best)) {
			best = i
		}
	}
	return best
}

func (a among) doubt(leads int) string {
	next := a.largest(leads)
	if next < -1 || a.p(next) < alsoNamed*a.p(leads) {
		return "Not sure, perhaps " + a.spoken(leads)
	}
	return "Not sure: " + a.spoken(leads) + " or " + a.spoken(next)
}

func (a among) spoken(i int) string {
	if i < 0 {
		return "none of these " + Percent(a.none)
	}
	return a.labels[i] + " " + Percent(a.classes[i])
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
