package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metaqda/core/watch"
)

// bound finds the smallest number of things that a rule with more knowledge could miss. The rule
// knows when each thing comes and goes, so it has no false events between them. It has one
// threshold for each stream, chosen from all answers. It does not know which things were taught. It
// reports the class with the highest score over all answers about a thing, if this score passes the
// threshold.
type bound struct {
	score   func(logits []float64) float64
	streams [][]thing
	taught  int
}

// thing is one thing that is shown: the score of its best class, and whether that class is right.
type thing struct {
	score float64
	right bool
}

var scores = []struct {
	name string
	of   func(logits []float64) float64
}{
	{"mean log odds", func(x []float64) float64 { return stat.Mean(x, nil) }},
	{"largest log odds", floats.Max},
}

func (b *bound) add(s *stream) {
	var things []thing
	for _, w := range s.shows {
		if w.class >= 0 {
			b.taught++
		}
		best, score := -1, math.Inf(-1)
		frames := s.frames[int(w.begin*rate)+1 : int(w.end*rate)] // the first one is mixed with what was there before
		for c := range s.classifier.Len() {
			var x []float64
			for _, f := range frames {
				p := 0.0 // nothing was found
				if f.p != nil {
					p = f.p[c]
				}
				x = append(x, watch.Logit(p))
			}
			if v := b.score(x); v > score {
				best, score = c, v
			}
		}
		things = append(things, thing{score, best == w.class})
	}
	slices.SortFunc(things, func(x, y thing) int { return cmp.Compare(y.score, x.score) })
	b.streams = append(b.streams, things)
}

// missed returns the share of the taught things that is missed at so many false events per hour in
// the mean of all streams. In every stream a false event costs as much as price things found. The
// price rises until there are few enough false events. No other thresholds with as few false events
// find more things.
func (b *bound) missed(perHour float64) float64 {
	most := perHour * float64(len(b.streams)) * length / 3600
	low, high, found := 0.0, 1e3, 0
	for range 60 {
		price := (low + high) / 2
		right, wrong := b.at(price)
		if float64(wrong) > most {
			low = price
		} else {
			high, found = price, right
		}
	}
	return 1 - float64(found)/float64(b.taught)
}

// at takes for each stream the threshold with the most things found, less the price of false
// events.
func (b *bound) at(price float64) (right, wrong int) {
	for _, things := range b.streams {
		r, w, bestR, bestW := 0, 0, 0, 0
		for _, t := range things {
			if t.right {
				r++
			} else {
				w++
			}
			if float64(r)-price*float64(w) > float64(bestR)-price*float64(bestW) {
				bestR, bestW = r, w
			}
		}
		right, wrong = right+bestR, wrong+bestW
	}
	return right, wrong
}

// printBounds prints the smallest share of missed things, at one false event an hour.
func printBounds(all []*bound) {
	fmt.Printf("\n| a rule that knows when things come and go, and the best threshold of each stream, at one false event an hour | missed, %% |\n|---|---|\n")
	for i, b := range all {
		fmt.Printf("| %s | %.1f |\n", scores[i].name, 100*b.missed(watch.Default))
	}
}
