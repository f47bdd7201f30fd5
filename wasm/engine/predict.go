package engine

import (
	"strconv"
	"time"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/watch"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

// Prediction is the answer to a query, with the labels of the classes at that moment.
type Prediction struct {
	metaqda.Answer
	Labels []string
}

// Show predicts an embedding. The answer is nil while there are no examples. The view shows it now,
// and anew after every later change. With nil it shows no answer.
func (e *Engine) Show(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live.watch = nil
	a, err := e.show(x)
	if err != nil {
		return nil, err
	}
	e.display(a)
	return e.named(a), nil
}

// Live is the answer about a frame of a live view, with the events that it caused.
type Live struct {
	Answer *Prediction     // nil if there was nothing to predict
	Events []metaqda.Event // in seconds since 1970 UTC
	Here   string          // name of the class that is here now, empty for none
}

// ShowFrame is [Engine.Show] for the next frame of a live view. x is nil if there is nothing to
// predict. It shows the decision of a watch, which does not flicker: [metaqda.Watch.Decision]. The
// first call after Show begins a new live view. perHour is the number of false events allowed per
// hour, zero for [watch.Default].
func (e *Engine) ShowFrame(x []float32, perHour float64) (*Live, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, err := e.show(x)
	if err != nil {
		return nil, err
	}
	live, err := e.watched(a, perHour)
	if err != nil {
		return nil, err
	}
	var shown *metaqda.Answer
	if p, none := e.live.watch.Answer(); p != nil {
		shown = &metaqda.Answer{Probabilities: p, None: none, Decision: e.live.watch.Decision()}
	}
	e.display(shown)
	return live, nil
}

// watched passes the answer about a frame to the watch of the live view, which it begins if there is
// none. a is nil if there was nothing to predict.
func (e *Engine) watched(a *metaqda.Answer, perHour float64) (*Live, error) {
	now := e.hooks.Now()
	if perHour == 0 {
		perHour = watch.Default
	}
	if e.live.watch == nil {
		w, err := e.taught.Watch(perHour)
		if err != nil {
			return nil, err
		}
		e.live.watch, e.live.began = w, now
	}
	if err := e.live.watch.Allow(perHour); err != nil {
		return nil, err
	}
	// The wall clock may be set back meanwhile; the time since the beginning never is.
	seconds := float64(e.live.began.UnixMilli())/1000 + now.Sub(e.live.began).Seconds()
	var p []float64
	if a != nil {
		p = a.Probabilities
	}
	found, err := e.live.watch.Next(seconds, p)
	if err != nil {
		return nil, err
	}
	return &Live{Answer: e.named(a), Events: found, Here: e.live.watch.Here()}, nil
}

// show makes x the query and predicts it. Its answer is shown anew after every later change. The
// caller may change x afterwards.
func (e *Engine) show(x []float32) (a *metaqda.Answer, err error) {
	if x == nil {
		e.live.query = nil
		return nil, nil
	}
	if a, err = e.answer(x); err == nil {
		e.live.query = append(e.live.query[:0], x...)
	}
	return a, err
}

// answer predicts a query. It returns nil while there are no examples.
func (e *Engine) answer(x []float32) (*metaqda.Answer, error) {
	if err := e.foreign(); err != nil {
		return nil, err
	}
	if p := e.taught.Prior(); p != nil && len(x) != p.Dim() && (p.Sum() != "" || e.taught.Count() > 0) {
		return nil, &niw.DimensionError{Name: "embedding", Got: len(x), Want: p.Dim()}
	}
	if e.taught.Count() == 0 {
		return nil, nil
	}
	a, err := e.taught.Predict(x)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// named adds the labels of the classes to an answer, unless it is nil.
func (e *Engine) named(a *metaqda.Answer) *Prediction {
	if a == nil {
		return nil
	}
	return &Prediction{*a, e.taught.Labels()}
}

// rest is the redraw back-off factor: a redraw waits nine times as long as the last one took.
// Without it, adding hundreds of pictures would wait for hundreds of answers, each computed from
// all pictures.
const rest = 9

// refreshSoon redraws after a change: at once if the last redraw was long enough ago, else later
// together with further changes.
func (e *Engine) refreshSoon() {
	switch wait := e.live.rested.Sub(e.hooks.Now()); {
	case e.hooks.Later == nil || e.live.query == nil || wait <= 0:
		e.refresh()
	case !e.live.due:
		e.live.due = true
		e.hooks.Later(wait, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.live.due {
				e.refresh()
			}
		})
	}
}

// refresh predicts the query anew and shows the result.
func (e *Engine) refresh() {
	begun := e.hooks.Now()
	defer func() {
		now := e.hooks.Now()
		e.live.due, e.live.rested = false, now.Add(rest*now.Sub(begun))
	}()
	var a *metaqda.Answer
	if e.live.query != nil && e.taught.Ready() { // otherwise once all is ready
		var err error
		if a, err = e.answer(e.live.query); err != nil {
			// The query was checked under another prior, whose dimension is gone,
			// or in another session.
			e.live.query = nil
		}
	}
	e.display(a)
}

// display shows an answer, nil for none.
func (e *Engine) display(a *metaqda.Answer) {
	if e.hooks.Show != nil {
		e.hooks.Show(view.Compose(e.input(a)))
	}
}

func (e *Engine) input(a *metaqda.Answer) view.Input {
	s := e.session.Settings
	in := view.Input{Query: e.live.query != nil, Live: e.live.watch != nil, Waiting: e.live.query != nil && !e.taught.Ready(), Sort: view.Sort(s.Sort), Classes: make([]view.Class, e.taught.Len())}
	for i := range in.Classes {
		k, n := e.taught.At(i)
		in.Classes[i] = view.Class{ID: k.ID, Name: k.Label, Examples: n, Views: len(k.Bursts)}
		if a != nil {
			in.Classes[i].Probability = a.Probabilities[i]
		}
	}
	if a != nil {
		in.None, in.Decision, in.Set = a.None, a.Decision, e.setOf(*a)
	}
	return in
}

// CheckEmbedding returns an error for an empty embedding, or with the first number that is not finite.
func CheckEmbedding(x []float32) error {
	if len(x) == 0 {
		return fail("dimension", "The embedding has no numbers: give between 1 and "+strconv.Itoa(model.MaxDimension)+".")
	}
	for i, v := range x {
		if v-v != 0 { // infinite or NaN
			return &niw.ValueError{Name: "embedding", Index: i, Value: float64(v), Want: "a finite number: leave this one out"}
		}
	}
	return nil
}

// slice is the longest time for one piece of background work. Most pictures of a large session are
// enrolled in such pieces.
const slice = 16 * time.Millisecond

// ready reports whether answers come at once: all pictures are enrolled, and in a large session all
// else that an answer needs is computed.
func (e *Engine) ready() bool {
	large := e.hooks.Yield != nil && e.taught.Count() > log.ManyPictures
	return e.taught.Ready() && (!large || e.taught.Settled())
}

// PrepareAll prepares the next answer slice by slice, without waiting for idle time. It returns once answers
// come at once.
func (e *Engine) PrepareAll() {
	for {
		e.mu.Lock()
		c, ready := e.taught, e.ready()
		e.preparing = e.preparing || !ready
		e.mu.Unlock()
		if ready {
			return
		}
		e.prepareSlice(c)
		e.hooks.Yield(true)
	}
}

// prepare starts to prepare the next answer in slices, since in one piece it would take some tenths of a
// second in a large session. Without a query it only enrols the pictures. It returns whether the query
// is shown anew after the last slice; until then the view may keep the former answer.
func (e *Engine) prepare() (shows bool) {
	asked := e.live.query != nil
	if e.hooks.Yield == nil || e.ready() || !asked && e.taught.Ready() {
		return false
	}
	if !e.preparing {
		e.preparing = true
		go e.inSlices(e.taught, e.prepareSlice)
	}
	return asked
}

// inSlices does background work slice by slice while the engine serves.
func (e *Engine) inSlices(c *metaqda.Classifier, slice func(c *metaqda.Classifier) (more bool)) {
	for slice(c) {
		e.hooks.Yield(false)
	}
}

// prepareSlice enrols pictures for a slice of time. It reports whether some are left.
func (e *Engine) prepareSlice(c *metaqda.Classifier) (more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taught != c || !e.preparing {
		return false
	}
	begun := e.hooks.Now()
	if !c.Prepare(func() bool { return e.hooks.Now().Sub(begun) < slice }) {
		return true
	}
	e.preparing = false
	e.refresh()
	e.hooks.Changed()
	return false
}

// coverage is the probability that a shown set of labels contains the right one.
const coverage = 0.9

// setOf returns the set of labels of an answer that is not sure, or nil while its threshold is unknown.
// The first call after a change begins to leave out examples in slices. After the last slice the
// answer is shown anew, with its set.
func (e *Engine) setOf(a metaqda.Answer) *metaqda.Set {
	if e.live.watch != nil || !view.NotSure(a.Decision) { // a live view changes too often to read it
		return nil
	}
	c := e.taught
	if !e.scores(c) {
		if e.live.scoring != c {
			e.live.scoring = c
			go e.inSlices(c, e.scoreSlice)
		}
		return nil
	}
	s, err := c.SetOf(a, coverage)
	if err != nil {
		return nil
	}
	return &s
}

// scores leaves out examples for a slice of time. It reports whether all examples are done.
func (e *Engine) scores(c *metaqda.Classifier) bool {
	begun := e.hooks.Now()
	_, done := c.Scores(func() bool { return e.hooks.Yield == nil || e.hooks.Now().Sub(begun) < slice/4 })
	return done
}

func (e *Engine) scoreSlice(c *metaqda.Classifier) (more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taught == c && !e.scores(c) {
		return true
	}
	if e.live.scoring == c {
		e.live.scoring = nil
	}
	if e.taught == c && e.live.watch == nil && e.live.query != nil {
		e.refresh()
	}
	return false
}
