package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// Run is a recipe with its data, ready to be run.
type Run struct {
	// Trainer learns the prior. The caller runs it before asking for the result.
	Trainer *metatrain.Trainer

	// Note, if not nil, gets a sentence when something long begins.
	Note func(text string)

	recipe     Recipe
	train, val []*dataset.Set
	at         *coordinates
	fits       []crossFit // of the session model
}

// New makes the trainer of a recipe. val are the data sets to select and calibrate
// on, nil for those to learn from. Errors name the file, the row where there is one,
// and the remedy. Cost: O(N d^2) for N rows of d numbers.
func New(r Recipe, train, val []*dataset.Set) (*Run, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := sameDimension(slices.Concat(train, val)); err != nil {
		return nil, err
	}
	if parts := r.Calibration.Parts; parts.First < 0 || parts.First >= train[0].Dim {
		return nil, dataset.BadField("first-part", "is %d; give a number below the dimension of the data, which is %d, or 0", parts.First, train[0].Dim)
	}
	if val == nil {
		val = train
	}
	if !r.validates() {
		val = nil
	}
	if err := r.apart(train, val); err != nil {
		return nil, err
	}
	if r.Config.Objective.Loss == metatrain.OpenSet && r.Tasks.UnknownClasses.Max == 0 {
		r.Tasks.UnknownClasses = r.Tasks.Way
	}
	need := 0
	if r.Validation.Tasks > 0 {
		need = slices.Max(r.Validation.Shots) + r.Validation.Query
	}
	run := &Run{recipe: r, train: train, val: val}
	var err error
	if run.at, err = r.settle(run.train, val, need); err != nil {
		return nil, err
	}
	c := &run.recipe.Config
	if r.Nu > 0 {
		c.Start.NuExcess = r.Nu - float64(run.at.dim) + 1
	}
	v := r.Validation
	sampling, _ := json.Marshal([]any{r.Tasks, r.Seed, r.Start, r.Shrink, v.Way, v.Query, v.Shots, v.Tasks})
	sum := sha256.Sum256(append(sampling, run.at.fingerprint...))
	c.Data = hex.EncodeToString(sum[:8])
	validator, err := run.validator()
	if err != nil {
		return nil, err
	}
	run.Trainer, err = run.recipe.trainer(run.at, validator)
	return run, err
}

// apart returns an error if a class is learned from and validated on.
func (r *Recipe) apart(train, val []*dataset.Set) error {
	for _, s := range val {
		if !slices.Contains(train, s) {
			continue
		}
		learned, err := s.Split(r.Split)
		if err != nil {
			return nil // settle says so
		}
		asked, _ := s.Split(r.Validation.Split)
		for _, c := range asked {
			if slices.Contains(learned, c) {
				return dataset.BadField("val-split", "%s has the class %q of %s, which --split %s learns from; give others, or --val-tasks 0 and --calibrate-on left-out or --calibrate 0", r.Validation.Split, s.Classes[c], s.File(), r.Split)
			}
		}
	}
	return nil
}

func sameDimension(sets []*dataset.Set) error {
	if len(sets) == 0 {
		return dataset.BadField("data", "is empty; give one data set or more")
	}
	for _, s := range sets {
		if first := sets[0]; s.Dim != first.Dim {
			return &dataset.FileError{File: s.File(), Row: -1, Problem: fmt.Sprintf("has rows of length %d but %s has %d", s.Dim, first.File(), first.Dim),
				Remedy: "learn one prior from embeddings of one extractor"}
		}
	}
	return nil
}

// trainer returns a trainer on the domains of some coordinates.
func (r *Recipe) trainer(at *coordinates, v *metatrain.Validator) (*metatrain.Trainer, error) {
	sampler, err := episode.NewTraining(at.trainP, r.Tasks, r.Seed)
	if err != nil {
		return nil, err
	}
	return metatrain.NewTrainer(at.dim, r.Config, &metatrain.Episodes{Domains: at.train, Sampler: sampler}, v, r.Workers)
}

// validationEpisodes keeps the episodes of validation apart from those of
// training, calibrationEpisodes those of the final calibration from both.
const (
	validationEpisodes  = 0x76616c6964617465
	calibrationEpisodes = 0x63616c6962726174
)

// validator returns the validator of model selection, nil for none.
func (r *Run) validator() (*metatrain.Validator, error) {
	v := &r.recipe.Validation
	if v.Tasks == 0 {
		return nil, nil
	}
	samplers := make([][]episode.Sampler, len(r.at.val))
	for i, pool := range r.at.valP {
		for _, k := range v.Shots {
			c := episode.Fixed(v.Way, k, v.Query)
			if r.recipe.Config.Objective.Loss == metatrain.OpenSet {
				c.UnknownClasses = min(v.Way, len(pool.Rows)-v.Way)
			}
			s, err := episode.NewUniform(pool, c, r.recipe.Seed^validationEpisodes)
			if err != nil {
				return nil, fmt.Errorf("validation with val-way %d, val-shot %d and val-query %d: %w", v.Way, k, v.Query, err)
			}
			samplers[i] = append(samplers[i], s)
		}
	}
	return metatrain.NewValidator(r.at.val, samplers, v.Tasks), nil
}

// note reports the work that begins.
func (r *Run) note(format string, args ...any) {
	if r.Note != nil {
		r.Note(fmt.Sprintf(format, args...))
	}
}

// Prior returns the content of the prior file: the best parameters that training
// passed, carried back from its coordinates, and the session model.
func (r *Run) Prior(ctx context.Context) (*model.Prior, error) {
	best := r.Trainer.Result()
	found, rest, err := r.recipe.compose(r.at, best)
	if err != nil {
		return nil, err
	}
	facts := r.recipe.facts()
	facts["data"], facts["data-sha256"] = strings.Join(r.at.names, ","), r.at.trainingFacts
	facts["steps"] = strconv.Itoa(r.Trainer.StepCount())
	if v := r.Trainer.Best(); v != nil && v.Validation != nil {
		text, _ := json.Marshal(v)
		facts["validation"] = string(text)
	}
	if q := found.Prior.Spiked; q != nil {
		facts["rank"] = fmt.Sprintf("%d; the other eigenvalues had a standard deviation of %.3f of their logarithms", q.Rank(), rest)
	}
	p := &model.Prior{NIW: found.Prior, Transform: r.at.transform, DataMean: r.at.dataMean,
		Extractor: r.recipe.extractor(r.train), Facts: facts, Precision: r.recipe.Precision}
	return p, r.sessionModel(ctx, p)
}

// compose carries the result of training back from its coordinates, with a spiked S if asked for.
// rest is the standard deviation of the logarithms of the eigenvalues that are not spikes.
func (r *Recipe) compose(at *coordinates, found *metatrain.Params) (composed *metatrain.Params, rest float64, err error) {
	composed = found
	if at.base != nil {
		composed = at.base.Compose(found)
	}
	if r.Rank == 0 {
		return composed, 0, nil
	}
	q, rest, ok := niw.Spike(composed.Prior, min(r.Rank, composed.Prior.Dim()))
	if !ok {
		return nil, 0, dataset.BadField("rank", "takes the eigenvalues of the learned S, which cannot be found; leave it out")
	}
	return &metatrain.Params{Prior: q, Head: found.Head}, rest, nil
}

// extractor returns the extractor that the recipe names, or else the data. Its checksum is known if
// all sets have the same one.
func (r *Recipe) extractor(train []*dataset.Set) model.Extractor {
	e := r.Extractor
	if e.ID != "" {
		return e
	}
	e.ID = train[0].Extractor
	if e.SHA256 == "" && !slices.ContainsFunc(train, func(s *dataset.Set) bool { return s.Extractor != e.ID || s.ExtractorSHA256 != train[0].ExtractorSHA256 }) {
		e.SHA256 = train[0].ExtractorSHA256
	}
	return e
}
