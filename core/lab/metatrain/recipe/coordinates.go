package recipe

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"strings"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
)

// coordinates are domains to learn from and others to validate on. The first settle transform,
// centre and base.
type coordinates struct {
	dim           int
	names         []string
	transform     embed.Transform
	base          *metatrain.Base      // nil for a start at the identity
	labelled      []metatrain.Labelled // what is learned from, before base
	train, val    []*metatrain.Domain
	trainP, valP  []episode.Pool
	dataMean      []float64 // of the embeddings that are learned from, each set counting alike
	fingerprint   string    // of all of it
	trainingFacts string    // of what is learned from
}

// settle computes the coordinates from the sets to learn from. It brings their rows, and those to
// validate on, into these coordinates. Validation classes with fewer than need rows are an error.
func (r *Recipe) settle(train, val []*dataset.Set, need int) (*coordinates, error) {
	c := &coordinates{dim: train[0].Dim, transform: r.Transform}
	var err error
	if c.dataMean, err = meanOfMeans(train, r.Split, &embed.Transform{Kind: embed.None, Power: 1}); err != nil {
		return nil, err
	}
	if c.transform.Kind == embed.CL2N {
		spread := embed.Transform{Kind: embed.None, Power: c.transform.Power, Shift: c.transform.Shift}
		if c.transform.Centre, err = meanOfMeans(train, r.Split, &spread); err != nil {
			return nil, err
		}
	}
	h := sha256.New()
	for _, set := range train {
		c.names = append(c.names, set.Name)
		dom, pool, err := c.domain(set, r.Split, 2, h)
		if err != nil {
			return nil, err
		}
		c.labelled, c.trainP = append(c.labelled, dom), append(c.trainP, pool)
	}
	c.trainingFacts = hex.EncodeToString(h.Sum(nil))
	if r.Start == Within {
		var ok bool
		if c.base, ok = metatrain.NewBase(c.dim, c.labelled, r.Shrink, r.Workers); !ok {
			return nil, dataset.BadField("shrink", "is %v, with which the covariance within the classes of %s cannot be factorised; choose a larger one", r.Shrink, files(train))
		}
	}
	for _, dom := range c.labelled {
		c.train = append(c.train, c.whiten(dom.Domain, r.Workers))
	}
	for _, set := range val {
		dom, pool, err := c.domain(set, r.Validation.Split, need, h)
		if err != nil {
			return nil, dataset.BadField("val-split", "%s: %v", r.Validation.Split, err)
		}
		c.val, c.valP = append(c.val, c.whiten(dom.Domain, r.Workers)), append(c.valP, pool)
	}
	c.fingerprint = hex.EncodeToString(h.Sum(nil))
	return c, nil
}

func files(sets []*dataset.Set) string {
	var names []string
	for _, s := range sets {
		names = append(names, s.File())
	}
	return strings.Join(names, ",")
}

// whiten brings a domain into the coordinates of training.
func (c *coordinates) whiten(dom *metatrain.Domain, workers int) *metatrain.Domain {
	if c.base == nil {
		return dom
	}
	return c.base.Whiten(dom, workers)
}

// meanOfMeans returns the mean over the sets of the mean of each one's rows of a
// split under a transform: every set counts the same.
func meanOfMeans(sets []*dataset.Set, split string, t *embed.Transform) ([]float64, error) {
	mean, row := make([]float64, sets[0].Dim), make([]float64, sets[0].Dim)
	for _, s := range sets {
		classes, err := s.Split(split)
		if err != nil {
			return nil, dataset.BadField("split", "%s: %v", split, err)
		}
		rows := s.Rows(classes)
		for _, i := range rows {
			if err := t.ApplyTo(row, s.RowTo(row, i)); err != nil {
				return nil, &dataset.FileError{File: s.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")", Remedy: "remove the row", Err: err}
			}
			for k, v := range row {
				mean[k] += v / float64(len(rows)*len(sets))
			}
		}
	}
	return mean, nil
}

// domain transforms the rows of a split. Classes with fewer rows than an
// episode needs are an error that names the first.
func (c *coordinates) domain(s *dataset.Set, split string, need int, h hash.Hash) (metatrain.Labelled, episode.Pool, error) {
	pool := episode.Pool{Name: fmt.Sprintf("%s (split %s)", s.File(), split)}
	dom := metatrain.Labelled{Domain: &metatrain.Domain{Name: s.Name, Dim: s.Dim}}
	classes, err := s.Split(split)
	if err != nil {
		return dom, pool, err
	}
	if len(classes) == 0 {
		return dom, pool, &dataset.FileError{File: s.File(), Row: -1, Problem: fmt.Sprintf("has no class in the split %q", split), Remedy: "list its classes in the .json or choose another split"}
	}
	row := make([]float64, s.Dim)
	for _, class := range classes {
		rows := s.ClassRows(class)
		if len(rows) < need {
			return dom, pool, &episode.TooFewError{Pool: pool.Name, Class: s.Classes[class], Have: len(rows), Need: need}
		}
		var at []int
		for _, i := range rows {
			if err := c.transform.ApplyTo(row, s.RowTo(row, i)); err != nil {
				return dom, pool, &dataset.FileError{File: s.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")", Remedy: "remove the row", Err: err}
			}
			at = append(at, len(dom.X)/s.Dim)
			if s.Groups != nil {
				pool.Groups = append(pool.Groups, s.Groups[i])
			}
			for _, v := range row {
				dom.X = append(dom.X, float32(v))
			}
		}
		pool.Classes, pool.Rows = append(pool.Classes, s.Classes[class]), append(pool.Rows, at)
	}
	dom.Classes = pool.Rows
	if h == nil {
		return dom, pool, nil
	}
	digest(h, s.Name, pool.Classes, dom.X)
	if pool.Groups != nil {
		fmt.Fprint(h, pool.Groups)
	}
	return dom, pool, nil
}

// digest adds a domain to the fingerprint.
func digest(h hash.Hash, name string, classes []string, x []float32) {
	fmt.Fprintf(h, "%q%q%d", name, classes, len(x))
	buf := make([]byte, 0, 4096)
	for i, v := range x {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		if len(buf) == cap(buf) || i == len(x)-1 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
}
