package lda

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// bursts holds which pictures of a class are near-copies of each other, and how much they count.
// Two pictures at a squared whitened distance r² correlate by
//
//	ρ = 2^(-(r²/near)²/2)
//
// Two are linked if ρ is above linked. A burst is a set of pictures with a chain of links from
// each to every other one, whatever their order. It is one example of its class. A burst of K
// pictures has the weights ω_i = 1/Σ_k ρ_ik, i and k in the burst. It counts as
//
//	n = Σ_i ω_i,   1 ≤ n ≤ K,
//
// examples at the weighted mean of its pictures.
//
// This approximates an exact result. With P the K×K matrix of all ρ, pictures that are correlated
// rows of a matrix-normal distribution count 1ᵀP⁻¹1, with the weights P⁻¹1. If all ρ are equal, both
// give n = K/(1+(K-1)ρ). Otherwise P may be singular and its weights negative. ω_i is always
// positive and needs no factorisation.
type bursts struct {
	near float64 // squared whitened distance at which ρ is 1/√2; 0: no picture correlates
	list []burst // in the order of their first pictures
	of   []int   // burst of each picture
}

type burst struct {
	pictures []int       // ascending
	frames   [][]float64 // whitened, in that order; nil for one picture, which is the class's row
	totals   []float64   // Σ_k ρ_ik of the first frames, over these; see [class.mean]
}

// nearOf returns the correlation length of the session. W is the largest mean squared distance
// of two pictures of a class, and D the mean squared distance of two pictures of different classes:
//
//	W = max_j 2/(K_j-1) Σ_{i in j} |x_i - x̄_j|²
//	D = 2/(C-1) Σ_j mean_{i in j} |x_i - g|²,   g = Σ_j x̄_j/C
//
// With one class D is twice the mean squared length, as of orthogonal pictures. Lengths are rounded to
// powers of √2, so that they seldom change. If two classes have several pictures each,
//
//	near = min(Near, ofClass max(W, least D)),   and with Options.Spread Near min(W, inClass D)
//
// else near is Near, or with Options.Spread Near inClass D. So pictures of similar classes do not
// count as copies. Without Options.Spread near is also Near if W < frames D. Then each class probably
// has frames of a single thing, since pictures of different things are seldom so close. Cost C d.
func (c *Classifier) nearOf() float64 {
	o, n := &c.options, float64(len(c.taught))
	if o.Near == 0 || n == 0 {
		return o.Near
	}
	several, w := 0, 0.0
	for _, k := range c.taught {
		if m := float64(k.pictures()); m > 1 {
			several++
			if s := k.square - squaredNorm(k.sum)/m; s > rounding*k.square {
				w = math.Max(w, 2/(m-1)*s)
			}
		}
	}
	if o.Spread == 0 && (several < 2 || ofClass*coarse(w) >= o.Near) {
		return o.Near // whatever D is
	}
	g, square := make([]float64, len(c.taught[0].sum)), 0.0
	for _, k := range c.taught {
		m := float64(k.pictures())
		square += k.square / m
		if n > 1 {
			floats.AddScaled(g, 1/(n*m), k.sum)
		}
	}
	d := math.Max(rounding*square, square-n*squaredNorm(g)) // Σ_j mean |x_i - g|²
	d *= 2 / math.Max(1, n-1)
	switch {
	case o.Spread > 0 && (several < 2 || w == 0):
		return o.Near * coarse(inClass*d)
	case o.Spread > 0:
		return o.Near * coarse(math.Min(w, inClass*d))
	case w < frames*d:
		return o.Near
	}
	return math.Min(o.Near, ofClass*coarse(math.Max(w, least*d)))
}

// coarse rounds x to the nearest power of √2.
func coarse(x float64) float64 {
	if x == 0 || math.IsInf(x, 1) {
		return x
	}
	return math.Exp2(math.Round(2*math.Log2(x)) / 2)
}

// See Bursts in core/session/EXPERIMENTS.md.
const (
	inClass = 0.6 // W over D: .4 to 1.1 in 34 sets of pictures
	frames  = 0.4 // W over D of frames: .13 to .33 in nine sets of ten
	ofClass = 0.25
	least   = 0.75
)

// Near returns the correlation length of the session, which determines all bursts.
func (c *Classifier) Near() float64 {
	c.Group(always)
	return c.near
}

// Group finds the bursts of all pictures by the present correlation length, until more returns false.
// It reports whether it has finished. If the length has changed, it costs as much as [class.regroup]
// for each class.
func (c *Classifier) Group(more func() bool) bool {
	if c.grouped || c.reweighted != nil { // whose bursts are its leader's
		return true
	}
	if !c.measured {
		c.near, c.measured = c.nearOf(), true
	}
	for _, k := range c.classes {
		if k.near == c.near {
			continue
		}
		if !more() {
			return false
		}
		if k.regroup(c.near) {
			c.settled, c.followed, c.chosen = false, false, nil
			c.estimation = estimation{}
		}
	}
	for _, o := range c.others {
		o.near = c.near
	}
	c.grouped = true
	return true
}

// regroup gives a class another correlation length, and reports whether its examples change. It
// costs as much as anew.
func (c *class) regroup(near float64) (changed bool) {
	if c.apart(reachOf(near)) {
		c.near = near
		return false
	}
	return c.anew(near, c.pictures(), nil, func(i int) int { return i })
}

// anew adds n pictures anew with a correlation length, and reports whether the examples change.
// Picture i is the former picture was(i), or w if that is below 0. An example that stays the same keeps
// its id, so a [covariance] takes in only the others. It costs as much as adding the pictures.
func (c *class) anew(near float64, n int, w []float64, was func(i int) int) (changed bool) {
	fresh := newClass(c.label, c.w.Cols, near)
	for i := range n {
		if at := was(i); at >= 0 {
			fresh.add(c.picture(at))
		} else {
			fresh.add(w)
		}
	}
	same := make([]bool, len(c.list))
	fresh.serial = c.serial
	for b, s := range fresh.list {
		at := -1
		if first := was(s.pictures[0]); first >= 0 {
			at = c.of[first]
		}
		if at >= 0 && c.n[at] == fresh.n[b] && slices.Equal(c.row(at), fresh.row(b)) &&
			slices.EqualFunc(s.pictures, c.list[at].pictures, func(i, old int) bool { return was(i) == old }) {
			same[at], fresh.ids[b] = true, c.ids[at]
		} else {
			fresh.identify(b)
		}
	}
	for b := range c.list {
		if !same[b] {
			c.forget(b)
		}
	}
	fresh.seen, fresh.ahead, fresh.gone = c.seen, c.ahead, c.gone
	*c = *fresh
	return slices.Contains(same, false) || len(same) < fresh.count()
}

// apart reports whether each picture is an example of its own and stays one with another reach.
func (c *class) apart(reach float64) bool {
	if c.count() < c.pictures() {
		return false
	}
	for i := range min(c.count(), mostLinked) {
		for k := range i {
			if within(c.row(i), c.row(k), reach) {
				return false
			}
		}
	}
	return true
}

// linked is the correlation above which two pictures belong to one burst. At this bound two pictures
// count as 1.25 examples; below it each counts as one.
const linked = 0.6

// reach returns the squared whitened distance below which two pictures are linked.
func (b *bursts) reach() float64 { return reachOf(b.near) }

func reachOf(near float64) float64 { return reachOfOne * near }

var reachOfOne = math.Sqrt(-2 * math.Log2(linked))

// mostLinked bounds the work of finding links, K²/2 distances. Only the first mostLinked pictures of a
// class are linked with each other. A later one that is linked to a picture of a burst of several
// belongs to the first such burst, and changes neither its mean nor what it counts. All other later
// ones count in full. Tests lower mostLinked.
var mostLinked = 500

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

// linkedTo returns the bursts, ascending, that have one of the first mostLinked pictures linked to w.
// Cost at most mostLinked d.
func (c *class) linkedTo(w []float64) (found []int) {
	reach := c.reach()
	if reach == 0 {
		return nil
	}
	for b := range c.list {
		if c.list[b].pictures[0] >= mostLinked {
			break
		}
		frames := c.list[b].linked()
		if frames == nil {
			frames = [][]float64{c.row(b)}
		}
		if slices.ContainsFunc(frames, func(f []float64) bool { return within(f, w, reach) }) {
			found = append(found, b)
		}
	}
	return found
}

// linked returns the frames among the first mostLinked pictures of the class.
//
//go:noinline // some kilobytes less to download
func (s *burst) linked() [][]float64 {
	n, _ := slices.BinarySearch(s.pictures, mostLinked)
	return s.frames[:min(n, len(s.frames))]
}

// add appends one whitened picture of length d. It costs as much as finding its links, and
// [class.insert] or the mean of its burst.
func (c *class) add(w []float64) { c.putIn(c.pictures(), w) }

// putIn makes the whitened w, of length d, the i-th picture and leaves the bursts as if it
// had always been there.
func (c *class) putIn(i int, w []float64) {
	full := c.pictures() >= mostLinked
	if i < mostLinked && full && !c.alone(w, mostLinked-1) { // another one is no longer among the first
		c.anew(c.near, c.pictures()+1, w, func(k int) int {
			if k == i {
				return -1
			} else if k > i {
				return k - 1
			}
			return k
		})
		return
	}
	if c.own(); c.sum == nil {
		c.sum = make([]float64, len(w))
	}
	floats.Add(c.sum, w)
	c.square += squaredNorm(w)
	if i >= mostLinked && c.putLate(i, w) {
		return
	}
	var joined []int
	if !full {
		joined = c.linkedTo(w)
	}
	if len(joined) == 0 && i == c.pictures() {
		c.of, c.list = append(c.of, len(c.list)), append(c.list, burst{pictures: []int{i}})
		c.insert(c.count(), w, 1)
		return
	}
	if len(joined) == 1 && i == c.pictures() {
		s := c.dissolve(joined[0])
		s.pictures, s.frames = append(s.pictures, i), append(s.frames, slices.Clone(w))
		c.form(s)
		c.number()
		return
	}
	c.shift(i, 1)
	one := burst{pictures: []int{i}, frames: [][]float64{slices.Clone(w)}}
	for _, b := range slices.Backward(joined) {
		old := c.dissolve(b)
		for at, x := range old.pictures {
			place, _ := slices.BinarySearch(one.pictures, x)
			one.pictures = slices.Insert(one.pictures, place, x)
			one.frames = slices.Insert(one.frames, place, old.frames[at])
		}
	}
	c.form(one)
	c.number()
}

// alone reports whether every picture is an example of its own, and w is linked to none of the first
// except perhaps the picture but.
func (c *class) alone(w []float64, but int) bool {
	return c.count() == c.pictures() && !slices.ContainsFunc(c.linkedTo(w), func(b int) bool { return b != but })
}

// putLate adds a picture beyond the first mostLinked to a burst of several that it is linked to, if
// there is one.
func (c *class) putLate(i int, w []float64) bool {
	if c.count() == c.pictures() { // no burst has several
		return false
	}
	for _, b := range c.linkedTo(w) {
		if s := &c.list[b]; len(s.linked()) > 1 {
			if i < c.pictures() {
				c.shift(i, 1)
			}
			at, _ := slices.BinarySearch(s.pictures, i)
			s.pictures, s.frames = slices.Insert(s.pictures, at, i), slices.Insert(s.frames, at, slices.Clone(w))
			c.of = slices.Insert(c.of, i, b)
			return true
		}
	}
	return false
}

// takeOut deletes the i-th picture and leaves the bursts as if it had never been there.
func (c *class) takeOut(i int) {
	if i < mostLinked && c.pictures() > mostLinked && !c.alone(c.picture(mostLinked), i) { // another one comes among the first
		c.anew(c.near, c.pictures()-1, nil, func(k int) int {
			if k >= i {
				return k + 1
			}
			return k
		})
		return
	}
	c.own()
	gone := c.picture(i)
	floats.Sub(c.sum, gone)
	lost := squaredNorm(gone)
	if s := &c.list[c.of[i]]; i >= mostLinked && s.pictures[0] < mostLinked {
		at, _ := slices.BinarySearch(s.pictures, i)
		s.pictures, s.frames = slices.Delete(s.pictures, at, at+1), slices.Delete(s.frames, at, at+1)
	} else {
		old := c.dissolve(c.of[i])
		at, _ := slices.BinarySearch(old.pictures, i)
		old.pictures, old.frames = slices.Delete(old.pictures, at, at+1), slices.Delete(old.frames, at, at+1)
		for _, part := range c.parts(old) {
			c.form(part)
		}
	}
	c.shift(i+1, -1)
	c.number()
	c.lose(lost)
}

// lose subtracts the squared length of pictures that were just deleted. If most of the sum goes,
// rounding errors may dominate the rest, so it makes both sums anew.
func (c *class) lose(lost float64) {
	if c.square -= lost; c.square >= lost {
		return
	}
	clear(c.sum)
	c.square = 0
	for i := range c.pictures() {
		floats.Add(c.sum, c.picture(i))
		c.square += squaredNorm(c.picture(i))
	}
}

// parts returns the bursts that the pictures of a former burst form by their links. Cost at most
// K² d/2, and K d if all are linked to the first.
func (c *class) parts(of burst) (parts []burst) {
	free := make([]int, len(of.pictures)) // places in of
	for at := range free {
		free[at] = at
	}
	for len(free) > 0 {
		found := []int{free[0]}
		free = free[1:]
		for i := 0; i < len(found); i++ {
			free = slices.DeleteFunc(free, func(y int) bool {
				linked := within(of.frames[found[i]], of.frames[y], c.reach())
				if linked {
					found = append(found, y)
				}
				return linked
			})
		}
		slices.SortStableFunc(found, cmp.Compare[int]) // all integers are sorted by this function: a second kind makes programs 17 KB larger
		part := burst{}
		for _, at := range found {
			part.pictures, part.frames = append(part.pictures, of.pictures[at]), append(part.frames, of.frames[at])
		}
		parts = append(parts, part)
	}
	return parts
}

// dissolve removes the b-th burst and its example, and returns the burst with its frames.
func (c *class) dissolve(b int) burst {
	s := c.list[b]
	if s.frames == nil {
		s.frames = [][]float64{slices.Clone(c.row(b))}
	}
	c.list = slices.Delete(c.list, b, b+1)
	c.remove(b)
	return s
}

// form adds a burst to the class and inserts its example.
func (c *class) form(s burst) {
	b, _ := slices.BinarySearchFunc(c.list, s.pictures[0], func(o burst, x int) int { return o.pictures[0] - x })
	mean, n := c.mean(&s)
	if len(s.frames) == 1 {
		s.frames, s.totals = nil, nil
	}
	c.list = slices.Insert(c.list, b, s)
	c.insert(b, mean, n)
}

// mean returns the weighted mean of the frames of a burst, and the number n of examples that they
// count as. The mean of identical frames equals each of them to the bit, and n is 1. Cost K d for
// each frame without a total: for an added one, or for all if some were taken out.
func (c *class) mean(s *burst) (mean []float64, n float64) {
	frames := s.frames
	if len(frames) > 1 {
		frames = s.linked()
	}
	if len(frames) == 1 {
		return frames[0], 1
	}
	for i := len(s.totals); i < len(frames); i++ {
		s.totals = append(s.totals, 1)
		for k, y := range frames[:i] {
			d2 := squaredDistance(frames[i], y) / c.near
			rho := math.Exp2(-d2 * d2 / 2)
			s.totals[i] += rho
			s.totals[k] += rho
		}
	}
	mean = make([]float64, len(frames[0]))
	for i, f := range frames {
		w := 1 / s.totals[i]
		n += w
		for j, v := range f {
			mean[j] += w * (v - frames[0][j])
		}
	}
	floats.Scale(1/n, mean)
	floats.Add(mean, frames[0])
	return mean, math.Max(1, n) // below one by rounding alone
}

func squaredDistance(x, y []float64) (s float64) {
	for i, v := range x {
		s += (v - y[i]) * (v - y[i])
	}
	return s
}

// BurstMeans returns the examples of each class of a session: the means of the bursts of its whitened
// pictures, by Near and Spread of the options. Bursts are in the order of their first pictures. It
// returns the error of [Classifier.AddRows] for a picture too far away. Cost K d for each picture of
// a class of K.
func BurstMeans(classes []*mat.Dense, o Options) ([]*mat.Dense, error) {
	var c Classifier
	for _, x := range classes {
		n, d := x.Dims()
		k := newClass("", d, o.Near)
		for i := range n {
			if _, err := checkedNorm2(x.RawRowView(i)); err != nil {
				return nil, err
			}
			k.add(x.RawRowView(i))
		}
		c.classes = append(c.classes, k)
	}
	c.options, c.taught = o, c.classes
	c.Group(always)
	means := make([]*mat.Dense, len(classes))
	for j, k := range c.classes {
		means[j] = mat.NewDense(k.count(), k.w.Cols, k.w.Data)
	}
	return means, nil
}

// shift adds by to the index of each picture from the given one on.
func (c *class) shift(from, by int) {
	for b := range c.list {
		for at, x := range c.list[b].pictures {
			if x >= from {
				c.list[b].pictures[at] = x + by
			}
		}
	}
}

// number sets c.of, the burst of each picture, by c.list.
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
