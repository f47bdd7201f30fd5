package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/niw"
	"metaqda/core/session"
	"metaqda/core/test"
)

// samplePrior has numbers that F16 holds exactly, so that every precision must
// give them back.
func samplePrior(d int, precision string) *Prior {
	rng := rand.New(rand.NewPCG(1, 2))
	p := niw.HandCrafted(d, 1)
	p.Kappa, p.Nu = 0.1234567890123, float64(d)+math.Pi
	center := make([]float64, d)
	for i := range d {
		p.M[i] = float64(rng.IntN(2048)-1024) / 512
		center[i] = float64(rng.IntN(2048)) / 1024
		for j := range i {
			p.L.SetTri(i, j, float64(rng.IntN(2048)-1024)/4096)
		}
	}
	return &Prior{
		NIW:       p,
		Transform: embed.Transform{Kind: embed.CL2N, Power: 0.5, Shift: 0.377, Centre: center},
		Session:   Session{Near: 0.5, Centre: 1.5, Shared: 0.75, Kappa: 5, Population: samplePopulation()},
		Extractor: Extractor{ID: "test", SHA256: "00ff"},
		Facts:     map[string]string{"seed": "7", "data": "a, b"},
		Precision: precision,
	}
}

func samplePopulation() *session.Population {
	return &session.Population{
		LogT: 1. / 3, LeftOut: 0.25, LogTemperature: session.LogTemperature{SD: 0.5, Weight: 0.7},
		CohortMean: session.CohortMean{Mean: [2]float64{4, 1}, SD: 2, Count: 3}, CohortDeviation: session.CohortDeviation{SD: 2, Count: 1},
		Known: session.Known{Threshold: session.Normal{Mean: 0.5, SD: 0.25}, Slope: session.Normal{Mean: 0.1, SD: 0.2}, Weight: 0.3},
	}
}

// sampleSpiked is samplePrior with a spiked scale matrix.
func sampleSpiked(d int, precision string) *Prior {
	p := samplePrior(d, precision)
	scale := make([]float64, d)
	for i := range scale {
		scale[i] = 1 / float64(i+3) // not exact in F32
	}
	q := mat.NewDense(2, d, nil)
	q.Set(0, 0, 0.6)
	q.Set(0, 1, 0.8)
	q.Set(1, 0, 0.8)
	q.Set(1, 1, -0.6)
	q.Apply(func(_, _ int, v float64) float64 { return wide(half(v)) }, q)
	s, err := niw.NewSpiked(scale, q, []float64{0.1, 3})
	if err != nil {
		panic(err)
	}
	p.NIW.L, p.NIW.Spiked = nil, s
	return p
}

func TestPriorRoundTrip(t *testing.T) {
	for _, precision := range []string{"F64", "F32", "F16"} {
		withMean := samplePrior(5, precision)
		withMean.DataMean = []float64{0.25, -1e6, 0, 3, 1}
		atItsWord := samplePrior(5, precision) // without a session model
		atItsWord.Session = Session{}
		for _, want := range []*Prior{samplePrior(5, precision), sampleSpiked(5, precision), withMean, atItsWord} {
			b := must(EncodePrior(want))
			got := test.Must(DecodePrior(b))(t)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, want %+v", precision, got, want)
			}
		}
	}
}

// A file without the mean of its data keeps its bytes; one of another length or
// without end is refused.
func TestDataMeanOfAPrior(t *testing.T) {
	p := samplePrior(4, "F16")
	without, err := EncodePrior(p)
	if err != nil || bytes.Contains(without, []byte("data_mean")) {
		t.Errorf("without a mean: %v, %.300q", err, without)
	}
	for _, bad := range [][]float64{{}, {1, 2, 3}, {1, 2, 3, 4, 5}, {1, 2, math.NaN(), 4}, {1e300, 2, 3, 4}} {
		p.DataMean = bad
		if _, err := EncodePrior(p); err == nil {
			t.Errorf("the mean %v was written", bad)
		}
	}
	p.DataMean = []float64{1, 2, 3, 4}
	b := must(EncodePrior(p))
	_, err = DecodePrior(changed(b, func(tensors map[string]tensor, _ map[string]string) {
		tensors["data_mean"] = floatTensor("F32", []float64{1, 2, 3}, 3)
	}))
	refused(t, "a mean of another length", err, `"data_mean" has shape [3]`)
}

// A file of the version before is refused with the remedy, one of a later version
// with another.
func TestPriorOfAnotherVersionIsRefused(t *testing.T) {
	for version, remedy := range map[string]string{"1": "learn it anew", "3": "as new as the file", "": "as new as the file"} {
		_, err := DecodePrior(changed(must(EncodePrior(samplePrior(5, "F32"))), func(_ map[string]tensor, m map[string]string) { m["version"] = version }))
		refused(t, version, err, remedy)
	}
}

// A prior for the paper's densities says what it is for.
func TestAPriorForOtherDensitiesServesNoSession(t *testing.T) {
	p := samplePrior(5, "F64")
	test.OK(t, p.Serves())
	p.Session = Session{Near: 0.5}
	back := test.Must(DecodePrior(must(EncodePrior(p))))(t)
	if e := test.Refused[*FormatError](t, back.Serves(), "no weight of the scatter"); !e.Older {
		t.Errorf("%+v", e)
	}
}

// The layout is read here by hand, as a program in another language would.
func TestPriorFileIsSafetensors(t *testing.T) {
	b := must(EncodePrior(samplePrior(3, "F32")))
	n := binary.LittleEndian.Uint64(b)
	if n%8 != 0 {
		t.Errorf("header of %d bytes leaves the data unaligned", n)
	}
	var header map[string]struct {
		Dtype   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
		Format  string `json:"format"`
	}
	test.OK(t, json.Unmarshal(b[8:8+n], &header))
	l := header["L"]
	if l.Dtype != "F32" || len(l.Shape) != 1 || l.Shape[0] != 6 || header["__metadata__"].Format != "metaqda.prior" {
		t.Fatalf("header %+v", header)
	}
	first := math.Float32frombits(binary.LittleEndian.Uint32(b[8+int(n)+l.Offsets[0]:]))
	if first != 1 {
		t.Errorf("first number of L is %v, want 1", first)
	}
}

func TestDecodeRejects(t *testing.T) {
	prior, _ := EncodePrior(samplePrior(3, "F32"))
	classifier, _ := EncodeClassifier(sampleClassifier())
	edit := func(b []byte, old, new string) []byte {
		if len(old) != len(new) || !bytes.Contains(b, []byte(old)) {
			t.Fatalf("edit %q to %q does not fit", old, new)
		}
		return bytes.Replace(b, []byte(old), []byte(new), 1)
	}
	cases := map[string][]byte{
		"empty":             {},
		"header cut":        prior[:7],
		"header past end":   prior[:40],
		"data cut":          prior[:len(prior)-1],
		"bytes left over":   append(append([]byte{}, prior...), 0),
		"huge header":       append([]byte{255, 255, 255, 255, 255, 255, 255, 127}, prior[8:]...),
		"wrong version":     edit(prior, `"version":"2"`, `"version":"3"`),
		"wrong format":      edit(prior, "metaqda.prior", "metaqda.prayr"),
		"unknown dtype":     edit(prior, `"dtype":"F32"`, `"dtype":"Q32"`),
		"negative shape":    edit(prior, `"shape":[6]`, `"shape":-1 `),
		"missing tensor":    edit(prior, `"nu"`, `"nx"`),
		"unknown transform": edit(prior, `cl2n`, `cl3n`),
		"classifier":        classifier,
	}
	for name, b := range cases {
		_, err := DecodePrior(b)
		refused(t, name, err, "")
	}
	for name, b := range map[string][]byte{
		"prior":           prior,
		"cut":             classifier[:len(classifier)-1],
		"none prior":      edit(classifier, `nonePrior\":0.1`, `nonePrior\":1.1`),
		"labels not JSON": edit(classifier, `[{\"label`, `({\"label`),
	} {
		_, err := DecodeClassifier(b)
		refused(t, name, err, "")
	}
}

func TestDecodeRejectsBadNumbers(t *testing.T) {
	for name, spoil := range map[string]func(*Prior){
		"kappa zero":         func(p *Prior) { p.NIW.Kappa = 0 },
		"nu at its bound":    func(p *Prior) { p.NIW.Nu = 2 },
		"nu near its bound":  func(p *Prior) { p.NIW.Nu = 2 + 1e-15 },
		"tiny weight":        func(p *Prior) { p.Session.Shared = 1e-310 },
		"tiny kappa":         func(p *Prior) { p.Session.Kappa = 1e-200 },
		"kappa huge":         func(p *Prior) { p.NIW.Kappa = 1e308 },
		"kappa denormal":     func(p *Prior) { p.NIW.Kappa = 1e-320 },
		"nu huge":            func(p *Prior) { p.NIW.Nu = 1e308 },
		"m huge":             func(p *Prior) { p.NIW.M[0] = 1e200 },
		"L huge":             func(p *Prior) { p.NIW.L.SetTri(2, 0, 1e200) },
		"L nearly singular":  func(p *Prior) { p.NIW.L.SetTri(1, 1, 1e-200) },
		"nan in m":           func(p *Prior) { p.NIW.M[1] = math.NaN() },
		"negative diagonal":  func(p *Prior) { p.NIW.L.SetTri(1, 1, -1) },
		"infinite centre":    func(p *Prior) { p.Transform.Centre[0] = math.Inf(1) },
		"absurd temperature": func(p *Prior) { p.Session.Population.LogT = 1e9 },
		"deviation of zero":  func(p *Prior) { p.Session.Population.CohortDeviation.SD = 0 },
		"negative weight":    func(p *Prior) { p.Session.Shared = -1 },
		"negative near":      func(p *Prior) { p.Session.Near = -1 },
		"negative centre":    func(p *Prior) { p.Session.Centre = -1 },
		"negative spread":    func(p *Prior) { p.Session.Spread = -1 },
	} {
		p := samplePrior(3, "F64")
		spoil(p)
		_, err := EncodePrior(p)
		if err == nil {
			t.Errorf("%s: encoded", name)
		}
		_, err = DecodePrior(encodePrior(p))
		if err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

func TestDecodeRejectsBadSpikes(t *testing.T) {
	decode := func(change func(tensors map[string]tensor)) error {
		return test.Err(DecodePrior(changed(must(EncodePrior(sampleSpiked(4, "F64"))), func(tensors map[string]tensor, _ map[string]string) { change(tensors) })))
	}
	for want, change := range map[string]func(map[string]tensor){
		`"lambda" is missing`:              func(m map[string]tensor) { delete(m, "lambda") },
		`"directions" has shape [2 4]`:     func(m map[string]tensor) { m["lambda"] = floatTensor("F64", []float64{2}, 1) },
		`"directions" has shape [1 4]`:     func(m map[string]tensor) { m["directions"] = floatTensor("F64", []float64{1, 0, 0, 0}, 1, 4) },
		`"scale" has shape [3]`:            func(m map[string]tensor) { m["scale"] = floatTensor("F64", []float64{1, 1, 1}, 3) },
		"rank is 5":                        func(m map[string]tensor) { m["lambda"] = floatTensor("F64", []float64{2, 2, 2, 2, 2}, 5) },
		"eigenvalue of S":                  func(m map[string]tensor) { m["lambda"] = floatTensor("F64", []float64{2, -1}, 2) },
		"inner product of directions of S": func(m map[string]tensor) { m["directions"] = floatTensor("F64", make([]float64, 8), 2, 4) },
	} {
		refused(t, "spikes", decode(change), want)
	}
	test.OK(t, decode(func(map[string]tensor) {}))
	for _, p := range []*Prior{samplePrior(3, "F64"), sampleSpiked(3, "F64")} {
		_, err := DecodePrior(changed(must(EncodePrior(p)), func(m map[string]tensor, _ map[string]string) {
			for name := range m {
				if name != "kappa" && name != "nu" {
					m[name] = floatTensor("F64", nil, 0)
				}
			}
		}))
		refused(t, "no dimension", err, "dimension is 0")
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// changed returns a freshly encoded file with other content. If the file has a checksum, it is that
// of the new content.
func changed(b []byte, change func(tensors map[string]tensor, metadata map[string]string)) []byte {
	tensors, metadata, err := decodeTensors(b)
	if err != nil {
		panic(err)
	}
	if change(tensors, metadata); metadata[checksumKey] != "" {
		metadata[checksumKey] = checksum(tensors, metadata)
	}
	return encodeTensors(tensors, metadata)
}

// refused checks that an error is a FormatError that has words in it.
func refused(t *testing.T, what any, err error, words string) {
	t.Helper()
	test.Refused[*FormatError](t, err, "%v", what)
	if !strings.Contains(err.Error(), words) {
		t.Errorf("%v: want an error about %q, got %v", what, words, err)
	}
}

// A bit that is lost in a copy of a prior may leave valid numbers.
func TestADamagedPriorIsRefused(t *testing.T) {
	for _, p := range []*Prior{samplePrior(3, "F64"), sampleSpiked(3, "F16")} {
		b := must(EncodePrior(p))
		for i := range 8 * len(b) {
			damaged := bytes.Clone(b)
			damaged[i/8] ^= 1 << (i % 8)
			q, err := DecodePrior(damaged)
			if err == nil && !bytes.Equal(must(EncodePrior(q)), b) {
				t.Fatalf("bit %d of byte %d changed: taken", i%8, i/8)
			}
		}
		old := changed(b, func(_ map[string]tensor, m map[string]string) { delete(m, checksumKey) })
		test.Must(DecodePrior(old))(t)
	}
}

func FuzzDecodePrior(f *testing.F) {
	for _, precision := range []string{"F64", "F32", "F16"} {
		for _, p := range []*Prior{samplePrior(3, precision), sampleSpiked(3, precision)} {
			b, _ := EncodePrior(p)
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, m, err := decodeTensors(b); err == nil && m[checksumKey] != "" { // or else all that is tried is the checksum
			b = changed(b, func(map[string]tensor, map[string]string) {})
		}
		p, err := DecodePrior(b)
		if err != nil {
			return
		}
		once, err := EncodePrior(p)
		if err != nil {
			t.Fatalf("decoded but not encodable: %v", err)
		}
		again := test.Must(DecodePrior(once))(t)
		twice, _ := EncodePrior(again)
		if !bytes.Equal(once, twice) {
			t.Fatal("encoding is not a fixed point")
		}
		if d := p.NIW.Dim(); d <= 64 {
			x := make([]float64, d)
			for i := range x {
				x[i] = float64(i%7) - 3
			}
			answers(t, p, x)
		}
	})
}
