package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/store"
	"metaqda/wasm/view"
)

const dim = 24

// world is what a test engine lives in.
type world struct {
	*Engine
	store   store.Store
	files   map[string][]byte
	fetched []string
	frame   view.Frame
	stored  []Note // what other tabs would hear of
	stale   []Note // what it asks itself to bring up to date
	changes int
	clock   int64
}

func newWorld(t *testing.T, s store.Store) *world {
	t.Helper()
	w := &world{store: s, files: map[string][]byte{}}
	w.Engine = New(s, "", Hooks{
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
	must(t, w.Start())
	return w
}

// Undo takes back a step.
func (w *world) Undo(token string) error {
	_, err := w.Engine.Undo(token)
	return err
}

// Kept is that of the change before a number, which is a record and what undoes it.
func (w *world) Kept(number uint64) error { return w.Engine.Kept(number-2, number) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func picture(r *rand.Rand, centre float64) []float32 {
	x := make([]float32, dim)
	for i := range x {
		x[i] = float32(math.Sin(centre*float64(i+1)) + 0.3*r.NormFloat64())
	}
	return x
}

// teachAll adds the classes with three pictures each and returns their ids.
func (w *world) teachAll(t *testing.T, names ...string) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var ids []string
	for k, name := range names {
		id, _, err := w.AddClass(name)
		must(t, err)
		ids = append(ids, id)
		for i := range 3 {
			_, err := w.AddExample(id, picture(r, float64(k+1)), []byte{byte(k), byte(i)})
			must(t, err)
		}
	}
	return ids
}

func (w *world) ask(t *testing.T) Prediction {
	t.Helper()
	p, err := w.Probabilities(picture(rand.New(rand.NewPCG(3, 4)), 1))
	must(t, err)
	if p == nil {
		t.Fatal("no prediction")
	}
	sum := p.None
	for _, c := range p.Classes {
		sum += c.P
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Fatalf("probabilities sum to %v", sum)
	}
	return *p
}

func same(t *testing.T, what string, got, want Prediction) {
	t.Helper()
	if got.None != want.None || len(got.Classes) != len(want.Classes) {
		t.Fatalf("%s: %+v, want %+v", what, got, want)
	}
	for i, c := range want.Classes {
		if got.Classes[i].P != c.P || got.Classes[i].Name != c.Name {
			t.Fatalf("%s: %+v, want %+v", what, got, want)
		}
	}
}

// code returns the code under which JavaScript sees an error.
func code(err error) string {
	if err == nil {
		return ""
	}
	return Explain(err).Code
}

func TestAnotherEngineOnTheSameStoreGivesTheSameNumbers(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	ids := w.teachAll(t, "cat", "dog", "hen")
	token, err := w.RemoveExample(ids[0], w.State().Classes[0].Examples[0].ID)
	must(t, err)
	must(t, w.Undo(token))
	none := 0.3
	must(t, w.Configure(Change{NonePrior: &none}))
	w.Flush()
	again := newWorld(t, w.store)
	same(t, "reopened", again.ask(t), w.ask(t))
	s := again.State()
	if len(s.Classes) != 3 || s.Classes[1].Name != "dog" || string(s.Classes[2].Examples[1].Thumbnail) != "\x02\x01" || s.Settings.NonePrior != 0.3 {
		t.Fatalf("state after reopening: %+v", s)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	before, frame := w.ask(t), w.frame
	nan := float32(math.NaN())
	order := "bayes"
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"taken name":      {second(w.AddClass(" cat ")), "label"},
		"other case":      {second(w.AddClass("CAT")), "label"},
		"none of these":   {second(w.AddClass("none  of these")), "label"},
		"renamed to none": {w.RenameClass(ids[0], "None of these"), "label"},
		"move to itself":  {first(w.MoveExample(ids[0], w.State().Classes[0].Examples[0].ID, ids[0])), "class"},
		"blank name":      {second(w.AddClass("  ")), "label"},
		"long name":       {second(w.AddClass(strings.Repeat("x", 500))), "label"},
		"rename to taken": {w.RenameClass(ids[1], "cat"), "label"},
		"unknown class":   {first(w.AddExample("nowhere", make([]float32, dim), nil)), "class"},
		"wrong length":    {first(w.AddExample(ids[0], make([]float32, dim+1), nil)), "dimension"},
		"not finite":      {CheckEmbedding([]float32{0, nan}), "value"},
		"empty":           {CheckEmbedding(nil), "dimension"},
		"unknown picture": {first(w.RemoveExample(ids[0], "nowhere")), "example"},
		"unknown token":   {w.Undo("nowhere"), "undo"},
		"unknown order":   {w.Configure(Change{Sort: &order}), "setting"},
		"unknown session": {w.OpenSession("nowhere"), "session"},
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
	must(t, w.RenameClass(ids[0], "cat")) // its own name
}

func first[T any](_ T, err error) error     { return err }
func second[T any](_, _ T, err error) error { return err }

func TestEveryChangeShowsTheQueryAnew(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	if !strings.HasPrefix(w.frame.Verdict, "Add a class") {
		t.Fatalf("empty session says %q", w.frame.Verdict)
	}
	q := picture(rand.New(rand.NewPCG(3, 4)), 1)
	if p, err := w.Recognise(q); p != nil || err != nil {
		t.Fatalf("recognising with nothing taught: %v, %v", p, err)
	}
	w.teachAll(t, "cat", "dog")
	if len(w.frame.Rows) != 3 {
		t.Fatalf("%d meters, want 3", len(w.frame.Rows))
	}
	rows := fmt.Sprint(w.frame.Rows)
	if _, err := w.RemoveExample(w.State().Classes[0].ID, w.State().Classes[0].Examples[0].ID); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(w.frame.Rows) == rows {
		t.Fatalf("removing an example left the meters %s", rows)
	}
	if p, err := w.Recognise(nil); p != nil || err != nil || len(w.frame.Rows) != 0 {
		t.Fatalf("clearing the query: %v, %v, %d meters", p, err, len(w.frame.Rows))
	}
}

// plainPrior is one of which nothing was learned.
func plainPrior(d int) *model.Prior {
	return &model.Prior{NIW: niw.HandCrafted(d, 6), Transform: embed.Transform{Kind: embed.L2}, Session: model.Session{Shared: 1, Kappa: 1}}
}

// priorFile returns the file of a prior that differs by scale.
func priorFile(t *testing.T, d int, scale float64) (b []byte, sum string) {
	t.Helper()
	b, err := model.EncodePrior(&model.Prior{NIW: niw.HandCrafted(d, scale), Transform: embed.Transform{Kind: embed.L2}, Session: model.Session{Shared: 1, Kappa: 1}, Facts: map[string]string{"name": "test"}})
	must(t, err)
	return b, model.Sum(b)
}

func TestSitePriorIsFetchedOnce(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog")
	vague := w.ask(t)
	b1, sum1 := priorFile(t, dim, 1)
	b2, sum2 := priorFile(t, dim, 2)
	w.files["prior"] = b1
	must(t, w.UsePrior("prior", sum1))
	must(t, w.UsePrior("prior", sum1))
	with1 := w.ask(t)
	if with1.Classes[0].P == vague.Classes[0].P {
		t.Fatal("the prior changed nothing")
	}
	again := newWorld(t, w.store)
	same(t, "offline", again.ask(t), with1)
	must(t, again.UsePrior("prior", sum1))
	if len(w.fetched) != 1 || len(again.fetched) != 0 {
		t.Fatalf("fetched %v, and %v after reopening; want once in all", w.fetched, again.fetched)
	}
	if got := code(again.UsePrior("prior", sum2)); got != "failed" {
		t.Fatalf("a prior that cannot be fetched: %q", got)
	}
	same(t, "after a failed fetch", again.ask(t), with1)
	again.files["prior"] = b1
	if got := code(again.UsePrior("prior", sum2)); got != "prior-mismatch" {
		t.Fatalf("a prior with another hash: %q", got)
	}
	again.files["prior"] = b2
	must(t, again.UsePrior("prior", sum2))
	if b, _ := w.store.Bytes(store.Priors, sum1); b != nil {
		t.Error("the former prior is still stored though no session uses it")
	}
	if b, _ := w.store.Bytes(store.Priors, sum2); b == nil {
		t.Error("the new prior is not stored")
	}
}

func TestDamagedPriorInTheStoreIsFetchedAnew(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	b, sum := priorFile(t, dim, 1)
	must(t, w.store.Apply([]store.Op{{Table: store.Priors, Key: sum, Value: b[:len(b)-1]}}))
	w.files["prior"] = b
	must(t, w.UsePrior("prior", sum))
	if len(w.fetched) != 1 {
		t.Fatalf("fetched %d times, want once", len(w.fetched))
	}
}

func TestChosenPriorStaysWithItsSession(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	site, siteSum := priorFile(t, dim, 1)
	own, ownSum := priorFile(t, dim, 3)
	w.files["prior"] = site
	must(t, w.UsePrior("prior", siteSum))
	w.teachAll(t, "cat", "dog")
	withSite := w.ask(t)
	token, _, err := w.ImportPrior(own, here)
	must(t, err)
	withOwn := w.ask(t)
	if s := w.State(); s.Prior.Sum != ownSum || s.Prior.Site {
		t.Fatalf("prior in use: %+v", s.Prior)
	}
	same(t, "reopened", newWorld(t, w.store).ask(t), withOwn)
	exported, err := w.ExportPrior()
	must(t, err)
	if model.Sum(exported) != ownSum {
		t.Error("the exported prior has another hash")
	}
	must(t, w.Undo(token))
	same(t, "import undone", w.ask(t), withSite)
	_, _, err = w.ImportPrior(own, here)
	must(t, err)
	first := w.State().SessionID
	_, err = w.NewSession("other")
	must(t, err)
	if s := w.State(); s.Prior.Sum != siteSum || !s.Prior.Site {
		t.Fatalf("a new session has prior %+v", s.Prior)
	}
	must(t, w.OpenSession(first))
	same(t, "back", w.ask(t), withOwn)
	_, err = w.ResetPrior()
	must(t, err)
	same(t, "reset", w.ask(t), withSite)
	wrong, _ := priorFile(t, dim+1, 1)
	if got := code(third(w.ImportPrior(wrong, here))); got != "dimension" {
		t.Fatalf("a prior for other embeddings: %q", got)
	}
	same(t, "after a refused prior", w.ask(t), withSite)
}

// here is the extractor of the page in tests.
var here = model.Extractor{ID: "net@2", SHA256: strings.Repeat("ab", 32)}

func third[A, B any](_ A, _ B, err error) error { return err }

func TestSharedFilesHavePicturesOnlyIfAsked(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	ids := w.teachAll(t, "cat", "dog")
	_, err := w.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 6)), 1), []byte("thumbnail of a cat"))
	must(t, err)
	with, err := w.SharedFile(true)
	must(t, err)
	without, err := w.SharedFile(false)
	must(t, err)
	if !strings.Contains(string(with), "thumbnail of a cat") || strings.Contains(string(without), "thumbnail") {
		t.Error("pictures are where they are not wanted, or not where they are")
	}
	if w.State().Saved != 0 {
		t.Error("a file that was handed on counts as one that was saved")
	}
	other := newWorld(t, store.NewMemory())
	_, _, err = other.ImportSession(without, here)
	must(t, err)
	same(t, "shared", other.ask(t), w.ask(t))
	if s := other.State(); s.Saved == 0 {
		t.Error("what came out of a file counts as in none")
	}
}

func TestPlainFilesNameTheClasses(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	var refused *Error
	if _, err := w.PlainFile(); !errors.As(err, &refused) || refused.Code != "empty" {
		t.Errorf("nothing taught: %v", err)
	}
	w.teachAll(t, "cat", "dog")
	b, err := w.PlainFile()
	must(t, err)
	if !strings.Contains(string(b), `[\"cat\",\"dog\"]`) {
		t.Errorf("no classes in %.600s", b)
	}
}

func TestSessions(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	w.teachAll(t, "cat", "dog")
	w.Flush()
	first, want := w.State().SessionID, w.ask(t)
	second, err := w.NewSession(" Garden ")
	must(t, err)
	all, err := w.Sessions()
	must(t, err)
	if len(all) != 2 || all[0].ID != second || all[0].Name != "Garden" || all[1].Classes != 2 || all[1].Examples != 6 {
		t.Fatalf("sessions: %+v", all)
	}
	must(t, w.RenameSession(first, "Animals"))
	must(t, w.DeleteSession(second))
	if s := w.State(); s.SessionID != first || s.SessionName != "Animals" {
		t.Fatalf("after deleting the open session %+v is open", s)
	}
	same(t, "reopened", w.ask(t), want)
	must(t, w.DeleteSession(first))
	if s := w.State(); s.SessionID == first || len(s.Classes) != 0 {
		t.Fatalf("after deleting the last session %+v is open", s)
	}
}

// full is a store that takes nothing for a while.
type full struct {
	*store.Memory
	err error
}

func (f *full) Commit(changes []store.Change) ([]error, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.Memory.Commit(changes)
}

func TestWhatCouldNotBeStoredIsStoredLater(t *testing.T) {
	s := &full{Memory: store.NewMemory()}
	w := newWorld(t, s)
	s.err = &store.Error{Code: "quota", Message: "The storage is full: export the session."}
	ids := w.teachAll(t, "cat", "dog")
	w.Flush()
	if w.State().Trouble != s.err.Error() {
		t.Fatalf("trouble %q", w.State().Trouble)
	}
	want := w.ask(t)
	s.err = nil
	must(t, w.RenameClass(ids[0], "lion"))
	w.Flush()
	if w.State().Trouble != "" {
		t.Fatalf("trouble %q after it was over", w.State().Trouble)
	}
	want.Classes[0].Name = "lion"
	same(t, "reopened", newWorld(t, s.Memory).ask(t), want)
}

func TestAChosenPriorThatIsGoneIsTold(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	site, siteSum := priorFile(t, dim, 1)
	own, ownSum := priorFile(t, dim, 3)
	w.files["prior"] = site
	must(t, w.UsePrior("prior", siteSum))
	ids := w.teachAll(t, "cat", "dog")
	withSite := w.ask(t)
	_, _, err := w.ImportPrior(own, here)
	must(t, err)
	withOwn := w.ask(t)
	if s := w.State(); s.Prior.Trouble != "" {
		t.Fatalf("the chosen prior is in use, and yet: %s", s.Prior.Trouble)
	}
	must(t, w.store.Apply([]store.Op{{Table: store.Priors, Key: ownSum}}))

	again := newWorld(t, w.store)
	if p := again.State().Prior; p.Sum != siteSum || !strings.Contains(p.Trouble, ownSum[:12]) {
		t.Fatalf("with the chosen prior deleted: %+v", p)
	}
	same(t, "site's prior in its stead", again.ask(t), withSite)
	id, err := again.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 6)), 1), nil)
	must(t, err)
	_, err = again.RemoveExample(ids[0], id)
	must(t, err)
	_, err = again.NewSession("other")
	must(t, err)
	if p := again.State().Prior; p.Trouble != "" {
		t.Fatalf("a session that chose nothing: %s", p.Trouble)
	}
	must(t, again.OpenSession(w.State().SessionID))
	token, err := again.ResetPrior()
	must(t, err)
	if p := again.State().Prior; p.Trouble != "" || !p.Site {
		t.Fatalf("after the choice was given up: %+v", p)
	}
	must(t, again.Undo(token))
	if again.State().Prior.Trouble == "" {
		t.Fatal("the choice is back, and nothing is said")
	}
	_, _, err = again.ImportPrior(own, here)
	must(t, err)
	if p := again.State().Prior; p.Trouble != "" {
		t.Fatalf("with the prior imported anew: %s", p.Trouble)
	}
	same(t, "imported anew", again.ask(t), withOwn)
}

func TestFilesOfAnotherExtractorAreRefused(t *testing.T) {
	hash := strings.Repeat("cd", 32)
	for name, c := range map[string]struct {
		made         model.Extractor
		code, notice string
	}{
		"of nobody knows what": {},
		"the same":             {made: here},
		"without a hash":       {made: model.Extractor{ID: here.ID}},
		"another network":      {made: model.Extractor{ID: "net@1", SHA256: hash}, code: "extractor"},
		"other files of it":    {made: model.Extractor{ID: here.ID, SHA256: hash}, notice: hash[:12]},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, store.NewMemory())
			file := plainPrior(dim)
			file.Extractor = c.made
			prior, err := model.EncodePrior(file)
			must(t, err)
			w.teachAll(t, "cat", "dog")
			before := w.State()
			check := func(what, notice string, err error) {
				t.Helper()
				if code(err) != c.code || (notice != "") != (c.notice != "") || !strings.Contains(notice, c.notice) {
					t.Errorf("%s: error %v, notice %q", what, err, notice)
				}
				if err == nil {
					return
				}
				if text := err.Error(); !strings.Contains(text, c.made.ID) || !strings.Contains(text, here.ID) {
					t.Errorf("%s: the refusal does not name both: %s", what, text)
				}
				if s := w.State(); s.SessionID != before.SessionID || s.Prior.Sum != before.Prior.Sum {
					t.Errorf("%s was refused, and yet changed something", what)
				}
			}
			_, notice, err := w.ImportPrior(prior, here)
			check("the prior", notice, err)
			session, err := model.EncodeClassifier(&model.Classifier{
				Extractor: c.made, Settings: model.Settings{NonePrior: 0.2, Sort: "probability"},
				Classes: []model.Class{{Label: "cat", Weight: 1, Examples: []model.Example{{Embedding: make([]float32, dim)}}}},
			})
			must(t, err)
			_, notice, err = w.ImportSession(session, here)
			check("the classifier", notice, err)
		})
	}
}

func TestAClassifierWithoutItsPriorIsTold(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	own, sum := priorFile(t, dim, 3)
	_, _, err := w.ImportPrior(own, here)
	must(t, err)
	w.teachAll(t, "cat", "dog")
	b, err := w.ExportSession()
	must(t, err)
	_, notice, err := w.ImportSession(b, here)
	must(t, err)
	if notice != "" {
		t.Errorf("the prior is here, and yet: %s", notice)
	}
	other := newWorld(t, store.NewMemory())
	_, notice, err = other.ImportSession(b, here)
	must(t, err)
	if !strings.Contains(notice, sum[:12]) {
		t.Errorf("the prior is not here, and what is told is %q", notice)
	}
	_, _, err = other.ImportPrior(own, here)
	must(t, err)
	same(t, "with the prior", other.ask(t), w.ask(t))
}

func TestASessionKeepsToTheExtractorThatReadIt(t *testing.T) {
	for name, c := range map[string]struct {
		before, after model.Extractor
		code, export  string
	}{
		"the same":                {before: here, after: here, export: here.ID},
		"another network":         {before: model.Extractor{ID: "net@1", SHA256: here.SHA256}, after: here, code: "extractor", export: "net@1"},
		"other files of it":       {before: model.Extractor{ID: here.ID, SHA256: strings.Repeat("cd", 32)}, after: here, code: "extractor", export: here.ID},
		"from before it was kept": {after: here, code: "extractor", export: earlier.ID},
		"nobody says now":         {before: here, export: here.ID},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, store.NewMemory())
			must(t, w.UseExtractor(c.before))
			ids := w.teachAll(t, "cat", "dog")
			_, err := w.Recognise(picture(rand.New(rand.NewPCG(3, 4)), 1))
			must(t, err)
			want := w.ask(t)
			w.Flush()

			again := newWorld(t, w.store)
			must(t, again.UseExtractor(c.after))
			x := picture(rand.New(rand.NewPCG(3, 4)), 1)
			for what, err := range map[string]error{
				"adding":        first(again.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 5)), 1), nil)),
				"recognising":   first(again.Recognise(x)),
				"probabilities": first(again.Probabilities(x)),
				"asking":        first(again.Ask(x, false)),
				"learning":      again.CheckExtractor(),
			} {
				if code(err) != c.code {
					t.Errorf("%s: %v, want code %q", what, err, c.code)
				}
			}
			if told := again.State().Foreign; (told != "") != (c.code != "") {
				t.Errorf("the state tells %q", told)
			}
			b, err := again.ExportSession()
			must(t, err)
			file, err := model.DecodeClassifier(b)
			must(t, err)
			if file.Extractor.ID != c.export {
				t.Errorf("the export names %q, want %q", file.Extractor.ID, c.export)
			}
			if c.code == "" {
				return
			}
			if n := len(again.State().Classes[0].Examples); n != 3 {
				t.Errorf("a refusal left %d pictures of 3", n)
			}
			must(t, again.UseExtractor(c.before))
			if c.before.ID != "" {
				same(t, "where it was read", again.ask(t), want)
			}
			must(t, again.UseExtractor(c.after))
			must(t, again.DeleteSession(again.State().SessionID))
		})
	}
}

func TestPicturesOfAnotherExtractorAreShownAgain(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	must(t, w.UseExtractor(model.Extractor{ID: "net@1"}))
	learned := plainPrior(dim)
	learned.Extractor = model.Extractor{ID: "net@1"}
	b, err := model.EncodePrior(learned)
	must(t, err)
	_, _, err = w.ImportPrior(b, model.Extractor{ID: "net@1"})
	must(t, err)
	ids := w.teachAll(t, "cat")
	must(t, w.UseExtractor(here))
	var tokens []string
	for _, x := range w.State().Classes[0].Examples {
		token, err := w.RemoveExample(ids[0], x.ID)
		must(t, err)
		tokens = append(tokens, token)
	}
	if told := w.State().Foreign; told != "" {
		t.Errorf("without pictures the session is of nobody, and yet: %s", told)
	}
	must(t, w.Undo(tokens[2])) // its own picture, and nothing to mix it with
	if w.State().Foreign == "" {
		t.Error("the picture is back, and nothing is told")
	}
	_, err = w.RemoveExample(ids[0], w.State().Classes[0].Examples[0].ID)
	must(t, err)
	_, err = w.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 5)), 1), nil)
	must(t, err)
	if got := code(w.Undo(tokens[0])); got != "undo" {
		t.Errorf("a picture of the other extractor returns among the new: %q", got)
	}
	w.Flush()
	again := newWorld(t, w.store)
	must(t, again.UseExtractor(here))
	for what, s := range map[string]State{"shown again": w.State(), "reopened": again.State()} {
		if s.Prior.Sum != "" || s.Prior.Trouble == "" || s.Foreign != "" {
			t.Errorf("%s: the prior of the other extractor serves, or nothing is told of it: %+v", what, s.Prior)
		}
	}
	same(t, "reopened", again.ask(t), w.ask(t))
}

func TestAnImportedClassifierIsOfTheExtractorHere(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	must(t, w.UseExtractor(here))
	w.teachAll(t, "cat", "dog")
	want := w.ask(t)
	b, err := w.ExportSession()
	must(t, err)
	other := newWorld(t, store.NewMemory())
	must(t, other.UseExtractor(here))
	_, notice, err := other.ImportSession(b, here)
	must(t, err)
	if notice != "" {
		t.Errorf("notice %q", notice)
	}
	same(t, "imported", other.ask(t), want)
	must(t, other.UseExtractor(model.Extractor{ID: "net@3"}))
	if code(other.CheckExtractor()) != "extractor" {
		t.Error("the imported session does not say what read it")
	}
}

// formerly returns a prior file as its format's first version would name itself.
func formerly(t *testing.T, b []byte) []byte {
	t.Helper()
	old := bytes.Replace(b, []byte(`"version":"2"`), []byte(`"version":"1"`), 1)
	if bytes.Equal(old, b) {
		t.Fatal("the file has no version to change")
	}
	return old
}

func TestAPriorOfTheFormerVersionIsRefusedAndStopsNothing(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	site, siteSum := priorFile(t, dim, 2)
	own, ownSum := priorFile(t, dim, 3)
	w.files["prior"] = site
	must(t, w.UsePrior("prior", siteSum))
	w.teachAll(t, "cat", "dog")
	want := w.ask(t)
	_, _, err := w.ImportPrior(own, here)
	must(t, err)
	exported, err := w.ExportSession()
	must(t, err)
	refused := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, "former version of this page") {
			t.Errorf("%s: %q", what, text)
		}
	}

	_, _, err = w.ImportPrior(formerly(t, own), here)
	if code(err) != "older" || w.State().Prior.Sum != ownSum {
		t.Fatalf("import: %v, and %+v is in use", err, w.State().Prior)
	}
	refused("import", Explain(err).Message)

	// What a former version left behind: its own prior and one learned there.
	old, oldSite := formerly(t, own), formerly(t, site)
	session := w.State().SessionID
	contents, err := w.store.Contents(session)
	must(t, err)
	contents.Session.Settings.Prior = model.Sum(old)
	must(t, w.store.Apply([]store.Op{
		{Table: store.Sessions, Key: session, Value: contents.Session},
		{Table: store.Priors, Key: siteSum}, {Table: store.Priors, Key: ownSum},
		{Table: store.Priors, Key: model.Sum(old), Value: old},
		{Table: store.Priors, Key: model.Sum(oldSite), Value: oldSite},
		{Table: store.Meta, Key: store.SitePrior, Value: model.Sum(oldSite)},
	}))
	again := newWorld(t, w.store)
	refused("offline", again.State().Prior.Trouble)
	again.ask(t)
	again.files["prior"] = site
	must(t, again.UsePrior("prior", siteSum))
	must(t, again.OpenSession(session))
	same(t, "under the site's prior", again.ask(t), want)
	refused("opened", again.State().Prior.Trouble)
	if b, err := w.store.Bytes(store.Priors, model.Sum(oldSite)); b != nil || err != nil {
		t.Errorf("%d bytes of the site's former prior are still kept (%v)", len(b), err)
	}
	file, err := model.DecodeClassifier(exported)
	must(t, err)
	file.PriorSum = model.Sum(old)
	exported, err = model.EncodeClassifier(file)
	must(t, err)
	_, notice, err := again.ImportSession(exported, here)
	must(t, err)
	refused("a classifier made with it", notice)

	must(t, again.OpenSession(session))
	_, err = again.ResetPrior()
	must(t, err)
	if p := again.State().Prior; p.Trouble != "" || !p.Site {
		t.Errorf("after the choice was given up: %+v", p)
	}
}

func TestNearCopiesAreBursts(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	file := plainPrior(dim)
	file.Session.Near = 1e-3
	b, err := model.EncodePrior(file)
	must(t, err)
	w.files["prior"] = b
	id, _, err := w.AddClass("cat")
	must(t, err)
	if got := w.State().Classes[0].Bursts; len(got) > 0 {
		t.Errorf("without pictures: %v", got)
	}
	var tokens []string
	one, other := picture(rand.New(rand.NewPCG(1, 1)), 1), picture(rand.New(rand.NewPCG(2, 2)), 1)
	for i, x := range [][]float32{one, other, one, other, one, picture(rand.New(rand.NewPCG(3, 3)), 1)} {
		x = slices.Clone(x)
		x[0] += float32(i) * 1e-4
		_, err := w.AddExample(id, x, nil)
		must(t, err)
	}
	check := func(what string, want ...int) {
		t.Helper()
		if got := w.State().Classes[0].Bursts; !slices.Equal(got, want) {
			t.Errorf("%s: bursts of %v, want %v", what, got, want)
		}
	}
	check("a prior that knows no bursts", 1, 1, 1, 1, 1, 1)
	must(t, w.UsePrior("prior", model.Sum(b)))
	check("taught", 3, 2, 1)
	for _, i := range []int{2, 0} {
		token, err := w.RemoveExample(id, w.State().Classes[0].Examples[i].ID)
		must(t, err)
		tokens = append(tokens, token)
	}
	check("without two of the first", 2, 1, 1)
	for _, token := range slices.Backward(tokens) {
		must(t, w.Undo(token))
	}
	check("both back", 3, 2, 1)
	w.Flush()
	w = newWorld(t, w.store)
	check("reopened", 3, 2, 1)
}
