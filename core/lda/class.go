package lda

import (
	"errors"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// class is one taught class: its whitened examples, by which a [covariance] knows it. An
// example is a burst, most often of one picture.
type class struct {
	label  string
	bursts                // which picture is in which example
	w      blas64.General // K×d whitened examples in the order they were begun
	n      []float64      // what each example counts, see [bursts]
	ids    []uint64       // ids of the examples, for a [covariance]
	serial uint64         // the last id that was given
	seen   uint64         // the covariance has the examples with ids up to this one,
	ahead  []uint64       // and with these ids
	gone   []gone         // examples that the covariance still has and the class does not
	sum    []float64      // sum of its pictures; nil before the first one
	square float64        // sum of their squared lengths
	lent   bool           // the slices are shared with a clone, see own
}

// gone is an example that a class no longer has.
type gone struct {
	id uint64
	z  []float64
	n  float64
}

func newClass(label string, d int, near float64) *class {
	return &class{label: label, bursts: bursts{near: near}, w: blas64.General{Cols: d, Stride: d}}
}

// count returns the number of examples.
func (c *class) count() int { return c.w.Rows }

// weight returns K, what the examples count together.
//
//go:noinline // some kilobytes less to download
func (c *class) weight() float64 { return floats.Sum(c.n) }

// freshCount returns the number of examples that no covariance has seen.
func (c *class) freshCount() (n int) {
	for _, id := range c.ids {
		if !c.saw(id) {
			n++
		}
	}
	return n
}

// saw reports whether the covariance has seen the example with an id.
//
//go:noinline // some kilobytes less to download
func (c *class) saw(id uint64) bool { return id <= c.seen || slices.Contains(c.ahead, id) }

// identify gives the example at place i an id.
func (c *class) identify(i int) {
	c.serial++
	c.ids[i] = c.serial
}

// forget notes that the example at place i is about to go.
func (c *class) forget(i int) {
	if c.saw(c.ids[i]) {
		c.gone = append(c.gone, gone{c.ids[i], slices.Clone(c.row(i)), c.n[i]})
	}
}

// insert makes the whitened v, of length d, which counts n, the i-th example. Cost O(K d).
func (c *class) insert(i int, v []float64, n float64) {
	c.own()
	d := c.w.Cols
	c.w.Data = slices.Grow(c.w.Data, d)[:len(c.w.Data)+d]
	copy(c.w.Data[(i+1)*d:], c.w.Data[i*d:])
	copy(c.w.Data[i*d:], v)
	c.w.Rows++
	c.n, c.ids = slices.Insert(c.n, i, n), slices.Insert(c.ids, i, 0)
	c.identify(i)
}

// remove deletes the i-th example. Cost O(K d).
func (c *class) remove(i int) {
	c.own()
	c.forget(i)
	c.n, c.ids = slices.Delete(c.n, i, i+1), slices.Delete(c.ids, i, i+1)
	n := c.w.Cols
	c.w.Data = append(c.w.Data[:i*n], c.w.Data[(i+1)*n:]...)
	c.w.Rows--
}

//go:noinline // some kilobytes less to download
func (c *class) row(i int) []float64 { return rowOf(c.w, i) }

// meanTo stores the weighted mean of the examples in dst.
func (c *class) meanTo(dst []float64) {
	clear(dst)
	for i, n := range c.n {
		floats.AddScaled(dst, n, c.row(i))
	}
	floats.Scale(1/c.weight(), dst)
}

//go:noinline // some kilobytes less to download
func rowOf(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// inner returns xᵀy.
func inner(x, y []float64) float64 { return blas64.Dot(vector(x), vector(y)) }

// gemv stores a x in y.
//
//go:noinline // some kilobytes less to download
func gemv(a blas64.General, x, y []float64) {
	if a.Rows > 0 {
		blas64.Gemv(blas.NoTrans, 1, a, vector(x), 0, vector(y))
	}
}

// ErrNoExamples is returned by predictions while no class has an example.
var ErrNoExamples = errors.New("no class has an example yet: add at least one to a class")

// LabelError reports a class label that cannot be used.
type LabelError struct {
	Label  string
	Reason string // with the remedy
}

// Error returns one sentence.
func (e *LabelError) Error() string { return "class " + strconv.Quote(e.Label) + " " + e.Reason }

// ExampleError reports an example that does not exist.
type ExampleError struct {
	Label string
	Index int
	Count int
}

// Error returns one sentence.
func (e *ExampleError) Error() string {
	return "class " + strconv.Quote(e.Label) + " has no example " + strconv.Itoa(e.Index) + ": it has " + strconv.Itoa(e.Count) + ", counted from 0"
}

// RowError reports a row of several that cannot be used.
type RowError struct {
	Row int // counted from 0
	Err error
}

// Error returns one sentence.
func (e *RowError) Error() string { return "row " + strconv.Itoa(e.Row) + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }

// Detached is a class taken out of its classifier with its examples, for
// [Classifier.Attach].
type Detached struct {
	from  *Classifier
	class *class
}

// Detach is [Classifier.RemoveClass] for a class that may come back. Cost O(C).
func (c *Classifier) Detach(label string) (*Detached, error) {
	k, err := c.class(label)
	if err != nil {
		return nil, err
	}
	i := c.index[label]
	c.classes = slices.Delete(c.classes, i, i+1)
	delete(c.index, label)
	c.reindex(i)
	c.changed()
	return &Detached{c, k}, nil
}

// Attach brings a detached class back, once, as the i-th class. The classifier then answers as if the
// class had never been away, as exactly as the package says. It returns a *[LabelError] if another
// class has the label by now. Cost O(C), and after a change of Near as much as adding its pictures.
func (c *Classifier) Attach(i int, d *Detached) error {
	k := d.class
	if d.from != c || k == nil {
		panic("lda: detached class of another classifier, or attached already")
	}
	if err := c.checkNew(k.label); err != nil {
		return err
	}
	d.class = nil
	c.classes = slices.Insert(c.classes, i, k)
	c.reindex(i)
	c.changed()
	return nil
}

// truncate keeps the first n pictures, as if the others had never been there. Cost, for each burst
// that loses some and keeps K, K² d to link these anew.
func (c *class) truncate(n int) {
	c.own()
	lost := 0.0
	for i := n; i < c.pictures(); i++ {
		floats.Sub(c.sum, c.picture(i))
		lost += squaredNorm(c.picture(i))
	}
	var kept []burst
	for b := len(c.list) - 1; b >= 0; b-- {
		pictures := c.list[b].pictures
		if pictures[len(pictures)-1] < n {
			continue
		}
		if n >= mostLinked && pictures[0] < mostLinked { // it loses late ones, which count nothing
			s := &c.list[b]
			at, _ := slices.BinarySearch(pictures, n)
			s.pictures, s.frames = s.pictures[:at], s.frames[:at]
			continue
		}
		old := c.dissolve(b)
		at, _ := slices.BinarySearch(old.pictures, n)
		old.pictures, old.frames = old.pictures[:at], old.frames[:at]
		kept = append(kept, c.parts(old)...)
	}
	for _, b := range kept {
		c.form(b)
	}
	c.number()
	c.lose(lost)
}
