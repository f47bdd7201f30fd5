package session

import "slices"

// LeaveOut gives the posterior of a session without one of its examples. It keeps the evidence of
// the other examples, which was computed with that example in the session. So it is approximate, but
// cheaper than Infer.
type LeaveOut struct {
	population     *Population
	support        *Support
	said           []said
	unknown, known []float64 // results of [Support.scores]
}

// LeaveOut computes the evidence of each example. Cost that of Infer.
func (p *Population) LeaveOut(s *Support) *LeaveOut {
	q := p.Inference(s)
	q.Next(len(s.Class))
	l := &LeaveOut{population: p, support: s, said: q.said}
	l.unknown, l.known = s.scores(p, q.u, p.LeftOut)
	return l
}

// Posterior returns the posterior of the session without one example of a class. i is its index in
// the support, or below 0 if the support lacks it. others is the number of examples left in its
// class. If one is left, it counts as the only one of its class. All others keep their evidence.
func (l *LeaveOut) Posterior(class, i, others int) *Posterior {
	s := l.support
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
	return &Posterior{l.population.temperatureOf(all, left), l.population.inferKnown(unknown, known, bursts, way)}
}
