// Package model defines the files of metaqda: priors, and classifiers with their
// examples. Both are in the safetensors format (github.com/huggingface/safetensors), which Python
// and JavaScript can read. The package is not for safetensors in general: it reads and writes only
// the few element types of these files. Its caller fetches and keeps the bytes. The numbers are
// those of core/niw and core/session, which have the equations.
//
// A prior file holds the tensors m (d), kappa (1) and nu (1). L has the lower triangle of the
// factor row by row, d(d+1)/2 numbers. For CL2N there is center (d). A spiked prior of rank r has
// scale (d), directions (r×d) and lambda (r) in place of L. One that was learned by `metaqda train`
// has data_mean (d) too. The metadata have the format with its version, the feature extractor with
// its sha256, the transform, the session model, facts of its making and a checksum. Priors by former
// programs have no checksum.
package model

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/json"
	"metaqda/core/lda"
	"metaqda/core/niw"
	"metaqda/core/session"
)

const (
	priorFormat      = "metaqda.prior"
	classifierFormat = "metaqda.classifier"

	priorVersion      = "2" // 1 has a calibration in place of the session model
	classifierVersion = "2" // 1 has no checksum
	factPrefix        = "fact."
)

// MaxDimension is the largest length of embeddings in a prior file. With it, d(d+1)/2 numbers still
// fit into the memory of a browser tab.
const MaxDimension = 8192

// Prior is the content of a prior file.
type Prior struct {
	NIW       *niw.Prior
	Transform embed.Transform
	Session   Session // how densities become probabilities
	// DataMean is the mean of the untransformed embeddings that the prior was learned from, each
	// data set counting alike; nil if not known. Methods without a prior may be centred on it. No
	// prediction of the prior depends on it.
	DataMean  []float64
	Extractor Extractor
	Facts     map[string]string // how the prior was made: data, seed, command
	Precision string            // of m, L and center: "F64", "F32" or "F16"; empty means F32
}

// Session describes the sessions that a prior is for. Shared is zero in a prior for the paper's
// densities, which have a scale matrix for each class: see [Prior.Serves].
type Session struct {
	Near       float64             // Options.Near of package lda
	Centre     float64             // Options.Centre
	Spread     float64             // Options.Spread
	Shared     float64             // Options.Shared
	Kappa      float64             // Options.Kappa
	Population *session.Population // nil for Bayes' rule as it stands
	Parts      *lda.Parts          // Options.Parts
}

// Options returns the options of the classifier that the prior is for.
func (s *Session) Options() lda.Options {
	return lda.Options{Near: s.Near, Centre: s.Centre, Spread: s.Spread, Shared: s.Shared, Kappa: s.Kappa, Population: s.Population, Parts: s.Parts}
}

// Serves returns nil for a prior for sessions, else a *[FormatError]. The other kind was learned
// for the paper's densities, which core/lab/discriminant has.
func (p *Prior) Serves() error {
	if p.Session.Shared > 0 {
		return nil
	}
	return &FormatError{Format: "prior", Reason: "it was learned for a covariance of each class, which only the methods fb and map of `metaqda eval` take: learn it anew with `metaqda train`, or take the one that comes with this program", Older: true}
}

// Validate returns a *[niw.ValueError] that names a number out of range.
func (s *Session) Validate() error {
	o := s.Options()
	if s.Shared == 0 {
		o.Shared, o.Kappa = 1, 1
	}
	return o.Validate()
}

// Validate checks the whole content.
func (p *Prior) Validate() error {
	if err := p.NIW.Validate(); err != nil {
		return err
	}
	if err := checkRange(p.NIW); err != nil {
		return err
	}
	if err := p.Transform.Validate(p.NIW.Dim()); err != nil {
		return err
	}
	if p.DataMean != nil {
		if err := niw.CheckPriorVector("mean of the data", p.DataMean, p.NIW.Dim()); err != nil {
			return err
		}
	}
	if parts := p.Session.Parts; parts != nil {
		if parts.First >= p.NIW.Dim() {
			return &niw.ValueError{Name: "length of the first part", Index: -1, Value: float64(parts.First), Want: "a number below the dimension"}
		}
		if p.Transform.Kind == embed.None || p.Transform.Shift != 0 {
			return &niw.ValueError{Name: "shift of an embedding of two parts", Index: -1, Value: p.Transform.Shift, Want: "0, and a transform to length one"}
		}
	}
	return p.Session.Validate()
}

// largest bounds the numbers of a prior; smallest also bounds those that are positive. Embeddings
// are float32, up to 3e38. Beyond these bounds their densities overflow, and no learned number
// comes near them.
const (
	largest  = 1e9
	smallest = 1e-12
)

// checkRange returns a *[niw.ValueError] for a number of a valid prior that would overflow in
// arithmetic.
func checkRange(p *niw.Prior) error {
	var scale, packed, diagonal []float64
	if p.Spiked != nil { // its eigenvalues are bounded more closely
		scale = p.Spiked.Scale
	} else {
		packed = packLower(p.L)
		for i := range p.Dim() {
			diagonal = append(diagonal, p.L.At(i, i))
		}
	}
	for _, q := range []struct {
		name   string
		least  float64
		values []float64
	}{
		{"kappa", smallest, []float64{p.Kappa}}, {"nu above d-1", smallest, []float64{p.Nu - float64(p.Dim()-1)}}, {"prior mean m", -largest, p.M},
		{"scale of S", smallest, scale}, {"lower triangle of L by rows", -largest, packed}, {"diagonal of L", smallest, diagonal},
	} {
		for i, v := range q.values {
			if v >= q.least && v <= largest {
				continue
			}
			want := "a number from 1e-12 to 1e9"
			if q.least < 0 {
				want = "a number of magnitude at most 1e9"
			}
			if len(q.values) == 1 {
				i = -1
			}
			return &niw.ValueError{Name: q.name, Index: i, Value: v, Want: want}
		}
	}
	if p.Spiked != nil {
		return nil
	}
	return checkInverse(p)
}

// checkInverse applies L⁻¹ to a few vectors. Each number of L may be in range while numbers of its
// inverse are out of range.
func checkInverse(p *niw.Prior) error {
	const probes = 4
	d := p.Dim()
	x := mat.NewDense(probes, d, nil)
	r := uint32(1)
	for i := range probes {
		for j := range d {
			r = r*1664525 + 1013904223
			x.Set(i, j, p.M[j]+1-2*float64(r>>31))
		}
	}
	p.WhitenRowsTo(x, x)
	for i := range probes {
		for j := range d {
			if v := x.At(i, j); !(math.Abs(v) <= 1e60) {
				return &niw.ValueError{Name: "inverse of the factor L", Index: j, Value: v, Want: "numbers of magnitude at most 1e60: L is nearly singular"}
			}
		}
	}
	return nil
}

// EncodePrior returns the bytes of a prior file. It returns an error if p is
// not valid or does not survive rounding to its precision. Equal priors give
// equal bytes.
func EncodePrior(p *Prior) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	b := encodePrior(p)
	if _, err := DecodePrior(b); err != nil {
		return nil, fail("prior cannot be written with precision ", quoted(p.Precision), ": ", err)
	}
	return b, nil
}

func encodePrior(p *Prior) []byte {
	dtype := p.Precision
	if dtype == "" {
		dtype = "F32"
	}
	d := p.NIW.Dim()
	tensors := map[string]tensor{
		"m":     floatTensor(dtype, p.NIW.M, d),
		"kappa": floatTensor("F64", []float64{p.NIW.Kappa}, 1),
		"nu":    floatTensor("F64", []float64{p.NIW.Nu}, 1),
	}
	if s := p.NIW.Spiked; s != nil {
		var q []float64
		for i := range s.Rank() {
			q = append(q, s.Directions.RawRowView(i)...)
		}
		tensors["directions"] = floatTensor(dtype, q, s.Rank(), d)
		tensors["scale"] = floatTensor("F64", s.Scale, d)
		tensors["lambda"] = floatTensor("F64", s.Lambda, s.Rank())
	} else {
		packed := packLower(p.NIW.L)
		tensors["L"] = floatTensor(dtype, packed, len(packed))
	}
	if p.Transform.Kind == embed.CL2N {
		tensors["center"] = floatTensor(dtype, p.Transform.Centre, d)
	}
	if p.DataMean != nil {
		tensors["data_mean"] = floatTensor("F32", p.DataMean, d) // embeddings may be too large for F16
	}
	return encodeTensors(tensors, priorMetadata(p, tensors))
}

func priorMetadata(p *Prior, tensors map[string]tensor) map[string]string {
	m := map[string]string{
		"format":    priorFormat,
		"version":   priorVersion,
		"extractor": json.Text(p.Extractor.Code),
		"transform": json.Text(func(c json.Codec) { codeTransform(&p.Transform, c) }),
		"session":   json.Text(p.Session.code),
	}
	for k, v := range p.Facts {
		m[factPrefix+k] = v
	}
	m[checksumKey] = checksum(tensors, m)
	return m
}

// DecodePrior reads a prior file. For any bytes it returns a valid prior or a *[FormatError].
func DecodePrior(b []byte) (*Prior, error) {
	tensors, metadata, err := decodeTensors(b)
	if err == nil {
		err = checkFormat(tensors, metadata, priorFormat, priorVersion, "learn it anew with `metaqda train`, or take the one that comes with this program")
	}
	var p *Prior
	if err == nil {
		p, err = decodePrior(tensors, metadata)
	}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return nil, formatError("prior", err)
	}
	return p, nil
}

func decodePrior(tensors map[string]tensor, metadata map[string]string) (*Prior, error) {
	p := &Prior{Facts: map[string]string{}, NIW: &niw.Prior{}}
	err := fromMetadata(metadata, "extractor", p.Extractor.Code)
	if err == nil {
		err = fromMetadata(metadata, "transform", func(c json.Codec) { codeTransform(&p.Transform, c) })
	}
	if err == nil {
		err = fromMetadata(metadata, "session", p.Session.code)
	}
	if err != nil {
		return nil, err
	}
	for k, v := range metadata {
		if name, ok := strings.CutPrefix(k, factPrefix); ok {
			p.Facts[name] = v
		}
	}
	r := reader{tensors: tensors}
	p.NIW.M = r.vector("m", -1)
	d := len(p.NIW.M)
	if r.err == nil && (d < 1 || d > MaxDimension) {
		r.err = fail("its dimension is ", d, ", allowed are 1 to ", MaxDimension)
	}
	if r.err != nil {
		return nil, r.err
	}
	p.Precision = tensors["m"].dtype
	if _, full := tensors["L"]; full {
		packed := r.vector("L", d*(d+1)/2)
		if r.err == nil {
			p.NIW.L = unpackLower(packed, d)
		}
	} else {
		p.NIW.Spiked = r.spiked(d)
	}
	p.NIW.Kappa = r.scalar("kappa")
	p.NIW.Nu = r.scalar("nu")
	if p.Transform.Kind == embed.CL2N {
		p.Transform.Centre = r.vector("center", d)
	}
	if _, ok := tensors["data_mean"]; ok {
		p.DataMean = r.vector("data_mean", d)
	}
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

// reader collects tensors and keeps the first error.
type reader struct {
	tensors map[string]tensor
	err     error
}

// vector returns the numbers of a tensor of one axis, of length n unless n < 0.
func (r *reader) vector(name string, n int) []float64 {
	if t, ok := r.tensors[name]; ok && n < 0 && len(t.shape) == 1 {
		n = t.shape[0]
	}
	return r.floats(name, n)
}

// floats returns the numbers of a tensor of the given shape.
func (r *reader) floats(name string, shape ...int) []float64 {
	if r.err != nil {
		return nil
	}
	t, ok := r.tensors[name]
	if !ok {
		r.err = fail("the tensor ", quoted(name), " is missing")
		return nil
	}
	if !slices.Equal(t.shape, shape) {
		r.err = fail("the tensor ", quoted(name), " has shape ", t.shape, ", want ", shape)
		return nil
	}
	v, err := t.floats()
	r.fail(err)
	return v
}

// spiked returns the scale matrix of a file without L.
func (r *reader) spiked(d int) *niw.Spiked {
	lambda := r.vector("lambda", -1)
	if len(lambda) > d {
		r.fail(fail("its rank is ", len(lambda), ", above the dimension ", d))
	}
	scale := r.vector("scale", d)
	q := r.floats("directions", len(lambda), d)
	if r.err != nil {
		return nil
	}
	var rows *mat.Dense
	if len(lambda) > 0 && d > 0 {
		rows = mat.NewDense(len(lambda), d, q)
	}
	s, err := niw.NewSpiked(scale, rows, lambda)
	r.fail(err)
	return s
}

// fail keeps the first error.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) scalar(name string) float64 {
	if v := r.vector(name, 1); len(v) == 1 {
		return v[0]
	}
	return math.NaN()
}
