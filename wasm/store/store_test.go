package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"metaqda/core/model"
	"metaqda/core/test"
)

// sample is a session of two classes of two examples of three numbers each.
func sample(t testing.TB) *Memory {
	t.Helper()
	m := NewMemory()
	ops := []Op{
		{Sessions, "s", Session{ID: "s", Name: "Kitchen", Created: 1, Updated: 2, Settings: Settings{Sort: "taught", NonePrior: 0.2}}},
		{Meta, "current", "s"},
	}
	for i, k := range []string{"cat", "dog"} {
		ops = append(ops, Op{Classes, k, Class{ID: k, Session: "s", Name: k, Order: float64(i)}})
		for j := range 2 {
			id := k + string(rune('0'+j))
			ops = append(ops, Op{Examples, id, Example{ID: id, Session: "s", Class: k, Order: float64(j),
				Embedding: []float32{float32(i), float32(j), 1}, Thumbnail: []byte{byte(i), byte(j)}}})
		}
	}
	m.apply(t, ops...)
	return m
}

func (m *Memory) apply(t testing.TB, ops ...Op) {
	t.Helper()
	test.Must(m.Commit([]Change{{Ops: ops}}))(t)
}

// with returns a record with a field of another value, or without it.
func (m *Memory) with(t Table, key, field string, value any) {
	r := Record{}
	for k, v := range m.tables[t][key].(Record) {
		r[k] = v
	}
	if r[field] = value; value == nil {
		delete(r, field)
	}
	m.tables[t][key] = r
}

// Whatever one record is, all others of the session are there, and what is not is
// named and can be taken out.
func TestDamageStaysLocal(t *testing.T) {
	embedding := func(x ...float32) []byte { return floatBytes(x) }
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	type damage struct {
		do       func(m *Memory)
		classes  int // of two that are there
		examples int // of four
		damaged  int // records that are named
	}
	cases := map[string]damage{
		"class that is gone":                 {func(m *Memory) { delete(m.tables[Classes], "cat") }, 1, 2, 2},
		"two classes of one name":            {func(m *Memory) { m.with(Classes, "cat", "name", "dog") }, 2, 4, 0},
		"example with an empty embedding":    {func(m *Memory) { m.with(Examples, "cat0", "embedding", []byte{}) }, 2, 3, 1},
		"example cut short that sorts first": {func(m *Memory) { m.with(Examples, "cat0", "embedding", embedding(1, 2)) }, 2, 3, 1},
		"example cut within a number":        {func(m *Memory) { m.with(Examples, "cat0", "embedding", embedding(1, 2, 3)[:11]) }, 2, 3, 1},
		"example that is too long":           {func(m *Memory) { m.with(Examples, "cat0", "embedding", make([]byte, 4*model.MaxDimension+4)) }, 2, 3, 1},
		"example with NaN":                   {func(m *Memory) { m.with(Examples, "cat0", "embedding", embedding(1, nan, 3)) }, 2, 3, 1},
		"example with an infinity":           {func(m *Memory) { m.with(Examples, "cat0", "embedding", embedding(inf, 2, 3)) }, 2, 3, 1},
		"example whose order is infinite":    {func(m *Memory) { m.with(Examples, "cat1", "order", math.Inf(-1)) }, 2, 4, 0},
		"example without thumbnail":          {func(m *Memory) { delete(m.tables[Thumbnails], "cat0") }, 2, 4, 0},
		"thumbnail of no example":            {func(m *Memory) { delete(m.tables[Examples], "cat0") }, 2, 3, 1},
		"example whose thumbnail is a word":  {func(m *Memory) { m.tables[Thumbnails]["cat0"] = "cat.png" }, 2, 4, 0},
		"more classes than can be saved": {func(m *Memory) {
			for i := range model.MaxClasses {
				m.tables[Classes][fmt.Sprint("more", i)] = encode(Class{Session: "s", Name: "more", Order: -1})
			}
		}, model.MaxClasses, 0, 6},
		"more examples than can be saved": {func(m *Memory) {
			for i := range model.MaxExamples {
				m.tables[Examples][fmt.Sprint("more", i)] = encode(Example{Session: "s", Class: "cat", Order: 9, Embedding: []float32{1, 2, 3}})
			}
		}, 2, model.MaxExamples, 4},
		"prior is a number":        {func(m *Memory) { m.tables[Priors]["p"] = 7.0 }, 2, 4, 0},
		"current session is bytes": {func(m *Memory) { m.tables[Meta]["current"] = []byte{1} }, 2, 4, 0},
	}
	for table, key := range map[Table]string{Sessions: "s", Classes: "cat", Examples: "cat0"} {
		for what, v := range map[string]any{"missing": nil, "a word": "oops", "a number": 7.0, "not finite": math.NaN(), "true": true, "bytes": []byte{1}, "an object": Unknown("object")} {
			for _, field := range append(fields[table], "") { // and the record itself
				c := damage{func(m *Memory) {
					if m.with(table, key, field, v); field == "" {
						m.tables[table][key] = v
					}
				}, 2, 4, 0}
				switch wanted := field == "" || field == "session"; {
				case table == Classes && wanted:
					c.classes, c.examples, c.damaged = 1, 2, 3
				case table == Examples && (wanted || field == "class" || field == "embedding"):
					c.examples, c.damaged = 3, 1
				}
				cases[fmt.Sprintf("%s: %s is %s", table, field, what)] = c
			}
		}
	}
	for name, c := range cases {
		m := sample(t)
		c.do(m)
		all, err := m.Summaries()
		if err != nil || len(all) != 1 {
			t.Errorf("%s: sessions are %+v, %v", name, all, err)
			continue
		}
		got, err := m.Contents("s")
		if err != nil || got == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.Classes) != c.classes || len(got.Examples) != c.examples {
			t.Errorf("%s: %d classes and %d examples, want %d and %d", name, len(got.Classes), len(got.Examples), c.classes, c.examples)
		}
		for _, k := range got.Classes {
			if k.ID == "" || k.Name == "" || k.Order-k.Order != 0 {
				t.Errorf("%s: class %+v", name, k)
			}
		}
		for _, x := range got.Examples {
			if x.ID == "" || len(x.Embedding) != 3 || x.Order-x.Order != 0 {
				t.Errorf("%s: example %+v", name, x)
			}
		}
		others := test.Must(m.Unreachable())(t)
		named := slices.Concat(got.Damaged, others)
		if len(named) != c.damaged {
			t.Errorf("%s: %d records are named, want %d: %+v", name, len(named), c.damaged, named)
		}
		file, err := EncodeDamaged(named)
		var back struct {
			Records []struct{ Table, Key, Reason string }
		}
		if err != nil || json.Unmarshal(file, &back) != nil || len(back.Records) != c.damaged {
			t.Errorf("%s: exported as %s, %v", name, file, err)
		}
		for _, r := range back.Records {
			if r.Key == "" || r.Reason == "" {
				t.Errorf("%s: exported as %+v", name, r)
			}
		}
		if s, err := m.Text("current"); err != nil || s != "s" && name != "current session is bytes" {
			t.Errorf("%s: current session %q, %v", name, s, err)
		}
	}
}

// What is damaged goes out as it is.
func TestDamagedRecordsGoOutWhole(t *testing.T) {
	m := sample(t)
	m.with(Examples, "cat0", "embedding", []byte("embeddin")) // of another length
	m.with(Examples, "cat0", "order", math.NaN())
	c := test.Must(m.Contents("s"))(t)
	file := test.Must(EncodeDamaged(c.Damaged))(t)
	var back struct {
		Records []struct {
			Record struct{ Embedding, Thumbnail []byte }
		}
	}
	err := json.Unmarshal(file, &back)
	if err != nil || len(back.Records) != 1 {
		t.Fatalf("%s: %v", file, err)
	}
	r := back.Records[0].Record
	if string(r.Embedding) != "embeddin" || !bytes.Equal(r.Thumbnail, []byte{0, 0}) {
		t.Errorf("went out as %+v", r)
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	s := Session{ID: "s", Name: "n", Created: 1, Updated: 2, Saved: 3, Extractor: model.Extractor{ID: "x", SHA256: "y"},
		Settings: Settings{Sort: "taught", NonePrior: 0.25, Actions: "a", Prior: "p"}}
	if got := decodeSession("s", encode(s)); got != s {
		t.Errorf("session %+v came back as %+v", s, got)
	}
	before := encode(s).(Record) // settings of before, which say nothing any more
	before["inference"], before["pooled"] = "map", true
	if got := decodeSession("s", before); got != s {
		t.Errorf("session of before %+v came back as %+v", s, got)
	}
	k := Class{ID: "k", Session: "s", Name: "n", Order: 2.5, Actions: "a"}
	if got, reason := decodeClass("k", encode(k)); got != k || reason != "" {
		t.Errorf("class %+v came back as %+v (%s)", k, got, reason)
	}
	long := encode(k).(Record)
	long["actions"] = strings.Repeat("x", model.MaxActions+1)
	if got, reason := decodeClass("k", long); got.Actions != "" || got.Name != "n" || reason != "" {
		t.Errorf("a class with actions that no file holds came back with %d bytes (%s)", len(got.Actions), reason)
	}
	x := Example{ID: "x", Session: "s", Class: "k", Order: -1, Embedding: []float32{1, -2.5, 1e-40}, Thumbnail: []byte("jpeg")}
	got, reason := DecodeExample("x", Plain(x)) // as of before version 5
	if reason != "" || got.Class != "k" || got.Order != -1 || !slices.Equal(got.Embedding, x.Embedding) || !bytes.Equal(got.Thumbnail, x.Thumbnail) {
		t.Errorf("example %+v came back as %+v (%s)", x, got, reason)
	}
}

// Thumbnails come and go with their examples, whether they are read with them or not.
func TestThumbnailsGoWithTheirExamples(t *testing.T) {
	m := sample(t)
	before := Example{ID: "old", Session: "s", Class: "cat", Order: 9, Embedding: []float32{1, 2, 3}, Thumbnail: []byte("inside")}
	m.tables[Examples]["old"] = Plain(before)
	read := func() map[string]Example {
		c := test.Must(m.Contents("s"))(t)
		all := map[string]Example{}
		for _, x := range c.Examples {
			all[x.ID] = *x
		}
		return all
	}
	for id, want := range map[string]string{"cat0": "\x00\x00", "dog1": "\x01\x01", "old": "inside"} {
		x := read()[id]
		if string(x.Thumbnail) != want || x.Apart {
			t.Errorf("of few, %s came as %+v", id, x)
		}
	}
	for i := range ManyPictures {
		id := "more" + string(rune('a'+i))
		m.apply(t, Op{Examples, id, Example{ID: id, Session: "s", Class: "dog", Order: 10, Embedding: []float32{1, 2, float32(i)}}})
	}
	for id, apart := range map[string]bool{"cat0": true, "old": false} {
		x := read()[id]
		if (x.Thumbnail == nil) != apart || x.Apart != apart {
			t.Errorf("of many, %s came as %+v", id, x)
		}
	}
	p, err := m.Parts("s", nil, []string{"dog1"})
	found, err2 := m.Thumbnails([]string{"dog1", "old", "none"})
	if err != nil || err2 != nil || string(p.Examples["dog1"].Thumbnail) != "\x01\x01" || len(found) != 1 || string(found["dog1"]) != "\x01\x01" {
		t.Errorf("by ids: %+v, %v, %v, %v", p.Examples, found, err, err2)
	}
	if m.apply(t, Op{Examples, "dog1", nil}); m.tables[Thumbnails]["dog1"] != nil || len(m.tables[Thumbnails]) != 3 {
		t.Errorf("after a removal: %v", m.tables[Thumbnails])
	}
	if err := m.DeleteSession("s"); err != nil || len(m.tables[Thumbnails]) != 0 {
		t.Errorf("after the session's: %v, %v", m.tables[Thumbnails], err)
	}
}

func TestChangesAreCheckedTogether(t *testing.T) {
	put := func(id, class string) []Op {
		return []Op{{Examples, id, Example{ID: id, Session: "s", Class: class, Embedding: []float32{1, 2, 3}}}}
	}
	name := "Garden"
	for what, c := range map[string]struct {
		changes []Change
		want    []string // codes
	}{
		"an example of a class that is there": {[]Change{{Needs{Session: "s", Class: "cat"}, put("x", "cat")}}, []string{""}},
		"of one that is not":                  {[]Change{{Needs{Session: "s", Class: "hen"}, put("x", "hen")}}, []string{"class"}},
		"of one that an earlier change adds": {[]Change{
			{Needs{Session: "s", Name: "hen"}, []Op{{Classes, "hen", Class{ID: "hen", Session: "s", Name: "hen"}}}},
			{Needs{Session: "s", Class: "hen"}, put("x", "hen")}}, []string{"", ""}},
		"of one that an earlier change removes": {[]Change{
			{Needs{Session: "s", Class: "cat", Whole: true}, []Op{{Classes, "cat", nil}, {Examples, "cat0", nil}, {Examples, "cat1", nil}}},
			{Needs{Session: "s", Class: "cat"}, put("x", "cat")}}, []string{"", "class"}},
		"a class removed with less than is in it": {[]Change{
			{Needs{Session: "s", Class: "cat"}, put("x", "cat")},
			{Needs{Session: "s", Class: "cat", Whole: true}, []Op{{Classes, "cat", nil}, {Examples, "cat0", nil}, {Examples, "cat1", nil}}}}, []string{"", "changed"}},
		"a name that is taken":      {[]Change{{Needs{Session: "s", Class: "cat", Name: "dog"}, []Op{{Classes, "cat", Class{ID: "cat", Session: "s", Name: "dog"}}}}}, []string{"label"}},
		"a name that it has itself": {[]Change{{Needs{Session: "s", Class: "cat", Name: "cat"}, nil}}, []string{""}},
		"a name that was given up just": {[]Change{
			{Needs{Session: "s", Class: "dog", Name: "wolf"}, []Op{{Classes, "dog", Class{ID: "dog", Session: "s", Name: "wolf"}}}},
			{Needs{Session: "s", Class: "cat", Name: "dog"}, []Op{{Classes, "cat", Class{ID: "cat", Session: "s", Name: "dog"}}}}}, []string{"", ""}},
		"a session that was never there": {[]Change{{Needs{Session: "t"}, []Op{{Sessions, "t", Edit{Name: &name}}}}}, []string{"cleared"}},
	} {
		m := sample(t)
		refused := test.Must(m.Commit(c.changes))(t)
		for i, want := range c.want {
			var e *Error
			if got := ""; refused[i] != nil {
				if errors.As(refused[i], &e) {
					got = e.Code
				}
				if got != want {
					t.Errorf("%s: change %d refused with %q, want %q", what, i, got, want)
				}
			} else if want != "" {
				t.Errorf("%s: change %d was not refused", what, i)
			}
		}
		if m.tables[Sessions]["t"] != nil {
			t.Errorf("%s: something of it was written", what)
		}
	}
}

func TestSweepKeepsWhatIsUsed(t *testing.T) {
	m := sample(t)
	chosen := "chosen"
	m.apply(t, Op{Priors, "site", []byte{1}}, Op{Priors, "chosen", []byte{2}}, Op{Priors, "other", []byte{3}}, Op{Meta, SitePrior, "site"})
	m.apply(t, Op{Sessions, "s", Edit{Prior: &chosen}})
	err := m.Sweep()
	if err != nil || len(m.tables[Priors]) != 2 || m.tables[Priors]["other"] != nil {
		t.Errorf("priors left: %v, %v", m.tables[Priors], err)
	}
	m.tables[Sessions]["t"] = "oops"
	m.tables[Priors]["other"] = []byte{3}
	err = m.Sweep()
	if err != nil || len(m.tables[Priors]) != 3 {
		t.Errorf("with a session that cannot be read: %v, %v", m.tables[Priors], err)
	}
}

// FuzzRecords reads records of any fields.
func FuzzRecords(f *testing.F) {
	f.Add("cat", "s", "cat", 1.0, floatBytes([]float32{1, 2, 3}), uint8(0))
	f.Add("", "", "", math.NaN(), []byte{1}, uint8(255))
	f.Fuzz(func(t *testing.T, id, session, class string, order float64, b []byte, kinds uint8) {
		m := sample(t)
		other := []any{nil, "text", 7.0, true, []byte{1}, Unknown("object")}
		pick := func(i int, v any) any {
			if kinds>>i&1 == 1 {
				return other[(int(kinds)+i)%len(other)]
			}
			return v
		}
		m.tables[Examples]["x"] = Record{"id": pick(0, id), "session": pick(1, session), "class": pick(2, class), "order": pick(3, order),
			"embedding": pick(4, b), "thumbnail": pick(5, b)}
		m.tables[Classes]["k"] = Record{"id": pick(2, id), "session": pick(3, session), "name": pick(4, class), "order": pick(5, order), "actions": pick(4, class)}
		m.tables[Sessions]["t"] = pick(7, Record{"id": id, "name": pick(6, class), "nonePrior": pick(0, order), "prior": pick(1, b)})
		test.Must(m.Summaries())(t)
		c, err := m.Contents("s")
		if err != nil || len(c.Classes) < 2 || len(c.Examples) < 4 {
			t.Fatalf("%+v, %v", c, err)
		}
		length := len(c.Examples[0].Embedding)
		for _, x := range c.Examples {
			if len(x.Embedding) != length || x.Order-x.Order != 0 {
				t.Fatalf("example %+v", x)
			}
			for _, v := range x.Embedding {
				if v-v != 0 {
					t.Fatalf("example %+v", x)
				}
			}
		}
		others := test.Must(m.Unreachable())(t)
		if b, err := EncodeDamaged(slices.Concat(c.Damaged, others)); err != nil || !strings.Contains(string(b), "metaqda.damaged") {
			t.Fatal(err)
		}
	})
}
