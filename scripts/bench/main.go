// Command bench is the native half of `make bench`. It times prediction, enrolment, removal, a
// training episode and loading by package measure. It prints the times as JSON.
// web/test/bench/run.mjs puts them beside the times of the browser.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"

	"metaqda/scripts/bench/measure"
)

func main() {
	quick := flag.Bool("quick", false, "only one case, to see that all of it runs")
	flag.Parse()
	var half struct {
		Go            string         `json:"go"`
		Cases         []measure.Case `json:"cases"`
		Rows          []measure.Row  `json:"rows"`
		Probabilities [][]float64    `json:"probabilities"` // of the classes, in each case
	}
	half.Go, half.Cases = runtime.Version(), measure.Cases()
	if *quick { // five classes by the largest extractor
		half.Cases = half.Cases[len(half.Cases)-3 : len(half.Cases)-2]
	}
	for _, c := range half.Cases {
		fmt.Fprintf(os.Stderr, "native: %d dimensions, %d classes\n", c.Dimension, c.Classes)
		w := measure.New(c)
		for _, name := range measure.Operations {
			if c.Measures(name) {
				op, reset := w.Operation(name)
				times := measure.Time(op, reset)
				half.Rows = append(half.Rows, c.Row(name, "native", times, measure.BytesPerOp(op, reset, 1)))
				w.Done(name)
			}
		}
		half.Probabilities = append(half.Probabilities, slices.Clone(w.Predict(w.Query)))
	}
	if err := json.NewEncoder(os.Stdout).Encode(half); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}
