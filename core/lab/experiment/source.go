package experiment

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// Domain is a data set with the priors that are judged on it.
type Domain struct {
	Set      *dataset.Set
	Prior    *Prior // nil for none
	MAPPrior *Prior // of the map methods; nil: Prior
}

// Source is a domain prepared for methods. Its spaces are made while the methods are prepared,
// before workers start.
type Source struct {
	Domain
	centre []float64 // for CL2N, nil when there are no training classes
	split  string    // whose classes tasks are drawn from
	rows   []int     // rows that episodes may ask for
	spaces map[string]*Space
	maml   *mat.TriDense // start of maml-qda, learned on first use
}

// sources prepares domains.
func (p *Plan) sources(domains []Domain) ([]*Source, error) {
	var sources []*Source
	for i, d := range domains {
		missing := d.Prior == nil
		for _, other := range domains[:i] {
			if other.Set.Name == d.Set.Name {
				return nil, fmt.Errorf("%s and %s are both called %q; give each data set another name in its .json", other.Set.File(), d.Set.File(), d.Set.Name)
			}
			missing = missing || p.Protocol == LeaveOneDomainOut && other.Prior == d.Prior
		}
		switch {
		case missing && p.Protocol == LeaveOneDomainOut:
			return nil, fmt.Errorf("leave-one-domain-out needs one --prior for each of the %d data sets, learned without it; make them with `metaqda train`", len(domains))
		case missing && p.Protocol == CrossDomain:
			return nil, fmt.Errorf("cross-domain needs a --prior that was learned on another data set; make one with `metaqda train`")
		case (p.Protocol == CrossDomain || p.Protocol == LeaveOneDomainOut) && slices.Contains(d.Prior.data(), d.Set.Name):
			return nil, fmt.Errorf("%s was learned on %q, and %s asks about data that a prior has not seen; give a --prior that was learned without it, or name the data sets apart in their .json",
				d.Prior.File, d.Set.Name, p.Protocol)
		}
		sources = append(sources, &Source{Domain: d, split: p.splitOf(d)})
	}
	p.setCentres(sources)
	return sources, nil
}

// splitOf returns the split that tasks are drawn from: the plan's, with one exception. A set without
// splits has no test classes. Then all its classes are test classes, if the protocol is Sessions or
// the set has a prior. It does not check that the prior was learned from other data.
func (p *Plan) splitOf(d Domain) string {
	if p.Split == "test" && len(d.Set.Splits) == 0 && (d.Prior != nil || p.Protocol == Sessions) {
		return dataset.SplitAll
	}
	return p.Split
}

// setCentres sets the mean that CL2N competitors subtract from the rows of each set. It is the first
// of these that is known:
//
//   - the centre of the prior, if the prior is for CL2N features without shift and power
//   - under LeaveOneDomainOut, the mean of the other domains' training classes, each domain counting alike
//   - under CrossDomain, the mean of the prior's training data
//   - the mean of the set's own training classes
//   - the mean of the prior's training data
//
// If its length is not that of the rows, the mean of the set's own training classes replaces it. The
// centre is nil if nothing is known.
func (p *Plan) setCentres(sources []*Source) {
	own := make([][]float64, len(sources))
	for i, s := range sources {
		if classes, err := s.Set.Split("train"); err == nil {
			own[i] = s.Set.Mean(s.Set.Rows(classes))
		}
	}
	for i, s := range sources {
		var others, elsewhere []float64
		switch p.Protocol {
		case LeaveOneDomainOut:
			others = meanOfOthers(own, i)
		case CrossDomain:
			elsewhere = s.Prior.mean()
		}
		for _, c := range [][]float64{s.Prior.centre(), others, elsewhere, own[i], s.Prior.mean()} {
			if s.centre == nil {
				s.centre = c
			}
		}
		if len(s.centre) != s.Set.Dim {
			s.centre = own[i] // the prior is for other embeddings; methods that need it will say so
		}
	}
}

func meanOfOthers(means [][]float64, i int) []float64 {
	var sum []float64
	n := 0
	for j, m := range means {
		if j == i || m == nil || (sum != nil && len(sum) != len(m)) {
			continue
		}
		if sum == nil {
			sum = make([]float64, len(m))
		}
		for k, v := range m {
			sum[k] += v
		}
		n++
	}
	for k := range sum {
		sum[k] /= float64(n)
	}
	return sum
}

// Pool returns the classes of a split to draw from.
func (s *Source) Pool(split string) (episode.Pool, error) {
	classes, err := s.Set.Split(split)
	if err != nil {
		return episode.Pool{}, err
	}
	p := episode.Pool{Name: fmt.Sprintf("%s (split %s)", s.Set.File(), split), Groups: s.Set.Groups}
	for _, c := range classes {
		p.Classes = append(p.Classes, s.Set.Classes[c])
		p.Rows = append(p.Rows, s.Set.ClassRows(c))
	}
	return p, nil
}

// setRows names the rows that episodes of some pools ask for.
func (s *Source) setRows(pools ...episode.Pool) {
	s.rows = nil
	for _, p := range pools {
		s.rows = append(s.rows, slices.Concat(p.Rows...)...)
	}
	slices.Sort(s.rows)
	s.rows = slices.Compact(s.rows)
}

// Space returns the rows under a feature transform: as they are ([embed.None]), of length one
// ([embed.L2]), or centred and of length one ([embed.CL2N]). The latter is an error if no centre is
// known. Cost: O(N d) when first asked for.
func (s *Source) Space(kind embed.Kind) (*Space, error) {
	t := embed.Transform{Kind: kind, Power: 1}
	if kind == embed.CL2N {
		if s.centre == nil {
			return nil, s.noCentre()
		}
		t.Centre = s.centre
	}
	return s.cached("transform "+string(kind), func() (*Space, error) { return newSpace(s.Set, s.rows, &t, nil) })
}

// noCentre returns the error that the set has no centre for CL2N features, with ways to give one.
func (s *Source) noCentre() error {
	e := &dataset.FileError{File: s.Set.File(), Row: -1, Problem: "has no split \"train\" to centre CL2N features on",
		Remedy: "name the training classes in the .json beside it, or give a --prior, which keeps the mean of what it was learned from"}
	if s.Prior != nil && s.Prior.NIW.Dim() != s.Set.Dim {
		return s.wrongDimension(s.Prior)
	}
	if s.Prior != nil {
		e.Problem += ", and " + s.Prior.File + " keeps no mean of what it was learned from"
		e.Remedy = "name the training classes in the .json beside the data, learn the --prior again with `metaqda train`, or leave out the methods that centre"
	}
	return e
}

func (s *Source) wrongDimension(p *Prior) error {
	return &dataset.FileError{File: s.Set.File(), Row: -1, Problem: fmt.Sprintf("has rows of length %d but the prior is for %d", s.Set.Dim, p.NIW.Dim()),
		Remedy: "use embeddings of the extractor that the prior was learned for"}
}

// whitened returns the rows transformed and whitened by a prior.
func (s *Source) whitened(key string, p *Prior) (*Space, error) {
	if p.NIW.Dim() != s.Set.Dim {
		return nil, s.wrongDimension(p)
	}
	return s.cached("whitened "+key, func() (*Space, error) { return newSpace(s.Set, s.rows, &p.Transform, p.NIW) })
}

// forSessions returns the rows for the classifier that the prior is for, and the prior in their
// coordinates. They are whitened beforehand, unless each session weighs their parts.
func (s *Source) forSessions(parts *lda.Parts) (*Space, *niw.Prior, error) {
	p := s.Prior
	if parts == nil || p.NIW.Dim() != s.Set.Dim {
		space, err := s.whitened("learned", p)
		return space, p.NIW.Whitened(), err
	}
	space, err := s.cached("transformed", func() (*Space, error) { return newSpace(s.Set, s.rows, &p.Transform, nil) })
	return space, p.NIW, err
}

func (s *Source) cached(key string, make func() (*Space, error)) (*Space, error) {
	if sp, ok := s.spaces[key]; ok {
		return sp, nil
	}
	sp, err := make()
	if err != nil {
		return nil, err
	}
	if s.spaces == nil {
		s.spaces = map[string]*Space{}
	}
	s.spaces[key] = sp
	return sp, nil
}

// Space is the rows of a data set seen through a transform, and for methods with a
// prior whitened by it. It is made once and read by all workers.
type Space struct {
	x     *mat.Dense // rows x d
	index []int32    // row of the set to row of x, -1 where it is not held
}

// newSpace transforms the given rows of the set and, if whiten is not nil,
// whitens them: O(n d^2) once instead of in every episode.
func newSpace(set *dataset.Set, rows []int, t *embed.Transform, whiten *niw.Prior) (*Space, error) {
	s := &Space{x: mat.NewDense(len(rows), set.Dim, nil), index: make([]int32, set.Len())}
	for i := range s.index {
		s.index[i] = -1
	}
	for k, i := range rows {
		row := set.RowTo(s.x.RawRowView(k), i)
		if err := t.ApplyTo(row, row); err != nil {
			return nil, &dataset.FileError{File: set.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")",
				Remedy: "use a prior made for these embeddings", Err: err}
		}
		s.index[i] = int32(k)
	}
	if whiten != nil {
		whiten.WhitenRowsTo(s.x, s.x)
	}
	return s, nil
}

// Dim returns d, the numbers in a row.
func (s *Space) Dim() int { return s.x.RawMatrix().Cols }

// Row returns row i of the data set as it is here, a view of length d. Only rows
// that episodes ask for are held; others panic.
func (s *Space) Row(i int) []float64 {
	if s.index[i] < 0 {
		panic("experiment: row outside the prepared classes")
	}
	return s.x.RawRowView(int(s.index[i]))
}

// Rows copies rows of the data set into a matrix (len(rows) x d).
func (s *Space) Rows(rows []int) *mat.Dense {
	m := mat.NewDense(max(len(rows), 1), s.Dim(), nil)
	for k, i := range rows {
		copy(m.RawRowView(k), s.Row(i))
	}
	return m
}

// Prior is a prior with the name of the file it was read from.
type Prior struct {
	*model.Prior
	File   string
	SHA256 string // of the file
}

// DecodePrior decodes a prior file. file is used in messages and in the report.
func DecodePrior(file string, data []byte) (*Prior, error) {
	p, err := model.DecodePrior(data)
	if err != nil {
		return nil, &dataset.FileError{File: file, Row: -1, Problem: "is no usable prior (" + err.Error() + ")",
			Remedy: "make one with `metaqda train`", Err: err}
	}
	return &Prior{Prior: p, File: file, SHA256: model.Sum(data)}, nil
}

// HandCrafted returns a prior without learning for embeddings under a transform: m = 0, S = scale²
// I, kappa = 1, nu = d.
func HandCrafted(d int, scale float64, t embed.Transform) *Prior {
	return &Prior{Prior: &model.Prior{NIW: niw.HandCrafted(d, scale), Transform: t}}
}

// centre returns the centre that CL2N competitors may share, nil when the prior
// was made for other features.
func (p *Prior) centre() []float64 {
	if p == nil || p.Transform.Kind != embed.CL2N || p.Transform.Shift != 0 || (p.Transform.Power != 0 && p.Transform.Power != 1) {
		return nil
	}
	return p.Transform.Centre
}

// data returns the names of the data sets that the prior was learned on, as far as the file says.
func (p *Prior) data() (names []string) {
	for name := range strings.SplitSeq(p.Facts["data"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// mean returns the mean of the prior's training embeddings, nil if it is not known.
func (p *Prior) mean() []float64 {
	if p == nil {
		return nil
	}
	return p.DataMean
}
