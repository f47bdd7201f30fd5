package main

import (
	"fmt"
	"slices"
	"strings"
)

// tolerated is how far below a competitor still counts as level with it.
const tolerated = 0.003

// margin says how far the accuracy of a MetaQDA method lies above the better or
// best of some competitors, cell by cell over the same tasks. Rates as in
// [Result]: 0.01 is a point.
type margin struct {
	Method  string   `json:"method"`
	Against []string `json:"against"`
	Cells   int      `json:"cells"`
	Mean    float64  `json:"mean"`
	Least   Interval `json:"least"`
	LeastIn string   `json:"least_in"`
	Below   []string `json:"below"` // cells where it is more than 0.003 below
}

// addMargins fills Margins with those to each competitor, to nearest centroid
// and linear head together and to all together.
func (r *report) addMargins() {
	for _, m := range r.Methods {
		if isMetaQDA(m) {
			for _, rivals := range r.rivals() {
				r.Margins = append(r.Margins, r.margin(m, rivals))
			}
		}
	}
}

// heads are the competitors that a prior on a foreign domain has to reach.
var heads = []string{"ncc-cl2n", "linear"}

func (r *report) rivals() [][]string {
	var groups [][]string
	all := slices.DeleteFunc(slices.Clone(r.Methods), isMetaQDA)
	for _, m := range all {
		groups = append(groups, []string{m})
	}
	if len(all) > len(heads) && slices.Contains(all, heads[0]) && slices.Contains(all, heads[1]) {
		groups = append(groups, heads)
	}
	if len(all) > 1 {
		groups = append(groups, all)
	}
	return groups
}

func (r *report) margin(method string, rivals []string) *margin {
	m := &margin{Method: method, Against: rivals, Below: []string{}}
	for _, d := range r.Data {
		for _, way := range r.Way {
			for _, shot := range r.Shot {
				v := r.above(method, rivals, d.Name, way, shot)
				cell := fmt.Sprintf("%s, %d-way %d-shot", d.Name, way, shot)
				if m.Cells == 0 || v.Mean < m.Least.Mean {
					m.Least, m.LeastIn = v, cell
				}
				if v.Mean < -tolerated {
					m.Below = append(m.Below, cell)
				}
				m.Cells++
				m.Mean += v.Mean
			}
		}
	}
	m.Mean /= float64(m.Cells)
	return m
}

// above returns how far a method is above the best of its rivals in one cell.
func (r *report) above(method string, rivals []string, data string, way, shot int) (least Interval) {
	for i, rival := range rivals {
		mean, ci := pairedDifference(r.find(method, data, way, shot), r.find(rival, data, way, shot))
		if i == 0 || mean < least.Mean {
			least = Interval{mean, ci}
		}
	}
	return least
}

// isMetaQDA reports whether a method has a NIW prior.
func isMetaQDA(method string) bool {
	return strings.HasPrefix(method, "fb") || strings.HasPrefix(method, "map")
}

// foreignTables sum up what a prior is worth on domains it never saw.
func (r *report) foreignTables() []*table {
	var tables []*table
	for _, m := range r.Methods {
		if !isMetaQDA(m) {
			continue
		}
		for _, rivals := range r.rivals() {
			if len(rivals) > 1 {
				tables = append(tables, r.grid(m+": accuracy above "+best(rivals)+", points", func(data string, way, shot int) string {
					return fmt.Sprintf("%+.2f", 100*r.above(m, rivals, data, way, shot).Mean)
				}))
			}
		}
		tables = append(tables, r.grid(m+": ECE, %", func(data string, way, shot int) string {
			return percent(r.find(m, data, way, shot).ECE)
		}))
		if len(r.rivals()) > 0 {
			tables = append(tables, r.marginTable(m))
		}
	}
	return tables
}

func best(rivals []string) string {
	return "the best of " + strings.Join(rivals, ", ")
}

// grid has a row for each data set and way and a column for each shot.
func (r *report) grid(title string, cell func(data string, way, shot int) string) *table {
	t := &table{title: title, header: []string{"data, way"}}
	for _, shot := range r.Shot {
		t.header = append(t.header, fmt.Sprintf("%d-shot", shot))
	}
	for _, d := range r.Data {
		for _, way := range r.Way {
			row := []string{fmt.Sprintf("%s, %d", d.Name, way)}
			for _, shot := range r.Shot {
				row = append(row, cell(d.Name, way, shot))
			}
			t.add(row...)
		}
	}
	return t
}

// marginTable has a row for each margin of a method.
func (r *report) marginTable(method string) *table {
	t := &table{header: []string{"above", "mean", "least", "in", fmt.Sprintf("cells below %+.1f", -100*tolerated)}}
	for _, m := range r.Margins {
		if m.Method == method {
			t.title = fmt.Sprintf("%s: accuracy above its competitors over the same tasks, points, %d cells", method, m.Cells)
			name := best(m.Against)
			if len(m.Against) == 1 {
				name = r.label(m.Against[0])
			}
			t.add(name, fmt.Sprintf("%+.2f", 100*m.Mean), fmt.Sprintf("%+.2f ± %.2f", 100*m.Least.Mean, 100*m.Least.CI95), m.LeastIn, fmt.Sprint(len(m.Below)))
		}
	}
	t.note = r.verdict(method)
	return t
}

// verdict says in a sentence whether a method reaches nearest centroid and
// linear head everywhere.
func (r *report) verdict(method string) string {
	var rivals []string
	for _, h := range heads {
		if slices.Contains(r.Methods, h) {
			rivals = append(rivals, h)
		}
	}
	if len(rivals) == 0 {
		return ""
	}
	m := r.margin(method, rivals)
	text := fmt.Sprintf("%s is more than %.1f points below %s in %d of %d cells", method, 100*tolerated, strings.Join(rivals, " or "), len(m.Below), m.Cells)
	if len(m.Below) > 0 {
		text += ": " + strings.Join(m.Below, "; ")
	}
	return text + fmt.Sprintf("; on average %+.2f points from the better", 100*m.Mean)
}
