package main

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// rule makes events of a stream.
type rule struct {
	name   string
	events func(*stream) ([]event, error)
}

// rules returns the rivals, and a watch for each number of false events per hour.
func rules(perHour string) ([]rule, error) {
	all := []rule{{"threshold .8", each(threshold)}, {"Frigate's rule", each(frigate)}, {"majority of five", each(majority)}}
	for text := range strings.SplitSeq(perHour, ",") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("-per-hour has %q, want numbers separated by commas", text)
		}
		all = append(all, rule{"watch, " + text + " an hour", func(s *stream) ([]event, error) { return watched(s, n) }})
	}
	return all, nil
}

// watched is the events of a watch.
func watched(s *stream, perHour float64) (events []event, err error) {
	w, err := s.classifier.Watch(perHour)
	if err != nil {
		return nil, err
	}
	for _, f := range s.frames {
		found, err := w.Next(f.seconds, f.p)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if class, _ := strconv.Atoi(e.Label); e.Here {
				events = append(events, event{f.seconds, class})
			}
		}
	}
	return events, nil
}

// each makes events of the class that is there by each frame, -1 for none.
func each(there func(recent []frame) int) func(*stream) ([]event, error) {
	return func(s *stream) (events []event, err error) {
		now := -1
		for i, f := range s.frames {
			if c := there(s.frames[max(0, i-4) : i+1]); c != now {
				now = c
				events = append(events, event{f.seconds, c})
			}
		}
		return events, nil
	}
}

// best returns the most probable class of a frame and its probability, -1 for none of these.
func best(f frame) (class int, p float64) {
	if len(f.p) > 0 {
		if c := floats.MaxIdx(f.p); f.p[c] > f.none {
			return c, f.p[c]
		}
	}
	return -1, f.none
}

// threshold reports a class if its probability is .8 or more.
func threshold(recent []frame) int {
	if c, p := best(recent[len(recent)-1]); p >= 0.8 {
		return c
	}
	return -1
}

// frigate is the rule of Frigate, an open source recorder of cameras: answers below .8 do not
// count. A class is there once three of the last five answers count and 60 % of these agree.
func frigate(recent []frame) int { return vote(recent, 0.8, 0.6) }

// majority sees a class that three of the last five answers are for.
func majority(recent []frame) int { return vote(recent, 0, 0.6) }

func vote(recent []frame, threshold, share float64) int {
	votes, all := map[int]float64{}, 0.0
	for _, f := range recent {
		if c, p := best(f); p >= threshold {
			votes[c]++
			all++
		}
	}
	for c, n := range votes {
		if all >= 3 && n >= share*all {
			return c
		}
	}
	return -1
}
