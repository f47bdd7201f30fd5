package metaqda

import "strings"

// slack is the tolerance in percent at which a live view keeps the words of its headline:
// successive frames of a thing held still differ by two or three.
const slack = 3

// Steady decides about successive frames of a live view, so that noise changes neither class
// nor words. The zero value has seen no frame.
type Steady struct {
	class   int
	words   string // the headline shown, without its numbers
	waiting bool   // whether the last frame said something else
}

// Next returns what to show of the next frame, whose decision is d; see [DecideAmong]. The
// shown words stay while they are within slack of their bounds. Other words or another class
// replace them once two frames in a row differ. show is false for the first of these frames.
func (s *Steady) Next(d Decision, labels []string, bursts []int, classes []float64, none float64) (_ Decision, show bool) {
	if kept := decideAmong(slack, labels, bursts, classes, none); s.shows(kept) {
		d = kept
	}
	if s.words != "" && !s.shows(d) && !s.waiting {
		s.waiting = true
		return d, false
	}
	s.class, s.words, s.waiting = d.Class, words(d.Headline), false
	return d, true
}

func (s *Steady) shows(d Decision) bool { return s.class == d.Class && s.words == words(d.Headline) }

// words returns a headline without its numbers.
func words(headline string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789<>%", r) {
			return -1
		}
		return r
	}, headline)
}
