package qda

import (
	"slices"

	"metaqda/core/niw"
)

// takeOut deletes the i-th picture and leaves the bursts as if it had never been
// there. Only one that others follow can change those of other pictures.
func (c *class) takeOut(i int, p *niw.Prior, prior niw.Posterior) {
	b := c.of[i]
	s := &c.list[b]
	at, _ := slices.BinarySearch(s.pictures, i)
	switch {
	case len(s.pictures) == 1:
		c.list = slices.Delete(c.list, b, b+1)
		c.remove(b, prior)
	case at > 0:
		s.pictures = slices.Delete(s.pictures, at, at+1)
		s.frames = slices.Delete(s.frames, at, at+1)
		c.settleBurst(b, p)
	default:
		c.regroup(c.reassign(i, follows), p, prior)
	}
	c.shift(i+1, -1)
	c.number()
}

// putIn makes the whitened w, of length d, the i-th picture and leaves the bursts
// as if it had always been there. Only one that leads can change those of other
// pictures.
func (c *class) putIn(i int, w []float64, p *niw.Prior, prior niw.Posterior) {
	c.shift(i, 1)
	before, _ := slices.BinarySearchFunc(c.list, i, func(s burst, i int) int { return s.pictures[0] - i })
	if b := c.burstFor(w, before); b >= 0 {
		c.join(b, i, w, p)
		c.number()
		return
	}
	c.list = slices.Insert(c.list, before, burst{pictures: []int{i}})
	c.insert(before, w, p)
	c.number()
	if to := c.reassign(i, rose); slices.ContainsFunc(c.list, func(s burst) bool { return c.leftBurst(s, to) }) {
		c.regroup(to, p, prior)
		c.number()
	}
}

// leftBurst tells whether a picture of s has another leader than before.
func (c *class) leftBurst(s burst, to []int) bool {
	return slices.ContainsFunc(s.pictures, func(x int) bool { return to[x] != s.pictures[0] })
}

// settleBurst makes the mean of the frames of the b-th burst its example, and
// forgets the frame of a single picture.
func (c *class) settleBurst(b int, p *niw.Prior) {
	s := &c.list[b]
	c.replace(b, meanOf(s.frames), p)
	if len(s.frames) == 1 {
		s.frames = nil
	}
}

// shift moves the pictures from the given one on by so many places.
func (c *class) shift(from, by int) {
	for b := range c.list {
		for at, x := range c.list[b].pictures {
			if x >= from {
				c.list[b].pictures[at] = x + by
			}
		}
	}
}

// number writes down the burst of each picture.
func (c *class) number() {
	n := 0
	for _, s := range c.list {
		n += len(s.pictures)
	}
	c.of = slices.Grow(c.of[:0], n)[:n]
	for b, s := range c.list {
		for _, x := range s.pictures {
			c.of[x] = b
		}
	}
}

// What a picture is while others are being reassigned.
const (
	follows = iota
	leads   // as it did before
	rose    // leads, but did not before
)

// reassign returns the leaders that the pictures after the i-th have once that one
// leads, where role is rose, or is gone, where it is follows: -1 for itself then.
// Each picture keeps its leader unless that one is gone, or an older picture rose
// to lead and is near. So it takes one distance for every pair of a picture that
// rose and a later one, and those of a picture that lost its leader from the
// leaders younger than that.
func (c *class) reassign(i, now int) []int {
	to, role := make([]int, c.pictures()), make([]int, c.pictures())
	for x, b := range c.of {
		to[x] = c.list[b].pictures[0]
		role[to[x]] = leads
	}
	var risen []int
	role[i] = now
	if now == rose {
		risen = append(risen, i)
	} else {
		to[i] = -1
	}
	for x := i + 1; x < len(to); x++ {
		old := to[x]
		if role[old] == leads {
			if r := c.nearest(x, old, risen); r >= 0 {
				to[x], role[x] = r, follows
			}
			continue
		}
		if to[x] = c.oldest(x, old, role); to[x] == x {
			role[x] = rose
			risen = append(risen, x)
		}
	}
	return to
}

// nearest returns the oldest of the risen pictures before limit that is near
// picture x, -1 if none is.
func (c *class) nearest(x, limit int, risen []int) int {
	for _, r := range risen {
		if r >= limit {
			break
		}
		if c.closer(c.picture(r), c.picture(x)) {
			return r
		}
	}
	return -1
}

// oldest returns the oldest leader near picture x, x itself if there is none,
// where those before its former leader that did not rise are known not to be.
func (c *class) oldest(x, former int, role []int) int {
	for q := range x {
		if (role[q] == rose || role[q] == leads && q > former) && c.closer(c.picture(q), c.picture(x)) {
			return q
		}
	}
	return x
}

// regroup makes bursts of pictures with the given leaders, -1 for one that goes.
func (c *class) regroup(to []int, p *niw.Prior, prior niw.Posterior) {
	next := c.burstsOf(to)
	for b := len(c.list) - 1; b >= 0; b-- {
		if x := c.list[b].pictures[0]; to[x] != x {
			c.remove(b, prior)
			c.list = slices.Delete(c.list, b, b+1)
		}
	}
	for b, s := range next {
		isNew := b == len(c.list) || c.list[b].pictures[0] != s.pictures[0]
		switch {
		case isNew:
			c.list = slices.Insert(c.list, b, s)
			c.insert(b, meanOf(s.frames), p)
		case !slices.Equal(c.list[b].pictures, s.pictures):
			c.list[b] = s
			c.replace(b, meanOf(s.frames), p)
		}
		if len(s.pictures) == 1 {
			c.list[b].frames = nil
		}
	}
}

// burstsOf returns the bursts of pictures with the given leaders, in order, with
// frames that no change of rows overwrites; those that stay have none.
func (c *class) burstsOf(to []int) []burst {
	var list []burst
	at := make([]int, len(to))
	for x, leader := range to {
		if leader < 0 {
			continue
		}
		if leader == x {
			at[x] = len(list)
			list = append(list, burst{})
		}
		s := &list[at[leader]]
		s.pictures = append(s.pictures, x)
	}
	for b := range list {
		c.collect(&list[b])
	}
	return list
}

// collect gathers the frames of a burst that was not there before.
func (c *class) collect(s *burst) {
	if slices.Equal(s.pictures, c.list[c.of[s.pictures[0]]].pictures) {
		return
	}
	for _, x := range s.pictures {
		f := c.picture(x)
		if c.list[c.of[x]].frames == nil {
			f = slices.Clone(f)
		}
		s.frames = append(s.frames, f)
	}
}
