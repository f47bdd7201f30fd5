// Package model defines the files of metaqda: priors and taught classifiers,
// both in the safetensors format, which Python and JavaScript read as they are.
//
// A prior file holds the tensors m (d), L (the lower triangle of the factor row
// by row, d(d+1)/2), kappa (1), nu (1) and, for CL2N, center (d). A spiked prior
// of rank r has scale (d), directions (r×d) and lambda (r) in place of L, one
// that recognises its domains domain_directions (R×d), one with a background
// background_directions (R×d) and background_classes (n×R). One that was learned
// by `metaqda train` has data_mean (d) too. The metadata name the
// format and its version, the feature extractor with its sha256, the transform,
// the calibration and the facts of its making.
package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/niw"
	"metaqda/core/qda"
)

const (
	priorFormat      = "metaqda.prior"
	classifierFormat = "metaqda.classifier"
	version          = "1"
	factPrefix       = "fact."

	// maxDimension keeps d(d+1)/2 numbers within what a browser tab can hold.
	maxDimension = 8192
)

// Extractor names the network whose embeddings a file is about.
type Extractor struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256,omitempty"`
}

// Prior is the content of a prior file.
type Prior struct {
	NIW         *niw.Prior
	Transform   embed.Transform
	Calibration qda.Calibration // of the fully Bayesian predictive
	// MAP is the calibration of the plug-in predictive, whose densities differ.
	MAP qda.Calibration
	// Domains tells the domains that the prior was learned from by a session's
	// examples; nil if it cannot.
	Domains *qda.Domains
	// Background is what queries are compared with beside the taught classes; nil
	// for nothing.
	Background *qda.Background
	// DataMean is the mean of the embeddings that the prior was learned from, as
	// they are, each data set counting alike; nil if not known. What knows no prior
	// may be centred on it, no prediction of the prior depends on it.
	DataMean  []float64
	Extractor Extractor
	Facts     map[string]string // how the prior was made: data, seed, command
	Precision string            // of m, L and center: "F64", "F32" or "F16"; empty means F32
}

// CalibrationFor returns the calibration that belongs to an inference.
func (p *Prior) CalibrationFor(inf niw.Inference) qda.Calibration {
	if inf == niw.MAP {
		return p.MAP
	}
	return p.Calibration
}

// Validate checks the whole content.
func (p *Prior) Validate() error {
	if err := p.NIW.Validate(); err != nil {
		return err
	}
	if err := p.Transform.Validate(p.NIW.Dim()); err != nil {
		return err
	}
	if err := p.MAP.Validate(); err != nil {
		return err
	}
	if err := p.Calibration.Validate(); err != nil {
		return err
	}
	if err := p.Background.Check(p.NIW.Dim()); err != nil {
		return err
	}
	if p.DataMean != nil {
		if err := niw.CheckVector("mean of the data", p.DataMean, p.NIW.Dim()); err != nil {
			return err
		}
	}
	return p.Domains.Check(p.NIW.Dim(), &p.Calibration, &p.MAP)
}

// Sum returns the sha256 of the bytes of a file, in hexadecimal.
func Sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
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
		return nil, fmt.Errorf("prior cannot be written with precision %q: %w", p.Precision, err)
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
		tensors["center"] = floatTensor(dtype, p.Transform.Center, d)
	}
	if p.DataMean != nil {
		tensors["data_mean"] = floatTensor("F32", p.DataMean, d) // embeddings may be too large for F16
	}
	if p.Domains != nil {
		tensors["domain_directions"] = floatTensor(dtype, p.Domains.Directions.RawMatrix().Data, p.Domains.Rank(), d)
	}
	if b := p.Background; b != nil {
		n, r := b.Coordinates.Dims()
		tensors["background_directions"] = floatTensor(dtype, b.Directions.RawMatrix().Data, r, d)
		tensors["background_classes"] = floatTensor(dtype, b.Coordinates.RawMatrix().Data, n, r)
	}
	return encodeTensors(tensors, priorMetadata(p))
}

// domainsMetadata is how [qda.Domains] without its directions stand in the
// metadata.
type domainsMetadata struct {
	Names []string    `json:"names"`
	Mean  [][]float64 `json:"mean"`
	Cov   [][]float64 `json:"cov"`
}

func priorMetadata(p *Prior) map[string]string {
	m := map[string]string{
		"format":      priorFormat,
		"version":     version,
		"extractor":   mustJSON(p.Extractor),
		"transform":   mustJSON(p.Transform),
		"calibration": mustJSON(p.Calibration),
		"map":         mustJSON(p.MAP),
	}
	if q := p.Domains; q != nil {
		m["domains"] = mustJSON(domainsMetadata{q.Names, q.Mean, q.Cov})
	}
	if b := p.Background; b != nil {
		m["backgroundTemperature"] = mustJSON(b.Temperature)
	}
	for k, v := range p.Facts {
		m[factPrefix+k] = v
	}
	return m
}

// DecodePrior reads a prior file. Whatever the bytes, it returns a valid prior
// or a *[FormatError].
func DecodePrior(b []byte) (*Prior, error) {
	tensors, metadata, err := decodeTensors(b)
	if err == nil {
		err = checkFormat(metadata, priorFormat)
	}
	var p *Prior
	if err == nil {
		p, err = decodePrior(tensors, metadata)
	}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return nil, &FormatError{Format: "prior", Reason: err.Error()}
	}
	return p, nil
}

func decodePrior(tensors map[string]tensor, metadata map[string]string) (*Prior, error) {
	p := &Prior{Facts: map[string]string{}, NIW: &niw.Prior{}}
	for key, dst := range map[string]any{"extractor": &p.Extractor, "transform": &p.Transform, "calibration": &p.Calibration, "map": &p.MAP} {
		if err := fromMetadata(metadata, key, dst); err != nil {
			return nil, err
		}
	}
	if err := checkUnblended(metadata); err != nil {
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
	if d > maxDimension {
		return nil, fmt.Errorf("its dimension is %d, the most allowed is %d", d, maxDimension)
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
		p.Transform.Center = r.vector("center", d)
	}
	if _, ok := tensors["data_mean"]; ok {
		p.DataMean = r.vector("data_mean", d)
	}
	if _, ok := tensors["domain_directions"]; ok {
		p.Domains = r.domains(metadata, d)
	}
	if _, ok := tensors["background_directions"]; ok {
		p.Background = r.background(metadata, d)
	}
	if r.err == nil && d == 0 {
		r.err = fmt.Errorf("its dimension is zero")
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
		r.err = fmt.Errorf("the tensor %q is missing", name)
		return nil
	}
	if !slices.Equal(t.shape, shape) {
		r.err = fmt.Errorf("the tensor %q has shape %v, want %v", name, t.shape, shape)
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
		r.fail(fmt.Errorf("its rank is %d, above the dimension %d", len(lambda), d))
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

// domains returns the description of the domains.
func (r *reader) domains(metadata map[string]string, d int) *qda.Domains {
	var m domainsMetadata
	r.fail(fromMetadata(metadata, "domains", &m))
	w := r.matrix("domain_directions", d)
	if r.err != nil {
		return nil
	}
	q, err := qda.NewDomains(m.Names, w, m.Mean, m.Cov)
	r.fail(err)
	return q
}

// background returns the background.
func (r *reader) background(metadata map[string]string, d int) *qda.Background {
	var temperature float64
	r.fail(fromMetadata(metadata, "backgroundTemperature", &temperature))
	v := r.matrix("background_directions", d)
	if r.err != nil {
		return nil
	}
	c := r.matrix("background_classes", v.RawMatrix().Rows)
	if r.err != nil {
		return nil
	}
	b, err := qda.NewBackground(v, c, temperature)
	r.fail(err)
	return b
}

// matrix returns a tensor of any number of rows, one at least, with n columns.
func (r *reader) matrix(name string, n int) *mat.Dense {
	var rows int
	if shape := r.tensors[name].shape; len(shape) > 0 {
		rows = shape[0]
	}
	x := r.floats(name, rows, n)
	if r.err == nil && len(x) == 0 {
		r.fail(fmt.Errorf("the tensor %q is empty", name))
	}
	if r.err != nil {
		return nil
	}
	return mat.NewDense(rows, n, x)
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

func checkFormat(metadata map[string]string, format string) error {
	if got := metadata["format"]; got != format {
		return fmt.Errorf("its format is %q, want %q", got, format)
	}
	if got := metadata["version"]; got != version {
		return fmt.Errorf("its version is %q and this program reads %q: use a program as new as the file", got, version)
	}
	return nil
}

// checkUnblended refuses a file of a time when a share of the identity could be
// blended into the precision: without it the prior would score otherwise than it
// was learned to.
func checkUnblended(metadata map[string]string) error {
	var share float64
	if err := fromMetadata(metadata, "regParam", &share); err != nil {
		return err
	}
	if share != 0 {
		return &niw.ValueError{Name: "share of the identity in the precision (regParam)", Index: -1, Value: share, Want: "0, as nothing is blended in here: learn the prior anew"}
	}
	return nil
}

// fromMetadata parses the JSON under key into dst; a missing key leaves dst.
func fromMetadata(metadata map[string]string, key string, dst any) error {
	text, ok := metadata[key]
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), dst); err != nil {
		return fmt.Errorf("its metadata %q are malformed", key)
	}
	return nil
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("model: metadata not encodable")
	}
	return string(b)
}

// packLower returns the rows of the lower triangle one after the other.
func packLower(l *mat.TriDense) []float64 {
	raw := l.RawTriangular()
	v := make([]float64, 0, raw.N*(raw.N+1)/2)
	for i := range raw.N {
		v = append(v, raw.Data[i*raw.Stride:i*raw.Stride+i+1]...)
	}
	return v
}

// unpackLower is the inverse of packLower.
func unpackLower(v []float64, d int) *mat.TriDense {
	l := mat.NewTriDense(d, mat.Lower, nil)
	raw := l.RawTriangular()
	for i := range d {
		copy(raw.Data[i*raw.Stride:i*raw.Stride+i+1], v)
		v = v[i+1:]
	}
	return l
}
