package engine

import (
	"slices"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/wasm/log"
)

// earlier is the extractor of pages before sessions recorded theirs.
var earlier = model.Extractor{ID: "centernet-mobilenetv3-160@3.3.6"}

// UseExtractor sets the extractor that reads the pictures from now on. A session of another
// extractor can still be viewed, saved and deleted, but accepts no pictures and no queries. Before
// the first call every session accepts them. A session without pictures keeps the extractor that
// was chosen for it, until a picture is added. chosen says that a person chose this one: the open
// session keeps it, also if it has no pictures yet.
func (e *Engine) UseExtractor(here model.Extractor, chosen bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.here = here
	if err := e.adopt(chosen); err != nil {
		return err
	}
	e.noteCommands()
	if chosen && e.session.Extractor == here && e.taught.Count() == 0 {
		e.touch(log.Edit{Extractor: &here}) // with pictures their steps say it
		return nil
	}
	e.refresh()
	e.hooks.Changed()
	return nil
}

// foreign returns an error if the session's pictures cannot be compared with those read here.
func (e *Engine) foreign() error {
	if e.here.ID == "" || e.session.Extractor == e.here || e.taught.Count() == 0 {
		return nil
	}
	return fail("extractor", "The pictures of this session were read by another feature extractor than this page uses now, so new ones cannot be compared with them: "+
		"read them again, or show others in a new session. Until then the session can still be saved to a file or deleted.")
}

// adopt notes the page's extractor in a session without pictures. A session that has an extractor
// keeps it, unless anyway is set. If pictures of another extractor were removed before, undo cannot
// restore them, and a prior learned with that extractor is not used any more. Then the session uses
// the site's prior if it is for this extractor. Otherwise it uses the default once a picture
// settles the dimension.
func (e *Engine) adopt(anyway bool) error {
	if e.session.Extractor == e.here || e.taught.Count() > 0 || e.session.Extractor.ID != "" && !anyway {
		return nil
	}
	if p := e.taught.Prior(); p == nil || p.Sum() == "" || ofAnother(p, e.here) {
		if err := e.taught.ReplacePrior(e.siteFor(e.here)); err != nil {
			return err
		}
	}
	e.session.Extractor = e.here
	undo, redo := e.taught.Steps()
	if slices.ContainsFunc(append(undo, redo...), func(s *metaqda.Step) bool {
		return slices.ContainsFunc(s.Entries, func(x metaqda.Entry) bool {
			return x.Do == "prior" || x.Do == "example" || x.Class != nil && len(x.Class.Examples) > 0
		})
	}) {
		e.taught.ForgetUndo()
	}
	return nil
}

// ofAnother reports whether the prior was learned with another extractor. A variant does not count
// as another one.
func ofAnother(p *metaqda.Prior, here model.Extractor) bool {
	made := p.Extractor()
	return made.ID != "" && here.ID != "" && !made.Serves(here)
}

// madeWith returns the extractor to be named in an export of the session.
func (e *Engine) madeWith() model.Extractor {
	switch {
	case e.session.Extractor.ID != "" && e.taught.Count() > 0:
		return e.session.Extractor
	case e.foreign() != nil: // it is not known which extractor read them; a file without a name would be accepted for any
		return earlier
	case e.here.ID != "":
		return e.here
	case e.taught.Prior() != nil:
		return e.taught.Prior().Extractor()
	}
	return model.Extractor{}
}

// compare checks the extractor of a file against the one here. Another network is an error.
// Other files of the same network give a notice, since their numbers may differ a little. If
// either side is unknown, the file is accepted. made and remedy are the beginning and the end
// of the messages.
func compare(file, here model.Extractor, made, remedy string) (notice string, err error) {
	switch {
	case file.ID != "" && here.ID != "" && file.ID != here.ID:
		return "", fail("extractor", made+" the feature extractor “"+file.ID+"”, and this page uses “"+here.ID+"”, whose numbers mean other things. "+remedy)
	case file.SHA256 != "" && here.SHA256 != "" && file.SHA256 != here.SHA256:
		return made + " other files of the feature extractor (sha256 " + short(file.SHA256) + ") than this page uses (" + short(here.SHA256) +
			"): if its answers surprise you, teach a few of the pictures anew.", nil
	}
	return "", nil
}
