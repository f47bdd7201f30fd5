// Package watch turns a stream of answers into events: a class is here, or is gone. Successive
// answers are correlated and flicker. So it filters them with a hidden Markov model in continuous
// time, and reports a state once its probability is high enough.
//
// The state at time t is one of C classes or none of them. It is drawn anew at the rate λ, none
// with probability ½ and every class with ½/C. With Δ the seconds since the last answer and
// α the filtered probability of each state,
//
//	α'_c = e^(-λΔ') α_c + (1-e^(-λΔ')) π_c,   Δ' = min(Δ, 1/4)
//	α_c ∝ α'_c e^(w (logit p_c - b_c)),   α_none ∝ α'_none
//	w   = min(1, 4Δ)
//	b_c = 0.8 r_c - 2.2 - ln(R)/2.2
//
// where p_c is the answer's probability of class c, r_c the level of the class, and R the false events
// allowed per hour. The level is the mean of logit p_c over the examples of the class. It says how sure
// the session is of its own examples. Levels differ much between sessions, more than the answers to
// taught and other things differ within a session. w reduces the weight of answers that come faster than
// four a second, because successive answers are nearly equal. Slower answers count as if they came at
// four a second, so that the filter does not forget them before the next one.
//
// A class is here once α_c ≥ 0.9, and gone once α_c < 0.2 or another class is here. The constants
// were chosen with the command metaqda/scripts/streams; core/lab/experiment/RESULTS.md has the table
// of results.
package watch

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metaqda/core/niw"
)

const (
	rate     = 4.5 // λ, per second; with a smaller one, evidence from a still thing adds up for longer
	fastest  = 4.0 // answers a second from which on w < 1, and below which Δ' < Δ
	share    = 0.8 // of the level in b
	offset   = 2.2 // in b, at one false event an hour
	slope    = 2.2 // change of ln(false events an hour) per unit of b
	here     = 0.9
	gone     = 0.2
	memory   = 0.35 // τ of the moving average, in seconds
	patience = 10.0 // seconds without an answer after which nothing is known
	least    = 1e-6 // p is kept between least and 1-least
)

// Default is the number of false events allowed per hour, unless chosen otherwise.
const Default = 1.0

// Level is used for a class whose own level is not known. It is the median of 300 sessions.
const Level = 4.0

// Event says that a class is here, or no longer.
type Event struct {
	ID          string  // of the class
	Here        bool    // false: it is gone
	Since       float64 // seconds, at which that began; at or before the answer that revealed it
	Probability float64 // that the class is here, or that it is gone, as filtered; 1 after a silence of ten seconds
}

// Watch follows one stream. [New] makes it. It is not safe for concurrent use.
type Watch struct {
	perHour float64
	ids     []string
	bounds  []float64 // C, b_c
	belief  []float64 // C+1: α, with none of the classes last
	mean    []float64 // C, moving average of p; nil without an answer
	last    []float64 // C, the last p
	next    []float64 // C+1, scratch
	begun   bool      // there was an answer
	seconds float64   // time of the last answer
	top     string    // id of the most probable state, empty for none
	from    float64   // time since which it has been the most probable one
	now     string    // id of the class that is here, empty for none
}

// New returns a watch without classes that allows so many false events per hour, such as
// [Default]. It returns a *[niw.ValueError] unless perHour is positive and finite.
func New(perHour float64) (*Watch, error) {
	w := &Watch{perHour: Default, belief: []float64{1}, next: []float64{0}}
	if err := w.Allow(perHour); err != nil {
		return nil, err
	}
	return w, nil
}

// Allow changes how many false events per hour are allowed from the next answer on. The filtered
// probabilities stay. It returns a *[niw.ValueError] unless perHour is positive and finite, and
// then changes nothing.
func (w *Watch) Allow(perHour float64) error {
	err := niw.CheckValue(perHour > 0 && !math.IsInf(perHour, 1), "false events per hour", perHour, "a positive number")
	if err != nil || perHour == w.perHour {
		return err
	}
	for i := range w.bounds {
		w.bounds[i] += (math.Log(w.perHour) - math.Log(perHour)) / slope
	}
	w.perHour = perHour
	return nil
}

// Logit returns ln p/(1-p), with p kept at least 1e-6 away from 0 and 1.
func Logit(p float64) float64 {
	p = math.Min(math.Max(p, least), 1-least)
	return math.Log(p / (1 - p))
}

// SetClasses names the C classes of the next answers, and the level of each; levels may be nil
// for [Level]. Classes with the same id keep their filtered probability, new ones begin with 0. It panics
// for levels of another length, and returns a *[niw.ValueError] for one that is not finite. Then
// nothing changes. Cost O(C²) if ids differ, else O(C).
func (w *Watch) SetClasses(ids []string, levels []float64) error {
	if levels != nil && len(levels) != len(ids) {
		panic("watch: levels of wrong length")
	}
	for _, r := range levels {
		if err := niw.CheckValue(!math.IsNaN(r) && !math.IsInf(r, 0), "level", r, "a finite number"); err != nil {
			return err
		}
	}
	if !slices.Equal(ids, w.ids) {
		belief, mean := make([]float64, len(ids)+1), make([]float64, len(ids))
		for i, id := range ids {
			at := slices.Index(w.ids, id)
			if at < 0 {
				continue
			}
			if belief[i] = w.belief[at]; w.mean != nil {
				mean[i] = w.mean[at]
			}
		}
		if belief[len(ids)] = max(0, 1-floats.Sum(belief)); w.mean != nil {
			w.mean = mean
		}
		w.ids, w.belief, w.next = slices.Clone(ids), belief, make([]float64, len(belief))
	}
	w.bounds = make([]float64, len(ids))
	for i := range w.bounds {
		level := Level
		if levels != nil {
			level = levels[i]
		}
		w.bounds[i] = share*level - offset - math.Log(w.perHour)/slope
	}
	return nil
}

// Step takes the next answer: its time in seconds, on any clock, and the probability of each class,
// of length C. It returns what came and went, mostly nothing. If there was nothing to predict, p is
// nil and counts as probabilities of zero.
//
// After more than ten seconds without an answer a class that was here is gone from the last answer
// on. Step panics for p of another length. It returns a *[niw.ValueError] for a time that is not
// finite or runs backwards, or for a p outside [0, 1]. Then nothing changes. Cost O(C).
func (w *Watch) Step(seconds float64, p []float64) ([]Event, error) {
	if p != nil && len(p) != len(w.ids) {
		panic("watch: probabilities of wrong length")
	}
	if err := w.check(seconds, p); err != nil {
		return nil, err
	}
	var events []Event
	passed := seconds - w.seconds
	if !w.begun || passed > patience {
		events = w.forget()
		w.from, passed = seconds, math.Inf(1)
	}
	w.begun, w.seconds = true, seconds
	w.average(passed, p)
	w.filter(passed, p)
	if top := w.name(floats.MaxIdx(w.belief)); top != w.top {
		w.top, w.from = top, seconds
	}
	return append(events, w.judge()...), nil
}

func (w *Watch) check(seconds float64, p []float64) error {
	if err := niw.CheckValue(!math.IsNaN(seconds) && !math.IsInf(seconds, 0), "time", seconds, "finite seconds"); err != nil {
		return err
	}
	if err := niw.CheckValue(!w.begun || seconds >= w.seconds, "time", seconds, "no time before that of the last answer: begin another watch"); err != nil {
		return err
	}
	for _, v := range p {
		if err := niw.CheckValue(v >= 0 && v <= 1, "probability", v, "a number from 0 to 1"); err != nil {
			return err
		}
	}
	return nil
}

// forget begins anew, and returns the end of what was here.
func (w *Watch) forget() (events []Event) {
	if w.now != "" {
		events = []Event{{ID: w.now, Since: w.seconds, Probability: 1}}
	}
	w.now, w.top = "", ""
	for i := range w.belief {
		w.belief[i] = w.prior(i)
	}
	return events
}

// prior returns π of a state.
func (w *Watch) prior(i int) float64 {
	if i < len(w.ids) {
		return 0.5 / float64(len(w.ids))
	}
	return 0.5
}

// average brings the moving average up to date: m += (1-e^(-Δ/τ)) (p-m).
func (w *Watch) average(passed float64, p []float64) {
	if p == nil {
		w.mean = nil
		return
	}
	if w.mean == nil {
		w.mean, passed = make([]float64, len(p)), math.Inf(1)
	}
	w.last = append(w.last[:0], p...)
	share := -math.Expm1(-passed / memory)
	for i, v := range p {
		w.mean[i] += share * (v - w.mean[i])
	}
}

// Answer returns the moving average of the answers, with the probability of each class and of none
// of them. Show it in a live view, since single answers flicker. The classes are nil before the
// first answer, and if there was nothing to predict. They are valid until the next Step.
func (w *Watch) Answer() (classes []float64, none float64) {
	return w.mean, min(max(0, 1-floats.Sum(w.mean)), 1)
}

// Restart makes the moving average begin with the last answer.
func (w *Watch) Restart() { copy(w.mean, w.last) }

// filter updates the belief by one step of the model.
func (w *Watch) filter(passed float64, p []float64) {
	c := len(w.ids)
	weight := math.Min(1, fastest*passed)
	stay := math.Exp(-rate * math.Min(passed, 1/fastest))
	for i, a := range w.belief {
		evidence := 0.0
		if i < c {
			v := 0.0
			if p != nil {
				v = p[i]
			}
			evidence = weight * (Logit(v) - w.bounds[i])
		}
		w.next[i] = math.Log(stay*a+(1-stay)*w.prior(i)) + evidence
	}
	norm := floats.LogSumExp(w.next)
	for i, v := range w.next {
		w.belief[i] = math.Exp(v - norm)
	}
}

// judge returns the classes that came and went by the belief.
func (w *Watch) judge() (events []Event) {
	came := ""
	for i, id := range w.ids {
		if w.belief[i] >= here && id != w.now {
			came = id
		}
	}
	if p := w.Belief(w.now); w.now != "" && (came != "" || p < gone) {
		since := w.from
		if w.top == w.now {
			since = w.seconds
		}
		events = append(events, Event{ID: w.now, Since: since, Probability: 1 - p})
		w.now = ""
	}
	if came != "" {
		w.now = came
		events = append(events, Event{ID: came, Here: true, Since: w.from, Probability: w.Belief(came)})
	}
	return events
}

// Len returns C.
func (w *Watch) Len() int { return len(w.ids) }

// Here returns the id of the class that is here, or an empty one.
func (w *Watch) Here() string { return w.now }

// Belief returns the filtered probability of a class, zero for one that is not known.
func (w *Watch) Belief(id string) float64 {
	if at := slices.Index(w.ids, id); at >= 0 {
		return w.belief[at]
	}
	return 0
}

func (w *Watch) name(i int) string {
	if i < len(w.ids) {
		return w.ids[i]
	}
	return ""
}
