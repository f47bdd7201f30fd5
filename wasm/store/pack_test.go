package store

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"metaqda/core/test"
)

// packed is a pack that web/engine/reading.js made, with the examples that are in it:
// web/test/unit/reading.test.js makes the file.
type packed struct {
	Examples []struct {
		ID, Class, Group string
		Order            float64
		Embedding        []byte
	}
	Pack []byte
}

func pack(t testing.TB) (p packed) {
	t.Helper()
	b := test.Must(os.ReadFile("testdata/pack.json"))(t)
	test.OK(t, json.Unmarshal(b, &p))
	return p
}

func TestPacksAreReadAsTheyWereWritten(t *testing.T) {
	p := pack(t)
	got := test.Must(unpack("s", p.Pack))(t)
	if len(got) != len(p.Examples) || len(got) < 4 {
		t.Fatalf("%d examples, want %d", len(got), len(p.Examples))
	}
	for i, want := range p.Examples {
		x := got[i].value.(example)
		same := x.session == "s" && x.class == want.Class && x.group == want.Group && x.order == want.Order && bytes.Equal(x.embedding, want.Embedding)
		if got[i].key != want.ID || !same {
			t.Errorf("%s is %+v, want %+v", got[i].key, x, want)
		}
		fast, why := DecodeExample(want.ID, x)
		slow, other := DecodeExample(want.ID, x.record(want.ID))
		if !reflect.DeepEqual(fast, slow) || why != other {
			t.Errorf("%s: %+v (%s), as a record %+v (%s)", want.ID, fast, why, slow, other)
		}
	}
	for n := range p.Pack {
		_, err := unpack("s", p.Pack[:n])
		if err == nil {
			t.Errorf("the first %d bytes of %d are a pack", n, len(p.Pack))
		}
	}
}

// A record that is set aside goes out with all that is in it.
func TestDamagedExampleOfAPackGoesOut(t *testing.T) {
	c := gather()
	c.take(Sessions, []stored{{"s", Record{"id": "s", "name": "Kitchen"}}})
	c.take(Examples, []stored{{"x", example{session: "s", class: "gone", group: "walk", order: 2, embedding: floatBytes([]float32{1, 2})}}})
	want := Record{"id": "x", "session": "s", "class": "gone", "group": "walk", "order": 2.0, "embedding": floatBytes([]float32{1, 2})}
	if len(c.Damaged) != 1 || !reflect.DeepEqual(c.Damaged[0].Raw, any(want)) {
		t.Errorf("set aside %+v, want %v", c.Damaged, want)
	}
}

func FuzzPacks(f *testing.F) {
	whole := pack(f).Pack
	for _, n := range []int{len(whole), len(whole) / 2, 8, 0} {
		f.Add(whole[:n])
	}
	f.Fuzz(func(t *testing.T, pack []byte) {
		before := bytes.Clone(pack)
		got, err := unpack("s", pack)
		if !bytes.Equal(pack, before) {
			t.Fatal("the pack has changed")
		}
		if err != nil {
			return
		}
		size := 0
		for _, r := range got {
			x := r.value.(example)
			size += len(r.key) + len(x.class) + len(x.group) + len(x.embedding)
			DecodeExample(r.key, x)
		}
		if size > len(pack) {
			t.Fatalf("%d bytes in a pack of %d", size, len(pack))
		}
	})
}
