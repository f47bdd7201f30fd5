package engine

import (
	"context"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/core/model"
)

// OtherSessions returns the files of the sessions beside the open one whose pictures the
// same extractor read, embeddings without thumbnails: what can be learned from for it.
// The open session's own classes learn from each other anyway. It waits.
func (e *Engine) OtherSessions() (files [][]byte, err error) {
	e.Flush()
	e.mu.Lock()
	open, made := e.session.ID, e.madeWith()
	e.mu.Unlock()
	all, err := e.store.Summaries()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.ID == open || s.Extractor != made {
			continue
		}
		c, err := e.store.Contents(s.ID)
		if err != nil {
			return nil, err
		}
		if c == nil { // deleted in another tab this very moment
			continue
		}
		file := &model.Classifier{Extractor: made}
		for _, k := range classesOf(c) {
			out := model.Class{Label: k.Label}
			for _, x := range k.Examples {
				out.Examples = append(out.Examples, model.Example{Embedding: x.Vector, Group: x.Group})
			}
			file.Classes = append(file.Classes, out)
		}
		b, err := e.write(file)
		if err != nil {
			return nil, err
		}
		files = append(files, b)
	}
	return files, nil
}

// Learned is what came of [Learn].
type Learned struct {
	*adapt.Learned
	File []byte // of the prior, nil where it does not pay
}

// Learn learns a prior from sessions for which the prior of a file serves, or the
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
	if from.Extractor.ID == "" {
		from.Extractor = made // what is learned is of its numbers
	}
	l, err := adapt.Learn(ctx, from, taught)
	if err != nil || l.Prior == nil {
		return &Learned{Learned: l}, err
	}
	b, err := model.EncodePrior(l.Prior)
	return &Learned{l, b}, err
}
