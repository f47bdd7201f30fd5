package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"metaqda/core/dataset"
	"metaqda/core/episode"
	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// sessionModel sets what the prior says of sessions: with --calibrate 0 the head of
// training, else a population fitted on sessions of validation classes, or of
// families of domains left out of training in turn. The priors learned without
// these are written to --folds-out with the populations of the others.
func (r *trainRun) sessionModel(ctx context.Context, best *metatrain.Params, to *model.Prior, stderr io.Writer) error {
	o := r.options
	head := best.Head.Population()
	to.Session = model.Session{FB: head, MAP: head}
	if o.calibrate == 0 {
		return nil
	}
	fmt.Fprintln(stderr, "calibrating")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	to.Session = o.sessionOptions(to.NIW, r.fold)
	if o.calibrateOn == "val" {
		samples, err := r.collect(ctx, to, r.fold, r.sets.val, o.valSplit, 0)
		if err != nil {
			return err
		}
		return o.fit(&to.Session, head, samples, stderr)
	}
	rehearsals, err := r.rehearseAll(ctx, stderr)
	if err != nil {
		return err
	}
	var all bothSamples
	for i := range rehearsals {
		all.join(&rehearsals[i].samples)
	}
	if err := o.fit(&to.Session, head, &all, stderr); err != nil || o.foldsOut == "" {
		return err
	}
	return r.writeFolds(rehearsals, to.Session.FB, stderr)
}

// sessionOptions returns the part of the session model that is set, not fitted.
func (o *trainOptions) sessionOptions(p *niw.Prior, f *fold) model.Session {
	return model.Session{Near: o.near * metatrain.ClassDistance(p, f.labelled, o.workers), Centre: o.centre}
}

// bothSamples are sessions under both kinds of inference.
type bothSamples [2][]session.Sample

func (s *bothSamples) join(o *bothSamples) {
	for inf := range s {
		s[inf] = append(s[inf], o[inf]...)
	}
}

// fit fits the populations of both kinds of inference, the one after the other: each
// uses all cores. Where the sessions are too few for it, the head of training stays.
func (o *trainOptions) fit(to *model.Session, head *session.Population, samples *bothSamples, stderr io.Writer) error {
	fmt.Fprintf(stderr, "fitting the session model on %d sessions\n", len(samples[niw.FB]))
	for inf, p := range map[niw.Inference]**session.Population{niw.FB: &to.FB, niw.MAP: &to.MAP} {
		fitted, err := session.Fit(samples[inf], *p, o.workers)
		if errors.Is(err, session.ErrTooFew) {
			fitted, err = head, nil
		}
		if err != nil {
			return err
		}
		*p = fitted
	}
	return nil
}

// collect returns the sessions of some data sets under a prior, in the classes of a
// split; first numbers the first of them.
func (r *trainRun) collect(ctx context.Context, p *model.Prior, f *fold, sets []*dataset.Set, split string, first int) (*bothSamples, error) {
	o, all := r.options, &bothSamples{}
	for i, set := range sets {
		dom, pool, err := f.domain(set, split, 2, nil)
		if err != nil {
			return nil, err
		}
		samplers := o.calibrationSamplers(pool)
		if len(samplers) == 0 {
			return nil, fmt.Errorf("%s is too small to calibrate on: it takes two classes of six rows; give another --val-split, or --calibrate 0", pool.Name)
		}
		for _, inf := range []niw.Inference{niw.FB, niw.MAP} {
			options := p.Session.Options(inf)
			options.Population = nil
			samples, err := metatrain.Sessions(ctx, p.NIW, options, dom.Domain, samplers, o.calibrate, first+i, o.workers)
			if err != nil {
				return nil, err
			}
			all[inf] = append(all[inf], samples...)
		}
	}
	return all, nil
}

// calibrationSamplers draw sessions: of five classes with the same number of
// examples each, of few classes with one or three, and as people make them.
func (o *trainOptions) calibrationSamplers(pool episode.Pool) (samplers []episode.Sampler) {
	seed := o.seed ^ calibrationEpisodes
	for _, c := range []struct{ way, shot int }{{5, 1}, {5, 2}, {5, 5}, {5, 10}, {3, 1}, {2, 3}} {
		way := min(c.way, len(pool.Rows)-1)
		if way < 1 {
			continue
		}
		config := episode.Fixed(way, c.shot, 5)
		config.UnknownClasses = min(way, len(pool.Rows)-way)
		if s, err := episode.NewUniform(pool, config, seed); err == nil {
			samplers = append(samplers, s)
		}
	}
	for i := range 3 {
		if s, err := episode.NewSessions(pool, episode.AsPeopleMake(), seed+uint64(i)); err == nil {
			samplers = append(samplers, s)
		}
	}
	return samplers
}

// rehearsal is a training without some families of domains, of which sessions were
// then collected: what a person's own pictures will be to the prior proper.
type rehearsal struct {
	held    []*dataset.Set
	prior   *model.Prior
	samples bothSamples
}

// rehearseAll does the rehearsals on all cores, one each: a training cannot use two
// of them half as well.
func (r *trainRun) rehearseAll(ctx context.Context, stderr io.Writer) ([]rehearsal, error) {
	folds := foldsOf(r.sets.unique(), r.options.families, r.options.folds)
	if len(folds) < 2 {
		return nil, fmt.Errorf("--calibrate-on left-out takes data sets of two families at least; give more --data, or --calibrate-on val")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done, errs := make([]rehearsal, len(folds)), make([]error, len(folds))
	slots := make(chan struct{}, r.options.workers)
	var all sync.WaitGroup
	first := 0
	for i, held := range folds {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(stderr, "rehearsal %d of %d: learning without %s\n", i+1, len(folds), setNames(held))
		number := first
		first += len(held)
		all.Go(func() {
			defer func() { <-slots }()
			if done[i], errs[i] = r.rehearse(ctx, held, number); errs[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return done, ctx.Err()
}

// rehearse learns a prior without the held sets as the prior proper is learned but
// for model selection, and collects sessions of all their classes; first numbers
// the first of them.
func (r *trainRun) rehearse(ctx context.Context, held []*dataset.Set, first int) (done rehearsal, err error) {
	o := *r.options
	o.workers, o.config.ValidateEvery = 1, o.config.Steps
	sets := &trainSets{}
	for _, s := range r.sets.train {
		if !slices.Contains(held, s) {
			sets.train = append(sets.train, s)
		}
	}
	f, err := o.newFold(sets, "", 0)
	if err != nil {
		return done, err
	}
	t, err := o.trainer(f, nil, o.config)
	if err != nil {
		return done, err
	}
	if err := t.Run(ctx, nil); err != nil {
		return done, err
	}
	found, _, err := o.shipped(f, t.Result())
	if err != nil {
		return done, err
	}
	one := trainRun{options: &o, sets: sets, fold: f}
	done.held = held
	done.prior = &model.Prior{NIW: found.Prior, Transform: f.transform, DataMean: f.dataMean, Session: o.sessionOptions(found.Prior, f),
		Extractor: one.extractor(), Facts: map[string]string{"without": setNames(held)}, Precision: o.precision}
	samples, err := one.collect(ctx, done.prior, f, held, "all", first)
	if err == nil {
		done.samples = *samples
	}
	return done, err
}

// writeFolds writes the prior of each rehearsal, with a population of the sessions
// that the others collected, once for each set that it was learned without. They
// are for judging the fully Bayesian predictive and have no population of the other.
func (r *trainRun) writeFolds(rehearsals []rehearsal, start *session.Population, stderr io.Writer) error {
	o := r.options
	if err := os.MkdirAll(o.foldsOut, 0o777); err != nil {
		return fmt.Errorf("%s cannot be made (%s); choose another --folds-out", o.foldsOut, reason(err))
	}
	for i := range rehearsals {
		var others []session.Sample
		for k := range rehearsals {
			if k != i {
				others = append(others, rehearsals[k].samples[niw.FB]...)
			}
		}
		fmt.Fprintf(stderr, "fitting the session model without %s\n", setNames(rehearsals[i].held))
		p := rehearsals[i].prior
		var err error
		if p.Session.FB, err = session.Fit(others, start, o.workers); err != nil {
			return err
		}
		data, err := model.EncodePrior(p)
		if err != nil {
			return err
		}
		for _, set := range rehearsals[i].held {
			if err := writeFile(filepath.Join(o.foldsOut, "without-"+set.Name+".safetensors"), data); err != nil {
				return err
			}
		}
	}
	return nil
}
