package metaqda

import (
	"strconv"

	"gonum.org/v1/gonum/floats"
)

// Decision is the outcome of probabilities: a class or none, and a sentence.
type Decision struct {
	Class    int    // index into Classes, -1 for none of them
	Doubtful bool   // worth a look by a person
	Headline string // one sentence, which names the decision; of two answers the more probable first
	First    int    // index of the class that the headline names first, -1 for none of them
}

// Bounds of a decision. All but the last are whole percents, as they are shown, so equal numbers on
// the screen lead to equal decisions.
const (
	NoneFrom     = 34 // from here on the decision is none: just over a third
	ProbablyFrom = 60 // the headline says "Probably" from here on, below it "Not sure"
	SureFrom     = 85 // a less probable decision is doubtful; see [DecideAmong] for how often it is right
	AlmostFrom   = 97 // the headline says "Almost certainly" from here on
	FewExamples  = 3  // a single class of fewer examples does not show how other things differ from it
)

// alsoNamed is the least share of the decision's probability at which the headline also names
// the next answer.
const alsoNamed = 0.5

// Decide returns the decision by the probabilities of the classes and of none of them; see
// [DecideAmong]. classes must be of length C.
func (c *Classifier) Decide(classes []float64, none float64) Decision {
	defer c.reading()()
	return c.decide(classes, none)
}

func (c *Classifier) decide(classes []float64, none float64) Decision {
	return DecideAmong(c.labels(), c.counts(), classes, none)
}

// DecideAmong decides by the probabilities of C classes and of none of them. labels and bursts have
// the label and the number of examples of each class; a burst counts as one. It decides for none from
// NoneFrom on, else for the most probable class, the first of equals.
//
// A decision is doubtful below SureFrom. With a single class it is also doubtful if the class has
// fewer than FewExamples examples or none is zero: there is nothing to compare with. When groups of
// photographs were named one after the other (web/test/browser/sort.test.js), 82 % of the doubtful
// decisions were right, and 99.7 % of the others.
//
// NoneFrom minimises the expected cost (Chow, On optimum recognition error and reject tradeoff,
// 1970). An unknown vector in a class spoils the class; it costs twice as much as a rejected known
// one, which a person can correct. none is compared first. So judging together, which makes classes
// surer and leaves none unchanged, rejects the same vectors. core/session/TRANSDUCTION.md has the
// figures.
func DecideAmong(labels []string, bursts []int, classes []float64, none float64) Decision {
	return worded(0, decided(classes, none), labels, bursts, classes, none)
}

// decided returns the index of the class that the probabilities decide for, -1 for none.
func decided(classes []float64, none float64) int {
	if percents(none) < NoneFrom && len(classes) > 0 {
		return floats.MaxIdx(classes)
	}
	return -1
}

// worded puts the decision for a class, -1 for none, into words. It lowers the bounds that choose the
// words by slack percent.
func worded(slack, class int, labels []string, bursts []int, classes []float64, none float64) Decision {
	p, at := append([]float64{none}, classes...), class+1 // none before the i-th class at i+1
	name := func(i int) string {
		if i == 0 {
			return "none of these"
		}
		return labels[i-1]
	}
	percent, only := percents(p[at]), onlyTaught(bursts)
	d := Decision{Class: class, Doubtful: percent < SureFrom, First: class}
	switch {
	case only >= 0 && none == 0:
		d.Doubtful, d.Headline = true, "Only “"+labels[only]+"” has examples: teach a second class to compare with."
	case only >= 0 && only == d.Class && bursts[only] < FewExamples:
		d.Doubtful, d.Headline = true, "Looks like "+labels[only]+"; I know nothing else yet"
	case percent < ProbablyFrom-slack:
		most := p[at]
		p[at] = -1
		d.Headline = "Not sure; maybe " + name(at) + ", " + Percent(most)
		if next := floats.MaxIdx(p); p[next] >= alsoNamed*most-float64(slack)/100 {
			p[at] = most
			if percents(p[next]) > percent+slack {
				at, next = next, at
			}
			d.Headline = "Not sure: " + name(at) + " " + Percent(p[at]) + " or " + name(next) + " " + Percent(p[next])
			d.First = at - 1
		}
	case percent < AlmostFrom-slack:
		d.Headline = "Probably " + name(at) + ": " + Percent(p[at])
	default:
		d.Headline = "Almost certainly " + name(at) + ": " + Percent(p[at])
	}
	return d
}

// onlyTaught returns the index of the only class with examples, else -1.
func onlyTaught(bursts []int) int {
	only := -1
	for i, n := range bursts {
		switch {
		case n == 0:
		case only >= 0:
			return -1
		default:
			only = i
		}
	}
	return only
}

// Percent rounds p in [0, 1] to whole percents, but shows 0 or 100 only if p is exactly that.
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
