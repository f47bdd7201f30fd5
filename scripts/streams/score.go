package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// event is a class that comes, or, at -1, the end of it.
type event struct {
	seconds float64
	class   int
}

// figures are the outcome of a rule in some streams.
type figures struct {
	streams                        int
	shown, missed, wrong, repeated float64
	delays                         []float64
}

// late is how many seconds after a thing has gone an event still counts for it.
const late = 0.75

// add counts the events of a stream. An event is right if a thing of its class is there, or was
// so until less than late ago. A right event for a thing that had one before is a repeated one.
func (f *figures) add(s *stream, events []event) {
	f.streams++
	found := make([]bool, len(s.shows))
	for _, e := range events {
		if e.class < 0 {
			continue
		}
		at := slices.IndexFunc(s.shows, func(w show) bool {
			return w.class == e.class && e.seconds >= w.begin && e.seconds < w.end+late
		})
		switch {
		case at < 0:
			f.wrong++
		case found[at]:
			f.repeated++
		default:
			found[at] = true
			f.delays = append(f.delays, e.seconds-s.shows[at].begin)
		}
	}
	for i, w := range s.shows {
		if w.class >= 0 {
			f.shown++
			if !found[i] {
				f.missed++
			}
		}
	}
}

// String returns a row of the table: false and repeated events an hour, missed events in
// percent, and the median of the seconds from a thing to its event.
func (f *figures) String() string {
	hours, delay := float64(f.streams)*length/3600, math.NaN()
	if slices.SortFunc(f.delays, cmp.Compare); len(f.delays) > 0 {
		delay = f.delays[len(f.delays)/2]
	}
	return fmt.Sprintf("%.1f | %.1f | %.1f | %.2f", f.wrong/hours, f.repeated/hours, 100*f.missed/f.shown, delay)
}
