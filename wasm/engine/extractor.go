package engine

import (
	metaqda "metaqda/core"
	"metaqda/core/model"
)

// earlier is what pages used before sessions recorded their extractor.
var earlier = model.Extractor{ID: "centernet-mobilenetv3-160@3.3.6"}

// UseExtractor tells which extractor reads the pictures from now on. A session
// that another one read stays as it is, to be looked at, exported or deleted:
// nothing is added to it and nothing compared with it. Before the first call
// anything is taken.
func (e *Engine) UseExtractor(here model.Extractor) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.here = here
	if err := e.record(); err != nil {
		return err
	}
	e.refresh()
	e.announce()
	return nil
}

// CheckExtractor returns an error if the open session's pictures were read by
// another extractor than the one here.
func (e *Engine) CheckExtractor() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.foreign()
}

// foreign returns why the session's pictures cannot be compared with those read
// here, nil if they can.
func (e *Engine) foreign() error {
	if e.here.ID == "" || e.session.Extractor == e.here || e.taught.Count() == 0 {
		return nil
	}
	return fail("extractor", "The pictures of this session were read by another feature extractor than this page uses now, so new ones cannot be compared with them: "+
		"read them again, or show others in a new session. Until then the session can still be exported or deleted.")
}

// record notes in a session without pictures which extractor will read them.
// Where another one read those that were removed, they do not return, and a
// prior that was learned from its numbers does not serve: the site's does if it is
// for this one, or else the default once a picture tells the dimension.
func (e *Engine) record() error {
	if e.session.Extractor == e.here || e.taught.Count() > 0 {
		return nil
	}
	if p := e.taught.Prior(); p == nil || p.Sum() == "" || ofAnother(p, e.here) {
		if err := e.taught.ReplacePrior(e.siteFor(e.here)); err != nil {
			return err
		}
	}
	e.session.Extractor = e.here
	e.taught.ForgetUndo()
	return nil
}

// ofAnother reports whether the prior says that it was learned with another
// extractor that it does not serve.
func ofAnother(p *metaqda.Prior, here model.Extractor) bool {
	made := p.Extractor()
	return made.ID != "" && here.ID != "" && !made.Serves(here)
}

// madeWith returns the extractor that an export of the session names.
func (e *Engine) madeWith() model.Extractor {
	switch {
	case e.session.Extractor.ID != "" && e.taught.Count() > 0:
		return e.session.Extractor
	case e.foreign() != nil:
		return earlier
	case e.here.ID != "":
		return e.here
	case e.taught.Prior() != nil:
		return e.taught.Prior().Extractor()
	}
	return model.Extractor{}
}

// compare tells whether what a file holds was made with the extractor here.
// Another network is an error; other files of the same one give a notice, since
// their numbers may differ a little. Where either side does not say what it is,
// the file is taken. made says what the file is and how it came to be, remedy
// what to do with one of another network.
func compare(file, here model.Extractor, made, remedy string) (notice string, err error) {
	switch {
	case file.ID != "" && here.ID != "" && file.ID != here.ID:
		return "", fail("extractor", made+" the feature extractor “"+file.ID+"”, and this page uses “"+here.ID+"”, whose numbers mean other things. "+remedy)
	case file.SHA256 != "" && here.SHA256 != "" && file.SHA256 != here.SHA256:
		return made + " other files of the feature extractor (sha256 " + short(file.SHA256) + ") than this page uses (" + short(here.SHA256) +
			"): should its answers surprise you, teach a few of the pictures anew.", nil
	}
	return "", nil
}
