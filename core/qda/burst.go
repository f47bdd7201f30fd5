package qda

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// bursts tells which pictures of a class are nearly the same. A picture joins the
// burst of the oldest leader closer than near, else it leads a new one: leader
// clustering (Hartigan 1975, Clustering Algorithms, chapter 3), a function of the
// pictures in the order they were added. A burst counts as one example, the mean
// of its frames.
type bursts struct {
	near float64 // bound of the squared whitened distance; 0: every picture leads
	list []burst // in the order of their leaders
	of   []int   // burst of each picture
}

type burst struct {
	pictures []int       // ascending; the first one leads
	frames   [][]float64 // whitened, in that order; nil for one picture, which is the class's row
}

func (b *bursts) pictures() int { return len(b.of) }

// picture returns the i-th picture, whitened. It may be a row of w.
func (c *class) picture(i int) []float64 {
	b := c.of[i]
	s := &c.list[b]
	if s.frames == nil {
		return c.row(b)
	}
	at, _ := slices.BinarySearch(s.pictures, i)
	return s.frames[at]
}

// leader returns the picture that leads the b-th burst, whitened.
func (c *class) leader(b int) []float64 {
	if s := &c.list[b]; s.frames != nil {
		return s.frames[0]
	}
	return c.row(b)
}

// burstFor returns the first of the first n bursts whose leader is closer to w than
// near, -1 if there is none. Cost at most K d.
func (c *class) burstFor(w []float64, n int) int {
	if c.near == 0 {
		return -1
	}
	for b := range n {
		if within(c.leader(b), w, c.near) {
			return b
		}
	}
	return -1
}

// add appends one whitened picture of length d. Cost that of finding its burst,
// and that of [class.insert] or [class.replace].
func (c *class) add(w []float64) {
	i := c.pictures()
	if b := c.burstFor(w, len(c.list)); b >= 0 {
		c.of = append(c.of, b)
		c.join(b, i, w)
		return
	}
	c.of = append(c.of, len(c.list))
	c.list = append(c.list, burst{pictures: []int{i}})
	c.insert(c.w.Rows, w)
}

// join makes the i-th picture, w, a frame of the b-th burst.
func (c *class) join(b, i int, w []float64) {
	s := &c.list[b]
	if s.frames == nil {
		s.frames = [][]float64{slices.Clone(c.row(b))}
	}
	at, _ := slices.BinarySearch(s.pictures, i)
	s.pictures = slices.Insert(s.pictures, at, i)
	s.frames = slices.Insert(s.frames, at, slices.Clone(w))
	c.replace(b, meanOf(s.frames))
}

// meanOf returns the mean of frames, that of identical ones being any of them to
// the bit.
func meanOf(frames [][]float64) []float64 {
	mean := make([]float64, len(frames[0]))
	for _, f := range frames[1:] {
		for i, v := range f {
			mean[i] += v - frames[0][i]
		}
	}
	for i, v := range frames[0] {
		mean[i] = v + mean[i]/float64(len(frames))
	}
	return mean
}

// BurstMeans returns the examples that whitened pictures of one class make, in the order
// they were begun: the means of their bursts, for a near as in [Options]. It returns the
// error of [Classifier.AddRows]. Cost K d for each of the rows, K the number of bursts.
func BurstMeans(x *mat.Dense, near float64) (*mat.Dense, error) {
	n, d := x.Dims()
	k := newClass("", d, near)
	for i := range n {
		if _, err := checkedNorm2(squaredNorm(x.RawRowView(i))); err != nil {
			return nil, err
		}
		k.add(x.RawRowView(i))
	}
	return mat.NewDense(k.count(), d, k.w.Data), nil
}

// takeOut deletes the i-th picture and leaves the bursts as if it had never been
// there. Only one that others follow can change those of other pictures.
func (c *class) takeOut(i int) {
	b := c.of[i]
	s := &c.list[b]
	at, _ := slices.BinarySearch(s.pictures, i)
	switch {
	case len(s.pictures) == 1:
		c.list = slices.Delete(c.list, b, b+1)
		c.remove(b)
	case at > 0:
		s.pictures = slices.Delete(s.pictures, at, at+1)
		s.frames = slices.Delete(s.frames, at, at+1)
		c.settleBurst(b)
	default:
		c.regroup(c.reassign(i, true))
	}
	c.shift(i+1, -1)
	c.number()
}

// putIn makes the whitened w, of length d, the i-th picture and leaves the bursts
// as if it had always been there. Only one that leads can change those of other
// pictures.
func (c *class) putIn(i int, w []float64) {
	if i == c.pictures() {
		c.add(w)
		return
	}
	c.shift(i, 1)
	before, _ := slices.BinarySearchFunc(c.list, i, func(s burst, i int) int { return s.pictures[0] - i })
	if b := c.burstFor(w, before); b >= 0 {
		c.join(b, i, w)
		c.number()
		return
	}
	c.list = slices.Insert(c.list, before, burst{pictures: []int{i}})
	c.insert(before, w)
	c.number()
	c.regroup(c.reassign(i, false))
	c.number()
}

// settleBurst makes the mean of the frames of the b-th burst its example, and
// forgets the frame of a single picture.
func (c *class) settleBurst(b int) {
	s := &c.list[b]
	c.replace(b, meanOf(s.frames))
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

// reassign returns the leaders that the pictures have once the i-th one leads, or is
// gone: -1 for itself then. A picture keeps its leader unless that one is gone, or an older
// picture that did not lead before does and is near. So it takes one distance for every
// pair of a picture that rose to lead and a later one, and those of a picture that lost
// its leader from all that lead.
func (c *class) reassign(i int, gone bool) []int {
	to, leads := make([]int, c.pictures()), make([]bool, c.pictures())
	var leaders, risen []int // of the pictures so far; risen are leaders that did not lead before
	for x, b := range c.of {
		old := c.list[b].pictures[0]
		to[x] = old
		switch {
		case x == i && gone:
			to[x] = -1
		case x == i:
			risen = append(risen, x)
		case x > i:
			lost, others := old != x && !leads[old], risen
			if lost {
				to[x], others = x, leaders
			}
			at := slices.IndexFunc(others, func(q int) bool {
				return (lost || q < old) && within(c.picture(q), c.picture(x), c.near)
			})
			if at >= 0 {
				to[x] = others[at]
			} else if lost {
				risen = append(risen, x)
			}
		}
		if leads[x] = to[x] == x; leads[x] {
			leaders = append(leaders, x)
		}
	}
	return to
}

// regroup makes bursts of pictures with the given leaders, -1 for one that goes.
func (c *class) regroup(to []int) {
	next := c.burstsOf(to)
	for b := len(c.list) - 1; b >= 0; b-- {
		if x := c.list[b].pictures[0]; to[x] != x {
			c.remove(b)
			c.list = slices.Delete(c.list, b, b+1)
		}
	}
	for b, s := range next {
		isNew := b == len(c.list) || c.list[b].pictures[0] != s.pictures[0]
		switch {
		case isNew:
			c.list = slices.Insert(c.list, b, s)
			c.insert(b, meanOf(s.frames))
		case !slices.Equal(c.list[b].pictures, s.pictures):
			c.list[b] = s
			c.replace(b, meanOf(s.frames))
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
