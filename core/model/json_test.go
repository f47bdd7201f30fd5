package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"metaqda/core/embed"
	metajson "metaqda/core/json"
	"metaqda/core/lda"
	"metaqda/core/session"
)

// Fields are written with the bytes that the tags of the structs give, and are read back.
func TestMetadataAreThoseOfTheTags(t *testing.T) {
	compare := func(got string, of any) {
		t.Helper()
		want := string(must(json.Marshal(of)))
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, e := range []Extractor{{}, {ID: "a<b", SHA256: "00"}} {
		compare(metajson.Text(e.Code), e)
	}
	for _, s := range []Settings{{}, {NonePrior: 0.1, Sort: "taught"}} {
		compare(metajson.Text(s.code), s)
	}
	for _, x := range []embed.Transform{{}, {Kind: embed.CL2N, Power: 0.5, Shift: 0.377}} {
		compare(metajson.Text(func(c metajson.Codec) { codeTransform(&x, c) }), x)
	}
}

// A prior's session model is written as in files of its version, and is read back. The one of a
// prior for other densities is not read.
func TestSessionModelIsReadBack(t *testing.T) {
	want := samplePrior(3, "F64").Session
	text := metajson.Text(want.code)
	const half = `{"near":0.5,"centre":1.5,"shared":0.75,"kappa":5,"fb":{"logT":[0.3333333333333333,0],"offset":[0,0],"leftOut":{"own":0.25},"hardness":{"sd":0.5,"weight":0.7},`
	if !strings.HasPrefix(text, half) {
		t.Errorf("%s, want it to begin with %s", text, half)
	}
	for text, want := range map[string]Session{text: want, strings.Replace(text, `{"own"`, `{"class":3,"own"`, 1): want, metajson.Text((&Session{Near: 1}).code): {Near: 1}, `{"parts":{"first":1024,"odds":1.5}}`: {Parts: &lda.Parts{First: 1024, Odds: 1.5}}, `{"centre":2,"spread":1,"fb":{"logT":[1,2],"offset":[3,4]},"map":{}}`: {Centre: 2, Spread: 1}} {
		var got Session
		err := fromMetadata(map[string]string{"session": text}, "session", got.code)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v (%v)", text, got, want, err)
		}
	}
	for i := range session.Size {
		p := samplePopulation()
		(*[session.Size]float64)(unsafe.Pointer(p))[i] += 0.25 // it has nothing but numbers
		want.Population = p
		var got Session
		if err := fromMetadata(map[string]string{"session": metajson.Text(want.code)}, "session", got.code); err != nil || *got.Population != *p {
			t.Errorf("coefficient %d: %+v, want %+v (%v)", i, got.Population, p, err)
		}
	}
	for _, bad := range []string{`{"near":"1"}`, `{"near":1e999}`, `{"near":1`, `[]`, `{"parts":{"first":1.5}}`, `{"shared":1,"fb":[]}`, `{"shared":1,"fb":{"logT":[1,"x"]}}`, `{"shared":1,"fb":{"logT":[1,2]}}`, `{"shared":1,"fb":{"offset":[1,0]}}`, `{"shared":1,"fb":{"known":{"slope":3}}}`} {
		var got Session
		if fromMetadata(map[string]string{"session": bad}, "session", got.code) == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
}

// Metadata that encoding/json refuses are refused, and the others mean the same.
func TestMetadataMeanWhatTheTagsSay(t *testing.T) {
	for _, text := range []string{`[]`, `null`, `{}`, `[{"label":"a","weight":1},{}]`, `[{"label":1}]`, `[null]`, `[[]]`, `[{"weight":1,"label":"b\n"}]`, `[1`} {
		var want []struct {
			Label string `json:"label"`
		}
		got, err := readClasses(map[string]string{"classes": text})
		refused := json.Unmarshal([]byte(text), &want) != nil
		if (err != nil) != refused || !refused && len(got) != len(want) {
			t.Errorf("%s: %v, %+v, want %+v, refused %v", text, err, got, want, refused)
		}
		for i := range want {
			if !refused && got[i].Label != want[i].Label {
				t.Errorf("%s: %+v, want %+v", text, got, want)
			}
		}
	}
}

func TestSumIsThatOfTheStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 1000, 100_003} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		want := sha256.Sum256(b)
		got := Sum(b)
		if got != hex.EncodeToString(want[:]) {
			t.Errorf("%d bytes: %s, want %x", n, got, want)
		}
		d := newDigest()
		for rest := b; len(rest) > 0; {
			k := min(1+rng.IntN(150), len(rest))
			d.write(rest[:k])
			rest = rest[k:]
		}
		got = d.sum()
		if got != hex.EncodeToString(want[:]) {
			t.Errorf("%d bytes piece by piece: %s, want %x", n, got, want)
		}
	}
}
