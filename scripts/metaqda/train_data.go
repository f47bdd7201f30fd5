package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/episode"
	"metaqda/core/metatrain"
)

// trainSets are the data sets as read.
type trainSets struct {
	train, val []*dataset.Set
}

// load reads the sets.
func (o *trainOptions) load() (*trainSets, error) {
	train, err := loadAll(o.data, nil, o.splits)
	if err != nil {
		return nil, err
	}
	s := &trainSets{train: train, val: train}
	if len(o.valData) > 0 {
		s.val, err = loadAll(o.valData, train, o.splits)
	}
	s.train = o.families.drawn(s.train)
	return s, err
}

// unique returns the sets to learn from, each once.
func (s *trainSets) unique() (sets []*dataset.Set) {
	for _, set := range s.train {
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return sets
}

// fold is one set of domains to learn from, another to validate on, and the
// coordinates the first settle: transform, centre and base.
type fold struct {
	dim           int
	names         []string
	transform     embed.Transform
	base          *metatrain.Base      // nil for --start identity
	labelled      []metatrain.Labelled // what is learned from, before base
	train, val    []*metatrain.Domain
	trainP, valP  []episode.Pool
	dataMean      []float64 // of the embeddings that are learned from, each set counting alike
	fingerprint   string    // of all of it
	trainingFacts string    // of what is learned from
}

// newFold settles the coordinates by the training classes and brings all rows
// into them. Classes of the validation split with fewer than need rows are an
// error.
func (o *trainOptions) newFold(s *trainSets, valSplit string, need int) (*fold, error) {
	f := &fold{dim: s.train[0].Dim, transform: o.transform}
	var err error
	if f.dataMean, err = meanOfMeans(s.train, o.split, &embed.Transform{Kind: embed.None, Power: 1}); err != nil {
		return nil, err
	}
	if err := f.setCentre(s.train, o.split); err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, set := range s.train {
		f.names = append(f.names, set.Name)
		dom, pool, err := f.domain(set, o.split, 2, h)
		if err != nil {
			return nil, err
		}
		f.labelled, f.trainP = append(f.labelled, dom), append(f.trainP, pool)
	}
	f.trainingFacts = hex.EncodeToString(h.Sum(nil))
	if o.start == "within" {
		var ok bool
		if f.base, ok = metatrain.NewBase(f.dim, f.labelled, o.shrink, o.workers); !ok {
			return nil, fmt.Errorf("the covariance within the classes of %s cannot be factorised with --shrink %v; choose a larger one", strings.Join(o.data, ","), o.shrink)
		}
	}
	for _, dom := range f.labelled {
		f.train = append(f.train, f.whiten(dom.Domain, o.workers))
	}
	for _, set := range s.val {
		dom, pool, err := f.domain(set, valSplit, need, h)
		if err != nil {
			return nil, err
		}
		f.val, f.valP = append(f.val, f.whiten(dom.Domain, o.workers)), append(f.valP, pool)
	}
	f.fingerprint = hex.EncodeToString(h.Sum(nil))
	return f, nil
}

// whiten brings a domain into the coordinates of training.
func (f *fold) whiten(dom *metatrain.Domain, workers int) *metatrain.Domain {
	if f.base == nil {
		return dom
	}
	return f.base.Whiten(dom, workers)
}

// loadAll reads data sets that must have one dimension; with, if any, are read
// already. A path of splits replaces those beside the data.
func loadAll(paths []string, with []*dataset.Set, splits string) ([]*dataset.Set, error) {
	var sets []*dataset.Set
	for _, path := range paths {
		i := slices.IndexFunc(with, func(s *dataset.Set) bool { return s.File() == path })
		if i >= 0 {
			sets = append(sets, with[i])
			continue
		}
		s, err := dataset.Load(path)
		if err != nil {
			return nil, err
		}
		if splits != "" {
			if err := s.ReadSplits(splits); err != nil {
				return nil, err
			}
		}
		first := s
		if len(with) > 0 {
			first = with[0]
		} else if len(sets) > 0 {
			first = sets[0]
		}
		if s.Dim != first.Dim {
			return nil, &dataset.FileError{File: path, Row: -1, Problem: fmt.Sprintf("has %d numbers in a row but %s has %d", s.Dim, first.File(), first.Dim),
				Remedy: "learn one prior from embeddings of one extractor"}
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// setCentre makes the centre of CL2N the mean over the sets of the mean of each
// one's training rows after the power: every set counts the same.
func (f *fold) setCentre(sets []*dataset.Set, split string) error {
	if f.transform.Kind != embed.CL2N {
		return nil
	}
	spread := embed.Transform{Kind: embed.None, Power: f.transform.Power, Shift: f.transform.Shift}
	var err error
	f.transform.Center, err = meanOfMeans(sets, split, &spread)
	return err
}

// meanOfMeans returns the mean over the sets of the mean of each one's rows of a
// split under a transform.
func meanOfMeans(sets []*dataset.Set, split string, t *embed.Transform) ([]float64, error) {
	mean, row := make([]float64, sets[0].Dim), make([]float64, sets[0].Dim)
	for _, s := range sets {
		classes, err := s.Split(split)
		if err != nil {
			return nil, err
		}
		rows := s.Rows(classes)
		for _, i := range rows {
			if err := t.Apply(row, s.RowTo(row, i)); err != nil {
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
func (f *fold) domain(s *dataset.Set, split string, need int, h hash.Hash) (metatrain.Labelled, episode.Pool, error) {
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
	for _, c := range classes {
		rows := s.ClassRows(c)
		if len(rows) < need {
			return dom, pool, &episode.TooFewError{Pool: pool.Name, Class: s.Classes[c], Have: len(rows), Need: need}
		}
		var at []int
		for _, i := range rows {
			if err := f.transform.Apply(row, s.RowTo(row, i)); err != nil {
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
		pool.Classes, pool.Rows = append(pool.Classes, s.Classes[c]), append(pool.Rows, at)
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

// trainRun is a run ready to go.
type trainRun struct {
	options *trainOptions
	sets    *trainSets
	fold    *fold
	trainer *metatrain.Trainer
	log     *trainLog
}

// prepare loads the data and makes the trainer, at step 0 or resumed.
func (o *trainOptions) prepare() (*trainRun, error) {
	sets, err := o.load()
	if err != nil {
		return nil, err
	}
	need := 0
	if o.valTasks > 0 {
		need = slices.Max(o.valShots) + o.valQuery
	}
	r := &trainRun{options: o, sets: sets}
	if !o.validates() {
		sets.val = nil
	}
	if r.fold, err = o.newFold(sets, o.valSplit, need); err != nil {
		return nil, err
	}
	if o.nu > 0 {
		o.config.Start.NuExcess = o.nu - float64(r.fold.dim) + 1
	}
	sampling, _ := json.Marshal([]any{o.tasks, o.seed, o.start, o.shrink, o.valWay, o.valQuery, o.valShots, o.valTasks})
	sum := sha256.Sum256(append(sampling, r.fold.fingerprint...))
	o.config.Data = hex.EncodeToString(sum[:8])
	validator, err := r.validator()
	if err != nil {
		return nil, err
	}
	if r.trainer, err = o.trainer(r.fold, validator, o.config); err != nil {
		return nil, err
	}
	return r, r.open()
}

// validates reports whether validation classes are needed.
func (o *trainOptions) validates() bool {
	return o.valTasks > 0 || o.calibrate > 0 && o.calibrateOn != "left-out"
}

// trainer returns a trainer on the fold.
func (o *trainOptions) trainer(f *fold, v *metatrain.Validator, c metatrain.Config) (*metatrain.Trainer, error) {
	sampler, err := episode.NewTraining(f.trainP, o.tasks, o.seed)
	if err != nil {
		return nil, err
	}
	return metatrain.NewTrainer(f.dim, c, &metatrain.Episodes{Domains: f.train, Sampler: sampler}, v, o.workers)
}

// validationEpisodes keeps the episodes of validation apart from those of
// training, calibrationEpisodes those of the final calibration from both.
const (
	validationEpisodes  = 0x76616c6964617465
	calibrationEpisodes = 0x63616c6962726174
)

// validator returns the validator of model selection, nil for none.
func (r *trainRun) validator() (*metatrain.Validator, error) {
	o := r.options
	if o.valTasks == 0 {
		return nil, nil
	}
	samplers := make([][]episode.Sampler, len(r.fold.val))
	for i, pool := range r.fold.valP {
		for _, k := range o.valShots {
			c := episode.Fixed(o.valWay, k, o.valQuery)
			if o.config.Objective.Loss == metatrain.OpenSet {
				c.UnknownClasses = min(o.valWay, len(pool.Rows)-o.valWay)
			}
			s, err := episode.NewUniform(pool, c, o.seed^validationEpisodes)
			if err != nil {
				return nil, err
			}
			samplers[i] = append(samplers[i], s)
		}
	}
	return metatrain.NewValidator(r.fold.val, samplers, o.valTasks)
}
