package recipe

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// sessionModel sets the prior's session model: a population fitted on sessions of validation
// classes or by cross-fitting. A prior for the paper's densities has none.
func (r *Run) sessionModel(ctx context.Context, to *model.Prior) error {
	if r.recipe.Calibration.Shared == 0 {
		return nil // the paper's model, without bursts or a mean of the session
	}
	var err error
	if to.Session, err = r.recipe.sessionOptions(to.NIW, r.at); err != nil {
		return err
	}
	if r.recipe.Calibration.Sessions == 0 || to.Session.Shared == 0 {
		return nil
	}
	r.note("calibrating")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var all views
	if r.recipe.Calibration.On == OnValidation {
		if all, err = r.recipe.collect(ctx, to, r.at, r.val, r.recipe.Validation.Split, 0); err != nil {
			return err
		}
	} else {
		if err := r.crossFit(ctx); err != nil {
			return err
		}
		for i := range r.fits {
			all = all.with(r.fits[i].samples)
		}
	}
	r.note("fitting the session model on %d sessions", len(all[0]))
	to.Session.Population, err = r.recipe.fit(all, nil)
	if errors.Is(err, session.ErrTooFew) {
		return nil // Bayes' rule as it stands
	}
	return err
}

// sessionOptions returns the part of the session model that is set, not fitted.
func (r *Recipe) sessionOptions(p *niw.Prior, at *coordinates) (model.Session, error) {
	distance := metatrain.ClassDistance(p, at.labelled, r.Workers)
	s := model.Session{Near: r.Calibration.Near * distance, Centre: r.Calibration.Centre}
	if r.Calibration.Shared > 0 && distance > 0 {
		s.Shared, s.Kappa = 2*r.Calibration.Shared/distance, r.Calibration.Kappa
		if parts := r.Calibration.Parts; parts.First > 0 {
			s.Parts = &parts
		}
	}
	if _, err := lda.New(p.Whitened(), s.Options()); err != nil {
		return s, dataset.BadField("shared", "does not suit data that hardly differ within their classes (%v); give 0, or other data", err)
	}
	return s, nil
}

// collect returns the sessions of some data sets under a prior, in the classes of a split. first is
// the Domain of the first set.
func (r *Recipe) collect(ctx context.Context, p *model.Prior, at *coordinates, sets []*dataset.Set, split string, first int) (all views, err error) {
	for i, set := range sets {
		dom, pool, err := at.domain(set, split, 2, nil)
		if err != nil {
			return nil, err
		}
		samplers := r.sessionSamplers(pool)
		if len(samplers) == 0 {
			return nil, dataset.BadField("calibrate", "takes two classes of six rows, and %s has fewer; give another split, or 0", pool.Name)
		}
		options := p.Session.Options()
		options.Population = nil
		parts := options.Parts
		options.Parts = nil
		of := make(views, 1)
		if parts != nil {
			of = make(views, 1+len(lda.Shares))
		}
		for v := range of {
			if of[v], err = metatrain.Sessions(ctx, p.NIW, options, reweighted(dom.Domain, parts, v), samplers, r.Calibration.Sessions, r.Workers); err != nil {
				return nil, err
			}
			for k := range of[v] {
				of[v][k].Domain = first + i
			}
		}
		all = all.with(of)
	}
	return all, nil
}

// views are sessions as they are and then with each of [lda.Shares].
type views [][]session.Sample

func (v views) with(more views) views {
	if v == nil {
		v = make(views, len(more))
	}
	for i := range more {
		v[i] = append(v[i], more[i]...)
	}
	return v
}

// reweighted returns the rows of a domain with the v-th of the shares.
func reweighted(dom *metatrain.Domain, parts *lda.Parts, v int) *metatrain.Domain {
	if v == 0 {
		return dom
	}
	to := *dom
	to.X = slices.Clone(dom.X)
	x := make([]float64, to.Dim)
	for at := 0; at < len(to.X); at += to.Dim {
		for i := range x {
			x[i] = float64(to.X[at+i])
		}
		parts.Apply(x, lda.Shares[v-1])
		for i, value := range x {
			to.X[at+i] = float32(value)
		}
	}
	return &to
}

// choosings is the number of times that the last population chooses the shares of sessions.
const choosings = 2

// fit returns the population of sessions. It is fitted on them as they are, and then again. From
// the second time on, a session has the share that makes its examples most probable under the last
// population.
func (r *Recipe) fit(all views, start *session.Population) (p *session.Population, err error) {
	chosen := all[0]
	for round := 0; ; round++ {
		if p, err = session.Fit(chosen, start, r.Workers); err != nil {
			return p, err
		}
		if len(all) == 1 || round == choosings {
			if r.Calibration.Alone {
				p.FitAlone(chosen, r.Workers)
			}
			return p, p.Validate()
		}
		chosen = slices.Clone(all[0])
		for i := range chosen {
			best := p.Infer(&chosen[i].Support).LogEvidence() + r.Calibration.Parts.Odds
			for _, other := range all[1:] {
				if e := p.Infer(&other[i].Support).LogEvidence(); e > best {
					chosen[i], best = other[i], e
				}
			}
		}
	}
}

// sessionSamplers draw sessions: of five classes with the same number of examples
// each, of few classes with one or three, and as people make them.
func (r *Recipe) sessionSamplers(pool episode.Pool) (samplers []episode.Sampler) {
	seed := r.Seed ^ calibrationEpisodes
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
		if s, err := episode.NewSessions(pool, seed+uint64(i)); err == nil {
			samplers = append(samplers, s)
		}
	}
	return samplers
}

// crossFit is a prior learned without some families of domains, with the sessions of these families
// under it. These sessions are as new to this prior as a person's own pictures are to the final
// prior, which has learned from all.
type crossFit struct {
	held    []*dataset.Set
	prior   *model.Prior
	samples views
}

// crossFit learns a prior without each fold in turn, on all cores, one training per core, since a
// single training makes poor use of a second core.
func (r *Run) crossFit(caller context.Context) error {
	s := &r.recipe.Calibration
	folds := foldsOf(r.train, s.Families, s.Folds)
	if len(folds) < 2 {
		return dataset.BadField("calibrate-on", "left-out takes data sets of two families at least; give more, or val")
	}
	fits := make([]crossFit, len(folds))
	g, ctx := errgroup.WithContext(caller)
	g.SetLimit(r.recipe.Workers)
	first := 0
	for i, held := range folds {
		r.note("cross-fitting %d of %d: learning without %s", i+1, len(folds), strings.Join(setNames(held), ", "))
		number := first
		first += len(held)
		g.Go(func() (err error) {
			fits[i], err = r.without(ctx, held, number)
			return err
		})
	}
	err := g.Wait()
	if err == nil {
		err = caller.Err()
	}
	if err == nil {
		r.fits = fits
	}
	return err
}

// without learns a prior without the held sets. It does so as for the final prior, but without
// model selection. It collects sessions of all classes of the held sets; first is the Domain of the
// first set.
func (r *Run) without(ctx context.Context, held []*dataset.Set, first int) (fit crossFit, err error) {
	recipe := r.recipe
	recipe.Workers, recipe.Config.ValidateEvery = 1, max(1, recipe.Config.Steps)
	var train []*dataset.Set
	for _, s := range r.train {
		if !slices.Contains(held, s) {
			train = append(train, s)
		}
	}
	at, err := recipe.settle(train, nil, 0)
	if err != nil {
		return fit, err
	}
	t, err := recipe.trainer(at, nil)
	if err != nil {
		return fit, err
	}
	if err := t.Run(ctx, nil); err != nil {
		return fit, err
	}
	found, _, err := recipe.compose(at, t.Result())
	if err != nil {
		return fit, err
	}
	fit.held = held
	options, err := recipe.sessionOptions(found.Prior, at)
	if err != nil {
		return fit, err
	}
	fit.prior = &model.Prior{NIW: found.Prior, Transform: at.transform, DataMean: at.dataMean, Session: options,
		Extractor: recipe.extractor(train), Facts: map[string]string{"without": strings.Join(setNames(held), ", ")}, Precision: recipe.Precision}
	fit.samples, err = recipe.collect(ctx, fit.prior, at, held, "all", first)
	return fit, err
}

// Fold is a prior learned without some data sets and their families. It is for measuring on
// left-out domains.
type Fold struct {
	Held  []string // names of the data sets it was learned without
	Prior *model.Prior
}

// Folds returns the priors that cross-fitting learned, each with a population fitted
// on the sessions of the other folds. p is what [Run.Prior] returned.
func (r *Run) Folds(p *model.Prior) ([]Fold, error) {
	var folds []Fold
	for i := range r.fits {
		var others views
		for k := range r.fits {
			if k != i {
				others = others.with(r.fits[k].samples)
			}
		}
		held := setNames(r.fits[i].held)
		r.note("fitting the session model without %s", strings.Join(held, ", "))
		fold := Fold{held, r.fits[i].prior}
		var err error
		if fold.Prior.Session.Population, err = r.recipe.fit(others, p.Session.Population); err != nil {
			return nil, err
		}
		folds = append(folds, fold)
	}
	return folds, nil
}
