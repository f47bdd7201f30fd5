package engine

import (
	"cmp"
	"context"
	"maps"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/core/model"
	"metaqda/wasm/log"
)

func (e *Engine) priorInfo() PriorInfo {
	p, site := e.taught.Prior(), e.siteFor(e.session.Extractor)
	if p == nil {
		p = site
	}
	if p == nil {
		return PriorInfo{Name: "Hand-crafted", Site: true, Facts: map[string]string{}, Trouble: e.priorTrouble("")}
	}
	info := PriorInfo{Sum: p.Sum(), Name: cmp.Or(p.Facts()["name"], "Learned"), Site: p == site || p.Sum() == "", Facts: map[string]string{}, Trouble: e.priorTrouble(p.Sum())}
	maps.Copy(info.Facts, p.Facts())
	return info
}

// priorTrouble says why the session does not use its chosen prior, or is empty. The choice is
// kept: the prior may come back.
func (e *Engine) priorTrouble(used string) string {
	chosen := e.session.Settings.Prior
	if chosen == "" || chosen == used {
		return ""
	}
	if e.unreadable != "" {
		return e.unreadable
	}
	return "The background knowledge chosen for this session (sha256 " + short(chosen) + ") is no longer kept on this device or does not fit its pictures: " +
		"the built-in one is used instead. To restore it, open its file in the settings."
}

// short returns the beginning of a hash, enough to tell files apart.
func short(sum string) string { return sum[:min(12, len(sum))] + "…" }

// priorFor returns the prior for embeddings of length d and the extractor made: the chosen one
// if it fits, else the site's, else the default. d is 0 before the first example; then it may
// return nil.
func (e *Engine) priorFor(d int, chosen *metaqda.Prior, made model.Extractor) (*metaqda.Prior, error) {
	site := e.siteFor(made)
	switch {
	case chosen != nil && !ofAnother(chosen, made) && (d == 0 || chosen.Dim() == d):
		return chosen, nil
	case d == 0 || site != nil && site.Dim() == d:
		return site, nil
	}
	return metaqda.Default(d)
}

// siteFor returns the site's prior, or nil if it was learned with another extractor.
func (e *Engine) siteFor(made model.Extractor) *metaqda.Prior {
	if e.site == nil || ofAnother(e.site, made) {
		return nil
	}
	return e.site
}

// UsePrior makes the prior with this sha256 the site's prior, which sessions use unless another was
// chosen for them. It takes the prior from the store, or fetches it from the URL, checks and stores
// it. It deletes the site's former prior unless a session has chosen that. A session whose pictures
// the new prior does not fit keeps its prior. It waits.
func (e *Engine) UsePrior(url, sum string) error {
	e.mu.Lock()
	known := e.site != nil && e.site.Sum() == sum
	e.mu.Unlock()
	if known {
		return nil
	}
	p, bytes, err := e.findPrior(url, sum) // not under the lock: the network may take long
	if err != nil {
		return err
	}
	e.storing.Lock()
	defer e.storing.Unlock()
	var files map[string][]byte
	if bytes != nil {
		files = map[string][]byte{sum: bytes}
	}
	defer func() { // once mu is free
		if _ = e.flush(); e.Gone() != nil {
			return
		}
		err := log.Put(e.db, log.SitePrior, sum, files)
		if err == nil {
			err = log.Sweep(e.db)
		}
		if err != nil {
			e.noteTrouble(err)
		}
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.site = p
	if d := e.taught.Dim(); e.session.Settings.Prior == "" && !ofAnother(p, e.session.Extractor) && (e.taught.Count() == 0 || d == p.Dim()) {
		if err := e.taught.ReplacePrior(p); err != nil {
			return err
		}
		e.prepare()
	}
	e.refresh()
	e.hooks.Changed()
	return nil
}

// findPrior returns the prior with this hash from the store. Otherwise it fetches it from the
// URL and returns its bytes, too, to be stored.
func (e *Engine) findPrior(url, sum string) (*metaqda.Prior, []byte, error) {
	if p, err := e.storedPrior(sum); err != nil || p != nil {
		return p, nil, err
	}
	bytes, err := e.hooks.Fetch(url)
	if err != nil {
		return nil, nil, err
	}
	if got := model.Sum(bytes); got != sum {
		return nil, nil, fail("prior-mismatch", "The background knowledge at "+url+" is not the one that this site names (sha256 "+got+"): reload the page, and if that does not help, tell the owner of the site.")
	}
	p, err := metaqda.DecodePrior(bytes)
	return p, bytes, err
}

// storedPrior returns a prior from the store, or nil if it is missing or its bytes are damaged.
func (e *Engine) storedPrior(sum string) (*metaqda.Prior, error) {
	bytes, err := log.Value[[]byte](e.db, log.Priors, sum)
	if err != nil || bytes == nil || model.Sum(bytes) != sum {
		return nil, err
	}
	return metaqda.DecodePrior(bytes)
}

// ImportPrior makes the session use the prior of a file, and stores it. It returns a token with
// which [metaqda.Classifier.UndoStep] restores the former prior. A prior for another extractor is refused.
// notice is empty or a sentence to show. It waits.
func (e *Engine) ImportPrior(bytes []byte, here model.Extractor) (token, notice string, err error) {
	e.storing.Lock()
	defer e.storing.Unlock()
	p, err := metaqda.DecodePrior(bytes)
	if err != nil {
		return "", "", err
	}
	made := p.Extractor()
	if made.ID != here.ID && made.Serves(here) { // a variant
		made = here
	}
	notice, err = compare(made, here, "This background knowledge was learned with", "Choose some that was learned for the extractor of this page, or go on with what is in use.")
	if err != nil {
		return "", "", err
	}
	token, err = e.choose(p)
	_ = e.flush()
	return token, notice, err
}

// choose makes p the session's chosen prior; the site's prior clears the choice.
func (e *Engine) choose(p *metaqda.Prior) (token string, err error) {
	return e.change(func() error {
		if err := e.taught.SetPrior(p); err != nil {
			return err
		}
		before, after := e.session.Settings.Prior, sumOf(p)
		if after == sumOf(e.site) {
			after = ""
		}
		e.noteChoice(after)
		step, _ := e.next() // others may be part of it
		if former, ok := e.choices[step]; ok {
			before = former[0]
		}
		e.choices[step] = [2]string{before, after}
		return nil
	})
}

// noteChoice notes the session's chosen prior, with its file, which may not be stored yet.
func (e *Engine) noteChoice(sum string) {
	step := log.Step{Edit: &log.Edit{Prior: &sum}}
	if p := e.taught.Prior(); p != nil && sum != "" && p.Sum() == sum {
		if b, err := p.File(); err == nil {
			step.Files = map[string][]byte{sum: b}
		}
	}
	e.session.Settings.Prior = sum
	e.keeping.sweep = true
	e.session.Updated = e.hooks.Now().UnixMilli()
	e.note(&pending{Step: step})
}

// ResetPrior makes the session use the site's prior again, or the default if that does not fit
// its pictures. It returns a token for [metaqda.Classifier.UndoStep], empty if the session uses it already.
func (e *Engine) ResetPrior() (token string, err error) {
	e.mu.Lock()
	d := 0
	if e.taught.Count() > 0 {
		d = e.taught.Dim()
	}
	p, err := e.priorFor(d, nil, e.session.Extractor)
	used := e.session.Settings.Prior == "" && sumOf(p) == sumOf(e.taught.Prior())
	e.mu.Unlock()
	if used || err != nil {
		return "", err
	}
	return e.choose(p)
}

// sumOf returns the sha256 of a prior, empty for [metaqda.Default].
func sumOf(p *metaqda.Prior) string {
	if p == nil {
		return ""
	}
	return p.Sum()
}

// LearnedPrior returns the file of the prior in use, nil for [metaqda.Default], or an error if
// another extractor read the pictures of the open session.
func (e *Engine) LearnedPrior() ([]byte, error) {
	e.mu.Lock()
	p, err := e.taught.Prior(), e.foreign()
	e.mu.Unlock()
	if err != nil || sumOf(p) == "" {
		return nil, err
	}
	return p.File()
}

// ExportPrior returns the file of the prior in use, with the original bytes, to keep its hash.
func (e *Engine) ExportPrior() ([]byte, error) {
	e.mu.Lock()
	p := e.taught.Prior()
	if p == nil {
		p = e.siteFor(e.session.Extractor)
	}
	e.mu.Unlock()
	if p == nil {
		return nil, fail("prior", "There is no background knowledge to save yet: add a picture first.")
	}
	return p.File()
}

// OtherSessions returns files of the other sessions with the same extractor, for learning a prior:
// embeddings without thumbnails. The classes of the open session share a covariance anyway. It
// waits.
func (e *Engine) OtherSessions() (files [][]byte, err error) {
	e.Flush()
	e.mu.Lock()
	open, made := e.session.ID, e.madeWith()
	e.mu.Unlock()
	all, err := log.Summaries(e.db)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.ID == open || s.Extractor != made {
			continue
		}
		stored, c, err := log.Open(e.db, s.ID)
		if err != nil {
			return nil, err
		}
		if c == nil { // just deleted in another tab
			continue
		}
		e.storing.Lock()
		other, err := e.build(stored, c, nil, "", e.pause())
		e.storing.Unlock()
		if err != nil {
			return nil, err
		}
		file := other.taught.File()
		file.Name, file.Settings, file.PriorSum, file.Extractor = "", model.Settings{}, "", made
		for _, k := range file.Classes {
			for i := range k.Examples {
				k.Examples[i].Thumbnail = nil
			}
		}
		b, err := e.write(file)
		if err != nil {
			return nil, err
		}
		files = append(files, b)
	}
	return files, nil
}

// Learned is the result of [Learn].
type Learned struct {
	*adapt.Learned
	File []byte // of the prior, nil if it would not help
}

// Learn learns a prior from sessions. It starts from the prior of a file, or from the
// hand-crafted one for nil. See [adapt.Learn]. It takes up to some seconds.
func Learn(ctx context.Context, sessions [][]byte, priorFile []byte) (*Learned, error) {
	var taught []adapt.Session
	var made model.Extractor
	d := 0
	for _, b := range sessions {
		file, err := model.DecodeClassifier(b)
		if err != nil {
			return nil, err
		}
		made = file.Extractor
		var s adapt.Session
		for _, k := range file.Classes {
			var class adapt.Class
			for _, x := range k.Examples {
				d = len(x.Embedding)
				class = append(class, x.Embedding)
			}
			s = append(s, class)
		}
		taught = append(taught, s)
	}
	if d == 0 {
		return nil, &adapt.TooLittleError{}
	}
	from, err := metaqda.DefaultFile(d)
	if priorFile != nil {
		from, err = model.DecodePrior(priorFile)
	}
	if err != nil {
		return nil, err
	}
	from.Extractor = cmp.Or(made, from.Extractor) // the learned prior is for its numbers
	l, err := adapt.Learn(ctx, from, taught)
	if err != nil || l.Prior == nil {
		return &Learned{Learned: l}, err
	}
	b, err := model.EncodePrior(l.Prior)
	return &Learned{l, b}, err
}
