package lda

import (
	"maps"
	"slices"
	"sync"
)

// Clone returns a classifier with the same classes and the same answers, to the bit. Changes of one do
// not reach the other. They share vectors and factors until one of them changes these; then it copies
// them. Work that Prepare has not finished starts anew in the clone. A class detached before can only
// be attached to the original. Cost O(N+C+d).
func (c *Classifier) Clone() *Classifier { return c.cloneFor(nil, nil) }

// cloneFor clones a classifier. If it follows another one, leader is the clone of that one, and led
// maps the classes of that one to their copies in leader. Otherwise both are nil.
func (c *Classifier) cloneFor(leader *Classifier, led map[*class]*class) *Classifier {
	all := *c
	other := &all
	other.z, other.left, other.inferring, other.chosen, other.others = make([]float64, c.Dim()), nil, nil, nil, nil
	other.support, other.work, other.spare = support{}, work{}, nil
	other.estimation = estimation{done: c.estimation.done}
	as := make(map[*class]*class, len(c.classes))
	other.classes = make([]*class, 0, len(c.classes))
	for _, k := range c.classes {
		as[k] = k.lend()
		other.classes = append(other.classes, as[k])
	}
	other.taught = renamed(c.taught, as)
	if r := c.reweighted; r == nil {
		other.index = maps.Clone(c.index)
	} else {
		other.index = leader.index
		other.reweighted = &reweighted{r.Parts, r.share, leader, make(map[*class]*class, len(r.as))}
		for of, is := range r.as {
			if led[of] != nil && as[is] != nil {
				other.reweighted.as[led[of]] = as[is]
			}
		}
	}
	other.shared = c.shared.clone(as)
	if other.shared.options = &other.options; c.settled {
		other.support = c.support.clone(as)
		other.work = other.newWork()
		other.spare = &sync.Pool{New: func() any { w := other.newWork(); return &w }}
		if l := c.linear; !l.all() {
			other.linear = &linear{worth: l.worth, piece: l.piece}
		}
	}
	for _, o := range c.others {
		other.others = append(other.others, o.cloneFor(other, as))
		if c.chosen == o {
			other.chosen = other.others[len(other.others)-1]
		}
	}
	if c.chosen == c {
		other.chosen = other
	}
	return other
}

// copied is [slices.Clone].
//
//go:noinline // some kilobytes less to download
func copied(x []float64) []float64 { return slices.Clone(x) }

// renamed returns the copies of classes in a clone, by the map as.
func renamed(classes []*class, as map[*class]*class) []*class {
	all := make([]*class, 0, len(classes))
	for _, k := range classes {
		all = append(all, as[k])
	}
	return all
}

// lend returns a class with the same pictures. Both copy what they change from now on.
func (c *class) lend() *class {
	c.lent, c.gone, c.ahead = true, slices.Clip(c.gone), slices.Clip(c.ahead)
	other := *c
	return &other
}

// own copies the slices that a class shares with a clone, before it changes them in place.
func (c *class) own() {
	if !c.lent {
		return
	}
	c.lent = false
	c.w.Data, c.n, c.sum = copied(c.w.Data), copied(c.n), copied(c.sum)
	c.ids, c.of, c.list = slices.Clone(c.ids), slices.Clone(c.of), slices.Clone(c.list)
	for b := range c.list {
		s := &c.list[b]
		s.pictures, s.frames, s.totals = slices.Clone(s.pictures), slices.Clone(s.frames), copied(s.totals)
	}
}

// clone returns the density of a clone. as maps classes to their copies.
func (s *shared) clone(as map[*class]*class) *shared {
	other := *s
	other.cov, other.image, other.x, other.room = s.cov.lend(as), nil, nil, room{}
	for _, v := range []*[]float64{&other.alpha, &other.h, &other.c, &other.atMean, &other.norm} {
		*v = copied(*v)
	}
	other.columns = slices.Clone(s.columns)
	return &other
}

// lend returns the covariance of a clone. as maps classes to their copies; nil keeps the classes. Both
// copy what they change from now on. If the covariance is still being made, the clone begins anew.
func (c *covariance) lend(as map[*class]*class) *covariance {
	if c.making != nil {
		other := newCovariance(c.weight, c.dim)
		other.anew = c.anew
		return other
	}
	c.lent = true
	other := *c
	other.x, other.work = nil, nil
	other.members, other.index = make([]*member, 0, len(c.members)), make(map[*class]*member, len(c.members))
	all := make([]member, len(c.members))
	for j, m := range c.members { // in the order of their columns
		one := &all[j]
		*one = *m
		if as != nil {
			if one.class = as[m.class]; one.class == nil {
				one.class = m.class.lend() // it has gone since the last update
			}
		}
		other.members, other.index[one.class] = append(other.members, one), one
	}
	other.of = slices.Clone(c.of)
	for i, of := range other.of {
		other.of[i].member = other.members[of.member.column]
	}
	return &other
}

// own copies the slices that a covariance shares with a clone, before it changes them in place.
func (c *covariance) own() {
	if !c.lent {
		return
	}
	c.lent = false
	c.rows, c.diff, c.means = copied(c.rows), copied(c.diff), copied(c.means)
}

// clone returns the support of a clone. as maps classes to their copies. If all scores are computed,
// both share the numbers until one computes them anew.
func (s *support) clone(as map[*class]*class) support {
	s.lent = s.done == len(s.asked)
	other := *s
	if !s.lent {
		other.Class, other.Shots, other.Bursts = slices.Clone(s.Class), copied(s.Shots), copied(s.Bursts)
		other.Scores, other.Unknown = copied(s.Scores), copied(s.Unknown)
	}
	other.asked = slices.Clone(s.asked)
	for i, a := range other.asked {
		other.asked[i].of = as[a.of]
	}
	return other
}
