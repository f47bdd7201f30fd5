// Package measure has the workloads of the benchmark, for native Go and the browser: the same
// workload, by the same code, on the same numbers.
package measure

import (
	"slices"
	"time"
)

// A Row is one line of build/bench.json.
type Row struct {
	Name       string  `json:"name"`  // one of Operations
	Where      string  `json:"where"` // native, browser, browser-nosimd or knn-classifier
	Dimension  int     `json:"dimension"`
	Classes    int     `json:"classes"`
	Shots      int     `json:"shots"`
	MedianMS   float64 `json:"median_ms"`
	P95MS      float64 `json:"p95_ms"`
	BytesPerOp float64 `json:"bytes_per_op"` // allocated by one operation, mean
}

// Operations are the names of rows:
//
//   - predict: an embedding as the extractor gives it (float32) to probabilities,
//     with a spiked prior as the one that ships;
//   - predict-full: the same with a full factor L, as one learned in the tab has;
//   - enrol: an embedding added to a class;
//   - remove: an example taken out of a class;
//   - train_episode: one step of meta-training, 5 classes x 5 shots, 15 queries
//     a class: loss, gradient and update;
//   - load: bytes of a prior file and of a session file to a classifier that answers.
var Operations = []string{"predict", "predict-full", "enrol", "remove", "train_episode", "load"}

// A Case is one size to measure.
type Case struct {
	Dimension int `json:"dimension"`
	Classes   int `json:"classes"`
	Shots     int `json:"shots"`
}

// Cases are all sizes of the benchmark: the dimensions of small and large
// extractors, a handful to a thousand classes.
func Cases() []Case {
	var cases []Case
	for _, d := range []int{64, 256, 640, 1280} {
		for _, c := range []int{5, 100, 1000} {
			cases = append(cases, Case{d, c, 5})
		}
	}
	return cases
}

// Measures reports whether an operation is measured for a case. Neither the size of an episode nor
// the cost of a full factor depends on the number of classes taught.
func (c Case) Measures(operation string) bool {
	return c.Classes == 5 || operation != "train_episode" && operation != "predict-full"
}

// Row summarises the times of an operation.
func (c Case) Row(operation, where string, times []time.Duration, bytes float64) Row {
	slices.Sort(times)
	at := func(share float64) float64 {
		return float64(times[min(len(times)-1, int(share*float64(len(times))))].Nanoseconds()) / 1e6
	}
	return Row{operation, where, c.Dimension, c.Classes, c.Shots, at(0.5), at(0.95), bytes}
}

// Bounds of one measurement: it ends after budget, but not before least or after most repetitions.
// An operation that takes longer than slow is done once.
const (
	budget = 700 * time.Millisecond
	slow   = 2 * time.Second
	least  = 3
	most   = 2000
)

// Time repeats an operation and returns the time of each repetition, after one that does not count.
// Between repetitions it calls reset, unless it is nil, without timing it.
func Time(operation, reset func()) []time.Duration {
	once := func() time.Duration {
		start := time.Now()
		operation()
		took := time.Since(start)
		if reset != nil {
			reset()
		}
		return took
	}
	if first := once(); first > slow {
		return []time.Duration{first}
	}
	var times []time.Duration
	for begin := time.Now(); len(times) < least || (len(times) < most && time.Since(begin) < budget); {
		times = append(times, once())
	}
	return times
}
