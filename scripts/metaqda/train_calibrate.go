package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"metaqda/core/episode"
	"metaqda/core/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

const (
	// classFolds is the number of parts of the training classes that are left out in
	// turn.
	classFolds = 4

	// leftOutShare is the weight of left-out domains in what is to serve domains
	// never seen, of one in all; left-out classes have the rest. Between a third
	// and this domains that had no part in it were predicted best; more here takes
	// from the hard ones' error what it adds to that of the easy ones.
	leftOutShare = 0.4

	// sessionTau is the number of coefficients of τ that do not look at the query.
	// How its evidence bends the odds is alike within a domain but not between them.
	sessionTau = 4
)

// calibrations sets the calibration of both kinds of inference: that of training
// itself with --calibrate 0, else fitted on episodes of validation classes or of
// what was left out. Then the domains, if not nil, tell apart what the
// calibrations distinguish, and the background is what queries are compared with.
func (r *trainRun) calibrations(ctx context.Context, best *metatrain.Params, to *model.Prior, stderr io.Writer) error {
	to.Calibration, to.MAP = best.Head.Calibration(), best.Head.Calibration()
	o := r.options
	if o.calibrate == 0 {
		return nil
	}
	var classes, others []probe
	var err error
	if o.calibrateOn == "val" {
		v, err := o.calibrator(r.fold)
		if err != nil {
			return err
		}
		classes = []probe{{best, r.fold.background(best), v}}
	} else {
		if classes, others, err = r.rehearsals(ctx, stderr); err != nil {
			return err
		}
		to.Domains, _ = metatrain.NewDomains(r.fold.dim, r.fold.labelled, o.workers)
	}
	to.Background, _ = metatrain.NewBackground(to.NIW, r.fold.labelled, backgroundTemperature(best))
	fmt.Fprintln(stderr, "calibrating")
	var errs [2]error
	var both sync.WaitGroup
	for inf, c := range map[niw.Inference]*qda.Calibration{niw.FB: &to.Calibration, niw.MAP: &to.MAP} {
		both.Go(func() {
			*c, errs[inf] = r.calibration(ctx, classes, others, to.Domains, best.Head, inf)
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

// backgroundTemperature is what training found for as many examples as a class of
// the background counts for.
func backgroundTemperature(p *metatrain.Params) float64 {
	c := p.Head.Calibration()
	return c.Temperature(qda.BackgroundShots)
}

// background returns that of what was learned from, under parameters in the
// coordinates of training; nil where there is none.
func (f *fold) background(p *metatrain.Params) *qda.Background {
	var domains []metatrain.Labelled
	for i, dom := range f.train {
		domains = append(domains, metatrain.Labelled{Domain: dom, Classes: f.labelled[i].Classes})
	}
	b, _ := metatrain.NewBackground(p.Prior, domains, backgroundTemperature(p))
	return b
}

// probe is a prior with episodes of what it was not learned from.
type probe struct {
	params     *metatrain.Params
	background *qda.Background
	validator  *metatrain.Validator
}

// collect scores the episodes of probes, which weigh share in all, with half of
// the cores: the other kind of inference has the others.
func (r *trainRun) collect(ctx context.Context, probes []probe, inf niw.Inference, share float64) (scores metatrain.Scores, err error) {
	objective := r.options.config.Objective
	objective.Inference = inf
	for _, p := range probes {
		s, err := p.validator.Collect(ctx, p.params, p.background, objective, share/float64(len(probes)), max(1, r.options.workers/2))
		if err != nil {
			return nil, err
		}
		scores = append(scores, s...)
	}
	return scores, nil
}

// calibration fits temperature and offset, then with them none of these and how
// sharp a session may be: on left-out classes and domains together for a session
// of a domain never seen, and on the left-out classes of each domain for its own.
func (r *trainRun) calibration(ctx context.Context, classes, others []probe, domains *qda.Domains, h metatrain.Head, inf niw.Inference) (c qda.Calibration, err error) {
	share := leftOutShare
	if len(others) == 0 {
		share = 0
	}
	own, err := r.collect(ctx, classes, inf, 1-share)
	if err != nil {
		return c, err
	}
	foreign, err := r.collect(ctx, others, inf, share)
	if err != nil {
		return c, err
	}
	all := slices.Concat(own, foreign)
	h = metatrain.FitTemperature(all, h, r.options.degree)
	c = h.Calibration()
	known := metatrain.FitKnown(all.Evidence(&c))
	if known == nil {
		return c, nil
	}
	c.Known, c.None = known, nil
	c.Tau = metatrain.FitTau(all, &c, sessionTau)
	if domains == nil || c.Tau == nil {
		return c, nil
	}
	for i := range domains.Names {
		part := own.Of(i)
		d := qda.DomainCalibration{Known: metatrain.FitKnown(part.Evidence(&c)), Tau: metatrain.FitTau(part, &c, qda.TauCoefficients)}
		if d.Known == nil || d.Tau == nil {
			d = qda.DomainCalibration{Known: c.Known, Tau: c.Tau}
		}
		c.Domains = append(c.Domains, d)
	}
	return c, nil
}

// rehearsal is a training without what its prior is then asked about.
type rehearsal struct {
	without     string // for people
	sets        *trainSets
	split, held string
	steps       int
}

// rehearsals leaves out classes and, of several domains, each of them in turn:
// what a session of a known domain and a person's own pictures will be to the
// prior proper. Classes that the prior was selected by have no part in it. With
// fewer classes training takes fewer steps, so that each is seen as often.
func (r *trainRun) rehearsals(ctx context.Context, stderr io.Writer) (classes, domains []probe, err error) {
	o := r.options
	var plan []rehearsal
	for k := range classFolds {
		sets, err := r.sets.withoutClasses(o.split, o.seed, k, classFolds)
		if err != nil {
			return nil, nil, err
		}
		plan = append(plan, rehearsal{fmt.Sprintf("part %d of %d of the classes", k+1, classFolds), sets, learnSplit, heldSplit,
			max(1, o.config.Steps*(classFolds-1)/classFolds)})
	}
	for i := 0; i < len(r.sets.train) && len(r.sets.train) > 1; i++ {
		held := o.split
		if _, err := r.sets.train[i].Split(o.valSplit); err == nil && !strings.Contains(","+held+",", ","+o.valSplit+",") {
			held += "," + o.valSplit
		}
		plan = append(plan, rehearsal{r.sets.train[i].Name, r.sets.without(i), o.split, held, o.config.Steps})
	}
	probes, err := r.rehearseAll(ctx, plan, stderr)
	if err != nil {
		return nil, nil, err
	}
	return probes[:classFolds], probes[classFolds:], nil
}

// rehearseAll does the rehearsals on all cores, one each: a training cannot use
// two of them half as well.
func (r *trainRun) rehearseAll(ctx context.Context, plan []rehearsal, stderr io.Writer) ([]probe, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	probes, errs := make([]probe, len(plan)), make([]error, len(plan))
	slots := make(chan struct{}, r.options.workers)
	var all sync.WaitGroup
	for i := range plan {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(stderr, "rehearsal %d of %d: learning without %s\n", i+1, len(plan), plan[i].without)
		all.Go(func() {
			defer func() { <-slots }()
			if probes[i], errs[i] = r.rehearse(ctx, &plan[i]); errs[i] != nil {
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
	return probes, ctx.Err()
}

// rehearse learns a prior as the prior proper is learned but for model selection,
// and takes episodes of what it was not learned from.
func (r *trainRun) rehearse(ctx context.Context, plan *rehearsal) (probe, error) {
	o := *r.options
	o.split, o.workers, o.config.Steps, o.config.ValidateEvery = plan.split, 1, plan.steps, plan.steps
	f, err := o.newFold(plan.sets, plan.held, 0)
	if err != nil {
		return probe{}, err
	}
	t, err := o.trainer(f, nil, o.config)
	if err != nil {
		return probe{}, err
	}
	if err := t.Run(ctx, nil); err != nil {
		return probe{}, err
	}
	params, _, _, err := o.shipped(f, t.Result())
	if err != nil {
		return probe{}, err
	}
	v, err := o.calibrator(f)
	return probe{params, f.background(params), v}, err
}

// calibrator returns the episodes that temperature and none-of-these are fitted
// on: all combinations of way and shot that the validation classes can serve,
// even and uneven, with as many unseen classes as taught ones where there are.
func (o *trainOptions) calibrator(f *fold) (*metatrain.Validator, error) {
	samplers := make([][]episode.Sampler, len(f.val))
	for i, pool := range f.valP {
		for _, way := range []int{1, 2, 3, 5, 10, 20} {
			samplers[i] = append(samplers[i], o.calibrationSamplers(pool, way)...)
		}
		if len(samplers[i]) == 0 {
			return nil, fmt.Errorf("%s is too small to calibrate on: it takes two classes of six rows; give another --val-split, or --calibrate 0", pool.Name)
		}
	}
	return metatrain.NewValidator(f.val, samplers, o.calibrate)
}

func (o *trainOptions) calibrationSamplers(pool episode.Pool, way int) (samplers []episode.Sampler) {
	unseen := min(way, len(pool.Rows)-way)
	if unseen < 1 {
		return nil
	}
	seed := o.seed ^ calibrationEpisodes
	for _, shot := range []int{1, 2, 3, 5, 10} {
		c := episode.Fixed(way, shot, 5)
		c.Strangers = unseen
		if s, err := episode.NewUniform(pool, c, seed); err == nil {
			samplers = append(samplers, s)
		}
	}
	uneven := episode.Tasks{Way: episode.Exactly(way), Shot: episode.Range{Min: 1, Max: 10}, Query: episode.Exactly(5),
		Strangers: episode.Exactly(unseen), Imbalanced: true}
	if s, err := episode.NewTraining([]episode.Pool{pool}, uneven, seed); err == nil && way > 1 {
		samplers = append(samplers, s)
	}
	return samplers
}
