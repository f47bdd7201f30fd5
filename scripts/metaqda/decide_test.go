package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	core "metaqda/core"
	"metaqda/core/test"
	"metaqda/wasm/view"
)

// For random sessions and batches, [core.Classifier.Predict] and Classify agree about the class of
// each vector. The meters of the page with their headline and the tables of both commands agree
// too. web/test/browser/agree.test.js asks the page the same.
func TestEverythingAgreesAboutWhatAVectorIsTakenFor(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 33))
		c, batch := randomSession(t, r)
		asked := slices.Concat(batch...)
		j := defaultJob()
		j.Classifier, j.Data = filepath.Join(t.TempDir(), "classifier"), filepath.Join(t.TempDir(), "batch.npy")
		save(t, j.Classifier, test.Must(c.Save())(t))
		save(t, j.Data, npy(asked, dim))
		together := test.Must(c.Classify(nil, batch, nil))(t)
		for _, j.Batch = range []bool{false, true} {
			for i, line := range tableOf(t, j)[1:] {
				a := together[i]
				if !j.Batch {
					a = test.Must(c.Predict(batch[i]))(t)
					if (a.Class < 0) != (together[i].Class < 0) {
						t.Errorf("seed %d, vector %d is taken for %d alone, for %d together", seed, i, a.Class, together[i].Class)
					}
				}
				name, p := None, a.None
				if a.Class >= 0 {
					name, p = c.Labels()[a.Class], a.Probabilities[a.Class]
				}
				seen[strings.Trim(name, "0123456789")]++
				if a.Decision != c.Decide(a.Probabilities, a.None) {
					t.Errorf("seed %d, vector %d: %+v of %v, none %v", seed, i, a.Decision, a.Probabilities, a.None)
				}
				if line[2] != name {
					t.Errorf("seed %d, vector %d: the table says %q, %+v", seed, i, line[2], a)
				}
				first, most := name, p
				for k, q := range a.Probabilities { // the more probable one is named first
					if math.Round(100*q) > math.Round(100*most) {
						first, most = c.Labels()[k], q
					}
				}
				if !leads(a.Headline, first, most) || !strings.Contains(a.Headline, name) {
					t.Errorf("seed %d, vector %d, taken for %s: %q", seed, i, name, a.Headline)
				}
				if first != name {
					seen["not named first"]++
				}
				f := shown(c, a)
				best := slices.IndexFunc(f.Rows, func(r view.Row) bool { return r.Best })
				if f.Rows[best].None != (first == None) || f.Rows[best].Name != first && first != None || f.Verdict != strings.ReplaceAll(strings.ReplaceAll(a.Headline, " %", "\u00a0%"), "> 99", ">\u00a099") {
					t.Errorf("seed %d, vector %d: the page says %q and marks %+v, %+v", seed, i, f.Verdict, f.Rows[best], a)
				}
			}
		}
	}
	if seen[None] < 20 || seen["class "] < 20 || seen["not named first"] == 0 {
		t.Errorf("too little was asked: %v", seen)
	}
}

const dim = 6

// randomSession returns a classifier that was taught a few examples, and vectors like
// them, between them and unlike them.
func randomSession(t *testing.T, r *rand.Rand) (*core.Classifier, [][]float32) {
	c := test.Must(core.New(core.Settings{NonePrior: []float64{0, .2, .5}[r.IntN(3)]}, nil))(t)
	near := func(mean []float32, spread float32) []float32 {
		x := slices.Clone(mean)
		for i := range x {
			x[i] += spread * float32(r.NormFloat64())
		}
		return x
	}
	var batch [][]float32
	for k := range 1 + r.IntN(5) {
		mean := near(make([]float32, dim), 2)
		for range 1 + r.IntN(4) {
			test.Must(c.Add(fmt.Sprint("class ", k), "", near(mean, .5)))(t)
		}
		batch = append(batch, near(mean, .5), near(mean, 1), near(make([]float32, dim), 2))
	}
	return c, batch
}

// leads reports whether a headline says an answer first, with its probability where it has one.
func leads(headline, name string, p float64) bool {
	if headline == "Looks like "+name+"; I know nothing else yet" || strings.HasPrefix(headline, "Only “"+name+"” has examples") {
		return true
	}
	for _, form := range []string{"Not sure; maybe %s, %s", "Not sure: %s %s or ", "Probably %s: %s", "Almost certainly %s: %s"} {
		if strings.HasPrefix(headline, fmt.Sprintf(form, name, core.Percent(p))) {
			return true
		}
	}
	return false
}

// shown returns the page's view of an answer.
func shown(c *core.Classifier, a core.Answer) view.Frame {
	in := view.Input{Query: true, None: a.None, Decision: a.Decision}
	for i, label := range c.Labels() {
		_, examples := c.At(i)
		in.Classes = append(in.Classes, view.Class{ID: strconv.Itoa(i), Name: label, Examples: examples, Probability: a.Probabilities[i]})
	}
	return view.Compose(in)
}
