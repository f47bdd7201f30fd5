package engine

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// plainPrior returns a prior without learning.
func plainPrior(d int) *model.Prior {
	return &model.Prior{NIW: niw.HandCrafted(d, 6), Transform: embed.Transform{Kind: embed.L2}, Session: model.Session{Shared: 1, Kappa: 1}}
}

// priorFile returns the file of a prior that differs by scale, and its hash.
func priorFile(t *testing.T, d int, scale float64) (b []byte, sum string) {
	t.Helper()
	p := plainPrior(d)
	p.NIW, p.Facts = niw.HandCrafted(d, scale), map[string]string{"name": "test"}
	b = test.Must(model.EncodePrior(p))(t)
	return b, model.Sum(b)
}

// underSite returns a world of two classes under the site's prior, the hash of that, and
// another prior with its hash.
func underSite(t *testing.T) (w *world, siteSum string, own []byte, ownSum string) {
	t.Helper()
	w = newWorld(t, log.NewMemory())
	w.files["prior"], siteSum = priorFile(t, dim, 1)
	test.OK(t, w.UsePrior("prior", siteSum))
	w.teachAll(t, "cat", "dog")
	own, ownSum = priorFile(t, dim, 3)
	return w, siteSum, own, ownSum
}

// While the site's prior is on its way, sessions are opened all the same.
func TestAPriorThatIsOnItsWayHoldsNothingUp(t *testing.T) {
	b, sum := priorFile(t, dim, 1)
	asked, arrives, done := make(chan bool), make(chan bool), make(chan error)
	e := newEngine(log.NewMemory(), Hooks{Fetch: func(string) ([]byte, error) {
		asked <- true
		<-arrives
		return b, nil
	}})
	test.OK(t, e.Start())
	go func() { done <- e.UsePrior("prior", sum) }()
	<-asked
	test.Must(e.NewSession("Garden"))(t)
	close(arrives)
	test.OK(t, <-done)
	if s := e.State(); s.SessionName != "Garden" || s.Prior.Sum != sum {
		t.Errorf("session %q has the prior %+v", s.SessionName, s.Prior)
	}
}

func TestSitePriorIsFetchedOnce(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	w.teachAll(t, "cat", "dog")
	vague := w.ask(t)
	b1, sum1 := priorFile(t, dim, 1)
	b2, sum2 := priorFile(t, dim, 2)
	w.files["prior"] = b1
	test.OK(t, w.UsePrior("prior", sum1))
	test.OK(t, w.UsePrior("prior", sum1))
	with1 := w.ask(t)
	if maps.Equal(with1.byLabel(), vague.byLabel()) {
		t.Fatal("the prior changed nothing")
	}
	again := newWorld(t, w.store)
	same(t, "offline", again.ask(t), with1)
	test.OK(t, again.UsePrior("prior", sum1))
	if len(w.fetched) != 1 || len(again.fetched) != 0 {
		t.Fatalf("fetched %v, and %v after reopening; want once in all", w.fetched, again.fetched)
	}
	got := code(again.UsePrior("prior", sum2))
	if got != "failed" {
		t.Fatalf("a prior that cannot be fetched: %q", got)
	}
	same(t, "after a failed fetch", again.ask(t), with1)
	again.files["prior"] = b1
	got = code(again.UsePrior("prior", sum2))
	if got != "prior-mismatch" {
		t.Fatalf("a prior with another hash: %q", got)
	}
	again.files["prior"] = b2
	test.OK(t, again.UsePrior("prior", sum2))
	b, _ := log.Value[[]byte](w.store, log.Priors, sum1)
	if b != nil {
		t.Error("the former prior is still stored though no session uses it")
	}
	b, _ = log.Value[[]byte](w.store, log.Priors, sum2)
	if b == nil {
		t.Error("the new prior is not stored")
	}
	put(t, w.store, log.Priors, map[log.Key]any{{ID: sum2}: b2[:len(b2)-1]})
	damaged := newWorld(t, w.store)
	damaged.files["prior"] = b2
	test.OK(t, damaged.UsePrior("prior", sum2))
	if len(damaged.fetched) != 1 {
		t.Fatalf("a damaged one was fetched %d times, want once", len(damaged.fetched))
	}
}

func TestChosenPriorStaysWithItsSession(t *testing.T) {
	w, siteSum, own, ownSum := underSite(t)
	withSite := w.ask(t)
	token := w.importPrior(t, own)
	withOwn := w.ask(t)
	s := w.State()
	if s.Prior.Sum != ownSum || s.Prior.Site {
		t.Fatalf("prior in use: %+v", s.Prior)
	}
	same(t, "reopened", newWorld(t, w.store).ask(t), withOwn)
	exported := test.Must(w.ExportPrior())(t)
	if model.Sum(exported) != ownSum {
		t.Error("the exported prior has another hash")
	}
	test.OK(t, w.Undo(token))
	same(t, "import undone", w.ask(t), withSite)
	w.importPrior(t, own)
	first := w.State().SessionID
	test.Must(w.NewSession("other"))(t)
	s = w.State()
	if s.Prior.Sum != siteSum || !s.Prior.Site {
		t.Fatalf("a new session has prior %+v", s.Prior)
	}
	test.OK(t, w.OpenSession(first))
	same(t, "back", w.ask(t), withOwn)
	test.Must(w.ResetPrior())(t)
	same(t, "reset", w.ask(t), withSite)
	step := w.State().UndoID
	token = test.Must(w.ResetPrior())(t)
	if token != "" || w.State().UndoID != step {
		t.Error("a prior that is in use was reset")
	}
	wrong, _ := priorFile(t, dim+1, 1)
	got := code(third(w.ImportPrior(wrong, here)))
	if got != "dimension" {
		t.Fatalf("a prior for other embeddings: %q", got)
	}
	same(t, "after a refused prior", w.ask(t), withSite)
}

// A prior that is chosen while pictures are added is undone with them, also for the next start.
func TestAPriorChosenWithinAStep(t *testing.T) {
	w, siteSum, own, ownSum := underSite(t)
	check := func(when, sum string) {
		t.Helper()
		for range 2 {
			if p := w.State().Prior; p.Sum != sum || p.Trouble != "" {
				t.Fatalf("%s: prior %+v, want %s", when, p, sum)
			}
			w.Flush()
			w = newWorld(t, w.store)
		}
	}
	w.Begin("")
	if token := w.importPrior(t, own); token != "" {
		t.Fatalf("a step that goes on has the token %q", token)
	}
	token := w.End()
	if s := w.State(); s.Prior.Sum != ownSum {
		t.Fatalf("prior in use: %+v", s.Prior)
	}
	test.OK(t, w.Undo(token))
	check("undone", siteSum)
}

// A session of pictures that the site's prior does not fit goes back to the default.
func TestASessionThatTheSitesPriorDoesNotFit(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	w.teachAll(t, "cat", "dog")
	want := w.ask(t)
	var sum string
	w.files["prior"], sum = priorFile(t, dim+1, 1)
	test.OK(t, w.UsePrior("prior", sum))
	if !w.State().Prior.Site {
		t.Errorf("it chose none, and yet: %+v", w.State().Prior)
	}
	own, _ := priorFile(t, dim, 3)
	test.OK(t, third(w.ImportPrior(own, here)))
	test.Must(w.ResetPrior())(t)
	same(t, "reset", w.ask(t), want)
}

func TestAChosenPriorThatIsGoneIsTold(t *testing.T) {
	w, siteSum, own, ownSum := underSite(t)
	withSite := w.ask(t)
	w.importPrior(t, own)
	withOwn := w.ask(t)
	s := w.State()
	if s.Prior.Trouble != "" {
		t.Fatalf("the chosen prior is in use, and yet: %s", s.Prior.Trouble)
	}
	put(t, w.store, log.Priors, map[log.Key]any{{ID: ownSum}: nil})

	again := newWorld(t, w.store)
	p := again.State().Prior
	if p.Sum != siteSum || !strings.Contains(p.Trouble, ownSum[:12]) {
		t.Fatalf("with the chosen prior deleted: %+v", p)
	}
	same(t, "site's prior in its stead", again.ask(t), withSite)
	id := test.Must(again.AddExample(w.State().Classes[0].ID, picture(rand.New(rand.NewPCG(5, 6)), 1), nil, ""))(t)
	test.Must(again.RemoveExample(w.State().Classes[0].ID, id))(t)
	test.Must(again.NewSession("other"))(t)
	p = again.State().Prior
	if p.Trouble != "" {
		t.Fatalf("a session that chose nothing: %s", p.Trouble)
	}
	test.OK(t, again.OpenSession(w.State().SessionID))
	token := test.Must(again.ResetPrior())(t)
	p = again.State().Prior
	if p.Trouble != "" || !p.Site {
		t.Fatalf("after the choice was given up: %+v", p)
	}
	test.OK(t, again.Undo(token))
	if again.State().Prior.Trouble == "" {
		t.Fatal("the choice is back, and nothing is said")
	}
	again.importPrior(t, own)
	p = again.State().Prior
	if p.Trouble != "" {
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
			w := newWorld(t, log.NewMemory())
			file := plainPrior(dim)
			file.Extractor = c.made
			prior := test.Must(model.EncodePrior(file))(t)
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
				text := err.Error()
				if !strings.Contains(text, c.made.ID) || !strings.Contains(text, here.ID) {
					t.Errorf("%s: the refusal does not name both: %s", what, text)
				}
				s := w.State()
				if s.SessionID != before.SessionID || s.Prior.Sum != before.Prior.Sum {
					t.Errorf("%s was refused, and yet changed something", what)
				}
			}
			_, notice, err := w.ImportPrior(prior, here)
			check("the prior", notice, err)
			session := test.Must(model.EncodeClassifier(&model.Classifier{
				Extractor: c.made, Settings: model.Settings{NonePrior: 0.2, Sort: "probability"},
				Classes: []model.Class{{Label: "cat", Examples: []model.Example{{Embedding: make([]float32, dim)}}}},
			}))(t)
			_, notice, err = w.ImportSession(session, here)
			check("the classifier", notice, err)
		})
	}
}

func TestAClassifierWithoutItsPriorIsTold(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	test.OK(t, w.UseExtractor(here, false))
	own, sum := priorFile(t, dim, 3)
	w.importPrior(t, own)
	w.teachAll(t, "cat", "dog")
	b := test.Must(w.SaveSession())(t)
	notice := w.importSession(t, b)
	if notice != "" {
		t.Errorf("the prior is here, and yet: %s", notice)
	}
	other := newWorld(t, log.NewMemory())
	notice = other.importSession(t, b)
	if !strings.Contains(notice, sum[:12]) {
		t.Errorf("the prior is not here, and what is told is %q", notice)
	}
	other.importPrior(t, own)
	same(t, "with the prior", other.ask(t), w.ask(t))
	test.OK(t, other.UseExtractor(model.Extractor{ID: "net@3"}, false))
	if code(test.Err(other.LearnedPrior())) != "extractor" {
		t.Error("the imported session does not say what read it")
	}
}

// An imported session names the extractor of its file, also where nobody has said yet which is used here.
func TestAnImportedSessionNamesItsExtractor(t *testing.T) {
	file := test.Must(model.EncodeClassifier(&model.Classifier{
		Extractor: here, Settings: model.Settings{NonePrior: 0.2, Sort: "probability"},
		Classes: []model.Class{{Label: "cat", Examples: []model.Example{{Embedding: make([]float32, dim)}}}},
	}))(t)
	for name, told := range map[string]model.Extractor{"told": here, "not told": {}} {
		w := newWorld(t, log.NewMemory())
		test.OK(t, third(w.ImportSession(file, told)))
		saved := test.Must(model.DecodeClassifier(test.Must(w.SaveSession())(t)))(t)
		if got := w.State().Extractor.ID; got != here.ID || saved.Extractor != here {
			t.Errorf("%s: the session names %q, its file %q, want %q", name, got, saved.Extractor.ID, here.ID)
		}
		test.OK(t, w.UseExtractor(here, false))
		test.OK(t, first(w.Predict(picture(rand.New(rand.NewPCG(3, 4)), 1))))
	}
}

func TestASessionKeepsToTheExtractorThatReadIt(t *testing.T) {
	for name, c := range map[string]struct {
		before, after model.Extractor
		code, export  string
	}{
		"the same":           {before: here, after: here, export: here.ID},
		"another network":    {before: model.Extractor{ID: "net@1", SHA256: here.SHA256}, after: here, code: "extractor", export: "net@1"},
		"other files of it":  {before: model.Extractor{ID: here.ID, SHA256: strings.Repeat("cd", 32)}, after: here, code: "extractor", export: here.ID},
		"nobody said before": {after: here, code: "extractor", export: earlier.ID},
		"nobody says now":    {before: here, export: here.ID},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, log.NewMemory())
			test.OK(t, w.UseExtractor(c.before, false))
			ids := w.teachAll(t, "cat", "dog")
			test.Must(w.Show(picture(rand.New(rand.NewPCG(3, 4)), 1)))(t)
			want := w.ask(t)
			w.Flush()

			again := newWorld(t, w.store)
			test.OK(t, again.UseExtractor(c.after, false))
			x := picture(rand.New(rand.NewPCG(3, 4)), 1)
			for what, err := range map[string]error{
				"adding":        first(again.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 5)), 1), nil, "")),
				"showing":       first(again.Show(x)),
				"probabilities": first(again.Predict(x)),
				"learning":      test.Err(again.LearnedPrior()),
			} {
				if code(err) != c.code {
					t.Errorf("%s: %v, want code %q", what, err, c.code)
				}
			}
			told := again.State().Extractor.Foreign
			if (told != "") != (c.code != "") {
				t.Errorf("the state tells %q", told)
			}
			b := test.Must(again.SaveSession())(t)
			file := test.Must(model.DecodeClassifier(b))(t)
			if file.Extractor.ID != c.export {
				t.Errorf("the export names %q, want %q", file.Extractor.ID, c.export)
			}
			if c.code == "" {
				return
			}
			n := len(again.State().Classes[0].Examples)
			if n != 3 {
				t.Errorf("a refusal left %d pictures of 3", n)
			}
			test.OK(t, again.UseExtractor(c.before, false))
			if c.before.ID != "" {
				same(t, "where it was read", again.ask(t), want)
			}
			test.OK(t, again.UseExtractor(c.after, false))
			test.OK(t, again.DeleteSession(again.State().SessionID))
		})
	}
}

func TestPicturesOfAnotherExtractorAreShownAgain(t *testing.T) {
	w := newWorld(t, log.NewMemory())
	test.OK(t, w.UseExtractor(model.Extractor{ID: "net@1"}, false))
	learned := plainPrior(dim)
	learned.Extractor = model.Extractor{ID: "net@1"}
	b := test.Must(model.EncodePrior(learned))(t)
	test.OK(t, third(w.ImportPrior(b, model.Extractor{ID: "net@1"})))
	ids := w.teachAll(t, "cat")
	test.OK(t, w.UseExtractor(here, false))
	var tokens []string
	for _, x := range w.State().Classes[0].Examples {
		token := test.Must(w.RemoveExample(ids[0], x.ID))(t)
		tokens = append(tokens, token)
	}
	told := w.State().Extractor.Foreign
	if told != "" {
		t.Errorf("without pictures the session is of nobody, and yet: %s", told)
	}
	test.OK(t, w.Undo(tokens[2])) // it comes back alone, so nothing is mixed
	if w.State().Extractor.Foreign == "" {
		t.Error("the picture is back, and nothing is told")
	}
	test.Must(w.RemoveExample(ids[0], w.State().Classes[0].Examples[0].ID))(t)
	test.Must(w.AddExample(ids[0], picture(rand.New(rand.NewPCG(5, 5)), 1), nil, ""))(t)
	got := code(w.Undo(tokens[0]))
	if got != "undo" {
		t.Errorf("a picture of the other extractor returns among the new: %q", got)
	}
	w.Flush()
	again := newWorld(t, w.store)
	test.OK(t, again.UseExtractor(here, false))
	for what, s := range map[string]State{"shown again": w.State(), "reopened": again.State()} {
		if s.Prior.Sum != "" || s.Prior.Trouble == "" || s.Extractor.Foreign != "" {
			t.Errorf("%s: the prior of the other extractor serves, or nothing is told of it: %+v", what, s.Prior)
		}
	}
	same(t, "reopened", again.ask(t), w.ask(t))
}

func TestAPriorOfTheFormerVersionIsRefusedAndStopsNothing(t *testing.T) {
	w, siteSum, own, ownSum := underSite(t)
	site := w.files["prior"]
	want := w.ask(t)
	w.importPrior(t, own)
	exported := test.Must(w.SaveSession())(t)
	refused := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, "former version of this page") {
			t.Errorf("%s: %q", what, text)
		}
	}

	err := third(w.ImportPrior(formerly(t, own), here))
	if code(err) != "older" || w.State().Prior.Sum != ownSum {
		t.Fatalf("import: %v, and %+v is in use", err, w.State().Prior)
	}
	refused("import", Explain(err).Message)

	// A former version left its own prior and a learned one.
	old, oldSite := formerly(t, own), formerly(t, site)
	session := w.State().SessionID
	sum := model.Sum(old)
	test.OK(t, log.AppendTo(w.store, session, log.Edit{Prior: &sum}))
	put(t, w.store, log.Priors, map[log.Key]any{{ID: siteSum}: nil, {ID: ownSum}: nil, {ID: sum}: old, {ID: model.Sum(oldSite)}: oldSite})
	put(t, w.store, log.Meta, map[log.Key]any{{ID: log.SitePrior}: model.Sum(oldSite)})
	again := newWorld(t, w.store)
	refused("offline", again.State().Prior.Trouble)
	again.ask(t)
	again.files["prior"] = site
	test.OK(t, again.UsePrior("prior", siteSum))
	test.OK(t, again.OpenSession(session))
	same(t, "under the site's prior", again.ask(t), want)
	refused("opened", again.State().Prior.Trouble)
	if b, err := log.Value[[]byte](w.store, log.Priors, model.Sum(oldSite)); b != nil || err != nil {
		t.Errorf("%d bytes of the site's former prior are still kept (%v)", len(b), err)
	}
	file := test.Must(model.DecodeClassifier(exported))(t)
	file.PriorSum = model.Sum(old)
	exported = test.Must(model.EncodeClassifier(file))(t)
	notice := again.importSession(t, exported)
	refused("a classifier made with it", notice)

	test.OK(t, again.OpenSession(session))
	test.Must(again.ResetPrior())(t)
	p := again.State().Prior
	if p.Trouble != "" || !p.Site {
		t.Errorf("after the choice was given up: %+v", p)
	}
}
