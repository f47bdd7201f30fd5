package session

import "slices"

// LeaveOut answers for a session without one of its examples. It uses what the others say while
// that example is still there. Infer without it would ask them all again.
type LeaveOut struct {
	population     *Population
	support        *Support
	said           []said
	unknown, known []float64 // as of [Support.scores]
}

// LeaveOut computes the evidence of each example. Cost that of Infer.
func (p *Population) LeaveOut(s *Support) *LeaveOut {
	q := p.Inference(s)
	q.Next(len(s.Class))
	l := &LeaveOut{population: p, support: s, said: q.said}
	l.unknown, l.known = s.scores(p, q.u, p.LeftOut)
	return l
}

// Posterior returns the posterior of the session without an example of a class. It is the i-th of
// the support or, for i < 0, none of these. So many others of its class are left. They all say the
// same as before, except one that is then the only one of its class.
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
