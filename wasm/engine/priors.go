package engine

import (
	"maps"

	"gonum.org/v1/gonum/mat"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/store"
)

// MaxDimension is the longest embedding that prior files allow.
const MaxDimension = 8192

// metaCurrent is the key in Meta of the id of the session to open.
const metaCurrent = "current"

// prior is a prior with the hash of its file: the site's, which ships with it, one
// that was learned or imported here, or the hand-crafted one. To people the first
// and the last are the built-in prior: what serves where none was chosen.
type prior struct {
	sum   string // empty for the hand-crafted one
	file  *model.Prior
	bytes []byte // of the file
}

func (p *prior) dim() int { return p.file.NIW.Dim() }

// rows returns the examples as the classifier knows them, n×d.
func (p *prior) rows(examples []*store.Example) (*mat.Dense, error) {
	d := p.dim()
	m := mat.NewDense(len(examples), d, nil)
	for i, x := range examples {
		if len(x.Embedding) != d {
			return nil, &niw.DimensionError{Name: "embedding", Got: len(x.Embedding), Want: d}
		}
		row := m.RawRowView(i)
		for j, v := range x.Embedding {
			row[j] = float64(v)
		}
		if err := p.file.Transform.ApplyTo(row, row); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// handCrafted is the prior that serves for such embeddings until one is learned: that
// of the npm package, which knows what sessions are like and so can say none of these.
func handCrafted(d int) (*prior, error) {
	if d < 1 || d > MaxDimension {
		return nil, fail("dimension", "There is no background knowledge for embeddings this long: open a file of some that was learned for them.")
	}
	p, err := metaqda.Default(d)
	if err != nil {
		return nil, err
	}
	file := p.Content()
	file.Facts = map[string]string{"name": "Hand-crafted", "made": "by hand: m = 0, S = 0.4 I, kappa = 1, nu = 2 d, of embeddings of length one"}
	return &prior{file: file}, nil
}

// decodePrior reads a prior file whose hash is known.
func decodePrior(b []byte, sum string) (*prior, error) {
	file, err := model.DecodePrior(b)
	if err == nil {
		err = file.Serves()
	}
	if err != nil {
		return nil, err
	}
	return &prior{sum: sum, file: file, bytes: b}, nil
}

func (e *Engine) priorInfo() PriorInfo {
	p, site := e.prior, e.siteFor(e.session.Extractor)
	if p == nil {
		p = site
	}
	if p == nil {
		return PriorInfo{Name: "Hand-crafted", Site: true, Facts: map[string]string{}, Trouble: e.priorTrouble("")}
	}
	info := PriorInfo{Sum: p.sum, Name: p.file.Facts["name"], Facts: maps.Clone(p.file.Facts), Trouble: e.priorTrouble(p.sum)}
	info.Site = p == site || site == nil && p.sum == ""
	if info.Name == "" {
		info.Name = "Learned"
	}
	return info
}

// priorTrouble says why the session does not use the prior that it chose, or
// nothing where it does. The choice is kept: the prior may come back.
func (e *Engine) priorTrouble(used string) string {
	chosen := e.session.Settings.Prior
	if chosen == "" || chosen == used {
		return ""
	}
	if e.unreadable != "" {
		return e.unreadable
	}
	return "The background knowledge chosen for this session (sha256 " + short(chosen) + ") is no longer kept on this device or does not fit its pictures: " +
		"what is built in serves instead. Open its file in the settings to have it back."
}

// short returns enough of a hash to tell files apart by.
func short(sum string) string { return sum[:min(12, len(sum))] + "…" }

// ensureClassifier makes a classifier for embeddings of length d if there is
// none, or only a hand-crafted one for another length and no examples.
func (e *Engine) ensureClassifier(d int) error {
	unused := e.prior != nil && e.prior.sum == "" && e.prior.dim() != d && e.exampleCount() == 0
	if e.classifier != nil && !unused {
		return nil
	}
	if site := e.siteFor(e.session.Extractor); site != nil && site.dim() != d {
		return &niw.DimensionError{Name: "embedding", Got: d, Want: site.dim()}
	}
	p, err := e.defaultPrior(d, e.session.Extractor)
	if err != nil {
		return err
	}
	return e.use(p)
}

// defaultPrior returns the site's prior if it is for embeddings of length d by this
// extractor, or else the hand-crafted one.
func (e *Engine) defaultPrior(d int, made model.Extractor) (*prior, error) {
	if site := e.siteFor(made); site != nil && site.dim() == d {
		return site, nil
	}
	return handCrafted(d)
}

// siteFor returns the site's prior, or nil where it was learned with another
// extractor: what it knows is of that one's numbers.
func (e *Engine) siteFor(made model.Extractor) *prior {
	if e.site == nil || e.site.ofAnother(made) {
		return nil
	}
	return e.site
}

// use makes p the prior in use. On error everything stays as it was.
func (e *Engine) use(p *prior) error {
	q, late, err := e.newClassifierOf(p, e.session.Settings, e.classes)
	if err != nil {
		return err
	}
	e.serve(p, q, late)
	e.noteAllBursts()
	return nil
}

// UsePrior makes the prior with this sha256 the site's: the one that sessions
// use unless another was chosen for them. It is taken from the store, or
// fetched from the URL, checked and stored; the site's former prior is deleted
// unless a session has chosen it. It waits.
func (e *Engine) UsePrior(url, sum string) error {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	e.mu.Lock()
	known := e.site != nil && e.site.sum == sum
	e.mu.Unlock()
	if known {
		return nil
	}
	p, bytes, err := e.findPrior(url, sum)
	if err != nil {
		return err
	}
	ops := []store.Op{{Table: store.Meta, Key: store.SitePrior, Value: sum}}
	if bytes != nil {
		ops = append(ops, store.Op{Table: store.Priors, Key: sum, Value: bytes})
	}
	e.mu.Lock()
	err = e.adoptSite(p, ops)
	e.mu.Unlock()
	e.Flush()
	return err
}

// adoptSite makes p the site's prior and moves the session to it if it has not
// chosen another. A session whose pictures p does not fit keeps what it has.
func (e *Engine) adoptSite(p *prior, ops []store.Op) error {
	e.site = p
	e.sweep = true
	e.note(store.Needs{}, ops...)
	if e.session.Settings.Prior == "" && !p.ofAnother(e.session.Extractor) && (e.exampleCount() == 0 || e.prior == nil || e.prior.dim() == p.dim()) {
		if err := e.use(p); err != nil {
			return err
		}
	}
	e.refresh()
	e.announce()
	return nil
}

// findPrior returns the prior with this hash from the store, or else from the
// URL and then with its bytes, which are still to be stored.
func (e *Engine) findPrior(url, sum string) (*prior, []byte, error) {
	if p, err := e.storedPrior(sum); err != nil || p != nil {
		return p, nil, err
	}
	bytes, err := e.hooks.Fetch(url)
	if err != nil {
		return nil, nil, err
	}
	if got := model.Sum(bytes); got != sum {
		return nil, nil, fail("prior-mismatch", "The background knowledge at "+url+" is not what this site describes (sha256 "+got+"): reload the page, and if that does not help, tell whoever runs the site.")
	}
	p, err := decodePrior(bytes, sum)
	return p, bytes, err
}

// storedPrior returns a prior from the store, or nil if it is not there or its
// bytes are not what they were.
func (e *Engine) storedPrior(sum string) (*prior, error) {
	bytes, err := e.store.Bytes(store.Priors, sum)
	if err != nil || bytes == nil || model.Sum(bytes) != sum {
		return nil, err
	}
	return decodePrior(bytes, sum)
}

// ImportPrior makes the session use the prior of a file, stores it and returns
// a token with which [Engine.Undo] goes back to the one before. A prior for
// another extractor than the one here is refused; notice is empty or a sentence
// to tell. It waits.
func (e *Engine) ImportPrior(bytes []byte, here model.Extractor) (token, notice string, err error) {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	p, err := decodePrior(bytes, model.Sum(bytes))
	if err != nil {
		return "", "", err
	}
	notice, err = compare(p.file.Extractor, here, "This background knowledge was learned with", "Choose some that was learned for the extractor of this page, or go on with what is in use.")
	if err != nil {
		return "", "", err
	}
	e.mu.Lock()
	token, err = e.choose(p, store.Op{Table: store.Priors, Key: p.sum, Value: bytes})
	e.mu.Unlock()
	e.Flush()
	return token, notice, err
}

// choose makes p the session's own choice, or for the site's prior no choice.
func (e *Engine) choose(p *prior, ops ...store.Op) (token string, err error) {
	before, choice := e.prior, e.session.Settings.Prior
	if err := e.use(p); err != nil {
		return "", err
	}
	chosen := p.sum
	if p == e.site {
		chosen = ""
	}
	e.chose(chosen, ops...)
	return e.remember(func() error {
		if before != nil {
			if err := e.use(before); err != nil {
				return err
			}
		}
		if before != nil && before.sum != "" && before.sum == choice { // nobody may have needed it meanwhile
			e.chose(choice, store.Op{Table: store.Priors, Key: choice, Value: before.bytes})
		} else {
			e.chose(choice)
		}
		return nil
	}), nil
}

// chose notes which prior the session has chosen.
func (e *Engine) chose(sum string, ops ...store.Op) {
	e.session.Settings.Prior = sum
	e.sweep = true
	e.touch(store.Edit{Prior: &sum}, store.Needs{}, ops...)
}

// ResetPrior makes the session use the site's prior again, or the hand-crafted one
// where there is none for its extractor, and returns a token for [Engine.Undo].
func (e *Engine) ResetPrior() (token string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.siteFor(e.session.Extractor)
	if p == nil && e.prior == nil {
		e.chose("")
		return e.remember(func() error { return nil }), nil
	}
	if p == nil {
		if p, err = handCrafted(e.prior.dim()); err != nil {
			return "", err
		}
	}
	return e.choose(p)
}

// LearnedPrior returns the file of the prior in use as [Engine.ExportPrior]
// does, but nil for the hand-crafted one, which is made faster than read. It waits.
func (e *Engine) LearnedPrior() ([]byte, error) {
	e.mu.Lock()
	p := e.prior
	e.mu.Unlock()
	if p == nil || p.sum == "" {
		return nil, nil
	}
	return e.ExportPrior()
}

// ExportPrior returns the file of the prior in use. It waits.
func (e *Engine) ExportPrior() ([]byte, error) {
	e.mu.Lock()
	p, s := e.prior, e.store
	if p == nil {
		p = e.siteFor(e.session.Extractor)
	}
	e.mu.Unlock()
	if p == nil {
		return nil, fail("prior", "There is no background knowledge to save yet: add a picture first.")
	}
	if p.sum != "" {
		// The very bytes that came, so that their hash stays what it is.
		if bytes, err := s.Bytes(store.Priors, p.sum); err == nil && bytes != nil && model.Sum(bytes) == p.sum {
			return bytes, nil
		}
	}
	return model.EncodePrior(p.file)
}
