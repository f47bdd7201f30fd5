package reproduce

import (
	"fmt"

	"metaqda/core/experiment"
	"metaqda/scripts/tables"
)

// figure is a mean in percent with its interval, as the paper prints it.
type figure struct{ mean, ci float64 }

func (f figure) String() string {
	switch {
	case f.mean == 0:
		return "-"
	case f.ci == 0:
		return fmt.Sprintf("%.2f", f.mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", f.mean, f.ci)
}

// paperRow is a method with its figures in the paper, 1 and 5 shots.
type paperRow struct {
	label, method string
	paper         [2]figure
}

// beside prints our figures next to the paper's.
func (r *reproduction) beside(title, note string, e *experiment.Report, data string, rows []paperRow, get func(*experiment.Result) string) {
	t := &tables.Table{Title: title, Header: []string{"model", "method", "1-shot ours", "1-shot paper", "5-shot ours", "5-shot paper"}, Note: note}
	for _, row := range rows {
		cells := []string{row.label, row.method}
		for i, shot := range []int{1, 5} {
			x := e.Find(row.method, data, 0, shot)
			ours := "-"
			if x != nil {
				ours = get(x)
			}
			cells = append(cells, ours, row.paper[i].String())
		}
		t.Add(cells...)
	}
	r.print(t)
}

// tables prints the tables of a report.
func (r *reproduction) tables(e *experiment.Report) {
	for _, t := range tables.Of(e) {
		r.print(t)
	}
}

func (r *reproduction) print(t *tables.Table) {
	fmt.Fprintf(r.Stdout, "\n%s\n", t.Text())
	r.markdown.WriteString("\n" + t.Markdown() + "\n")
}

func accuracyOf(x *experiment.Result) string { return tables.Mean(x.Accuracy) }

const weaker = "The paper's Conv-4 on miniImageNet is a stronger backbone than this one (SimpleShot 49.69 / 66.92 there)."
