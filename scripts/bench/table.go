package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"metaqda/scripts/bench/measure"
)

// places are the columns of the table.
var places = []string{"native", "browser", "browser-nosimd", "knn-classifier"}

// key is what a line of the table stands for.
type key struct {
	name string
	measure.Case
}

// index orders the rows of a report by line and place.
func index(rows []measure.Row) (order []key, cells map[key]map[string]measure.Row) {
	cells = map[key]map[string]measure.Row{}
	for _, r := range rows {
		k := key{r.Name, measure.Case{Dimension: r.Dimension, Classes: r.Classes, Shots: r.Shots}}
		if cells[k] == nil {
			cells[k] = map[string]measure.Row{}
			order = append(order, k)
		}
		cells[k][r.Where] = r
	}
	return order, cells
}

// printTable prints medians with the 95th percentile, bytes allocated, and
// the ratio of the browser's median to the native one.
func printTable(out io.Writer, r *report) {
	fmt.Fprintf(out, "%s; %s; %s. Milliseconds: median (95th percentile), bytes allocated per operation.\n", r.Machine, r.Go, r.Browser)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "operation\td\tclasses\tshots\tnative\tbytes\tbrowser\tbytes\tratio\tbrowser-nosimd\tbytes\tratio\tknn-classifier\tbytes\t")
	order, cells := index(append(r.Rows[:len(r.Rows):len(r.Rows)], r.Full...))
	for _, k := range order {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t", k.name, k.Dimension, k.Classes, k.Shots)
		native := cells[k]["native"]
		for _, place := range places {
			row, ok := cells[k][place]
			if !ok {
				fmt.Fprint(t, "\t\t")
				continue
			}
			fmt.Fprintf(t, "%.3g (%.3g)\t%.0f\t", row.MedianMS, row.P95MS, row.BytesPerOp)
			if place == "browser" || place == "browser-nosimd" {
				fmt.Fprintf(t, "%.2f\t", row.MedianMS/native.MedianMS)
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	printMemory(out, r)
}

// printMemory prints how memory held still, and what the comparison holds.
func printMemory(out io.Writer, r *report) {
	for _, m := range r.Memory {
		fmt.Fprintf(out, "memory, d = %d: after 10,000 predictions and 1,000 additions and removals heap %+.1f %% and WebAssembly memory %+.1f %% since as many before (%.1f MB, %.1f MB)\n",
			m.Dimension, 100*(m.End.Heap/m.Warm.Heap-1), 100*(m.End.Memory/m.Warm.Memory-1), m.End.Heap/1e6, m.End.Memory/1e6)
	}
	for _, k := range r.KNN {
		fmt.Fprintf(out, "knn-classifier, d = %d, %d examples: %s backend, %.1f MB of tensors\n", k.Dimension, k.Classes*k.Shots, k.Backend, k.Held/1e6)
	}
	fmt.Fprintf(out, "probabilities in the browser and natively differ by %.1g at most; the page's program starts in %.0f ms\n", r.Worst, r.Startup["browser"])
}
