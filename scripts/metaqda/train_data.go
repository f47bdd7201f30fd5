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

// trainData is what training and validation draw from.
type trainData struct {
	dim           int
	names         []string
	extractor     string
	train, val    []metatrain.Labelled
	trainP, valP  []episode.Pool
	fingerprint   string
	trainingFacts string
}

// load reads the sets, settles the transform's centre and transforms all rows.
func (o *trainOptions) load() (*trainData, error) {
	sets, err := loadAll(o.data, nil)
	if err != nil {
		return nil, err
	}
	valSets := sets
	if len(o.valData) > 0 {
		if valSets, err = loadAll(o.valData, sets); err != nil {
			return nil, err
		}
	}
	d := &trainData{dim: sets[0].Dim, extractor: sets[0].Extractor}
	if err := o.setCentre(sets); err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, s := range sets {
		d.names = append(d.names, s.Name)
		dom, pool, err := o.domain(s, o.split, 2, h)
		if err != nil {
			return nil, err
		}
		d.train, d.trainP = append(d.train, dom), append(d.trainP, pool)
	}
	d.trainingFacts = hex.EncodeToString(h.Sum(nil))
	if o.valTasks > 0 || o.calibrate > 0 {
		for _, s := range valSets {
			dom, pool, err := o.domain(s, o.valSplit, slices.Max(o.valShots)+o.valQuery, h)
			if err != nil {
				return nil, err
			}
			d.val, d.valP = append(d.val, dom), append(d.valP, pool)
		}
	}
	d.fingerprint = hex.EncodeToString(h.Sum(nil))
	return d, nil
}

// loadAll reads data sets that must have one dimension; with, if any, are read
// already.
func loadAll(paths []string, with []*dataset.Set) ([]*dataset.Set, error) {
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
func (o *trainOptions) setCentre(sets []*dataset.Set) error {
	if o.transform.Kind != embed.CL2N {
		return nil
	}
	spread := embed.Transform{Kind: embed.None, Power: o.transform.Power, Shift: o.transform.Shift}
	centre, row := make([]float64, sets[0].Dim), make([]float64, sets[0].Dim)
	for _, s := range sets {
		classes, err := s.Split(o.split)
		if err != nil {
			return err
		}
		rows := s.Rows(classes)
		for _, i := range rows {
			if err := spread.Apply(row, s.RowTo(row, i)); err != nil {
				return &dataset.FileError{File: s.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")", Remedy: "remove the row", Err: err}
			}
			for k, v := range row {
				centre[k] += v / float64(len(rows)*len(sets))
			}
		}
	}
	o.transform.Center = centre
	return nil
}

// domain transforms the rows of a split. Classes with fewer rows than an
// episode needs are an error that names the first.
func (o *trainOptions) domain(s *dataset.Set, split string, need int, h hash.Hash) (metatrain.Labelled, episode.Pool, error) {
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
			if err := o.transform.Apply(row, s.RowTo(row, i)); err != nil {
				return dom, pool, &dataset.FileError{File: s.File(), Row: i, Problem: "cannot be transformed (" + err.Error() + ")", Remedy: "remove the row", Err: err}
			}
			at = append(at, len(dom.X)/s.Dim)
			for _, v := range row {
				dom.X = append(dom.X, float32(v))
			}
		}
		pool.Classes, pool.Rows = append(pool.Classes, s.Classes[c]), append(pool.Rows, at)
	}
	dom.Classes = pool.Rows
	digest(h, s.Name, pool.Classes, dom.X)
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
	data    *trainData
	base    *metatrain.Base // nil for --start identity
	white   []*metatrain.Domain
	valid   []*metatrain.Domain // validation rows, in the trainer's coordinates
	trainer *metatrain.Trainer
	log     *trainLog
}

// prepare loads the data and makes the trainer, at step 0 or resumed.
func (o *trainOptions) prepare() (*trainRun, error) {
	data, err := o.load()
	if err != nil {
		return nil, err
	}
	r := &trainRun{options: o, data: data}
	if err := r.whiten(); err != nil {
		return nil, err
	}
	if o.nu > 0 {
		o.config.Start.NuExcess = o.nu - float64(data.dim) + 1
	}
	sampling, _ := json.Marshal([]any{o.tasks, o.seed, o.start, o.shrink, o.valWay, o.valQuery, o.valShots, o.valTasks})
	sum := sha256.Sum256(append(sampling, data.fingerprint...))
	o.config.Data = hex.EncodeToString(sum[:8])
	sampler, err := episode.NewTraining(data.trainP, o.tasks, o.seed)
	if err != nil {
		return nil, err
	}
	validator, err := r.validator()
	if err != nil {
		return nil, err
	}
	source := &metatrain.Episodes{Domains: r.white, Sampler: sampler}
	if r.trainer, err = metatrain.NewTrainer(data.dim, o.config, source, validator, o.workers); err != nil {
		return nil, err
	}
	return r, r.open()
}

// whiten brings all rows into the coordinates of training.
func (r *trainRun) whiten() error {
	o, d := r.options, r.data
	if o.start == "within" {
		base, ok := metatrain.NewBase(d.dim, d.train, o.shrink, o.workers)
		if !ok {
			return fmt.Errorf("the covariance within the classes of %s cannot be factorised with --shrink %v; choose a larger one", strings.Join(o.data, ","), o.shrink)
		}
		r.base = base
	}
	bring := func(sets []metatrain.Labelled) (out []*metatrain.Domain) {
		for _, s := range sets {
			if r.base != nil {
				out = append(out, r.base.Whiten(s.Domain, o.workers))
				s.Domain.X = nil // only the whitened copy is needed from here
				continue
			}
			out = append(out, s.Domain)
		}
		return out
	}
	r.white, r.valid = bring(d.train), bring(d.val)
	return nil
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
	samplers := make([][]episode.Sampler, len(r.valid))
	for i, pool := range r.data.valP {
		for _, k := range o.valShots {
			c := episode.Fixed(o.valWay, k, o.valQuery)
			if o.config.Objective.Loss == metatrain.OpenSet {
				c.Strangers = min(o.valWay, len(pool.Rows)-o.valWay)
			}
			s, err := episode.NewUniform(pool, c, o.seed^validationEpisodes)
			if err != nil {
				return nil, err
			}
			samplers[i] = append(samplers[i], s)
		}
	}
	return metatrain.NewValidator(r.valid, samplers, o.valTasks)
}

// calibrator returns the episodes that temperature and offset are fitted on:
// all combinations of way and shot that the validation classes can serve, even
// and uneven, with as many unseen classes as taught ones where there are.
func (r *trainRun) calibrator() (*metatrain.Validator, error) {
	o := r.options
	samplers := make([][]episode.Sampler, len(r.valid))
	for i, pool := range r.data.valP {
		for _, way := range []int{2, 5, 10} {
			for _, shot := range []int{1, 2, 3, 5, 10} {
				c := episode.Fixed(way, shot, 5)
				c.Strangers = max(0, min(way, len(pool.Rows)-way))
				if s, err := episode.NewUniform(pool, c, o.seed^calibrationEpisodes); err == nil {
					samplers[i] = append(samplers[i], s)
				}
			}
			uneven := episode.Tasks{Way: episode.Exactly(way), Shot: episode.Range{Min: 1, Max: 10}, Query: episode.Exactly(5),
				Strangers: episode.Exactly(max(0, min(way, len(pool.Rows)-way))), Imbalanced: true}
			if s, err := episode.NewTraining([]episode.Pool{pool}, uneven, o.seed^calibrationEpisodes); err == nil {
				samplers[i] = append(samplers[i], s)
			}
		}
		if len(samplers[i]) == 0 {
			return nil, fmt.Errorf("%s is too small to calibrate on: it takes two classes of six rows; give another --val-split or --calibrate 0", pool.Name)
		}
	}
	return metatrain.NewValidator(r.valid, samplers, o.calibrate)
}
