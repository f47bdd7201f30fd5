package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

const dim = 24

// world is an engine with its test environment.
type world struct {
	*Engine
	store   log.DB
	files   map[string][]byte
	fetched []string
	frame   view.Frame
	stored  []Note // notes to other tabs
	stale   []Note // notes to itself, to update the open session
	changes int
	clock   int64
}

// newEngine returns an engine on a database. Hooks that are needed and missing do nothing.
func newEngine(db log.DB, h Hooks) *Engine {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Changed == nil {
		h.Changed = func() {}
	}
	if h.Stored == nil {
		h.Stored = func(Note) {}
	}
	if h.Stale == nil {
		h.Stale = func(Note) {}
	}
	return New(db, "", h)
}

func newWorld(t *testing.T, s log.DB) *world {
	t.Helper()
	w := &world{store: s, files: map[string][]byte{}}
	w.Engine = newEngine(s, Hooks{
		Show:    func(f view.Frame) { w.frame = f },
		Changed: func() { w.changes++ },
		Stored:  func(n Note) { w.stored = append(w.stored, n) },
		Stale:   func(n Note) { w.stale = append(w.stale, n) },
		Fetch: func(url string) ([]byte, error) {
			w.fetched = append(w.fetched, url)
			if b, ok := w.files[url]; ok {
				return b, nil
			}
			return nil, errors.New("no answer")
		},
		Now: func() time.Time { w.clock++; return time.UnixMilli(w.clock) },
	})
	test.OK(t, w.Start())
	return w
}

// Undo takes back a step.
func (w *world) Undo(token string) error {
	_, err := w.Engine.Undo(token)
	return err
}

// Kept is Engine.Kept for the last change.
func (w *world) Kept(number uint64) error { return w.Engine.Kept(number-1, number) }

// readAnew reads the open session anew.
func (w *world) readAnew() error {
	w.Flush()
	w.storing.Lock()
	defer w.storing.Unlock()
	return w.reread(w.session)
}

// put writes records of a table by hand.
func put(t *testing.T, db log.DB, table log.Table, records map[log.Key]any) {
	t.Helper()
	test.OK(t, db.Do(true, func(tx log.Tx) error {
		for k, v := range records {
			test.OK(t, tx.Put(table, k, v))
		}
		return nil
	}))
}

func picture(r *rand.Rand, centre float64) []float32 {
	x := make([]float32, dim)
	for i := range x {
		x[i] = float32(math.Sin(centre*float64(i+1)) + 0.3*r.NormFloat64())
	}
	return x
}

// addClass adds a class and returns its id.
func (w *world) addClass(t *testing.T, name string) string {
	t.Helper()
	id, _, err := w.AddClass(name)
	test.OK(t, err)
	return id
}

// importPrior makes the session use the prior of a file, and returns the undo token.
func (w *world) importPrior(t *testing.T, file []byte) (token string) {
	t.Helper()
	token, _, err := w.ImportPrior(file, here)
	test.OK(t, err)
	return token
}

// importSession opens the session of a file, and returns the notice.
func (w *world) importSession(t *testing.T, file []byte) (notice string) {
	t.Helper()
	_, notice, err := w.ImportSession(file, here)
	test.OK(t, err)
	return notice
}

// teachAll adds the classes with three pictures each and returns their ids.
func (w *world) teachAll(t *testing.T, names ...string) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var ids []string
	for k, name := range names {
		id := w.addClass(t, name)
		ids = append(ids, id)
		for i := range 3 {
			test.Must(w.AddExample(id, picture(r, float64(k+1)), []byte{byte(k), byte(i)}, ""))(t)
		}
	}
	return ids
}

func (w *world) ask(t *testing.T) Prediction {
	t.Helper()
	p := test.Must(w.Predict(picture(rand.New(rand.NewPCG(3, 4)), 1)))(t)
	if p == nil {
		t.Fatal("no prediction")
	}
	sum := p.None
	for _, probability := range p.Probabilities {
		sum += probability
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Fatalf("probabilities sum to %v", sum)
	}
	return *p
}

func same(t *testing.T, what string, got, want Prediction) {
	t.Helper()
	if got.None != want.None || !maps.Equal(got.byLabel(), want.byLabel()) {
		t.Fatalf("%s: %+v, want %+v", what, got, want)
	}
}

// code returns the code under which JavaScript sees an error.
func code(err error) string {
	if err == nil {
		return ""
	}
	return Explain(err).Code
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	before, frame := w.ask(t), w.frame
	nan := float32(math.NaN())
	order := "bayes"
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"unknown class":   {first(w.AddExample("nowhere", make([]float32, dim), nil, "")), "class"},
		"wrong length":    {first(w.AddExample(ids[0], make([]float32, dim+1), nil, "")), "dimension"},
		"not finite":      {CheckEmbedding([]float32{0, nan}), "value"},
		"empty":           {CheckEmbedding(nil), "dimension"},
		"unknown picture": {first(w.RemoveExample(ids[0], "nowhere")), "example"},
		"unknown token":   {w.Undo("nowhere"), "undo"},
		"unknown order":   {w.Order(order), "value"},
		"unknown session": {w.OpenSession("nowhere"), "session"},
		"deleted unknown": {w.DeleteSession("nowhere"), "session"},
		"renamed unknown": {w.RenameSession("nowhere", "Animals"), "session"},
		"broken prior":    {third(w.ImportPrior([]byte("nonsense"), here)), "format"},
		"broken session":  {third(w.ImportSession([]byte("nonsense"), here)), "format"},
	} {
		if got := code(c.err); got != c.code {
			t.Errorf("%s: code %q (%v), want %q", name, got, c.err, c.code)
		} else if len(c.err.Error()) < 20 {
			t.Errorf("%s: %q is no sentence with a remedy", name, c.err)
		}
	}
	same(t, "after refusals", w.ask(t), before)
	if w.frame.Verdict != frame.Verdict {
		t.Errorf("a refusal changed the verdict to %q", w.frame.Verdict)
	}
	test.OK(t, w.RenameClass(ids[0], "cat")) // its own name
}

func first[T any](_ T, err error) error     { return err }
func second[T any](_, _ T, err error) error { return err }

func TestEveryChangeShowsTheQueryAnew(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	if !strings.HasPrefix(w.frame.Verdict, "Add a class") {
		t.Fatalf("empty session says %q", w.frame.Verdict)
	}
	q := picture(rand.New(rand.NewPCG(3, 4)), 1)
	p, err := w.Show(q)
	if p != nil || err != nil {
		t.Fatalf("recognising with nothing taught: %v, %v", p, err)
	}
	w.teachAll(t, "cat", "dog")
	if len(w.frame.Rows) != 3 {
		t.Fatalf("%d meters, want 3", len(w.frame.Rows))
	}
	rows := fmt.Sprint(w.frame.Rows)
	test.Must(w.RemoveExample(w.State().Classes[0].ID, w.State().Classes[0].Examples[0].ID))(t)
	if fmt.Sprint(w.frame.Rows) == rows {
		t.Fatalf("removing an example left the meters %s", rows)
	}
	p, err = w.Show(nil)
	if p != nil || err != nil || len(w.frame.Rows) != 0 {
		t.Fatalf("clearing the query: %v, %v, %d meters", p, err, len(w.frame.Rows))
	}
}

func TestALiveViewShowsAnotherClassOnceItStays(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	w.clock = 1e12
	w.teachAll(t, "cat", "dog")
	r := rand.New(rand.NewPCG(3, 4))
	best := func(x []float32) string {
		test.Must(w.ShowFrame(x, 0))(t)
		w.clock += 250
		for _, row := range w.frame.Rows {
			if row.Best && !strings.Contains(strings.ReplaceAll(w.frame.Verdict, "\u00a0", " "), row.Text) {
				t.Errorf("the headline is %q beside a meter of %q at %s", w.frame.Verdict, row.Name, row.Text)
			}
		}
		return w.frame.Verdict
	}
	cat, dog := picture(r, 1), picture(r, 2)
	test.Must(w.Show(dog))(t)
	is := w.frame.Verdict
	was := best(cat)
	if was == is {
		t.Fatalf("the first frame after a single picture is called %q", was)
	}
	said := []string{}
	for _, x := range [][]float32{cat, cat, dog, dog, dog, dog} {
		said = append(said, best(x))
	}
	if !strings.Contains(said[1], "cat") || !strings.Contains(said[5], "dog") {
		t.Errorf("cats, then dogs: %q", said)
	}
	if got := best(cat); !strings.Contains(got, "dog") {
		t.Errorf("one cat after dogs: %q", got)
	}
	test.Must(w.RemoveExample(w.State().Classes[1].ID, w.State().Classes[1].Examples[0].ID))(t)
	if !strings.Contains(w.frame.Verdict, "cat") {
		t.Errorf("what is taught changes what is shown at once: %q", w.frame.Verdict)
	}
}

// here is the extractor of the page in tests.
var here = model.Extractor{ID: "net@2", SHA256: strings.Repeat("ab", 32)}

func third[A, B any](_ A, _ B, err error) error { return err }

func TestSharedFilesHavePicturesOnlyIfAsked(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	test.Must(w.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 6)), 1), []byte("thumbnail of a cat"), ""))(t)
	with := test.Must(w.SharedFile(true))(t)
	without := test.Must(w.SharedFile(false))(t)
	if !strings.Contains(string(with), "thumbnail of a cat") || strings.Contains(string(without), "thumbnail") {
		t.Error("pictures are where they are not wanted, or not where they are")
	}
	if w.State().Saved != 0 {
		t.Error("a file that was handed on counts as one that was saved")
	}
	other := newWorld(t, log.NewMemory())
	other.importSession(t, without)
	same(t, "shared", other.ask(t), w.ask(t))
	if other.State().Saved == 0 {
		t.Error("what came out of a file counts as in none")
	}
	notice := other.importSession(t, bytes.Replace(formerly(t, with), []byte(`"sha256":"`), []byte(`"was256":"`), 1))
	if !strings.Contains(notice, "checksum") {
		t.Errorf("of a file without one is told %q", notice)
	}
}

// The page says whether the last file lacks a change. Files have no undo history.
func TestWhatAFileLacksCountsAsAChange(t *testing.T) {
	w, _, own, _ := underSite(t)
	for what, change := range map[string]func() error{
		"":        func() error { w.ForgetUndo(); return nil },
		"a name":  func() error { return w.RenameClass(w.State().Classes[0].ID, "tom") },
		"a prior": func() error { w.importPrior(t, own); return nil },
		"a picture that is undone": func() error {
			test.Must(w.AddExample(w.State().Classes[0].ID, picture(rand.New(rand.NewPCG(5, 6)), 1), nil, ""))(t)
			return w.Undo("")
		},
	} {
		test.Must(w.SaveSession())(t)
		test.OK(t, change())
		w.Flush()
		for _, s := range []State{w.State(), newWorld(t, w.store).State()} {
			if changed := s.Updated > s.Saved; changed != (what != "") {
				t.Errorf("%q: changed is %v", what, changed)
			}
		}
	}
}

func TestExportedFilesNameTheClasses(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	var b []byte
	export := func(c *metaqda.Classifier) (err error) { b, err = c.Export(); return err }
	if err := w.Ask(false, export); code(err) != "empty" {
		t.Errorf("nothing taught: %v", err)
	}
	w.teachAll(t, "cat", "dog")
	id := w.State().SessionID
	test.OK(t, w.RenameSession(id, "Animals"))
	test.OK(t, w.Ask(false, export))
	for _, want := range []string{`[\"cat\",\"dog\"]`, "Animals"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %.600s", want, b)
		}
	}
}

func TestSessions(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	w.teachAll(t, "cat", "dog")
	w.Flush()
	first, want := w.State().SessionID, w.ask(t)
	second := test.Must(w.NewSession(" Garden "))(t)
	all := test.Must(w.Sessions())(t)
	if len(all) != 2 || all[0].ID != second || all[0].Name != "Garden" || all[1].Classes != 2 || all[1].Examples != 6 {
		t.Fatalf("sessions: %+v", all)
	}
	test.OK(t, w.RenameSession(first, "Animals"))
	test.OK(t, w.DeleteSession(second))
	s := w.State()
	if s.SessionID != first || s.SessionName != "Animals" {
		t.Fatalf("after deleting the open session %+v is open", s)
	}
	same(t, "reopened", w.ask(t), want)
	test.OK(t, w.DeleteSession(first))
	s = w.State()
	if s.SessionID == first || len(s.Classes) != 0 {
		t.Fatalf("after deleting the last session %+v is open", s)
	}
}

// formerly returns a prior file with the first version of its format.
func formerly(t *testing.T, b []byte) []byte {
	t.Helper()
	old := bytes.Replace(b, []byte(`"version":"2"`), []byte(`"version":"1"`), 1)
	if bytes.Equal(old, b) {
		t.Fatal("the file has no version to change")
	}
	return old
}

// A deleted class returns by undo although a new class has its name.
func TestAClassReturnsBesideItsNamesake(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	ids := w.teachAll(t, "cup", "dog")
	before := w.ask(t)
	var tokens []string
	gone := ids[0]
	for _, name := range []string{"cup", "Cup"} {
		token := test.Must(w.RemoveClass(gone))(t)
		tokens = append(tokens, token)
		gone = w.addClass(t, name)
	}
	test.OK(t, w.Undo(tokens[1])) // the second class, without pictures
	test.OK(t, w.Undo(tokens[0]))
	names := map[string]int{}
	for _, c := range w.State().Classes {
		names[c.Label] = len(c.Examples)
	}
	if len(names) != 4 || names["cup (3)"] != len(w.State().Classes[0].Examples) || names["cup (3)"] == 0 {
		t.Fatalf("classes %v", names)
	}
	c := w.State().Classes[0]
	now := w.ask(t)
	if p, was := now.byLabel()[c.Label], before.byLabel()["cup"]; c.ID != ids[0] || p != was {
		t.Errorf("the class came back as %q with probability %v, was %v", c.Label, p, was)
	}
	w.Flush()
	same(t, "stored", newWorld(t, w.store).ask(t), w.ask(t))
}

// Adding hundreds of pictures causes few redraws of an answer; the last shows all pictures.
func TestAnAnswerFollowsManyChangesTogether(t *testing.T) {
	var shown int
	var last view.Frame
	var later []func()
	now := time.UnixMilli(0)
	e := newEngine(log.NewMemory(), Hooks{
		Show:  func(f view.Frame) { shown++; last = f },
		Now:   func() time.Time { now = now.Add(time.Millisecond); return now },
		Later: func(_ time.Duration, f func()) { later = append(later, f) },
	})
	test.OK(t, e.Start())
	w := &world{Engine: e}
	ids := w.teachAll(t, "cat", "dog")
	query := e.State().Classes[0].Examples[0].Vector
	test.Must(e.Show(query))(t)
	shown = 0
	for i := range 100 {
		test.Must(e.AddExample(ids[i%2], e.State().Classes[i%2].Examples[i%3].Vector, nil, ""))(t)
	}
	if shown > 20 || len(later) == 0 {
		t.Errorf("%d answers, %d put off, for 100 pictures", shown, len(later))
	}
	for _, f := range later {
		f()
	}
	want := test.Must(e.Predict(query))(t)
	for _, r := range last.Rows {
		if p, ok := want.byLabel()[r.Name]; ok && r.P != p {
			t.Errorf("%s is shown with %v, is %v", r.Name, r.P, p)
		}
	}
}
