package metaqda

import (
	"slices"
	"strings"

	"metaqda/core/watch"
)

// Event says that a class is here, or that it is gone.
type Event struct {
	Label       string  // of the class; its last one, if it was removed
	Here        bool    // false: it is gone
	Since       float64 // time in seconds when that began; at or before the answer that revealed it
	Probability float64 // that the class is here, or that it is gone, by all answers so far
}

// Watch turns the answers about one stream, such as a camera, into events. [Classifier.Watch]
// makes it. Classes and examples may change while it watches. It is not safe for concurrent
// use, but others may use its classifier at the same time.
type Watch struct {
	of      *Classifier
	state   *watch.Watch
	seen    uint64            // of.version when classes and levels were read
	levels  bool              // they were read
	labels  map[string]string // by id, of all classes since the beginning
	ids     []string          // of the classes, in their order
	names   []string          // their labels
	counts  []int             // their examples, a burst being one
	shown   Decision
	p       []float64 // C, the probabilities of shown; nil without an answer
	none    float64
	kept    string // id of the shown class, empty for none
	waits   bool   // the last answer calls for another class or other words
	changed bool   // classes or examples have changed since
}

// Watch returns a watch that allows about perHour false events per hour; [watch.Default] is 1.
// metaqda/core/watch has the model, and core/lab/experiment/RESULTS.md has the figures. It returns
// a *[niw.ValueError] unless perHour is positive and finite.
func (c *Classifier) Watch(perHour float64) (*Watch, error) {
	state, err := watch.New(perHour)
	if err != nil {
		return nil, err
	}
	return &Watch{of: c, state: state, labels: map[string]string{}}, nil
}

// Allow changes how many false events per hour are allowed from the next answer on. It returns a
// *[niw.ValueError] unless perHour is positive and finite, and then changes nothing.
func (w *Watch) Allow(perHour float64) error { return w.state.Allow(perHour) }

// Next takes the next answer of the classifier. seconds is its time, on any clock. p holds the
// probability of each class in the order of Classes, or is nil if there was nothing to predict.
// Next returns what came and went, mostly nothing.
//
// It returns an [Error] with the code "argument" for probabilities of another number of classes. It
// returns a *[niw.ValueError] for a number outside its domain or a time before the last one. On
// error nothing changes. Cost O(C), and after a change of the classifier 64 predictions.
func (w *Watch) Next(seconds float64, p []float64) ([]Event, error) {
	if err := w.update(); err != nil {
		return nil, err
	}
	if n := w.state.Len(); p != nil && len(p) != n {
		return nil, &Error{Code: "argument", Message: "The prediction is for another number of classes than there are now: predict again."}
	}
	found, err := w.state.Step(seconds, p)
	if err != nil {
		return nil, err
	}
	w.decide()
	events := make([]Event, len(found))
	for i, e := range found {
		events[i] = Event{w.labels[e.ID], e.Here, e.Since, e.Probability}
	}
	return events, nil
}

// Here returns the label of the class that is here now, or an empty one.
func (w *Watch) Here() string { return w.labels[w.state.Here()] }

// slack is by how many percentage points the average may pass a bound before another class or other
// words are shown.
const slack = 5

// Decision returns the decision to show after the answers so far, such that noise changes neither its
// class nor its words. It names the class that is here. While none is here, it decides by the moving
// average of the answers. It keeps the class and the words while they are within five percentage
// points of their bounds. It changes them once two answers in a row call for a change. It changes
// them at once if a class comes, and after classes or examples changed. Without an answer the
// decision has no headline.
func (w *Watch) Decision() Decision { return w.shown }

// Answer returns the probabilities that the decision was made by, C of the classes and one of none of
// them, to show beside it. classes is nil without an answer, and valid until the next one.
func (w *Watch) Answer() (classes []float64, none float64) { return w.p, w.none }

// Shown returns the label of the class of [Watch.Decision], empty for none, and the headline.
func (w *Watch) Shown() (label, headline string) { return w.labels[w.kept], w.shown.Headline }

// decide brings the decision and its probabilities up to date.
func (w *Watch) decide() {
	p, none := w.state.Answer()
	if p == nil {
		w.shown, w.kept, w.p = Decision{Class: -1, First: -1}, "", nil
		return
	}
	class, id := w.class(p, none), ""
	if class >= 0 {
		id = w.ids[class]
	}
	same, sure := id == w.kept, w.shown.Headline == "" || w.changed || w.waits || id != "" && id == w.state.Here()
	if !same && sure { // else the average, with answers about the former class, would pass through other words
		w.state.Restart()
		if p, none = w.state.Answer(); w.changed { // answers before the change decide nothing
			if class, id = w.class(p, none), ""; class >= 0 {
				id = w.ids[class]
			}
		}
	}
	d := worded(0, class, w.names, w.counts, p, none)
	if kept := worded(slack, class, w.names, w.counts, p, none); words(kept.Headline) == words(w.shown.Headline) {
		d = kept
	}
	if other := !same || words(d.Headline) != words(w.shown.Headline); other && !sure {
		w.waits = true
		return // the probabilities shown stay with the words shown
	}
	w.shown, w.kept, w.waits, w.changed = d, id, false, false
	w.p, w.none = append(w.p[:0], p...), none
}

// class returns the index of the class to show, -1 for none.
func (w *Watch) class(p []float64, none float64) int {
	if here := slices.Index(w.ids, w.state.Here()); here >= 0 {
		return here
	}
	class, kept := decided(p, none), slices.Index(w.ids, w.kept)
	stays := false
	switch percent := percents(none); {
	case w.shown.Headline == "" || kept < 0 && w.kept != "": // nothing was shown, or its class is gone
	case kept < 0:
		stays = percent >= NoneFrom-slack
	case class < 0:
		stays = percent < NoneFrom+slack
	default:
		stays = percents(p[kept]) >= percents(p[class])-slack
	}
	if stays {
		return kept
	}
	return class
}

// words returns a headline without its numbers.
func words(headline string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789<>%", r) {
			return -1
		}
		return r
	}, headline)
}

// asked is the largest number of predictions that find the levels of the classes.
const asked = 64

// update brings classes and levels up to date.
func (w *Watch) update() error {
	c := w.of
	c.holdAny()
	defer c.mu.RUnlock()
	if w.levels && w.seen == c.version {
		return nil
	}
	ids, levels := make([]string, len(c.classes)), c.levels()
	for i, k := range c.classes {
		ids[i] = k.ID
		w.labels[k.ID] = k.Label
	}
	if err := w.state.SetClasses(ids, levels); err != nil {
		return err
	}
	w.ids, w.names, w.counts, w.changed = ids, c.labels(), c.counts(), true
	w.seen, w.levels = c.version, true
	return nil
}

// levels returns the level of each class: the mean of logit p over some of its examples, with p the
// probability of their class. It predicts the classes' examples in turn, at most asked in all. Only the
// first frame of a group is predicted. A class without predictions gets the mean of all, and
// [watch.Level] if there are none.
func (c *Classifier) levels() []float64 {
	sums, counts, p := make([]float64, len(c.classes)), make([]float64, len(c.classes)), make([]float64, len(c.classes))
	total, n := 0.0, 0
	for i, more := 0, true; more && n < asked; i++ {
		more = false
		for j, k := range c.classes {
			if i >= len(k.units) || n >= asked {
				continue
			}
			if _, err := c.probabilitiesTo(p, k.units[i].frames[0].Vector); err != nil {
				continue // this example cannot be used
			}
			more = true
			level := watch.Logit(p[j])
			sums[j], counts[j] = sums[j]+level, counts[j]+1
			total, n = total+level, n+1
		}
	}
	for j := range sums {
		switch {
		case counts[j] > 0:
			sums[j] /= counts[j]
		case n > 0:
			sums[j] = total / float64(n)
		default:
			sums[j] = watch.Level
		}
	}
	return sums
}
