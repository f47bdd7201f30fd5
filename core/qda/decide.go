package qda

// NoneFrom is the probability of none of the classes from which on that is what a
// picture is taken for: a third, and so much more that whole percents tell it too (34
// is none, 33 is not).
const NoneFrom = 0.335

// Decide returns what a picture is taken for: the index of the most probable class, the
// first of several, or -1 for none of them.
//
// It is the decision that costs least where a stranger taken for one of the classes
// costs twice as much as a known picture laid aside (Chow, On optimum recognition error
// and reject tradeoff, 1970): laid aside it is looked at, among the known it spoils a
// class. Whether it is one of the classes is decided before which one. So pictures
// judged together, which are surer of their class and as sure as before of being of
// none, are laid aside as they are one by one; the most probable of all answers would
// lay aside fewer the surer the classes are. TRANSDUCTION.md has the figures.
func Decide(classes []float64, none float64) int {
	best := -1
	if none >= NoneFrom {
		return best
	}
	for j, p := range classes {
		if best < 0 || p > classes[best] {
			best = j
		}
	}
	return best
}
