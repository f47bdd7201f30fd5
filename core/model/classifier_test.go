package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"metaqda/core/test"
)

func sampleClassifier() *Classifier {
	return &Classifier{
		Name: "kitchen", Extractor: Extractor{ID: "test"}, PriorSum: strings.Repeat("ab", 32),
		Settings: Settings{NonePrior: 0.1, Sort: "taught", Actions: `{"come":[]}`},
		Classes: []Class{
			{Label: "Tasse ☕", Examples: []Example{{Embedding: []float32{1, 2.5}, Thumbnail: []byte("png")}, {Embedding: []float32{-1, 0}}}},
			{Label: "empty", Actions: `{"go":[{"text":"<ü>\u2028"}]}`},
			{Label: "pot", Examples: []Example{{Embedding: []float32{0, 3e30}, Thumbnail: []byte{0, 1}}}},
		},
	}
}

func TestClassifierRoundTrip(t *testing.T) {
	want := sampleClassifier()
	b := must(EncodeClassifier(want))
	got := test.Must(DecodeClassifier(b))(t)
	again, err := EncodeClassifier(got)
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("encoding what was decoded gives other bytes (%v)", err)
	}
	if got.Settings != want.Settings || got.Classes[1].Actions != want.Classes[1].Actions || got.Classes[0].Label != "Tasse ☕" || string(got.Classes[0].Examples[0].Thumbnail) != "png" || got.Classes[2].Examples[0].Embedding[1] != 3e30 {
		t.Errorf("got %+v", got)
	}
}

// Actions are bounded, one by one and together, so that the header of the file can be read.
func TestActionsAreTextOfABoundedLength(t *testing.T) {
	of := func(each string, n int) *Classifier {
		c := &Classifier{}
		for i := range n {
			c.Classes = append(c.Classes, Class{Label: fmt.Sprint("class ", i), Actions: each})
		}
		return c
	}
	largest := strings.Repeat(`"`, MaxActions) // which is escaped twice, and takes the most room
	if got := test.Must(DecodeClassifier(must(EncodeClassifier(of(largest, 1)))))(t); got.Classes[0].Actions != largest {
		t.Error("the longest actions are not read back")
	}
	most := of(strings.Repeat("x", MaxActions), MaxAllActions/MaxActions)
	test.Must(DecodeClassifier(must(EncodeClassifier(most))))(t)
	most.Settings.Actions = "x"
	for what, c := range map[string]*Classifier{"too many": most, "too long": of(largest+"x", 1), "no text": of("\xff", 1)} {
		if _, err := EncodeClassifier(c); err == nil || !strings.Contains(err.Error(), "its actions are ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Files of before have settings that say nothing any more, whatever they are.
func TestSettingsOfBeforeAreIgnored(t *testing.T) {
	want := sampleClassifier()
	for _, settings := range []string{`{"inference":"map","pooled":true,`, `{"inference":"fb",`, `{"inference":7,"pooled":"x",`} {
		got, err := DecodeClassifier(changed(must(EncodeClassifier(want)), func(_ map[string]tensor, m map[string]string) {
			m["settings"] = settings + `"nonePrior":0.1,"sort":"taught","actions":"{\"come\":[]}"}`
		}))
		if err != nil || got.Settings != want.Settings {
			t.Errorf("%s: %v, %+v", settings, err, got)
		}
	}
}

// The error about a file of another kind has words, not numbers read from its bytes.
func TestAnotherKindOfFileIsSaidToBeOne(t *testing.T) {
	for name, b := range map[string]string{"text": "Dear diary, today", "JPEG": "\xff\xd8\xff\xe0\x00\x10JFIF\x00", "ZIP": "PK\x03\x04\x00\x00\x00\x00\x00\x00", "zeros": strings.Repeat("\x00", 99)} {
		_, err := DecodeClassifier([]byte(b))
		if err == nil || !strings.HasSuffix(err.Error(), "it does not begin as one does, so it is a file of another kind") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThumbnailsOutOfPlaceAreRefused(t *testing.T) {
	sound := must(EncodeClassifier(sampleClassifier()))
	for _, ends := range [][]int64{{3, 2, 5}, {-1, 3, 5}, {3, 3, 6}, {3, 3, 1 << 40}, {3, 5}, {3, 3, 5, 5}, {3, 3, 4}} { // 5 bytes in all
		data, _ := binary.Append(nil, binary.LittleEndian, ends)
		_, err := DecodeClassifier(changed(sound, func(tensors map[string]tensor, _ map[string]string) {
			tensors["thumbnail_end"] = tensor{dtype: "I64", shape: []int{len(ends)}, data: data}
		}))
		refused(t, ends, err, "thumbnail")
	}
}

// A file that would lose something when it is written again, or join two bursts, is refused.
func TestTensorsAndGroupsOfNoClassifierAreRefused(t *testing.T) {
	c := sampleClassifier()
	c.Classes[0].Examples[0].Group, c.Classes[0].Examples[1].Group = "a", "b"
	sound := must(EncodeClassifier(c))
	_, err := DecodeClassifier(changed(sound, func(tensors map[string]tensor, _ map[string]string) {
		tensors["notes"] = tensor{dtype: "U8", shape: []int{1}, data: []byte{1}}
	}))
	refused(t, "another tensor", err, `"notes"`)
	_, err = DecodeClassifier(changed(sound, func(_ map[string]tensor, m map[string]string) { m["groups"] = `["a","a"]` }))
	refused(t, "groups of one name", err, "one name")
	for _, groups := range []string{`["a",`, `["a",5]`, `{"a":"b"}`, `"a"`} {
		_, err = DecodeClassifier(changed(sound, func(_ map[string]tensor, m map[string]string) { m["groups"] = groups }))
		refused(t, "groups "+groups, err, `"groups" are malformed`)
	}
	for _, n := range []int{0, 1, 2, 4, 5} { // it has three examples
		_, err = DecodeClassifier(changed(sound, func(tensors map[string]tensor, _ map[string]string) {
			tensors["group"] = tensor{dtype: "I32", shape: []int{n}, data: make([]byte, 4*n)}
		}))
		refused(t, fmt.Sprint("groups of ", n, " examples"), err, "groups that belong to no example")
	}
}

// An index below the range is not said to be too large.
func TestIndicesOutOfRangeAreRefused(t *testing.T) {
	sound := must(EncodeClassifier(grouped(3)))
	minus3 := []byte{0xfd, 0xff, 0xff, 0xff}
	for name, want := range map[string]string{
		"class": "the class index of its example 0 is -3, want a number from 0 to below ",
		"group": "the group of its example 0 is -3, want a number from -1 to below ",
	} {
		_, err := DecodeClassifier(changed(sound, func(tensors map[string]tensor, _ map[string]string) {
			of := tensors[name]
			of.data = slices.Concat(minus3, of.data[4:])
			tensors[name] = of
		}))
		refused(t, name, err, want)
	}
}

// A picture may be a single byte.
func TestAThumbnailOfOneByteIsKept(t *testing.T) {
	c := sampleClassifier()
	for i := range c.Classes {
		for j := range c.Classes[i].Examples {
			c.Classes[i].Examples[j].Thumbnail = nil
		}
	}
	c.Classes[0].Examples[1].Thumbnail = []byte{7}
	back := test.Must(DecodeClassifier(must(EncodeClassifier(c))))(t)
	if got := back.Classes[0].Examples[1].Thumbnail; !slices.Equal(got, []byte{7}) {
		t.Errorf("it is %v", got)
	}
}

// A name that breaks the rules of labels keeps the part that obeys them.
func TestNamesAreRepaired(t *testing.T) {
	got := RepairLabels([]string{"a\tb", "\u0007", "cat", "cat", " cat", "x\xff"})
	if want := []string{"a b", "Unnamed", "cat", "cat 2", "cat 3", "x"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A direction of text that begins in a name would turn the number after it around.
func TestNamesTurnNoOtherText(t *testing.T) {
	for name, want := range map[string]string{"ab\u202ecd": "abcd", "tea \u2067\u05e7\u05e4\u05d4\u2069": "tea \u05e7\u05e4\u05d4", "a\u202ab\u202cc": "abc", "a\u200fb": "a\u200fb"} {
		if got, err := CleanLabel(name); err != nil || got != want {
			t.Errorf("%q became %q, %v, want %q", name, got, err, want)
		}
	}
}

// Labels come from files that anybody can write. Names that look different on a page are kept to
// the byte.
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
	sound := must(EncodeClassifier(sampleClassifier()))
	for _, label := range []string{"", " ", "\t\n", "\u2003", "pot", " pot", "pot\n", long + "e", "\u200b", "\u202e", "p\u200bot", "e\u0301", "a\x00b", "\u3164", "\u0301", "\U000e0061", "\u200d\u0301"} {
		c := sampleClassifier()
		c.Classes[1].Label = label
		if _, err := EncodeClassifier(c); err == nil {
			t.Errorf("%q was written", label)
		}
		_, err := DecodeClassifier(changed(sound, func(_ map[string]tensor, m map[string]string) {
			m["classes"] = strings.Replace(m["classes"], `"empty"`, string(must(json.Marshal(label))), 1)
		}))
		refused(t, label, err, "label")
	}
	old := test.Must(DecodeClassifier(changed(sound, func(_ map[string]tensor, m map[string]string) { // former programs kept some characters
		m["classes"] = strings.Replace(m["classes"], `"empty"`, "\"em\u202aty \u202c\"", 1)
	})))(t)
	if got := old.Classes[1].Label; got != "emty" {
		t.Errorf("a label of a former program became %q", got)
	}
	for label, want := range map[string]string{"": "Unnamed", "    ": "Unnamed", "Tasse ☕": "Tasse ☕ 2", " here": "here", "here\n": "here", "\u200b": "Unnamed",
		"e\u0301": "\u00e9", strings.Repeat("e", 400): long} { // the first version had no rules, nor a checksum
		back, err := DecodeClassifier(changed(sound, func(_ map[string]tensor, m map[string]string) {
			m["classes"], m["version"] = strings.Replace(m["classes"], `"empty"`, string(must(json.Marshal(label))), 1), "1"
			delete(m, checksumKey)
		}))
		if err != nil || !back.Unchecked || back.Classes[1].Label != want {
			t.Errorf("%q became %+v, %v, want %q", label, back, err, want)
		}
	}
}

// A classifier file with any byte changed is refused.
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
		c.Classes = append(c.Classes, Class{Label: fmt.Sprint("class ", i)})
	}
	_, err := EncodeClassifier(c)
	if err == nil || !strings.Contains(err.Error(), "2001 classes, the most allowed is 2000") {
		t.Errorf("classes: %v", err)
	}
	c.Classes = c.Classes[:1]
	c.Classes[0].Examples = slices.Repeat([]Example{{Embedding: []float32{1}}}, MaxExamples+1)
	_, err = EncodeClassifier(c)
	if err == nil || !strings.Contains(err.Error(), "20001 examples, the most allowed is 20000") {
		t.Errorf("examples: %v", err)
	}
}

// A file of too many classes is refused before any of them is made. Equal names are numbered
// without trying each number for each name.
func TestHundredThousandClasses(t *testing.T) {
	const many = 100_000
	classes := "[" + strings.Repeat(`{"label":"one","weight":1},`, many-1) + `{"label":"one","weight":1}]`
	for _, version := range []string{"1", "2"} { // version 1 had no rules for labels
		_, err := DecodeClassifier(changed(must(EncodeClassifier(sampleClassifier())), func(_ map[string]tensor, m map[string]string) {
			if m["classes"], m["version"] = classes, version; version == "1" {
				delete(m, checksumKey)
			}
		}))
		refused(t, version, err, "100000 classes, the most allowed is 2000")
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
		_, _, err := decodeTensors(b)
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	_, _, err := decodeTensors(header(entry("a", 4, 8)+","+entry("b", 0, 4)+","+entry("none", 4, 4), 8))
	if err != nil {
		t.Errorf("tensors in another order: %v", err)
	}
}

func FuzzDecodeClassifier(f *testing.F) {
	b, _ := EncodeClassifier(sampleClassifier())
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := decodeTensors(b); err == nil { // or else all that is tried is the checksum
			b = changed(b, func(_ map[string]tensor, m map[string]string) { m[checksumKey] = "anew" })
		}
		c, err := DecodeClassifier(b)
		if err != nil {
			return
		}
		once, err := EncodeClassifier(c)
		if err != nil {
			t.Fatalf("decoded but not encodable: %v", err)
		}
		again := test.Must(DecodeClassifier(once))(t)
		twice, _ := EncodeClassifier(again)
		if !bytes.Equal(once, twice) {
			t.Fatal("encoding is not a fixed point")
		}
	})
}

// grouped is a classifier with all that a file may hold, of n examples a class.
func grouped(n int) *Classifier {
	c := sampleClassifier()
	for i := range n {
		x := Example{Embedding: []float32{float32(i), -1}, Thumbnail: bytes.Repeat([]byte{byte(i)}, i%7)}
		if i%3 > 0 {
			x.Group = strings.Repeat("g", 1+i%5)
		}
		c.Classes[i%2].Examples = append(c.Classes[i%2].Examples, x)
	}
	return c
}

func TestPieceByPieceAFileIsTheSame(t *testing.T) {
	c := grouped(40)
	want := must(EncodeClassifier(c))
	e, err := NewEncoder(c)
	test.OK(t, err)
	pieces := 0
	for done := false; !done; pieces++ {
		asked := 0
		done = test.Must(e.Write(func() bool { asked++; return asked <= 3 }))(t)
	}
	if pieces < 14 {
		t.Errorf("43 examples in %d pieces of 3", pieces)
	}
	if !bytes.Equal(e.Bytes(), want) {
		t.Error("the file is another one")
	}
	if _, err := DecodeClassifier(e.Bytes()); err != nil {
		t.Error(err)
	}
}

func TestWhatIsWrongWithAnExampleIsFoundInItsPiece(t *testing.T) {
	for want, spoil := range map[string]func(x *Example){
		"number 1 is NaN":               func(x *Example) { x.Embedding[1] = float32(math.NaN()) },
		`the group "\xff" is not UTF-8`: func(x *Example) { x.Group = "\xff" },
	} {
		c := grouped(40)
		spoil(&c.Classes[1].Examples[5])
		e, err := NewEncoder(c)
		test.OK(t, err)
		_, err = e.Write(func() bool { return true })
		if err == nil || !strings.Contains(err.Error(), `example 5 of its class "empty": `+want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := EncodeClassifier(c); err == nil {
			t.Errorf("EncodeClassifier wrote it though %s", want)
		}
	}
}
