package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"metaqda/core/test"
)

// packed is a pack that web/engine/reading.js made, with the records that are in it:
// web/test/unit/reading.test.js makes the file.
type packed struct {
	Table   Table
	Fields  []string
	Pack    []byte
	Records []struct {
		Key    string
		Record map[string]any
	}
}

func packs(t testing.TB) map[string]packed {
	t.Helper()
	b := test.Must(os.ReadFile("testdata/packs.json"))(t)
	var all map[string]packed
	test.OK(t, json.Unmarshal(b, &all))
	return all
}

func TestPacksAreReadAsTheyWereWritten(t *testing.T) {
	for name, one := range packs(t) {
		t.Run(name, func(t *testing.T) {
			test.StopIf(t, !slices.Equal(one.Fields, fields[one.Table]), "%s have the fields %v, the pack was made with %v", one.Table, fields[one.Table], one.Fields)
			odd := 0
			got, err := unpack(one.Table, one.Pack, func() any { odd++; return Unknown("odd") })
			test.StopIf(t, err != nil || len(got) != len(one.Records), "%d records, %v; want %d", len(got), err, len(one.Records))
			for i, want := range one.Records {
				test.FailIf(t, got[i].key != want.Key, "record %d has the key %q, want %q", i, got[i].key, want.Key)
				if want.Record == nil {
					odd--
					test.FailIf(t, got[i].value != Unknown("odd"), "%s is %v, want the odd one", want.Key, got[i].value)
					continue
				}
				record := Record{}
				for name, v := range want.Record {
					if b, ok := v.(map[string]any); ok {
						some := []byte{}
						for _, x := range b["bytes"].([]any) {
							some = append(some, byte(x.(float64)))
						}
						v = some
					}
					record[name] = v
				}
				r, ok := got[i].value.(Record)
				if !ok {
					r = got[i].value.(example).record(want.Record["id"].(string))
				}
				test.FailIf(t, !reflect.DeepEqual(r, record), "%s is %v, want %v", want.Key, r, record)
				fast, why := DecodeExample(want.Key, got[i].value)
				slow, other := DecodeExample(want.Key, r)
				test.FailIf(t, !reflect.DeepEqual(fast, slow) || why != other, "%s: %+v (%s), as a record %+v (%s)", want.Key, fast, why, slow, other)
			}
			test.FailIf(t, odd != 0, "%d odd records more than there are", odd)
		})
	}
}

// A record that is set aside goes out with all that is in it.
func TestDamagedExampleOfAPackGoesOut(t *testing.T) {
	c := gather()
	c.take(Sessions, []stored{{"s", Record{"id": "s", "name": "Kitchen"}}})
	c.take(Examples, []stored{{"x", example{session: "s", class: "gone", order: 2, embedding: floatBytes([]float32{1, 2})}}})
	want := Record{"id": "x", "session": "s", "class": "gone", "order": 2.0, "embedding": floatBytes([]float32{1, 2})}
	test.FailIf(t, len(c.Damaged) != 1 || !reflect.DeepEqual(c.Damaged[0].Raw, any(want)), "set aside %+v, want %v", c.Damaged, want)
}

func TestPacksCutShortAreErrors(t *testing.T) {
	one := packs(t)["as they are written now"]
	for n := range one.Pack {
		_, err := unpack(one.Table, one.Pack[:n], func() any { return nil })
		test.FailIf(t, err == nil, "the first %d bytes of %d are a pack", n, len(one.Pack))
	}
}

func FuzzPacks(f *testing.F) {
	all := packs(f)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.Add(string(all[name].Table), all[name].Pack)
	}
	f.Fuzz(func(t *testing.T, table string, pack []byte) {
		before := bytes.Clone(pack)
		odd := 0
		got, err := unpack(Table(table), pack, func() any { odd++; return nil })
		test.StopIf(t, !bytes.Equal(pack, before), "the pack has changed")
		if err != nil {
			return
		}
		size := 0
		for _, r := range got {
			size += len(r.key)
			if x, ok := r.value.(example); ok {
				size += len(x.session) + len(x.class) + len(x.embedding)
			}
			DecodeExample(r.key, r.value)
		}
		test.StopIf(t, size > len(pack) || odd > len(got), "%d bytes in a pack of %d, %d odd of %d records", size, len(pack), odd, len(got))
	})
}
