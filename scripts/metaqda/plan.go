package main

import (
	"context"
	"fmt"
	"slices"

	"metaqda/core/dataset"
	"metaqda/core/episode"
)

// evaluate loads everything, runs the protocol and returns its records.
func (o *evalOptions) evaluate(ctx context.Context, progress func(what string, done, total int)) (*header, []*block, error) {
	sources, err := o.load()
	if err != nil {
		return nil, nil, err
	}
	h := newHeader(o, sources)
	if o.protocol == "incremental" {
		blocks, err := o.incremental(ctx, sources)
		return h, blocks, err
	}
	var cells []*cell
	for _, s := range sources {
		c, err := o.cells(s)
		if err != nil {
			return nil, nil, err
		}
		cells = append(cells, c...)
	}
	var blocks []*block
	for _, c := range cells {
		b := &bench{methods: o.methods, tasks: o.tasks * o.repeat, valTasks: o.valTasks, shard: o.shard, workers: o.workers, options: o}
		if progress != nil {
			what := c.source.set.Name
			if c.way > 0 {
				what += fmt.Sprintf(" %d-way %d-shot", c.way, c.shot)
			}
			b.progress = func(done, total int) { progress(what, done, total) }
		}
		got, err := b.run(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		blocks = append(blocks, got...)
	}
	return h, blocks, nil
}

// load reads data sets and priors.
func (o *evalOptions) load() ([]*source, error) {
	var sources []*source
	for i, path := range o.data {
		set, err := dataset.Load(path)
		if err != nil {
			return nil, err
		}
		if o.splits != "" {
			if err := set.ReadSplits(o.splits); err != nil {
				return nil, err
			}
		}
		for _, other := range sources {
			if other.set.Name == set.Name {
				return nil, fmt.Errorf("%s and %s are both called %q; give each data set another name in its .json", other.set.File(), path, set.Name)
			}
		}
		s := &source{set: set, split: o.splitOf(set)}
		if len(o.priors) > 0 {
			if s.prior, err = o.prior(i, sources); err != nil {
				return nil, err
			}
		}
		sources = append(sources, s)
	}
	if o.mapPrior != "" {
		p, err := loadPrior(o.mapPrior)
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			s.mapPrior = p
		}
	}
	o.setCentres(sources)
	return sources, nil
}

// splitOf returns the split that tasks are drawn from: that of --split, but of a
// set without any all classes, whose prior was learned elsewhere. Sessions ask
// for no prior.
func (o *evalOptions) splitOf(set *dataset.Set) string {
	if o.split == "test" && len(set.Splits) == 0 && (len(o.priors) > 0 || o.protocol == "sessions") {
		return dataset.SplitAll
	}
	return o.split
}

// prior loads the prior of the i-th data set, or takes the one they share.
func (o *evalOptions) prior(i int, sources []*source) (*learnedPrior, error) {
	if len(o.priors) == 1 && i > 0 {
		return sources[0].prior, nil
	}
	return loadPrior(o.priors[i])
}

// setCentres settles the mean that CL2N competitors subtract: the prior's where
// it has one for plain features, so that all see the same, else the mean of the
// training classes. A domain that is left out has none: there it is the mean of
// the other domains' training classes, each domain counting alike. Nor has a set
// without splits: there it is the mean of what the prior was learned from.
func (o *evalOptions) setCentres(sources []*source) {
	own := make([][]float64, len(sources))
	for i, s := range sources {
		if classes, err := s.set.Split("train"); err == nil {
			own[i] = s.set.Mean(s.set.Rows(classes))
		}
	}
	for i, s := range sources {
		s.centre = s.prior.centre()
		if s.centre == nil && o.protocol == "leave-one-domain-out" {
			s.centre = meanOfOthers(own, i)
		}
		if s.centre == nil {
			s.centre = own[i]
		}
		if s.centre == nil {
			s.centre = s.prior.mean()
		}
		if len(s.centre) != s.set.Dim {
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

// pool returns the classes of a split to draw from.
func (s *source) pool(split string) (episode.Pool, error) {
	classes, err := s.set.Split(split)
	if err != nil {
		return episode.Pool{}, err
	}
	p := episode.Pool{Name: fmt.Sprintf("%s (split %s)", s.set.File(), split), Groups: s.set.Groups}
	for _, c := range classes {
		p.Classes = append(p.Classes, s.set.Classes[c])
		p.Rows = append(p.Rows, s.set.ClassRows(c))
	}
	return p, nil
}

// validationSeed keeps the tasks that fit a temperature apart from those that
// are reported, also when both come from one split.
const validationSeed = 0x76616c6964617465

// cells returns the columns of a data set.
func (o *evalOptions) cells(s *source) ([]*cell, error) {
	test, err := s.pool(s.split)
	if err != nil {
		return nil, err
	}
	val, err := s.pool("val")
	hasVal := err == nil && o.valTasks > 0
	s.rows = slices.Concat(test.Rows...)
	if hasVal && s.split != "val" && s.split != dataset.SplitAll {
		s.rows = append(s.rows, slices.Concat(val.Rows...)...)
	}
	slices.Sort(s.rows)
	s.rows = slices.Compact(s.rows)
	if o.protocol == "sessions" {
		return o.sessionsCell(s, test)
	}
	if o.protocol == "multi-domain" {
		return o.multiDomainCells(s, test, val, hasVal)
	}
	var cells []*cell
	for _, way := range o.ways {
		for _, shot := range o.shots {
			c := &cell{source: s, way: way, shot: shot}
			config := episode.Fixed(way, shot, o.query)
			if o.protocol == "open-set" {
				config.UnknownClasses = way
			}
			if c.test, err = episode.NewUniform(test, config, o.seed); err != nil {
				return nil, err
			}
			config.UnknownClasses = 0
			if hasVal {
				c.val = o.validation(val, config)
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// validation returns the sampler of validation tasks. Where the validation
// classes are fewer than the way, tasks take all of them: a temperature from
// fewer classes is better than none.
func (o *evalOptions) validation(val episode.Pool, c episode.Config) episode.Sampler {
	c.Way = episode.Exactly(min(c.Way.Max, len(val.Rows)))
	if v, err := episode.NewUniform(val, c, o.seed^validationSeed); err == nil {
		return v
	}
	return nil
}

func (o *evalOptions) multiDomainCells(s *source, test, val episode.Pool, hasVal bool) ([]*cell, error) {
	sampler, err := episode.NewMetaDataset(test, o.seed)
	if err != nil {
		return nil, err
	}
	c := &cell{source: s, test: sampler}
	if hasVal {
		if v, err := episode.NewMetaDataset(val, o.seed^validationSeed); err == nil {
			c.val = v
		}
	}
	return []*cell{c}, nil
}
