package recipe

import (
	_ "embed" // of the families
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// Where training starts.
const (
	Within   = "within"   // S from the covariance within the training classes
	Identity = "identity" // S = s² I
)

// These are the data that the session model is fitted on.
const (
	OnValidation = "val"      // sessions of validation classes
	CrossFitting = "left-out" // sessions of families of domains under priors learned without them
)

// Recipe is everything that determines a prior, except the data.
type Recipe struct {
	Split     string          // to learn from; several separated by commas, or all
	Transform embed.Transform // kind, power and shift; the centre is that of the data
	Start     string          // Within or Identity
	Shrink    float64         // share of the identity in Within, above 0, at most 1
	Nu        float64         // at the start; 0 for the dimension
	Tasks     episode.Tasks   // of training
	Config    metatrain.Config

	Validation  Validation
	Calibration Calibration

	Seed      uint64
	Workers   int             // cores to use; does not change the result
	Precision string          // of the prior file: F16, F32 or F64
	Rank      int             // directions of a spiked S; 0 keeps S as learned
	Extractor model.Extractor // of the pictures; without ID what the data says
}

// Validation selects the best of the priors that training goes through.
type Validation struct {
	Split string
	Way   int
	Shots []int
	Query int
	Tasks int // of each data set and shot; 0 keeps the last prior instead of the best
}

// Calibration says how the session model is fitted.
type Calibration struct {
	Sessions int      // of each data set and kind (nine kinds); 0 fits no session model: Bayes' rule with T = 1
	On       string   // OnValidation or CrossFitting
	Families Families // which data sets are left out together
	Folds    int      // most parts that families are dealt out to
	// These are set, not fitted: see [model.Session]. Near is a share of the mean squared distance
	// of two examples of a class. Half of that distance is the mean squared length of a residual.
	// Shared is a multiple of the inverse of this half. It is 0 for a scale matrix of its own for
	// each class.
	Near, Centre, Shared, Kappa float64
	Parts                       lda.Parts // of embeddings; First 0 for one
	Alone                       bool      // fit how single examples of each class determine the temperature
}

// Default is for embeddings of any network. Its training measured best for a covariance of its own
// for each class. Its session model is for one that all classes share.
func Default() Recipe {
	c := metatrain.DefaultConfig()
	c.ValidateEvery = 200
	return Recipe{
		Split: "train", Transform: embed.Transform{Kind: embed.CL2N, Power: 1}, Start: Within, Shrink: 0.6, Config: c,
		Tasks:       episode.Tasks{Way: episode.Range{Min: 5, Max: 20}, Shot: episode.Range{Min: 1, Max: 10}, Query: episode.Exactly(5), MaxRows: 150},
		Validation:  Validation{Split: "val", Way: 5, Shots: []int{1, 5}, Query: 10, Tasks: 60},
		Calibration: Calibration{Sessions: 5, On: OnValidation, Folds: 6, Near: 0.43, Centre: 1.67, Shared: 3, Kappa: 5},
		Workers:     runtime.GOMAXPROCS(0), Precision: "F32",
	}
}

// Conv4 is for the features of small networks such as Conv-4: training as the paper
// describes it but by cross-entropy, from S = 25 I and with nu = d. With features of length one the
// paper's S = I learns half as much. Chosen on the validation classes of cifarfs-conv4.
func Conv4() Recipe {
	r := Default()
	c := &r.Config
	r.Start, c.Start.Scale, c.Start.Temperature = Identity, 5, 1
	c.Optimiser, c.Rate, c.Steps = metatrain.Adam, 0.001, 3000
	r.Tasks.Way, r.Tasks.Shot, r.Tasks.Query = episode.Exactly(5), episode.Range{Min: 1, Max: 5}, episode.Exactly(15)
	r.Validation.Tasks, r.Calibration.Shared = 200, 0
	return r
}

// Plain is Conv4 with the model kept to the paper's: m, kappa and S are learned, nu
// stays d, there is no temperature.
func Plain() Recipe {
	r := Conv4()
	r.Config.Fixed, r.Calibration.Sessions = "nu,temperature", 0
	return r
}

// Deep is Plain for the features of deep networks, whose classes are nearly spheres of one size.
// Training starts from S = 49 I. It takes half the steps, each .3 as large, with more classes and
// shots. Chosen on the four data sets of core/lab/experiment/RESULTS.md.
func Deep() Recipe {
	r := Plain()
	c := &r.Config
	c.Start.Scale, c.Rate, c.Steps = 7, 0.0003, 1500
	r.Tasks.Way, r.Tasks.Shot, r.Tasks.Query, r.Tasks.MaxRows = episode.Exactly(10), episode.Range{Min: 1, Max: 10}, episode.Exactly(5), 200
	r.Validation.Tasks = 400
	return r
}

// DeepHead is Default for the same features. The classes that trained the network lie closer
// together than new ones. So S starts from the identity, and the session's own residuals weigh
// little in it.
func DeepHead() Recipe {
	r := Default()
	r.Start, r.Config.Rate, r.Config.Steps = Identity, 0.0003, 600
	r.Calibration.Shared, r.Calibration.Kappa = 0.1, 1
	return r
}

// ManyRows prepares for classes with hundreds of rows beside classes with five. It has unequal
// shots, and S = I, which lets a class with many rows have a covariance of its own. For small
// classes the S of [Default] serves.
func ManyRows() Recipe {
	r := Default()
	c := &r.Config
	r.Start, c.Start.Scale, c.Start.Temperature, c.Fixed = Identity, 1, 25, "nu"
	c.Optimiser, c.Rate, c.Steps = metatrain.Adam, 0.001, 2000
	r.Calibration.Shared = 0
	r.Tasks = episode.Tasks{Way: episode.Range{Min: 10, Max: 20}, Shot: episode.Range{Min: 5, Max: 200}, Query: r.Tasks.Query, Imbalanced: true, MaxRows: 1000}
	return r
}

//go:embed families.txt
var families []byte

// Shipped is the recipe of the prior that the page begins with. The families are
// those of the data sets that it was learned from.
func Shipped() Recipe {
	r := Default()
	r.Transform.Power, r.Shrink = 0.4, 0.6
	r.Config.Steps = 0 // the covariance within classes is the most likely S where all classes share it
	r.Validation.Tasks, r.Precision, r.Rank = 0, "F16", 128
	r.Calibration.On = CrossFitting
	var err error
	if r.Calibration.Families, err = ParseFamilies("families.txt", families); err != nil {
		panic("recipe: " + err.Error()) // a test reads it too
	}
	return r
}

// forMAP makes a recipe for the plug-in predictive.
func forMAP(of func() Recipe) func() Recipe {
	return func() Recipe {
		r := of()
		r.Config.Objective.Inference = niw.MAP
		return r
	}
}

// presets are the recipes by name.
var presets = []struct {
	name string
	make func() Recipe
}{{"default", Default}, {"conv4", Conv4}, {"plain", Plain}, {"plain-map", forMAP(Plain)}, {"many-rows", ManyRows},
	{"deep", Deep}, {"deep-map", forMAP(Deep)}, {"deep-head", DeepHead}, {"shipped", Shipped}}

// Preset returns the recipe of that name: default, conv4, plain, plain-map,
// many-rows, deep, deep-map, deep-head or shipped.
func Preset(name string) (Recipe, error) {
	var names []string
	for _, p := range presets {
		if p.name == name {
			return p.make(), nil
		}
		names = append(names, p.name)
	}
	last := len(names) - 1
	return Recipe{}, fmt.Errorf("there is no preset %q; choose %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// Validate returns a *[dataset.FieldError] for the first value out of its domain, or the
// error of [metatrain.Config.Validate].
func (r *Recipe) Validate() error {
	c := &r.Calibration
	for _, v := range []struct {
		field string
		value any
		ok    bool
		want  string
	}{
		{"calibrate-on", c.On, c.On == OnValidation || c.On == CrossFitting, "val or left-out"},
		{"near", c.Near, c.Near >= 0 && c.Near <= 1, "a number from 0 to 1"},
		{"centre", c.Centre, c.Centre >= 0 && c.Centre <= 1e9, "a number from 0"},
		{"shared", c.Shared, c.Shared >= 0 && c.Shared <= 1e6, "a number from 0 to a million"},
		{"class-kappa", c.Kappa, c.Kappa >= 0 && c.Kappa <= 1e6, "a number from 0 to a million"},
		{"start", r.Start, r.Start == Within || r.Start == Identity, "within or identity"},
		{"shrink", r.Shrink, r.Shrink > 0 && r.Shrink <= 1, "a number above 0, at most 1"},
		{"precision", r.Precision, slices.Contains([]string{"F16", "F32", "F64"}, r.Precision), "F16, F32 or F64"},
		{"power", r.Transform.Power, r.Transform.Power >= 0 && r.Transform.Power <= 4, "a number from 0 to 4"},
		{"shift", r.Transform.Shift, r.Transform.Shift >= 0 && r.Transform.Shift <= 1e6, "a number from 0 to a million"},
		{"rank", r.Rank, r.Rank >= 0, "0 or more"},
		{"workers", r.Workers, r.Workers >= 1, "1 or more"},
		{"val-way", r.Validation.Way, r.Validation.Way >= 1, "1 or more"},
		{"val-query", r.Validation.Query, r.Validation.Query >= 1, "1 or more"},
		{"val-tasks", r.Validation.Tasks, r.Validation.Tasks >= 0, "0 or more"},
		{"calibrate", c.Sessions, c.Sessions >= 0, "0 or more"},
		{"folds", c.Folds, c.Folds >= 2, "2 or more"},
		{"n-way", r.Tasks.Way.Min, r.Tasks.Way.Min >= 1, "1 or more"},
		{"n-shot", r.Tasks.Shot.Min, r.Tasks.Shot.Min >= 1, "1 or more"},
		{"n-query", r.Tasks.Query.Min, r.Tasks.Query.Min >= 1, "1 or more"},
	} {
		if !v.ok {
			return dataset.BadField(v.field, "is %#v; give %s", v.value, v.want)
		}
	}
	return r.Config.Validate()
}

// validates reports whether validation classes are needed.
func (r *Recipe) validates() bool {
	return r.Validation.Tasks > 0 || r.Calibration.Sessions > 0 && r.Calibration.On != CrossFitting
}

// facts are the prior file's texts about its making: all that decides its bytes, nothing about when
// and where.
func (r *Recipe) facts() map[string]string {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic("recipe: facts do not encode") // finite numbers and strings
		}
		return string(b)
	}
	s := &r.Calibration
	return map[string]string{
		"seed": strconv.FormatUint(r.Seed, 10), "split": r.Split, "config": text(r.Config), "episodes": text(r.Tasks),
		"calibration": fmt.Sprintf("%s, %d sessions a kind, near %v, centre %v, shared %v, kappa %v", s.On, s.Sessions, s.Near, s.Centre, s.Shared, s.Kappa), "start": r.Start, "shrink": strconv.FormatFloat(r.Shrink, 'g', -1, 64),
	}
}
