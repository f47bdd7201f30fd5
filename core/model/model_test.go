package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/x448/float16"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/embed"
	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/session"
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
		LogT: 1. / 3, LeftOut: session.LeftOut{Class: 0.5, Own: 0.25}, LogTemperature: session.LogTemperature{SD: 0.5, Weight: 0.7},
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

func sampleClassifier() *Classifier {
	return &Classifier{
		Name: "kitchen", Extractor: Extractor{ID: "test"}, PriorSum: strings.Repeat("ab", 32),
		Settings: Settings{NonePrior: 0.1, Sort: "taught"},
		Classes: []Class{
			{Label: "Tasse ☕", Weight: 1, Examples: []Example{{Embedding: []float32{1, 2.5}, Thumbnail: []byte("png")}, {Embedding: []float32{-1, 0}}}},
			{Label: "empty", Weight: 2},
			{Label: "pot", Weight: 0.5, Examples: []Example{{Embedding: []float32{0, 3e30}, Thumbnail: []byte{0, 1}}}},
		},
	}
}

func TestPriorRoundTrip(t *testing.T) {
	for _, precision := range []string{"F64", "F32", "F16"} {
		withMean := samplePrior(5, precision)
		withMean.DataMean = []float64{0.25, -1e6, 0, 3, 1}
		for _, want := range []*Prior{samplePrior(5, precision), sampleSpiked(5, precision), withMean} {
			b, err := EncodePrior(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodePrior(b)
			if err != nil {
				t.Fatal(err)
			}
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
	b, err := EncodePrior(p)
	if err != nil {
		t.Fatal(err)
	}
	var format *FormatError
	torn := bytes.Replace(b, []byte(`"data_mean":{"dtype":"F32","shape":[4]`), []byte(`"data_mean":{"dtype":"F32","shape":[3]`), 1)
	if _, err := DecodePrior(torn); bytes.Equal(torn, b) || !errors.As(err, &format) {
		t.Errorf("a mean of another length: %v", err)
	}
}

// A file of the version before is refused with the remedy, one of a later version
// with another.
func TestPriorOfAnotherVersionIsRefused(t *testing.T) {
	tensors, metadata, err := decodeTensors(must(EncodePrior(samplePrior(5, "F32"))))
	if err != nil {
		t.Fatal(err)
	}
	for version, remedy := range map[string]string{"1": "learn it anew", "3": "as new as the file", "": "as new as the file"} {
		metadata["version"] = version
		rejects(t, encodeTensors(tensors, metadata), remedy)
	}
}

// A prior without a session model takes densities at their word.
func TestPriorWithoutASessionModel(t *testing.T) {
	want := samplePrior(4, "F32")
	want.Session = Session{}
	got, err := DecodePrior(must(EncodePrior(want)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %+v", err, got)
	}
	if o := got.Session.Options(); o.Population != nil || o.Shared != 0 {
		t.Errorf("options %+v", o)
	}
}

// The shipped file says all of the session model in at most forty numbers.
func TestCoefficientsAreFew(t *testing.T) {
	if n := 2*session.Size + 2; n > 40 {
		t.Errorf("%d coefficients", n)
	}
}

func TestClassifierRoundTrip(t *testing.T) {
	want := sampleClassifier()
	b, err := EncodeClassifier(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeClassifier(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeClassifier(got)
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("encoding what was decoded gives other bytes (%v)", err)
	}
	if got.Classes[0].Label != "Tasse ☕" || string(got.Classes[0].Examples[0].Thumbnail) != "png" || got.Classes[2].Examples[0].Embedding[1] != 3e30 {
		t.Errorf("got %+v", got)
	}
}

// Files of before have settings that say nothing any more, whatever they are.
func TestSettingsOfBeforeAreIgnored(t *testing.T) {
	want := sampleClassifier()
	tensors, metadata, err := decodeTensors(must(EncodeClassifier(want)))
	if err != nil {
		t.Fatal(err)
	}
	for _, settings := range []string{`{"inference":"map","pooled":true,`, `{"inference":"fb",`, `{"inference":7,"pooled":"x",`} {
		metadata["settings"] = settings + `"nonePrior":0.1,"sort":"taught"}`
		metadata[checksumKey] = checksum(tensors, metadata)
		got, err := DecodeClassifier(encodeTensors(tensors, metadata))
		if err != nil || got.Settings != want.Settings {
			t.Errorf("%s: %v, %+v", settings, err, got)
		}
	}
}

// The layout is read here by hand, as a program in another language would.
func TestPriorFileIsSafetensors(t *testing.T) {
	b, err := EncodePrior(samplePrior(3, "F32"))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
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
		var format *FormatError
		if _, err := DecodePrior(b); !errors.As(err, &format) {
			t.Errorf("prior, %s: got %v, want a FormatError", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"prior":           prior,
		"cut":             classifier[:len(classifier)-1],
		"none prior":      edit(classifier, `nonePrior\":0.1`, `nonePrior\":1.1`),
		"labels not JSON": edit(classifier, `[{\"label`, `({\"label`),
	} {
		var format *FormatError
		if _, err := DecodeClassifier(b); !errors.As(err, &format) {
			t.Errorf("classifier, %s: got %v, want a FormatError", name, err)
		}
	}
}

// A file of another kind is told in words, not in numbers that its bytes would be.
func TestAnotherKindOfFileIsSaidToBeOne(t *testing.T) {
	for name, b := range map[string]string{"text": "Dear diary, today", "JPEG": "\xff\xd8\xff\xe0\x00\x10JFIF\x00", "ZIP": "PK\x03\x04\x00\x00\x00\x00\x00\x00", "zeros": strings.Repeat("\x00", 99)} {
		if _, err := DecodeClassifier([]byte(b)); err == nil || !strings.HasSuffix(err.Error(), "it does not begin as one does, so it is a file of another kind") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThumbnailsOutOfPlaceAreRefused(t *testing.T) {
	sound, err := EncodeClassifier(sampleClassifier())
	if err != nil {
		t.Fatal(err)
	}
	for _, ends := range [][]int{{3, 2, 5}, {-1, 3, 5}, {3, 3, 6}, {3, 3, 1 << 40}, {3, 5}, {3, 3, 5, 5}} {
		tensors, metadata, err := decodeTensors(sound)
		if err != nil {
			t.Fatal(err)
		}
		tensors["thumbnail_end"] = intTensor("I64", ends)
		var format *FormatError
		if _, err := DecodeClassifier(encodeTensors(tensors, metadata)); !errors.As(err, &format) {
			t.Errorf("thumbnails that end at %v: %v", ends, err)
		}
	}
}

// Labels come from files that anybody can write. What can be told apart on a page is
// kept as it is, to the byte.
func TestLabels(t *testing.T) {
	long := strings.Repeat("e", MaxLabel)
	for _, label := range []string{"x", "<b>&amp;", "__proto__", "\"", "two  words", "👩\u200d🚀", "é", long} {
		c := sampleClassifier()
		c.Classes[1].Label = label
		b, err := EncodeClassifier(c)
		if err != nil {
			t.Errorf("%q: %v", label, err)
			continue
		}
		back, err := DecodeClassifier(b)
		if err != nil || back.Classes[1].Label != label {
			t.Errorf("%q came back as %+v, %v", label, back, err)
		}
	}
	sound, err := EncodeClassifier(sampleClassifier())
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"", " ", "\t\n", "\u2003", "pot", " pot", "pot\n", long + "e", "\u200b", "\u202e", "p\u200bot", "e\u0301", "a\x00b", "\u3164", "\u0301", "\U000e0061", "\u200d\u0301"} {
		c := sampleClassifier()
		c.Classes[1].Label = label
		if _, err := EncodeClassifier(c); err == nil {
			t.Errorf("%q was written", label)
		}
		tensors, metadata, err := decodeTensors(sound)
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(label)
		if err != nil {
			t.Fatal(err)
		}
		metadata["classes"] = strings.Replace(metadata["classes"], `"empty"`, string(written), 1)
		metadata[checksumKey] = checksum(tensors, metadata)
		var format *FormatError
		if _, err := DecodeClassifier(encodeTensors(tensors, metadata)); !errors.As(err, &format) || !strings.Contains(err.Error(), "label") {
			t.Errorf("%q: got %v, want a FormatError about the label", label, err)
		}
	}
}

func TestDecodeRejectsBadNumbers(t *testing.T) {
	for name, spoil := range map[string]func(*Prior){
		"kappa zero":         func(p *Prior) { p.NIW.Kappa = 0 },
		"nu at its bound":    func(p *Prior) { p.NIW.Nu = 2 },
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
	} {
		p := samplePrior(3, "F64")
		spoil(p)
		if _, err := EncodePrior(p); err == nil {
			t.Errorf("%s: encoded", name)
		}
		if _, err := DecodePrior(encodePrior(p)); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

func TestDecodeRejectsBadSpikes(t *testing.T) {
	encode := func(change func(tensors map[string]tensor)) []byte {
		p := sampleSpiked(4, "F64")
		tensors, metadata, err := decodeTensors(must(EncodePrior(p)))
		if err != nil {
			t.Fatal(err)
		}
		change(tensors)
		return encodeTensors(tensors, metadata)
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
		_, err := DecodePrior(encode(change))
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error about %s, got %v", want, err)
		}
	}
	if _, err := DecodePrior(encode(func(map[string]tensor) {})); err != nil {
		t.Errorf("unchanged: %v", err)
	}
}

// rejects checks that bytes are no prior, for a reason that has words in it.
func rejects(t *testing.T, b []byte, words string) {
	t.Helper()
	_, err := DecodePrior(b)
	var format *FormatError
	if !errors.As(err, &format) || !strings.Contains(err.Error(), words) {
		t.Errorf("want an error about %s, got %v", words, err)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestEncodeRejectsWhatRoundingRuins(t *testing.T) {
	p := samplePrior(3, "F16")
	p.NIW.L.SetTri(2, 2, 1e-9) // rounds to zero
	if _, err := EncodePrior(p); err == nil {
		t.Error("a diagonal that rounds to zero was written")
	}
	p.Precision = "F32"
	if _, err := EncodePrior(p); err != nil {
		t.Errorf("with F32: %v", err)
	}
}

func wide(h float16.Float16) float64 { return float64(h.Float32()) }

// Every binary16 number is what its bits say and survives, and numbers between two
// neighbours go to the nearer, ties to the even one.
func TestHalf(t *testing.T) {
	for h := range uint16(0x7c00) {
		exp, fraction := max(int(h>>10), 1), float64(h&0x3ff)
		if h >= 0x400 {
			fraction += 0x400
		}
		x := math.Ldexp(fraction, exp-25)
		next := math.Ldexp(fraction+1, exp-25)
		if got := wide(float16.Frombits(h)); got != x {
			t.Fatalf("%#x is %v, want %v", h, got, x)
		}
		if half(x).Bits() != h || half(-x).Bits() != h|1<<15 {
			t.Fatalf("%#x: %v came back as %#x", h, x, half(x).Bits())
		}
		middle := (x + next) / 2
		if got := half(math.Nextafter(middle, 0)).Bits(); got != h {
			t.Fatalf("below the middle of %#x: %#x", h, got)
		}
		if got := half(math.Nextafter(middle, 1e9)).Bits(); got != h+1 {
			t.Fatalf("above the middle of %#x: %#x", h, got)
		}
		if got := half(middle).Bits(); got != h+h&1 {
			t.Fatalf("tie above %#x: %#x", h, got)
		}
	}
	for _, x := range []float64{math.Inf(-1), -1e300, -math.MaxFloat32} {
		if got := half(x).Bits(); got != 0xfc00 {
			t.Errorf("%v became %#x", x, got)
		}
	}
	if half(1e-300).Bits() != 0 || half(math.NaN()).Bits() != 0x7e00 {
		t.Error("a tiny number or NaN lost")
	}
}

// Whatever byte of a classifier file is another, it does not come in.
func TestChangedClassifierFilesAreRefused(t *testing.T) {
	sound := must(EncodeClassifier(sampleClassifier()))
	for i := range sound {
		for _, bit := range []byte{1, 0x20} {
			b := slices.Clone(sound)
			b[i] ^= bit
			c, err := DecodeClassifier(b)
			var format *FormatError
			switch {
			case err == nil && c.Unchecked: // the one bit that makes version 2 another is none of these
				t.Errorf("byte %d, bit %d: taken for a file of the first version", i, bit)
			case err == nil && bytes.Equal(must(EncodeClassifier(c)), sound): // a space, or a letter in a word of the header that is read either way
			case err == nil:
				t.Errorf("byte %d, bit %d: taken as it is", i, bit)
			case !errors.As(err, &format):
				t.Errorf("byte %d, bit %d: %v", i, bit, err)
			}
		}
	}
}

func TestTooManyAreRefused(t *testing.T) {
	c := sampleClassifier()
	c.Classes = nil
	for i := range MaxClasses + 1 {
		c.Classes = append(c.Classes, Class{Label: fmt.Sprint("class ", i), Weight: 1})
	}
	if _, err := EncodeClassifier(c); err == nil || !strings.Contains(err.Error(), "2001 classes, the most allowed is 2000") {
		t.Errorf("classes: %v", err)
	}
	c.Classes = c.Classes[:1]
	c.Classes[0].Examples = slices.Repeat([]Example{{Embedding: []float32{1}}}, MaxExamples+1)
	if _, err := EncodeClassifier(c); err == nil || !strings.Contains(err.Error(), "20001 examples, the most allowed is 20000") {
		t.Errorf("examples: %v", err)
	}
}

// A file of any number of classes is refused before anything is made of them, and names
// that all are the same are told apart without trying each number for each.
func TestHundredThousandClasses(t *testing.T) {
	const many = 100_000
	classes := "[" + strings.Repeat(`{"label":"one","weight":1},`, many-1) + `{"label":"one","weight":1}]`
	for _, version := range []string{"1", ""} { // version 1 had no rules for labels
		tensors, metadata, err := decodeTensors(must(EncodeClassifier(sampleClassifier())))
		if err != nil {
			t.Fatal(err)
		}
		metadata["classes"] = classes
		if version != "" {
			metadata["version"] = version
			delete(metadata, checksumKey)
		} else {
			metadata[checksumKey] = checksum(tensors, metadata)
		}
		var format *FormatError
		if _, err := DecodeClassifier(encodeTensors(tensors, metadata)); !errors.As(err, &format) || !strings.Contains(err.Error(), "100000 classes, the most allowed is 2000") {
			t.Errorf("version %q: %v", version, err)
		}
	}
	names := RepairLabels(slices.Repeat([]string{"one", "two"}, many/2))
	if names[0] != "one" || names[1] != "two" || names[2] != "one 2" || names[many-1] != fmt.Sprint("two ", many/2) {
		t.Errorf("names are %q, %q, %q and at last %q", names[0], names[1], names[2], names[many-1])
	}
}

// Tensors lie one after the other: what two share, or none has, is no safetensors.
func TestHolesAndOverlapsAreRefused(t *testing.T) {
	header := func(entries string, data int) []byte {
		text := []byte(`{"__metadata__":{"format":"metaqda.prior","version":"2"},` + entries + `}`)
		return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, make([]byte, data))
	}
	entry := func(name string, from, to int) string {
		return fmt.Sprintf(`%q:{"dtype":"U8","shape":[%d],"data_offsets":[%d,%d]}`, name, to-from, from, to)
	}
	for name, b := range map[string][]byte{
		"overlap and hole": header(entry("a", 0, 4)+","+entry("b", 0, 4), 8),
		"partly":           header(entry("a", 0, 4)+","+entry("b", 2, 6)+","+entry("c", 8, 10), 10),
		"hole":             header(entry("a", 0, 4)+","+entry("b", 6, 8), 8),
		"bytes left":       header(entry("a", 0, 4), 8),
	} {
		if _, _, err := decodeTensors(b); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, _, err := decodeTensors(header(entry("a", 4, 8)+","+entry("b", 0, 4)+","+entry("none", 4, 4), 8)); err != nil {
		t.Errorf("tensors in another order: %v", err)
	}
}

// A file without dimensions is refused, whatever the form of its scale matrix.
func TestDecodeRejectsNoDimension(t *testing.T) {
	for _, p := range []*Prior{samplePrior(3, "F64"), sampleSpiked(3, "F64")} {
		tensors, metadata, err := decodeTensors(must(EncodePrior(p)))
		if err != nil {
			t.Fatal(err)
		}
		for name := range tensors {
			if name != "kappa" && name != "nu" {
				tensors[name] = floatTensor("F64", nil, 0)
			}
		}
		rejects(t, encodeTensors(tensors, metadata), "dimension is 0")
	}
}

// At the corners of what is accepted all answers are probabilities.
func TestExtremePriorsAnswer(t *testing.T) {
	for _, kappa := range []float64{1.1e-12, 1, 0.9e9} {
		for _, excess := range []float64{1e-11, 1, 0.9e9} {
			for _, scale := range []float64{1.1e-12, 1, 0.9e9} {
				for _, m := range []float64{-1e9, 0, 1e9} {
					p := samplePrior(3, "F64")
					p.NIW = niw.HandCrafted(3, scale)
					p.NIW.Kappa, p.NIW.Nu, p.NIW.M[1] = kappa, 2+excess, m
					p.Transform = embed.Transform{Kind: embed.None}
					back, err := DecodePrior(must(EncodePrior(p)))
					if err != nil {
						t.Fatal(err)
					}
					answers(t, back, []float64{1, 2, 3})
					answers(t, back, []float64{3e38, -3e38, 0})
					answers(t, back, []float64{1e-45, 0, 1e-45})
				}
			}
		}
	}
}

// answers teaches two classes and asks about x: all must be probabilities.
func answers(t *testing.T, p *Prior, x []float64) {
	t.Helper()
	d := p.NIW.Dim()
	o := p.Session.Options()
	o.NonePrior = 0.1
	c, err := qda.New(p.NIW, o)
	if err != nil {
		t.Fatal(err)
	}
	ones := make([]float64, d)
	ones[0] = 1
	for label, v := range map[string][]float64{"a": ones, "b": x} {
		if err := c.AddClass(label); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			y := make([]float64, d)
			if p.Transform.ApplyTo(y, v) != nil || c.Add(label, y) != nil {
				return // refused with an error, as it may be
			}
		}
	}
	for _, v := range [][]float64{x, ones} {
		y, answer := make([]float64, d), make([]float64, 2)
		if p.Transform.ApplyTo(y, v) != nil {
			return
		}
		none, err := c.ProbabilitiesTo(answer, y)
		if err != nil {
			return
		}
		sum := none + answer[0] + answer[1]
		if !(math.Abs(sum-1) < 1e-9) {
			t.Fatalf("kappa %g, nu %g, m %v: answers are %v and none %v about %v", p.NIW.Kappa, p.NIW.Nu, p.NIW.M, answer, none, v)
		}
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
		p, err := DecodePrior(b)
		if err != nil {
			return
		}
		once, err := EncodePrior(p)
		if err != nil {
			t.Fatalf("decoded but not encodable: %v", err)
		}
		again, err := DecodePrior(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := EncodePrior(again); !bytes.Equal(once, twice) {
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

func FuzzDecodeClassifier(f *testing.F) {
	b, _ := EncodeClassifier(sampleClassifier())
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if tensors, metadata, err := decodeTensors(b); err == nil { // or else all that is tried is the checksum
			metadata[checksumKey] = checksum(tensors, metadata)
			b = encodeTensors(tensors, metadata)
		}
		c, err := DecodeClassifier(b)
		if err != nil {
			return
		}
		once, err := EncodeClassifier(c)
		if err != nil {
			t.Fatalf("decoded but not encodable: %v", err)
		}
		again, err := DecodeClassifier(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := EncodeClassifier(again); !bytes.Equal(once, twice) {
			t.Fatal("encoding is not a fixed point")
		}
	})
}
