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
		c.regroup(c.reassign(i), p, prior)
	}
	c.renumber(i)
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

// renumber closes the gap that picture i left.
func (c *class) renumber(i int) {
	c.of = c.of[:len(c.of)-1]
	for b := range c.list {
		for at, x := range c.list[b].pictures {
			if x > i {
				x--
				c.list[b].pictures[at] = x
			}
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

// reassign returns the leaders that the pictures after the leader gone have
// without it, -1 for itself. Each picture keeps its leader unless that one is
// gone, or an older picture rose to lead and is near. So it takes one distance
// for every pair of a picture that rose and a later one, and those of a picture
// that lost its leader from the leaders younger than that.
func (c *class) reassign(gone int) []int {
	to, role := make([]int, c.pictures()), make([]int, c.pictures())
	for i, b := range c.of {
		to[i] = c.list[b].pictures[0]
		role[to[i]] = leads
	}
	to[gone], role[gone] = -1, follows
	var risen []int
	for x := gone + 1; x < len(to); x++ {
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
