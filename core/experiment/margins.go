package experiment

import (
	"fmt"
	"slices"
	"strings"

	"metaqda/core/metrics"
)

// Tolerated is how far below a competitor still counts as level with it.
const Tolerated = 0.003

// Margin says how far the accuracy of a MetaQDA method lies above the better or
// best of some competitors, cell by cell over the same tasks. Rates as in
// [Result]: 0.01 is a point.
type Margin struct {
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
func (r *Report) addMargins() {
	for _, m := range r.Methods {
		if IsMetaQDA(m) {
			for _, rivals := range r.Rivals() {
				r.Margins = append(r.Margins, r.Margin(m, rivals))
			}
		}
	}
}

// Heads returns the competitors that a prior on a foreign domain has to reach.
func Heads() []string { return []string{"ncc-cl2n", "linear"} }

// Rivals returns the groups of competitors that MetaQDA is set against: each alone,
// those of [Heads] together, and all together.
func (r *Report) Rivals() [][]string {
	var groups [][]string
	all := slices.DeleteFunc(slices.Clone(r.Methods), IsMetaQDA)
	for _, m := range all {
		groups = append(groups, []string{m})
	}
	if heads := Heads(); len(all) > len(heads) && slices.Contains(all, heads[0]) && slices.Contains(all, heads[1]) {
		groups = append(groups, heads)
	}
	if len(all) > 1 {
		groups = append(groups, all)
	}
	return groups
}

// Margin returns how far a method is above the best of its rivals in all cells.
func (r *Report) Margin(method string, rivals []string) *Margin {
	m := &Margin{Method: method, Against: rivals, Below: []string{}}
	for _, d := range r.Data {
		for _, way := range r.Way {
			for _, shot := range r.Shot {
				v := r.Above(method, rivals, d.Name, way, shot)
				cell := fmt.Sprintf("%s, %d-way %d-shot", d.Name, way, shot)
				if m.Cells == 0 || v.Mean < m.Least.Mean {
					m.Least, m.LeastIn = v, cell
				}
				if v.Mean < -Tolerated {
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

// Above returns how far a method is above the best of its rivals in one cell.
func (r *Report) Above(method string, rivals []string, data string, way, shot int) (least Interval) {
	for i, rival := range rivals {
		d := PairedDifference(r.Find(method, data, way, shot), r.Find(rival, data, way, shot))
		if i == 0 || d.Mean < least.Mean {
			least = d
		}
	}
	return least
}

// IsMetaQDA reports whether a method has a NIW prior.
func IsMetaQDA(method string) bool {
	return strings.HasPrefix(method, "fb") || strings.HasPrefix(method, "map")
}

// PairedDifference returns the mean difference of the accuracies of two results over
// the same tasks, with its 95 % interval: much narrower than theirs. Of unequal
// numbers of tasks the fewer are the first of the more.
func PairedDifference(a, b *Result) Interval {
	d := make([]float64, min(len(a.EpisodeAccuracy), len(b.EpisodeAccuracy)))
	for i := range d {
		d[i] = a.EpisodeAccuracy[i] - b.EpisodeAccuracy[i]
	}
	mean, ci := metrics.MeanCI(d)
	return Interval{mean, ci}
}
