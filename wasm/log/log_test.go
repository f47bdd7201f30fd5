package log

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/test"
)

// desk is a session as a tab has it, of few numbers each.
type desk struct {
	t        testing.TB
	db       *Memory
	taught   *metaqda.Classifier
	stored   *Stored
	commands []metaqda.Command
}

// open opens the session "s" anew.
func open(t testing.TB, db *Memory) *desk {
	t.Helper()
	d := &desk{t: t, db: db, taught: new(metaqda.Classifier)}
	stored, c, err := Open(db, "s")
	test.OK(t, err)
	if c == nil {
		t.Fatal("there is no session")
	}
	d.stored = stored
	test.OK(t, d.taught.Load(c.Classes, nil))
	d.taught.Remember(c.Undo, c.Redo)
	for _, s := range c.Steps {
		if s.Command != nil {
			_ = d.taught.Replay(*s.Command, 0)
		}
	}
	n := 0
	d.taught.NewID = func() string { n++; return fmt.Sprint(stored.N, "-", n) }
	d.taught.Logged = func(c metaqda.Command) { d.commands = append(d.commands, c) }
	return d
}

// do changes the session and stores the change.
func (d *desk) do(f func(*metaqda.Classifier) error) error {
	d.t.Helper()
	d.commands = nil
	test.OK(d.t, f(d.taught))
	var steps []Step
	for _, c := range d.commands {
		s := Step{Command: &c, After: d.now(), Thumbnails: map[string][]byte{}}
		for _, x := range examplesOf(c.Entries) {
			if x.Vector != nil {
				s.Thumbnails[x.ID] = []byte("thumbnail of " + x.ID)
			}
		}
		steps = append(steps, s)
	}
	others, behind, err := Append(d.db, "s", d.stored.N, steps)
	if err != nil {
		return err
	}
	if len(others) > 0 || behind {
		d.t.Fatalf("%d steps of others, behind %v", len(others), behind)
	}
	for _, s := range steps {
		s.N = d.stored.N + 1
		d.stored.Appended(s)
	}
	return nil
}

func (d *desk) now() Summary {
	return Summary{Session: Session{ID: "s", Name: "Kitchen", Updated: 2, Settings: Settings{Sort: "taught", NonePrior: 0.2}}, Classes: d.taught.Len(), Examples: d.taught.Count()}
}

func (d *desk) compact() error {
	undo, redo := d.taught.History()
	_, err := d.stored.Compact(d.db, d.now(), d.taught.Classes(), undo, redo)
	return err
}

// shown is all that a person sees of a session.
func (d *desk) shown() string {
	var b []byte
	for _, k := range d.taught.Classes() {
		b = fmt.Appendf(b, "%s %s:", k.ID, k.Label)
		for _, x := range k.Examples {
			b = fmt.Appendf(b, " %s %v %s", x.ID, x.Vector, x.Thumbnail)
		}
	}
	undo, redo := d.taught.Next()
	return string(b) + undo + "/" + redo
}

func add(label string, x ...float32) func(*metaqda.Classifier) error {
	return func(c *metaqda.Classifier) error { return test.Err(c.Add(label, "", x)) }
}

func remove(k, i int) func(*metaqda.Classifier) error {
	return func(c *metaqda.Classifier) error { return c.Remove(c.Classes()[k].Examples[i].ID) }
}

func undo(c *metaqda.Classifier) error { return test.Err(c.Undo()) }

// sample is a session with a snapshot of two classes of two examples, and steps after it.
func sample(t testing.TB) *Memory {
	t.Helper()
	db := NewMemory()
	test.OK(t, Create(db, Summary{Session: Session{ID: "s", Name: "Kitchen"}}, nil))
	d := open(t, db)
	for i := range 4 {
		test.OK(t, d.do(add([]string{"cat", "dog"}[i%2], float32(i), 1, 2)))
	}
	test.OK(t, d.do(remove(0, 0)))
	test.OK(t, d.do(undo))
	test.OK(t, d.compact())
	d = open(t, db)
	test.OK(t, d.do(add("cat", 7, 8, 9)))
	test.OK(t, d.do(remove(1, 0)))
	test.OK(t, d.do(func(c *metaqda.Classifier) error { return c.RenameClass("cat", "lion") }))
	return db
}

// A log of random changes opens as what they come to, with its undo history, also where it is
// compacted at any time.
func TestALogIsItsSession(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		db := NewMemory()
		test.OK(t, Create(db, Summary{Session: Session{ID: "s"}}, nil))
		d := open(t, db)
		for i := range 300 {
			test.OK(t, d.do(func(c *metaqda.Classifier) error {
				classes := c.Classes()
				switch k := r.IntN(12); {
				case k < 6 || len(classes) == 0:
					return test.Err(c.Add(fmt.Sprint("class ", r.IntN(4)), []string{"", "walk"}[r.IntN(2)], []float32{r.Float32(), float32(i)}))
				case k < 8:
					for _, x := range classes[r.IntN(len(classes))].Examples {
						if r.IntN(2) == 0 {
							return c.Remove(x.ID)
						}
						_ = c.Move(x.ID, classes[r.IntN(len(classes))].Label)
					}
				case k == 8:
					_ = c.MergeClasses(classes[0].Label, classes[len(classes)-1].Label)
				case k == 9:
					return c.RemoveClass(classes[r.IntN(len(classes))].Label)
				case k == 10:
					_, _ = c.Redo()
				default:
					_, _ = c.Undo()
				}
				return nil
			}))
			if r.IntN(20) == 0 {
				test.OK(t, d.compact())
			}
			if i%10 == 9 {
				want := open(t, db)
				for _, k := range d.taught.Classes() { // thumbnails are known to the log alone
					for _, x := range k.Examples {
						x.Thumbnail = []byte("thumbnail of " + x.ID)
					}
				}
				if got := d.shown(); got != want.shown() {
					t.Fatalf("seed %d, after %d: is %s, stored %s", seed, i, got, want.shown())
				}
				if r.IntN(3) == 0 {
					d = want
				}
			}
		}
	}
}

// A tab that was slower gets the steps that it lacks, or must read the session anew.
func TestAppendingWaitsForNobody(t *testing.T) {
	db := sample(t)
	a, b := open(t, db), open(t, db)
	test.OK(t, a.do(add("lion", 1, 1, 1)))
	step := []Step{{After: b.now()}}
	others, behind, err := Append(db, "s", b.stored.N, step)
	if err != nil || behind || len(others) != 1 || others[0].N != a.stored.N || others[0].Command == nil {
		t.Fatalf("%+v, behind %v, %v", others, behind, err)
	}
	if x := others[0].Command.Entries[0].Example; string(x.Thumbnail) != "thumbnail of "+x.ID {
		t.Errorf("its example came as %+v", x)
	}
	test.OK(t, a.do(add("lion", 1, 1, 2)))
	test.OK(t, a.compact())
	if _, behind, err = Append(db, "s", b.stored.N, step); err != nil || !behind {
		t.Errorf("behind a snapshot: %v, %v", behind, err)
	}
	if done, err := b.stored.Compact(db, b.now(), b.taught.Classes(), nil, nil); done || err != nil {
		t.Errorf("it compacted what it does not know: %v", err)
	}
	test.OK(t, Delete(db, "s"))
	if _, _, err = Append(db, "s", b.stored.N, step); err != ErrDeleted {
		t.Errorf("to a deleted session: %v", err)
	}
	if _, _, err = Append(NewMemory(), "s", b.stored.N, step); err != ErrCleared {
		t.Errorf("to a cleared storage: %v", err)
	}
}

// Any record of a log may be damaged: all others are there. The damaged one is named and can be
// taken out.
func TestDamageOfALogStaysLocal(t *testing.T) {
	whole := open(t, sample(t))
	all := whole.taught.Count()
	n, bits := 0, 0
	for _, table := range []Table{Steps, Snapshots} {
		for k, v := range sample(t).Records(table) {
			b := v.([]byte)
			damages := map[string]any{"text": "oops", "a number": 7.0, "an object": Unknown("object"), "empty": []byte{}, "a record of before": Record{"id": "x"}}
			for i := 0; i < len(b); i += 1 + len(b)/40 {
				flipped := slices.Clone(b)
				flipped[i] ^= 1 << (i % 8)
				damages[fmt.Sprint("flipped at ", i)], damages[fmt.Sprint("cut at ", i)] = flipped, b[:i]
			}
			for what, damage := range damages {
				n++
				db := sample(t)
				db.tables[table][k] = damage
				where := fmt.Sprintf("%s %d is %s", table, k.N, what)
				_, c, err := Open(db, "s")
				want := 1
				if table == Steps && k.N <= whole.stored.base { // what the snapshot covers is not read
					want = 0
				}
				if err != nil || c == nil || len(c.Damaged) != want {
					t.Fatalf("%s: %+v, %v", where, c, err)
				}
				file := EncodeDamaged(c.Damaged)
				if b != nil && len(c.Damaged) > 0 && !json.Valid(file) {
					t.Fatalf("%s: exported as %s", where, file)
				}
				if table == Steps { // it may be the last step, and compacted at once
					db := sample(t)
					db.tables[table][k] = damage
					d := open(t, db)
					test.OK(t, d.compact())
					if again := open(t, db); again.taught.Count() != d.taught.Count() || again.stored.N != d.stored.N {
						t.Fatalf("%s: compaction made %s of %s", where, again.shown(), d.shown())
					}
				}
				d := open(t, db)
				if left := d.taught.Count(); left < all-4 || table == Steps && left < all-1 {
					t.Fatalf("%s: %d examples of %d are left", where, left, all)
				}
				at, embeddings := 0, len(b)-4*4*3 // a bit of an embedding costs its example alone
				if flipped, _ := fmt.Sscanf(what, "flipped at %d", &at); flipped == 1 && table == Snapshots && k.N > 0 && at >= embeddings {
					if left := d.taught.Count(); left < all-1 {
						t.Fatalf("%s: %d examples of %d are left", where, left, all)
					}
					bits++
				}
				sums, err := Summaries(db)
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				if s := sums[0]; table == Steps && k.N == whole.stored.N && (s.Classes != 2 || s.Examples != 4) { // those of the snapshot
					t.Fatalf("%s: the summary is %+v", where, s)
				}
				if err := d.do(add("hen", 4, 5, 6)); err != nil {
					t.Fatalf("%s: no further change is stored: %v", where, err)
				}
				shown := d.shown()
				test.OK(t, d.compact()) // sets it aside
				_, again, err := Open(db, "s")
				if err != nil || len(again.Damaged) != len(c.Damaged) {
					t.Fatalf("%s: after compaction %+v, %v", where, again.Damaged, err)
				}
				if left := open(t, db); left.taught.Count() != d.taught.Count() {
					t.Fatalf("%s: compaction made %s of %s", where, left.shown(), shown)
				}
				test.OK(t, Delete(db, "s"))
				if left, err := Unreachable(db); err != nil || len(left) > 4 { // thumbnails of pictures that nobody knows of
					t.Fatalf("%s: after it was deleted, %+v, %v", where, left, err)
				}
			}
		}
	}
	if n < 184 || bits < 8 {
		t.Errorf("only %d kinds of damage, %d of them of an embedding", n, bits)
	}
}

var errDied = errors.New("the browser was killed")

// killed runs f on copies of a database, killed before each write in turn, and hands each to check.
func killed(t *testing.T, db func() *Memory, f func(*Memory) error, check func(at int, db *Memory)) (writes int) {
	t.Helper()
	for at := 0; ; at++ {
		m, n := db(), 0
		m.Before = func(Table, Key, any) error {
			if n++; n > at {
				return errDied
			}
			return nil
		}
		err := f(m)
		m.Before = nil
		if err != nil && !errors.Is(err, errDied) {
			t.Fatalf("killed before write %d: %v", at, err)
		}
		if check(at, m); err == nil {
			return at
		}
	}
}

func TestNothingIsLostIfCompactionIsKilled(t *testing.T) {
	whole := NewMemory()
	var classes []metaqda.Class
	for k := range 7 {
		c := metaqda.Class{ID: fmt.Sprint("k", k), Label: fmt.Sprint("class ", k), Order: float64(k + 1)}
		for i := range 45 { // two segments in all
			id := fmt.Sprint("x", k, "-", i)
			c.Examples = append(c.Examples, &metaqda.Example{ID: id, Class: c.ID, Order: float64(i), Vector: []float32{float32(i), 1}, Thumbnail: []byte(id)})
		}
		classes = append(classes, c)
	}
	test.OK(t, Create(whole, Summary{Session: Session{ID: "s"}}, classes))
	d := open(t, whole)
	for i := range 110 {
		test.OK(t, d.do(add(fmt.Sprint("class ", i%7), float32(i), 1)))
	}
	for k := range 7 {
		test.OK(t, d.do(remove(k, k)))
	}
	before := open(t, whole).shown()
	writes := killed(t, func() *Memory {
		db := NewMemory()
		for table, records := range whole.tables {
			db.tables[table] = maps.Clone(records)
		}
		return db
	}, func(db *Memory) error { return open(t, db).compact() }, func(at int, db *Memory) {
		if after := open(t, db).shown(); after != before {
			t.Fatalf("killed before write %d: %.300s, was %.300s", at, after, before)
		}
		if left := test.Must(Unreachable(db))(t); len(left) > 0 {
			t.Fatalf("killed before write %d: %+v", at, left)
		}
	})
	if writes < 100 {
		t.Errorf("killed %d times", writes)
	}
}

// former is a database of version 7: a session of two classes of two examples of three numbers each.
func formerSample(t testing.TB) *Memory {
	t.Helper()
	m := NewMemory()
	m.tables = map[Table]map[Key]any{
		oldSessions: {{ID: "s"}: Record{"id": "s", "name": "Kitchen", "created": 1.0, "updated": 2.0, "saved": 3.0, "sort": "taught", "nonePrior": 0.2, "actions": "a", "prior": "p", "extractor": "x", "extractorSum": "y"}},
		oldClasses:  {}, oldExamples: {}, Thumbnails: {}, oldSteps: {}, Priors: {}, Meta: {{ID: "current"}: "s"},
	}
	for i, k := range []string{"cat", "dog"} {
		m.tables[oldClasses][Key{ID: k}] = Record{"id": k, "session": "s", "name": k, "order": float64(i)}
		for j := range 2 {
			id := k + string(rune('0'+j))
			m.tables[oldExamples][Key{ID: id}] = Record{"id": id, "session": "s", "class": k, "order": float64(j), "embedding": floats(float32(i), float32(j), 1)}
			m.tables[Thumbnails][Key{ID: id}] = []byte{byte(i), byte(j)}
		}
	}
	gone := Record{"id": "gone", "session": "", "class": "cat", "order": 9.0, "embedding": floats(7, 8, 9), "thumbnail": []byte("gone")}
	step := func(id, name string, undone bool, entries ...any) []byte {
		return test.Must(json.Marshal(map[string]any{"ID": id, "Name": name, "Undone": undone, "Entries": entries}))(t)
	}
	m.tables[oldSteps][Key{ID: "s/"}] = []byte(`{"Undo":[{"ID":"b","Slot":4},{"ID":"a","Slot":0}],"Redo":[{"ID":"c","Slot":2}]}`)
	m.tables[oldSteps][Key{ID: "s/4"}] = step("b", "remove an example from cat", false, map[string]any{"Do": "example", "ID": "gone", "Example": gone})
	m.tables[oldSteps][Key{ID: "s/0"}] = step("a", "add an example to cat", false, map[string]any{"Do": "example", "ID": "cat1"})
	m.tables[oldSteps][Key{ID: "s/2"}] = step("c", "rename dog to hen", true, map[string]any{"Do": "head", "ID": "dog", "Class": map[string]any{"ID": "dog", "Label": "hen"}})
	return m
}

func floats(x ...float32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, x)
	return b
}

// migrated migrates all sessions.
func migrated(db DB) error {
	waiting, err := Migrate(db)
	if err == nil && len(waiting) > 0 {
		err = fmt.Errorf("%q wait for room", waiting)
	}
	return err
}

// A session for which there is no room waits as it was, and the others are opened. Once there is
// room it is opened too.
func TestAFullStorageKeepsFormerSessionsWaiting(t *testing.T) {
	db := formerSample(t)
	db.tables[oldSessions][Key{ID: "t"}] = Record{"name": "Attic", "prior": "q"}
	db.tables[Priors] = map[Key]any{{ID: "p"}: []byte("p"), {ID: "q"}: []byte("q"), {ID: "r"}: []byte("r")}
	full := &metaqda.Error{Code: "quota", Message: "The storage is full."}
	db.Before = func(_ Table, k Key, v any) error {
		if k.ID == "s" && v != nil {
			return full
		}
		return nil
	}
	before := fmt.Sprint(db.tables[oldExamples], db.tables[oldClasses], db.tables[oldSteps])
	for range 2 {
		if waiting, err := Migrate(db); err != nil || fmt.Sprint(waiting) != "[s]" {
			t.Fatalf("waiting are %q (%v)", waiting, err)
		}
		test.OK(t, Sweep(db))
	}
	if after := fmt.Sprint(db.tables[oldExamples], db.tables[oldClasses], db.tables[oldSteps]); after != before {
		t.Error("the records of the waiting session are others now")
	}
	if all := test.Must(Summaries(db))(t); len(all) != 1 || all[0].Name != "Attic" {
		t.Errorf("sessions %+v", all)
	}
	if n := len(db.tables[Priors]); n != 2 {
		t.Errorf("%d priors are left of the two in use", n)
	}
	db.Before = nil
	test.OK(t, migrated(db))
	if d := open(t, db); len(d.taught.Classes()) != 2 {
		t.Errorf("%d classes once there is room", len(d.taught.Classes()))
	}
}

func TestAFormerDatabaseBecomesALog(t *testing.T) {
	db := formerSample(t)
	test.OK(t, migrated(db))
	for _, table := range []Table{oldSessions, oldClasses, oldExamples, oldSteps} {
		if n := len(db.tables[table]); n > 0 {
			t.Errorf("%d records are left of %s", n, table)
		}
	}
	d := open(t, db)
	want := "cat cat: cat0 [0 0 1] \x00\x00 cat1 [0 1 1] \x00\x01dog dog: dog0 [1 0 1] \x01\x00 dog1 [1 1 1] \x01\x01remove an example from cat/rename dog to hen"
	if got := d.shown(); got != want {
		t.Errorf("is %q", got)
	}
	all := test.Must(Summaries(db))(t)
	s := Summary{Session: Session{ID: "s", Name: "Kitchen", Created: 1, Updated: 2, Saved: 3, Settings: Settings{Sort: "taught", NonePrior: 0.2, Prior: "p"}, Extractor: model.Extractor{ID: "x", SHA256: "y"}}, Classes: 2, Examples: 4}
	if len(all) != 1 || all[0] != s {
		t.Errorf("sessions %+v", all)
	}
	_, c, _ := Open(db, "s")
	s.Settings.Actions = "a"
	if c.Session != s.Session {
		t.Errorf("the session is %+v", c.Session)
	}
	test.OK(t, d.do(undo))
	test.OK(t, d.do(undo))
	if got := open(t, db).shown(); !strings.Contains(got, "gone [7 8 9] gone") || strings.Contains(got, "cat1") {
		t.Errorf("undone: %q", got)
	}
	if left := test.Must(Unreachable(db))(t); len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

func TestNothingIsLostIfMigrationIsKilled(t *testing.T) {
	three := func() *Memory {
		db := formerSample(t)
		for _, id := range []string{"t", "u"} {
			db.tables[oldSessions][Key{ID: id}] = Record{"name": id}
			for k := range 4 {
				class := fmt.Sprint(id, k)
				db.tables[oldClasses][Key{ID: class}] = Record{"session": id, "name": class}
				for i := range 5 {
					key := fmt.Sprint(class, "-", i)
					db.tables[oldExamples][Key{ID: key}] = Record{"session": id, "class": class, "order": float64(i), "embedding": floats(1, float32(i)), "thumbnail": []byte(key)}
				}
			}
		}
		db.tables[oldExamples][Key{ID: "bad"}] = Record{"session": "t", "class": "t0"}
		db.tables[oldExamples][Key{ID: "lost"}] = Record{"class": "t0"}
		return db
	}
	whole := func(db *Memory) string {
		all := fmt.Sprint(test.Must(Summaries(db))(t))
		for _, id := range []string{"s", "t", "u"} {
			_, c, err := Open(db, id)
			test.OK(t, err)
			all += fmt.Sprint(c.Session, len(c.Undo), len(c.Redo), len(c.Damaged))
			for _, k := range c.Classes {
				all += k.Label
				for _, x := range k.Examples {
					all += fmt.Sprintf(" %s %v %q", x.ID, x.Vector, x.Thumbnail)
				}
			}
		}
		return all + fmt.Sprint(len(test.Must(Unreachable(db))(t)))
	}
	once := three()
	test.OK(t, migrated(once))
	want := whole(once)
	writes := killed(t, three, func(db *Memory) error { return migrated(db) }, func(at int, db *Memory) {
		test.OK(t, migrated(db))
		if got := whole(db); got != want {
			t.Fatalf("killed before write %d:\n%s, want\n%s", at, got, want)
		}
	})
	if writes < 100 {
		t.Errorf("killed %d times", writes)
	}
}

// Any record of a former version may be damaged: all others of the session are taken over. The
// damaged one is named and can be taken out.
func TestDamageOfAFormerVersionStaysLocal(t *testing.T) {
	with := func(m *Memory, table Table, key, field string, value any) {
		r := Record{}
		for k, v := range m.tables[table][Key{ID: key}].(Record) {
			r[k] = v
		}
		if r[field] = value; value == nil {
			delete(r, field)
		}
		m.tables[table][Key{ID: key}] = r
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	type damage struct {
		do       func(m *Memory)
		classes  int // of two that are there
		examples int // of four
		damaged  int // records that are named
	}
	embedding := func(b any) func(m *Memory) {
		return func(m *Memory) { with(m, oldExamples, "cat0", "embedding", b) }
	}
	cases := map[string]damage{
		"class that is gone":                 {func(m *Memory) { delete(m.tables[oldClasses], Key{ID: "cat"}) }, 1, 2, 2},
		"two classes of one name":            {func(m *Memory) { with(m, oldClasses, "cat", "name", "dog") }, 2, 4, 0},
		"example with an empty embedding":    {embedding([]byte{}), 2, 3, 1},
		"example cut short that sorts first": {embedding(floats(1, 2)), 2, 3, 1},
		"example cut within a number":        {embedding(floats(1, 2, 3)[:11]), 2, 3, 1},
		"example that is too long":           {embedding(make([]byte, 4*model.MaxDimension+4)), 2, 3, 1},
		"example under a number": {func(m *Memory) {
			m.tables[oldExamples][Key{ID: "7", N: -1}] = Record{"session": "s", "class": "cat", "embedding": floats(1, 2, 3)}
		}, 2, 4, 1},
		"example with NaN":                  {embedding(floats(1, nan, 3)), 2, 3, 1},
		"example with an infinity":          {embedding(floats(inf, 2, 3)), 2, 3, 1},
		"example whose order is infinite":   {func(m *Memory) { with(m, oldExamples, "cat1", "order", math.Inf(-1)) }, 2, 4, 0},
		"example without thumbnail":         {func(m *Memory) { delete(m.tables[Thumbnails], Key{ID: "cat0"}) }, 2, 4, 0},
		"thumbnail of no example":           {func(m *Memory) { delete(m.tables[oldExamples], Key{ID: "cat0"}) }, 2, 3, 1},
		"example whose thumbnail is a word": {func(m *Memory) { m.tables[Thumbnails][Key{ID: "cat0"}] = "cat.png" }, 2, 4, 0},
		"more classes than can be saved": {func(m *Memory) {
			for i := range model.MaxClasses {
				m.tables[oldClasses][Key{ID: fmt.Sprint("more", i)}] = Record{"session": "s", "name": "more", "order": -1.0}
			}
		}, model.MaxClasses, 0, 6},
		"more examples than can be saved": {func(m *Memory) {
			for i := range model.MaxExamples {
				m.tables[oldExamples][Key{ID: fmt.Sprint("more", i)}] = Record{"session": "s", "class": "cat", "order": 9.0, "embedding": floats(1, 2, 3)}
			}
		}, 2, model.MaxExamples, 4},
		"prior is a number":        {func(m *Memory) { m.tables[Priors][Key{ID: "p"}] = 7.0 }, 2, 4, 0},
		"current session is bytes": {func(m *Memory) { m.tables[Meta][Key{ID: "current"}] = []byte{1} }, 2, 4, 0},
		"list of steps is a word":  {func(m *Memory) { m.tables[oldSteps][Key{ID: "s/"}] = "oops" }, 2, 4, 0},
		"step is nonsense":         {func(m *Memory) { m.tables[oldSteps][Key{ID: "s/4"}] = []byte("{") }, 2, 4, 0},
	}
	for table, key := range map[Table]string{oldSessions: "s", oldClasses: "cat", oldExamples: "cat0"} {
		for what, v := range map[string]any{"missing": nil, "a word": "oops", "a number": 7.0, "not finite": math.NaN(), "true": true, "bytes": []byte{1}, "an object": Unknown("object")} {
			for _, field := range append(fields[table], "") { // and the record itself
				c := damage{func(m *Memory) {
					if with(m, table, key, field, v); field == "" {
						if m.tables[table][Key{ID: key}] = v; v == nil {
							m.tables[table][Key{ID: key}] = Unknown("null")
						}
					}
				}, 2, 4, 0}
				switch wanted := field == "" || field == "session"; {
				case table == oldClasses && wanted:
					c.classes, c.examples, c.damaged = 1, 2, 3
				case table == oldExamples && (wanted || field == "class" || field == "embedding"):
					c.examples, c.damaged = 3, 1
				}
				cases[fmt.Sprintf("%s: %s is %s", table, field, what)] = c
			}
		}
	}
	if len(cases) < 184 {
		t.Errorf("only %d kinds of damage", len(cases))
	}
	for name, c := range cases {
		m := formerSample(t)
		for k := range m.tables[oldSteps] { // their thumbnails would be named
			if !strings.Contains(name, "step") {
				delete(m.tables[oldSteps], k)
			}
		}
		c.do(m)
		test.OK(t, migrated(m))
		all, err := Summaries(m)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: sessions are %+v, %v", name, all, err)
			continue
		}
		_, got, err := Open(m, "s")
		if err != nil || got == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		examples := 0
		for _, k := range got.Classes {
			if k.ID == "" || k.Label == "" || k.Order-k.Order != 0 {
				t.Errorf("%s: class %+v", name, k)
			}
			for _, x := range k.Examples {
				if examples++; x.ID == "" || len(x.Vector) != 3 || x.Order-x.Order != 0 {
					t.Errorf("%s: example %+v", name, x)
				}
			}
		}
		if len(got.Classes) != c.classes || examples != c.examples || all[0].Examples != examples {
			t.Errorf("%s: %d classes and %d examples, want %d and %d", name, len(got.Classes), examples, c.classes, c.examples)
		}
		named := slices.Concat(got.Damaged, test.Must(Unreachable(m))(t))
		if len(named) != c.damaged && (c.damaged > 0 || !strings.Contains(name, "step")) {
			t.Errorf("%s: %d records are named, want %d: %+v", name, len(named), c.damaged, named)
		}
		file := EncodeDamaged(named)
		var back struct {
			Records []struct{ Table, Key, Reason string }
		}
		if json.Unmarshal(file, &back) != nil || len(back.Records) != len(named) {
			t.Errorf("%s: exported as %s", name, file)
		}
		for _, r := range back.Records {
			if r.Key == "" || r.Reason == "" {
				t.Errorf("%s: exported as %+v", name, r)
			}
		}
	}
}

// What is damaged goes out as it is.
func TestDamagedRecordsGoOutWhole(t *testing.T) {
	m := formerSample(t)
	m.tables[oldExamples][Key{ID: "cat0"}] = Record{"session": "s", "class": "cat", "embedding": []byte("embeddin"), "order": math.NaN(), "size": 7.5, "thumbnail": []byte{0, 0}} // of another length
	test.OK(t, migrated(m))
	_, c, err := Open(m, "s")
	test.OK(t, err)
	file := EncodeDamaged(c.Damaged)
	var back struct {
		Records []struct {
			Record struct {
				Embedding, Thumbnail []byte
				Size                 float64
			}
		}
	}
	err = json.Unmarshal(file, &back)
	if err != nil || len(back.Records) != 1 {
		t.Fatalf("%s: %v", file, err)
	}
	r := back.Records[0].Record
	if string(r.Embedding) != "embeddin" || !bytes.Equal(r.Thumbnail, []byte{0, 0}) || r.Size != 7.5 {
		t.Errorf("went out as %+v", r)
	}
	m.tables[Aside][Key{"s", 9}] = []byte("no JSON")
	_, c, err = Open(m, "s")
	if test.OK(t, err); len(c.Damaged) != 2 || c.Damaged[1].Key != "s/9" {
		t.Errorf("set aside are %+v", c.Damaged)
	}
	test.OK(t, Discard(m, "s", "cat"))
	_, c, err = Open(m, "s")
	if test.OK(t, err); len(c.Damaged) != 1 || c.Damaged[0].Key != "s/9" {
		t.Errorf("after those of a class were discarded, set aside are %+v", c.Damaged)
	}
	x := &metaqda.Example{ID: "cat1", Order: math.Inf(1), Vector: []float32{0.1, float32(math.NaN())}, Thumbnail: []byte{1}}
	file = EncodeDamaged([]Damage{{Table: Snapshots, Key: "s/1", Record: x}})
	if !json.Valid(file) || !bytes.Contains(file, []byte(`"Thumbnail":"AQ==","Vector":[0.1,"number that is not finite"]`)) {
		t.Errorf("an example of impossible numbers: %s", file)
	}
}

// Of many examples the thumbnails are read when they are wanted.
func TestThumbnailsOfManyAreReadLater(t *testing.T) {
	for _, n := range []int{ManyPictures, ManyPictures + 1} {
		db := NewMemory()
		k := metaqda.Class{ID: "k", Label: "k", Order: 1}
		for i := range n {
			k.Examples = append(k.Examples, &metaqda.Example{ID: fmt.Sprint("x", i), Class: "k", Order: float64(i), Vector: []float32{1, 2}, Thumbnail: []byte{byte(i), 1}})
		}
		test.OK(t, Create(db, Summary{Session: Session{ID: "s"}, Classes: 1, Examples: n}, []metaqda.Class{k}))
		_, c, err := Open(db, "s")
		test.OK(t, err)
		x := c.Classes[0].Examples[3]
		if many := n > ManyPictures; x.Apart != many || (x.Thumbnail == nil) != many {
			t.Errorf("of %d came %+v", n, x)
		}
		found := test.Must(ThumbnailsOf(db, []string{"x3", "none"}))(t)
		if len(found) != 1 || !bytes.Equal(found["x3"], []byte{3, 1}) {
			t.Errorf("by ids: %v", found)
		}
		test.OK(t, Delete(db, "s"))
		if left := len(db.tables[Thumbnails]); left > 0 {
			t.Errorf("%d thumbnails outlast the session", left)
		}
	}
}

func TestSweepKeepsWhatIsUsed(t *testing.T) {
	db := sample(t)
	chosen := "chosen"
	test.OK(t, Put(db, SitePrior, "site", map[string][]byte{"site": {1}, "chosen": {2}, "other": {3}}))
	test.OK(t, AppendTo(db, "s", Edit{Prior: &chosen}))
	test.OK(t, Sweep(db))
	if left := db.tables[Priors]; len(left) != 2 || left[Key{ID: "other"}] != nil {
		t.Errorf("priors left: %v", left)
	}
}

// broken is a database of which a single read or write fails.
type broken struct {
	DB
	left int // before the one that fails
}

type breaking struct {
	Tx
	of *broken
}

var errDisk = errors.New("the disk is broken")

func (b *broken) Do(writes bool, f func(Tx) error) error {
	return b.DB.Do(writes, func(t Tx) error { return f(breaking{t, b}) })
}

func attempted[T any](b breaking, of func() (T, error)) (none T, err error) {
	if b.of.left--; b.of.left == -1 {
		return none, errDisk
	}
	return of()
}

func (b breaking) Get(t Table, keys ...Key) ([]any, error) {
	return attempted(b, func() ([]any, error) { return b.Tx.Get(t, keys...) })
}

func (b breaking) Keys(t Table, id string) ([]Key, error) {
	return attempted(b, func() ([]Key, error) { return b.Tx.Keys(t, id) })
}

func (b breaking) All(t Table) ([]Key, error) {
	return attempted(b, func() ([]Key, error) { return b.Tx.All(t) })
}

func (b breaking) Last(t Table, id string) (int, error) {
	return attempted(b, func() (int, error) { return b.Tx.Last(t, id) })
}

func (b breaking) Put(t Table, k Key, v any) error {
	return test.Err(attempted(b, func() (any, error) { return nil, b.Tx.Put(t, k, v) }))
}

// Whichever read or write fails, each call says so and changes nothing.
func TestNoFailureOfTheStorageIsLost(t *testing.T) {
	damaged := func() *Memory { // a last step that cannot be read, and a record set aside
		db := sample(t)
		db.tables[Snapshots][Key{"s", 1}].([]byte)[9] ^= 1
		d := open(t, db)
		test.OK(t, d.compact())
		db.tables[Steps][Key{"s", d.stored.N}].([]byte)[9] ^= 1
		db.tables[Priors] = map[Key]any{{ID: "p"}: []byte("p")}
		return db
	}
	many := []metaqda.Class{{ID: "k", Label: "cat", Order: 1, Examples: []*metaqda.Example{{ID: "y", Class: "k", Vector: []float32{1}, Thumbnail: []byte{1}}}}}
	for what, f := range map[string]func(db DB, m *Memory) error{
		"Open":   func(db DB, _ *Memory) error { _, _, err := Open(db, "s"); return err },
		"Exists": func(db DB, _ *Memory) error { return Exists(db, "s") },
		"Append": func(db DB, m *Memory) error {
			step := Step{Thumbnails: map[string][]byte{"x": {1}}, Files: map[string][]byte{"p": {2}}}
			_, _, err := Append(db, "s", open(t, m).stored.N, []Step{step, step})
			return err
		},
		"others":       func(db DB, _ *Memory) error { _, _, err := Append(db, "s", 7, nil); return err },
		"Put":          func(db DB, _ *Memory) error { return Put(db, "id", "text", map[string][]byte{"p": {2}}) },
		"Create":       func(db DB, m *Memory) error { return Create(db, Summary{Session: Session{ID: "t"}}, many) },
		"AppendTo":     func(db DB, _ *Memory) error { return AppendTo(db, "s", Edit{Saved: 1}) },
		"Summaries":    func(db DB, _ *Memory) error { return test.Err(Summaries(db)) },
		"Delete":       func(db DB, _ *Memory) error { return Delete(db, "s") },
		"Discard":      func(db DB, _ *Memory) error { return Discard(db, "s", "") },
		"Sweep":        func(db DB, _ *Memory) error { return Sweep(db) },
		"Value":        func(db DB, _ *Memory) error { return test.Err(Value[string](db, Meta, "none")) },
		"ThumbnailsOf": func(db DB, _ *Memory) error { return test.Err(ThumbnailsOf(db, []string{"x"})) },
		"Unreachable":  func(db DB, _ *Memory) error { return test.Err(Unreachable(db)) },
		"Migrate":      func(db DB, _ *Memory) error { return migrated(db) },
		"Compact": func(db DB, m *Memory) error {
			d := open(t, m)
			return test.Err(d.stored.Compact(db, d.now(), d.taught.Classes(), nil, nil))
		},
	} {
		for at := 0; ; at++ {
			m := damaged()
			if what == "Migrate" {
				m = formerSample(t)
				m.tables[oldExamples][Key{ID: "lost"}] = Record{}
			}
			before := fmt.Sprint(m.tables)
			b := &broken{DB: m, left: at}
			err := f(b, m)
			if b.left >= 0 {
				if err != nil || at == 0 {
					t.Errorf("%s: %v after %d of them", what, err, at)
				}
				break
			}
			if !errors.Is(err, errDisk) {
				t.Errorf("%s: number %d fails, and it returns %v", what, at, err)
			}
			if after := fmt.Sprint(m.tables); after != before && what != "Migrate" { // which goes session by session
				t.Errorf("%s: number %d fails, and records have changed", what, at)
			}
		}
	}
}

// Former versions of the page wrote records with fields that are written no more. They kept characters
// in labels that would turn other text around; a session with these could not be saved to a file.
func TestRecordsOfFormerVersionsAreRead(t *testing.T) {
	const session = `{"ID":"s","Name":"Kitchen","Created":1700000000000,"Updated":2,"Saved":3,"Settings":{"sort":"taught","nonePrior":0.2,"actions":""},"Extractor":{"id":"net","sha256":"00"}`
	x := &metaqda.Example{ID: "x", Class: "k", Vector: []float32{1}}
	h, reason := decodeHead(encode(`{"N":7,"Session":`+session+`},"Actions":"a","Prior":"p","Classes":[{"ID":"k","Label":"c\u202eat","Order":1.5,"Examples":null,"Bursts":null,"Actions":"b"}],`+
		`"Undo":[{"ID":"1","Name":"add","Undone":true,"Entries":[{"Do":"example","ID":"x","Examples":1}]}],"Redo":null}`, x))
	want := Session{ID: "s", Name: "Kitchen", Created: 1700000000000, Updated: 2, Saved: 3, Settings: Settings{Sort: "taught", NonePrior: 0.2, Actions: "a", Prior: "p"}, Extractor: model.Extractor{ID: "net", SHA256: "00"}}
	if reason != "" || h.N != 7 || h.Session != want || len(h.Classes) != 1 || h.Classes[0].Label != "cat" || h.Classes[0].Order != 1.5 || h.Classes[0].Actions != "b" || len(h.Undo) != 1 || !h.Undo[0].Undone || h.Undo[0].Entries[0].Example.ID != "x" || h.Redo != nil {
		t.Errorf("%+v, %q", h, reason)
	}
	s, reason := decodeStep(encode(`{"ID":"i","Do":"step","Step":"2","Name":"add","Entries":[{"Do":"class","ID":"k","Class":{"ID":"k","Label":"c\u202eat","Order":1,"Examples":null,"Bursts":null,"Actions":""},"Examples":1}],`+
		`"Edit":{"Sort":"taught","NonePrior":0,"Extractor":{"id":"net"},"Saved":4},"After":`+session+`,"Classes":1,"Examples":1},"Prior":"p"}`, x))
	if want.Settings.Actions = ""; reason != "" || s.ID != "i" || s.Command.Name != "add" || s.Command.Entries[0].Class.Examples[0].ID != "x" || s.Command.Entries[0].Class.Label != "cat" || *s.Edit.Sort != "taught" || *s.Edit.NonePrior != 0 || s.Edit.Name != nil || s.Edit.Extractor.ID != "net" || s.Edit.Saved != 4 || s.After.Session != want || s.After.Classes != 1 {
		t.Errorf("%+v, %q", s, reason)
	}
}

// A record that is cut short is refused, and a whole one is read wherever it lies in memory.
func TestARecordIsReadWholeOrNotAtAll(t *testing.T) {
	x := &metaqda.Example{ID: "x", Class: "k", Group: "walk", Order: 2, Vector: []float32{1, -2, 3}}
	if _, _, reason := decode("text"); reason != "it is not a byte array" {
		t.Error(reason)
	}
	whole := encodeStep(Step{ID: "1", Command: &metaqda.Command{Do: metaqda.DoStep, Step: "a", Entries: []metaqda.Entry{{Do: "example", ID: "x", Example: x}}}})
	for _, b := range [][]byte{whole, encodeHead(head{N: 3}), encode("null", x, x)} {
		for n := range b[4 : len(b)-3] { // up to three zeros may be missing
			if _, _, reason := decode(sealed(slices.Clone(b[:4+n]))); reason == "" {
				t.Errorf("%q is read up to %d of %d bytes", b, 4+n, len(b))
			}
		}
	}
	for shift := range 4 {
		s, reason := decodeStep(append(make([]byte, shift), whole...)[shift:])
		if reason != "" || !reflect.DeepEqual(s.Command.Entries[0].Example, x) {
			t.Errorf("at %d: %+v, %s", shift, s.Command, reason)
		}
	}
}

// A record that was stored by an earlier build is still read, with the checksum of each example.
func TestStoredRecordsStayReadable(t *testing.T) {
	const stored = "aZtJj+YCeyJOIjozLCJTZXNzaW9uIjp7IklEIjoiIiwiTmFtZSI6IktpdGNoZW4iLCJDcmVhdGVkIjowLCJVcGRhdGVkIjowLCJTYXZlZCI6MCwiU2V0dGluZ3MiOnsic29ydCI6IiIsIm5vbmVQcmlvciI6MCwiYWN0aW9ucyI6IiJ9LCJFeHRyYWN0b3IiOnsiaWQiOiIifX0sIkFjdGlvbnMiOiIiLCJQcmlvciI6IiIsIkNsYXNzZXMiOlt7IklEIjoiayIsIkxhYmVsIjoiY2F0IiwiT3JkZXIiOjEsIkV4YW1wbGVzIjpudWxsLCJCdXJzdHMiOm51bGwsIkFjdGlvbnMiOiIifV0sIlVuZG8iOlt7IklEIjoiYSIsIk5hbWUiOiJuIiwiRW50cmllcyI6W3siRG8iOiJleGFtcGxlIiwiSUQiOiJ4IiwiRXhhbXBsZXMiOjF9XX1dLCJSZWRvIjpudWxsfQEBeAFrBHdhbGsAAAAAAAAAQAT+Lfd4AAAAgD8AAADAAABAQAAAAD8="
	b := test.Must(base64.StdEncoding.DecodeString(stored))(t)
	h, reason := decodeHead(b)
	if reason != "" || h.N != 3 || len(h.Classes) != 1 || len(h.Undo) != 1 || len(h.Undo[0].Entries) != 1 {
		t.Fatalf("%+v: %s", h, reason)
	}
	want := &metaqda.Example{ID: "x", Class: "k", Group: "walk", Order: 2, Vector: []float32{1, -2, 3, 0.5}} // 16 bytes: the checksum takes eight at a time
	if got := h.Undo[0].Entries[0].Example; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := sound(b); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("by its own checksum %+v", got)
	}
}

// FuzzRecords turns records of any fields into a log.
func FuzzRecords(f *testing.F) {
	f.Add("cat", "s", "cat", 1.0, floats(1, 2, 3), uint8(0))
	f.Add("", "", "", math.NaN(), []byte{1}, uint8(255))
	f.Fuzz(func(t *testing.T, id, session, class string, order float64, b []byte, kinds uint8) {
		m := formerSample(t)
		other := []any{nil, "text", 7.0, true, []byte{1}, Unknown("object")}
		pick := func(i int, v any) any {
			if kinds>>i&1 == 1 {
				return other[(int(kinds)+i)%len(other)]
			}
			return v
		}
		m.tables[oldExamples][Key{ID: "x"}] = Record{"id": pick(0, id), "session": pick(1, session), "class": pick(2, class), "order": pick(3, order),
			"embedding": pick(4, b), "thumbnail": pick(5, b)}
		m.tables[oldClasses][Key{ID: "k"}] = Record{"id": pick(2, id), "session": pick(3, session), "name": pick(4, class), "order": pick(5, order), "actions": pick(4, class)}
		m.tables[oldSessions][Key{ID: "t"}] = pick(7, Record{"id": id, "name": pick(6, class), "nonePrior": pick(0, order), "prior": pick(1, b)})
		m.tables[oldSteps][Key{ID: "s/4"}] = b
		test.OK(t, migrated(m))
		test.Must(Summaries(m))(t)
		_, c, err := Open(m, "s")
		n := 0
		for _, k := range c.Classes {
			n += len(k.Examples)
		}
		if err != nil || len(c.Classes) < 2 || n < 4 {
			t.Fatalf("%+v, %v", c, err)
		}
		if file := EncodeDamaged(slices.Concat(c.Damaged, test.Must(Unreachable(m))(t))); !json.Valid(file) {
			t.Errorf("exported as %s", file)
		}
	})
}

// read opens the session, and repeats its steps.
func read(t *testing.T, db *Memory) {
	_, c, err := Open(db, "s")
	test.OK(t, err)
	taught := new(metaqda.Classifier)
	if taught.Load(c.Classes, nil) != nil {
		return
	}
	taught.Remember(c.Undo, c.Redo)
	for _, s := range c.Steps {
		if s.Command != nil {
			_ = taught.Replay(*s.Command, 0)
		}
	}
	test.Must(Summaries(db))(t)
	_, _ = taught.Undo()
}

// FuzzLog reads steps and snapshots of any bytes, whose checksum is right.
func FuzzLog(f *testing.F) {
	for _, v := range sample(f).Records(Steps) {
		f.Add(v.([]byte)[4:])
	}
	for _, v := range sample(f).Records(Snapshots) {
		f.Add(v.([]byte)[4:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		full := sealed(append(make([]byte, 4), b...))
		for _, k := range []Key{{"s", 0}, {"s", 1}} {
			db := sample(t)
			db.tables[Snapshots][k] = full
			read(t, db)
		}
		db := sample(t)
		last := test.Must(Summaries(db))(t)
		for k := range db.tables[Steps] {
			db.tables[Steps][k] = full
		}
		if read(t, db); len(last) != 1 {
			t.Fatal(last)
		}
	})
}

// written counts the segments that are written.
type written struct {
	DB
	segments int
}

type counting struct {
	Tx
	of *written
}

func (w *written) Do(writes bool, f func(Tx) error) error {
	return w.DB.Do(writes, func(t Tx) error { return f(counting{t, w}) })
}

func (c counting) Put(t Table, k Key, v any) error {
	if t == Snapshots && k.N > 0 {
		c.of.segments++
	}
	return c.Tx.Put(t, k, v)
}

// A session that was opened is compacted without writing its pictures again.
func TestCompactionAfterOpeningWritesWhatHasChanged(t *testing.T) {
	db := NewMemory()
	test.OK(t, Create(db, Summary{Session: Session{ID: "s"}}, nil))
	d := open(t, db)
	test.OK(t, d.do(func(c *metaqda.Classifier) error {
		labels, examples := make([]string, 1000), make([]metaqda.Example, 1000)
		for i := range labels {
			labels[i], examples[i].Vector = fmt.Sprint("class ", i%2), []float32{1, float32(i)}
		}
		return test.Err(c.AddAll(labels, examples))
	}))
	test.OK(t, d.compact())
	d = open(t, db)
	compact := func(want int) {
		t.Helper()
		w := &written{DB: db}
		undo, redo := d.taught.History()
		if test.Must(d.stored.Compact(w, d.now(), d.taught.Classes(), undo, redo))(t); w.segments != want {
			t.Errorf("%d segments are written, want %d", w.segments, want)
		}
	}
	compact(0)
	test.OK(t, d.do(func(c *metaqda.Classifier) error { return c.Move(c.Classes()[0].Examples[0].ID, "class 1") }))
	compact(1)
	if again := open(t, db); len(again.taught.Classes()[0].Examples) != 499 {
		t.Error("the move is lost")
	}
}
