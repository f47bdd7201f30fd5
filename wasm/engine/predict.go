package engine

import (
	"time"

	metaqda "metaqda/core"
	"metaqda/core/json"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/watch"
	"metaqda/wasm/log"
	"metaqda/wasm/view"
)

// Prediction is the answer to a query, as the npm package's: probabilities that sum to one, and the
// decision, see [metaqda.Classifier.Decide].
type Prediction struct {
	Label         string // of the most probable class
	Probabilities map[string]float64
	None          float64
	Decision      *string // label, nil for none of these
	Doubtful      bool    // worth a look by a person
	Headline      string  // one sentence
	First         *string // label that the headline names first, nil for none of these
}

// JSON returns the answer as the page gets it, null for none.
func (p *Prediction) JSON() string { return text(p.object()) }

func (p *Prediction) object() any {
	if p == nil {
		return nil
	}
	probabilities := json.Object{}
	for label, v := range p.Probabilities {
		probabilities[label] = v
	}
	name := func(label *string) any {
		if label == nil {
			return nil
		}
		return *label
	}
	return json.Object{"label": p.Label, "probabilities": probabilities, "none": p.None, "decision": name(p.Decision), "doubtful": p.Doubtful, "headline": p.Headline, "first": name(p.First)}
}

func text(v any) string {
	var w json.Writer
	w.Any(v)
	return string(w.B)
}

// Show predicts an embedding: the probabilities with the names of the classes, nil while there are
// no examples. The view shows the answer now, and anew after every later change. With nil it shows
// no answer.
func (e *Engine) Show(x []float32) (*Prediction, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live.watch = nil
	answer, p, err := e.show(x)
	if err != nil {
		return nil, err
	}
	e.display(p, e.decide(p))
	return answer, nil
}

// Live is the answer about a frame of a live view, with the events that it caused.
type Live struct {
	Answer *Prediction     // nil if there was nothing to predict
	Events []metaqda.Event // in seconds since 1970 UTC
	Here   string          // name of the class that is here now, empty for none
}

// JSON returns the answer as the page gets it.
func (l *Live) JSON() string {
	events := make([]any, len(l.Events))
	for i, e := range l.Events {
		events[i] = json.Object{"label": e.Label, "here": e.Here, "since": e.Since, "probability": e.Probability}
	}
	return text(json.Object{"answer": l.Answer.object(), "events": events, "here": l.Here})
}

// ShowFrame is [Engine.Show] for the next frame of a live view. x is nil if there is nothing to
// predict. It shows the decision of a watch, which does not flicker: [metaqda.Watch.Decision]. The
// first call after Show begins a new live view. perHour is the number of false events allowed per
// hour, zero for [watch.Default].
func (e *Engine) ShowFrame(x []float32, perHour float64) (*Live, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	answer, p, err := e.show(x)
	if err != nil {
		return nil, err
	}
	live, err := e.watched(answer, p, perHour)
	if err != nil {
		return nil, err
	}
	shown, none := e.live.watch.Answer()
	if p = nil; shown != nil {
		p = append([]float64{none}, shown...)
	}
	e.display(p, e.live.watch.Decision())
	return live, nil
}

// watched passes the probabilities of a frame, of none and of the classes, to the watch of the live
// view, which it begins if there is none. p is nil if there was nothing to predict.
func (e *Engine) watched(answer *Prediction, p []float64, perHour float64) (*Live, error) {
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
	if p != nil {
		p = p[1:]
	}
	found, err := e.live.watch.Next(seconds, p)
	if err != nil {
		return nil, err
	}
	return &Live{Answer: answer, Events: found, Here: e.live.watch.Here()}, nil
}

// show makes x the query and predicts it. Its answer is shown anew after every later change. The
// caller may change x afterwards.
func (e *Engine) show(x []float32) (answer *Prediction, p []float64, err error) {
	if x == nil {
		e.live.query = nil
		return nil, nil, nil
	}
	if answer, p, err = e.ask(x); err == nil {
		e.live.query = append(e.live.query[:0], x...)
	}
	return answer, p, err
}

// ask predicts a query. p has the probabilities of none and of the classes, valid until the next
// call.
func (e *Engine) ask(x []float32) (answer *Prediction, p []float64, err error) {
	if p, err = e.probabilities(x); p == nil || err != nil {
		return nil, nil, err
	}
	d := e.decide(p)
	answer = &Prediction{Probabilities: make(map[string]float64, e.taught.Len()), None: p[0], Doubtful: d.Doubtful, Headline: d.Headline}
	best := -1.0
	for i := range e.taught.Len() {
		k, _ := e.taught.At(i)
		if answer.Probabilities[k.Label] = p[i+1]; p[i+1] > best {
			answer.Label, best = k.Label, p[i+1]
		}
		if i == d.Class {
			answer.Decision = &k.Label
		}
		if i == d.First {
			answer.First = &k.Label
		}
	}
	return answer, p, nil
}

// decide returns the decision by probabilities, see [metaqda.Classifier.Decide].
func (e *Engine) decide(p []float64) metaqda.Decision {
	if p == nil {
		return metaqda.Decision{Class: -1}
	}
	return e.taught.Decide(p[1:], p[0])
}

// probabilities returns the probability of none and then of each class in the order of the session.
// They are valid until the next call. It returns nil while there are no examples.
func (e *Engine) probabilities(x []float32) ([]float64, error) {
	if err := e.foreign(); err != nil {
		return nil, err
	}
	if p := e.taught.Prior(); p != nil && len(x) != p.Dim() && (p.Sum() != "" || e.taught.Count() > 0) {
		return nil, &niw.DimensionError{Name: "embedding", Got: len(x), Want: p.Dim()}
	}
	if e.taught.Count() == 0 {
		return nil, nil
	}
	n := e.taught.Len()
	if len(e.live.answer) < n+1 {
		e.live.answer = make([]float64, 2*n+1)
	}
	answer := e.live.answer[:n+1]
	none, err := e.taught.ProbabilitiesTo(answer[1:], x)
	if err != nil {
		return nil, err
	}
	answer[0] = none
	return answer, nil
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
	var p []float64
	if e.live.query != nil && e.taught.Ready() { // otherwise once all is ready
		var err error
		if p, err = e.probabilities(e.live.query); err != nil {
			// The query was checked under another prior, whose dimension is gone,
			// or in another session.
			e.live.query = nil
		}
	}
	e.display(p, e.decide(p))
}

// display shows probabilities and a decision.
func (e *Engine) display(p []float64, d metaqda.Decision) {
	if e.hooks.Show != nil {
		e.hooks.Show(view.Compose(e.input(p, d)))
	}
}

func (e *Engine) input(p []float64, d metaqda.Decision) view.Input {
	s := e.session.Settings
	in := view.Input{Query: e.live.query != nil, Live: e.live.watch != nil, Waiting: e.live.query != nil && !e.taught.Ready(), Sort: view.Sort(s.Sort), Classes: make([]view.Class, e.taught.Len())}
	for i := range in.Classes {
		k, n := e.taught.At(i)
		in.Classes[i] = view.Class{ID: k.ID, Name: k.Label, Examples: n, Views: len(k.Bursts)}
		if p != nil {
			in.Classes[i].Probability = p[i+1]
		}
	}
	if p != nil {
		in.None, in.Decision, in.Set = p[0], d, e.setOf(p, d)
	}
	return in
}

// CheckEmbedding returns an error for an impossible length, or with the first number that is
// not finite.
func CheckEmbedding(x []float32) error {
	if len(x) == 0 || len(x) > model.MaxDimension {
		return fail("dimension", "An embedding must have between 1 and 8192 numbers.")
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

// Await prepares the next answer slice by slice, without waiting for idle time. It returns once answers
// come at once.
func (e *Engine) Await() {
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
	e.announce()
	return false
}

// coverage is the probability that a shown set of labels contains the right one.
const coverage = 0.9

// setOf returns the set of labels of an answer that is not sure, or nil while its threshold is unknown.
// The first call after a change begins to leave out examples in slices. After the last slice the
// answer is shown anew, with its set.
func (e *Engine) setOf(p []float64, d metaqda.Decision) *metaqda.Set {
	if e.live.watch != nil || !view.NotSure(d) { // a live view changes too often to read it
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
	s, err := c.SetOf(metaqda.Answer{Probabilities: p[1:], None: p[0]}, coverage)
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
