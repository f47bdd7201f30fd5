package main

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/niw"
)

// space is the rows of a data set seen through a transform, and for NIW
// methods whitened by a prior. It is made once and read by all workers.
type space struct {
	x     *mat.Dense // rows x d
	index []int32    // row of the set to row of x, -1 where it is not held
	norm2 []float64  // |x_i|^2
}

// newSpace transforms the given rows of the set and, if whiten is not nil,
// whitens them: O(n d^2) once instead of in every episode.
func newSpace(set *dataset.Set, rows []int, t *embed.Transform, whiten *niw.Prior) (*space, error) {
	s := &space{x: mat.NewDense(len(rows), set.Dim, nil), index: make([]int32, set.Len())}
	for i := range s.index {
		s.index[i] = -1
	}
	for k, i := range rows {
		row := set.RowTo(s.x.RawRowView(k), i)
		if err := t.Apply(row, row); err != nil {
			return nil, &dataset.FileError{File: set.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")",
				Remedy: "use a prior made for these embeddings", Err: err}
		}
		s.index[i] = int32(k)
	}
	if whiten != nil {
		whiten.WhitenRowsTo(s.x, s.x)
	}
	s.norm2 = make([]float64, len(rows))
	for k := range rows {
		for _, v := range s.x.RawRowView(k) {
			s.norm2[k] += v * v
		}
	}
	return s, nil
}

// row returns a row of the set as it is here.
func (s *space) row(i int) []float64 {
	if s.index[i] < 0 {
		panic("metaqda: row outside the prepared classes")
	}
	return s.x.RawRowView(int(s.index[i]))
}

// gather copies rows of the set into dst from row at on.
func (s *space) gather(dst *mat.Dense, at int, rows []int) {
	for k, i := range rows {
		copy(dst.RawRowView(at+k), s.row(i))
	}
}

// source is one data set of an evaluation.
type source struct {
	set    *dataset.Set
	prior  *learnedPrior // nil without --prior
	centre []float64     // for CL2N, nil when there are no training classes
	split  string        // whose classes tasks are drawn from
	rows   []int         // rows that episodes may ask for
	spaces map[string]*space
	maml   *mat.TriDense // start of maml-qda, learned on first use

	mapPrior *learnedPrior // of --prior-map, nil without
}

// space returns the rows under a feature transform, made on first use. It is
// called while the methods are prepared, before workers start.
func (s *source) space(kind embed.Kind) (*space, error) {
	t := embed.Transform{Kind: kind, Power: 1}
	if kind == embed.CL2N {
		if s.centre == nil {
			return nil, s.noCentre()
		}
		t.Center = s.centre
	}
	return s.cached("transform "+string(kind), &t, nil)
}

// noCentre says what CL2N features of the set could be centred on.
func (s *source) noCentre() error {
	e := &dataset.FileError{File: s.set.File(), Row: -1, Problem: "has no split \"train\" to centre CL2N features on",
		Remedy: "name the training classes in the .json beside it, or give a --prior, which keeps the mean of what it was learned from"}
	if s.prior != nil && s.prior.niw.Dim() != s.set.Dim {
		return s.wrongDimension(s.prior)
	}
	if s.prior != nil {
		e.Problem += ", and " + s.prior.file + " keeps no mean of what it was learned from"
		e.Remedy = "name the training classes in the .json beside the data, learn the --prior again with `metaqda train`, or leave out the methods that centre"
	}
	return e
}

func (s *source) wrongDimension(p *learnedPrior) error {
	return &dataset.FileError{File: s.set.File(), Row: -1, Problem: fmt.Sprintf("has %d numbers in a row but the prior is for %d", s.set.Dim, p.niw.Dim()),
		Remedy: "use embeddings of the extractor that the prior was learned for"}
}

// whitened returns the rows transformed and whitened by a prior.
func (s *source) whitened(key string, p *learnedPrior) (*space, error) {
	if p.niw.Dim() != s.set.Dim {
		return nil, s.wrongDimension(p)
	}
	return s.cached("whitened "+key, &p.transform, p.niw)
}

func (s *source) cached(key string, t *embed.Transform, p *niw.Prior) (*space, error) {
	if sp, ok := s.spaces[key]; ok {
		return sp, nil
	}
	sp, err := newSpace(s.set, s.rows, t, p)
	if err != nil {
		return nil, err
	}
	if s.spaces == nil {
		s.spaces = map[string]*space{}
	}
	s.spaces[key] = sp
	return sp, nil
}
