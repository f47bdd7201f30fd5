package tables

import (
	"fmt"
	"slices"
	"strings"

	"metaqda/core/lab/experiment"
)

// leftOutTables sum up the results of a prior on domains it never saw.
func (r report) leftOutTables() []*Table {
	var tables []*Table
	for _, m := range r.Methods {
		if !experiment.IsMetaQDA(m) {
			continue
		}
		for _, rivals := range r.Rivals() {
			if len(rivals) > 1 {
				tables = append(tables, r.grid(m+": accuracy above "+best(rivals)+", points", func(data string, way, shot int) string {
					return fmt.Sprintf("%+.2f", 100*r.Above(m, rivals, data, way, shot).Mean)
				}))
			}
		}
		tables = append(tables, r.grid(m+": ECE, %", func(data string, way, shot int) string {
			return Percent(r.Find(m, data, way, shot).ECE)
		}))
		if len(r.Rivals()) > 0 {
			tables = append(tables, r.marginTable(m))
		}
	}
	return tables
}

func best(rivals []string) string {
	return "the best of " + strings.Join(rivals, ", ")
}

// grid has a row for each data set and way and a column for each shot.
func (r report) grid(title string, cell func(data string, way, shot int) string) *Table {
	t := &Table{Title: title, Header: []string{"data, way"}}
	for _, shot := range r.Shot {
		t.Header = append(t.Header, fmt.Sprintf("%d-shot", shot))
	}
	for _, d := range r.Data {
		for _, way := range r.Way {
			row := []string{fmt.Sprintf("%s, %d", d.Name, way)}
			for _, shot := range r.Shot {
				row = append(row, cell(d.Name, way, shot))
			}
			t.Add(row...)
		}
	}
	return t
}

// marginTable has a row for each margin of a method.
func (r report) marginTable(method string) *Table {
	t := &Table{Header: []string{"above", "mean", "least", "in", fmt.Sprintf("cells below %+.1f", -100*experiment.Tolerated)}}
	for _, m := range r.Margins {
		if m.Method == method {
			t.Title = fmt.Sprintf("%s: accuracy above its competitors over the same tasks, points, %d cells", method, m.Cells)
			name := best(m.Against)
			if len(m.Against) == 1 {
				name = r.label(m.Against[0])
			}
			t.Add(name, fmt.Sprintf("%+.2f", 100*m.Mean), fmt.Sprintf("%+.2f ± %.2f", 100*m.Least.Mean, 100*m.Least.CI95), m.LeastIn, fmt.Sprint(len(m.Below)))
		}
	}
	t.Note = r.verdict(method)
	return t
}

// verdict says in a sentence whether a method reaches nearest centroid and
// linear head everywhere.
func (r report) verdict(method string) string {
	var rivals []string
	for _, h := range experiment.Heads() {
		if slices.Contains(r.Methods, h) {
			rivals = append(rivals, h)
		}
	}
	if len(rivals) == 0 {
		return ""
	}
	m := r.Margin(method, rivals)
	text := fmt.Sprintf("%s is more than %.1f points below %s in %d of %d cells", method, 100*experiment.Tolerated, strings.Join(rivals, " or "), len(m.Below), m.Cells)
	if len(m.Below) > 0 {
		text += ": " + strings.Join(m.Below, "; ")
	}
	return text + fmt.Sprintf("; on average %+.2f points from the better", 100*m.Mean)
}
