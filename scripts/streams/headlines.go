package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	metaqda "metaqda/core"
	"metaqda/core/watch"
)

// live are the figures of a live view of some streams.
type live struct {
	minutes float64
	words   int // changes of the headline without its numbers
	classes int // changes of the class that it names
	delays  []float64
	named   float64 // shows of taught things whose class was named
	shown   float64
}

// headlines are ways to word the answers of a stream, in their order.
var headlines = []struct {
	name string
	of   func(*stream) ([]metaqda.Decision, error)
}{
	{"each answer by itself", func(s *stream) (all []metaqda.Decision, err error) {
		for _, f := range s.frames {
			d := metaqda.Decision{Class: -1}
			if f.p != nil {
				d = s.classifier.Decide(f.p, f.none)
			}
			all = append(all, d)
		}
		return all, nil
	}},
	{"watch", func(s *stream) (all []metaqda.Decision, err error) {
		w, err := s.classifier.Watch(watch.Default)
		if err != nil {
			return nil, err
		}
		for _, f := range s.frames {
			if _, err := w.Next(f.seconds, f.p); err != nil {
				return nil, err
			}
			all = append(all, w.Decision())
		}
		return all, nil
	}},
}

// add counts the changes from one headline to the next. It also measures how long a taught thing is
// there before its class is named.
func (l *live) add(s *stream, said []metaqda.Decision) {
	l.minutes += float64(len(said)) / rate / 60
	for i := range said[1:] {
		if words(said[i]) != words(said[i+1]) {
			l.words++
		}
		if said[i].Class != said[i+1].Class {
			l.classes++
		}
	}
	for _, w := range s.shows {
		if w.class < 0 {
			continue
		}
		l.shown++
		for _, f := range s.frames[int(w.begin*rate):int(w.end*rate)] {
			if said[int(f.seconds*rate)].Class == w.class {
				l.named++
				l.delays = append(l.delays, f.seconds-w.begin)
				break
			}
		}
	}
}

// words returns a headline without its numbers.
func words(d metaqda.Decision) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789<>%", r) {
			return -1
		}
		return r
	}, d.Headline)
}

// String returns a row of the table. It has the changes a minute of the words and of the class.
// Then come the taught things that are never named, in percent, and the median of the seconds until
// one is named.
func (l *live) String() string {
	delay := math.NaN()
	if slices.SortFunc(l.delays, cmp.Compare); len(l.delays) > 0 {
		delay = l.delays[len(l.delays)/2]
	}
	return fmt.Sprintf("%.1f | %.1f | %.1f | %.2f", float64(l.words)/l.minutes, float64(l.classes)/l.minutes, 100*(1-l.named/l.shown), delay)
}
