package qda

import (
	"slices"

	"metaqda/core/niw"
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
		if c.closer(c.leader(b), w) {
			return b
		}
	}
	return -1
}

// add appends one whitened picture of length d. Cost that of finding its burst,
// and that of [class.insert] or [class.replace].
func (c *class) add(w []float64, p *niw.Prior) {
	i := c.pictures()
	if b := c.burstFor(w, len(c.list)); b >= 0 {
		c.of = append(c.of, b)
		c.join(b, i, w, p)
		return
	}
	c.of = append(c.of, len(c.list))
	c.list = append(c.list, burst{pictures: []int{i}})
	c.insert(c.w.Rows, w, p)
}

// join makes the i-th picture, w, a frame of the b-th burst.
func (c *class) join(b, i int, w []float64, p *niw.Prior) {
	s := &c.list[b]
	if s.frames == nil {
		s.frames = [][]float64{slices.Clone(c.row(b))}
	}
	at, _ := slices.BinarySearch(s.pictures, i)
	s.pictures = slices.Insert(s.pictures, at, i)
	s.frames = slices.Insert(s.frames, at, slices.Clone(w))
	c.replace(b, meanOf(s.frames), p)
}

// closer tells whether two pictures are closer than near, the same for (x, y) and
// (y, x). A sum of squares over coordinates, unlike one of inner products, keeps
// its digits where it is small, and is soon known to be large.
func (c *class) closer(x, y []float64) bool {
	var s float64
	for i, v := range x {
		s += (v - y[i]) * (v - y[i])
		if s >= c.near {
			return false
		}
	}
	return true
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

// replay adds all pictures anew by the Near in force.
func (c *Classifier) replay() {
	for _, k := range c.classes {
		c.replayClass(k)
	}
	c.changed()
}

// replayClass is replay for one class.
func (c *Classifier) replayClass(k *class) {
	fresh := c.newClass(k.label)
	fresh.weight = k.weight
	fresh.together(func() {
		for i := range k.of {
			fresh.add(k.picture(i), c.prior)
		}
	})
	*k = *fresh
	if c.shared != nil {
		c.shared = newShared(&c.options, c.Dim())
	}
}
