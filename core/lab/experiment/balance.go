package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"metaqda/core/lab/metrics"
)

// balance puts the scores of base classes, which have hundreds of rows, and of new classes, which
// have a few, on one scale,
//
//	logit_c = a score_c            for a base class
//	logit_c = b score_c + offset   for a new class
//
// where a is base and b is novel, both positive. They are inverse temperatures. Without a balance,
// the many rows of the base classes make their densities so sharp that no new class is ever
// recognised. The paper's figures show this. Its accuracy in session n is the accuracy in session 0
// times the share of base classes, 59.57 × 60/(60+5n), to within 0.04.
type balance struct{ base, novel, offset float64 }

// apply overwrites scores, base classes first.
func (b *balance) apply(scores []float64, base int) {
	for c := range scores {
		if c < base {
			scores[c] *= b.base
		} else {
			scores[c] = b.novel*scores[c] + b.offset
		}
	}
}

// fitBalance minimises the cross-entropy of the last session of the validation runs. Every method
// has a balance of its own; nil leaves the scores as they are.
func (r *incrementalRun) fitBalance(scorer ClassScorer) (*balance, error) {
	l := balanceLoss{base: len(r.base.Rows)}
	base, err := r.classScores(scorer, r.sessions[0][0].Support)
	if err != nil {
		return nil, err
	}
	for _, sessions := range r.sessions {
		var scores []*mat.Dense
		var test []labelled // of the last session
		if err := r.score(scorer, base, sessions, func(s []*mat.Dense, t []labelled) { scores, test = s, t }); err != nil {
			return nil, err
		}
		for _, q := range test {
			l.add(scores, q)
		}
	}
	return l.minimise(), nil
}

// balanceLoss is the mean cross-entropy as a function of ln a, ln b and the
// offset.
type balanceLoss struct {
	base   int
	scores [][]float64
	labels []int
}

func (l *balanceLoss) add(scores []*mat.Dense, q labelled) {
	var row []float64
	for _, s := range scores {
		row = append(row, s.RawRowView(q.query)...)
	}
	l.scores, l.labels = append(l.scores, row), append(l.labels, q.class)
}

func (l *balanceLoss) minimise() *balance {
	scale := -math.Log(l.spread())
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return l.loss(nil, x) },
		Grad: func(grad, x []float64) { l.loss(grad, x) },
	}
	res, err := optimize.Minimize(problem, []float64{scale, scale, 0}, &optimize.Settings{GradientThreshold: 1e-6, MajorIterations: 100}, &optimize.BFGS{})
	if res == nil || (err != nil && !(res.F < l.loss(nil, []float64{scale, scale, 0}))) {
		return nil // as they are
	}
	return &balance{math.Exp(res.X[0]), math.Exp(res.X[1]), res.X[2]}
}

// spread returns the standard deviation of the base scores of a query.
func (l *balanceLoss) spread() float64 {
	sum := 0.0
	for _, row := range l.scores {
		var m1, m2 float64
		for _, v := range row[:l.base] {
			m1 += v
		}
		m1 /= float64(l.base)
		for _, v := range row[:l.base] {
			m2 += (v - m1) * (v - m1)
		}
		sum += m2 / float64(l.base)
	}
	return math.Max(math.Sqrt(sum/float64(len(l.scores))), 1e-12)
}

// loss returns the mean cross-entropy and stores its gradient where asked.
func (l *balanceLoss) loss(grad, x []float64) float64 {
	b := balance{math.Exp(x[0]), math.Exp(x[1]), x[2]}
	row, p := make([]float64, len(l.scores[0])), make([]float64, len(l.scores[0]))
	var g [3]float64
	sum := 0.0
	for i, s := range l.scores {
		copy(row, s)
		b.apply(row, l.base)
		sum += metrics.SoftmaxTo(p, row, 1) - row[l.labels[i]]
		p[l.labels[i]]--
		for c, v := range p {
			if c < l.base {
				g[0] += v * row[c]
			} else {
				g[1] += v * (row[c] - b.offset)
				g[2] += v
			}
		}
	}
	n := float64(len(l.scores))
	for k := range grad {
		grad[k] = g[k] / n
	}
	return sum / n
}

// Tolerated is the largest deficit that still counts as level with a competitor.
const Tolerated = 0.003

// Margin says how far the accuracy of a MetaQDA method is above the best of some competitors, on the
// same tasks, cell by cell. Rates are as in [Result]: 0.01 is a point.
type Margin struct {
	Method  string   `json:"method"`
	Against []string `json:"against"`
	Cells   int      `json:"cells"`
	Mean    float64  `json:"mean"`
	Least   Interval `json:"least"`
	LeastIn string   `json:"least_in"`
	Below   []string `json:"below"` // cells where it is more than 0.003 below
}

// addMargins fills Margins: above each competitor, above nearest centroid and linear head together,
// and above all together.
func (r *Report) addMargins() {
	for _, m := range r.Methods {
		if IsMetaQDA(m) {
			for _, rivals := range r.Rivals() {
				r.Margins = append(r.Margins, r.Margin(m, rivals))
			}
		}
	}
}

// Heads returns the competitors that a prior must reach on domains that it has not seen.
func Heads() []string { return []string{"ncc-cl2n", "linear"} }

// Rivals returns the groups of competitors that MetaQDA is compared with: each alone, those of
// [Heads] together, and all together.
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
	return strings.HasPrefix(method, "metaqda") || strings.HasPrefix(method, "fb") || strings.HasPrefix(method, "map")
}

// PairedDifference returns the mean difference of the accuracies of two results over the same tasks,
// with its 95 % interval, which is much narrower than the two intervals. If one result has fewer
// tasks, they are the first tasks of the other.
func PairedDifference(a, b *Result) Interval {
	d := make([]float64, min(len(a.EpisodeAccuracy), len(b.EpisodeAccuracy)))
	for i := range d {
		d[i] = a.EpisodeAccuracy[i] - b.EpisodeAccuracy[i]
	}
	mean, ci := metrics.MeanCI(d)
	return Interval{mean, ci}
}
