package session

import "slices"

// Without returns the posterior of the session without one example of a class. i is its index in
// the support, or below 0 if the support lacks it. others is the number of examples left in its
// class. If one is left, it counts as the only one of its class. The other examples keep the evidence
// that was computed with the example in the session. So it is approximate, but cheaper than Infer.
func (q *Posterior) Without(class, i, others int) *Posterior {
	l := q.from
	s := &l.support
	var all []said
	var rest []int
	var unknown, known []float64
	for r, at := 0, 0; r < len(s.Class); r++ {
		left := s.left(r)
		if r != i {
			if len(l.said) > 0 {
				rest, all = append(rest, r), append(all, l.said[r])
			}
			if len(l.unknown) > 0 {
				unknown = append(unknown, l.unknown[r])
			}
			if left && (s.Class[r] != class || others > 1) {
				known = append(known, l.known[at])
			}
		}
		if left {
			at++
		}
	}
	left := func(k int) bool { r := rest[k]; return s.left(r) && (s.Class[r] != class || others > 1) }
	bursts, way := slices.Clone(s.Bursts), s.Way()
	if bursts[class] = float64(others); others == 0 {
		bursts, way = slices.Delete(bursts, class, class+1), way-1
	}
	return &Posterior{l.population.temperatureOf(all, left), l.population.inferKnown(unknown, known, bursts, way), nil}
}
