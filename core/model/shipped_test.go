package model_test

import (
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/episode"
	"metaqda/core/metrics"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/qda"
	"metaqda/core/test"
)

// shipped returns the prior that the page begins with, and small real embeddings:
// 19 concepts drawn as emoji in six art styles. Queries are in styles that their
// class was not learned in.
func shipped(t *testing.T) (*model.Prior, *dataset.Set, episode.Pool) {
	t.Helper()
	b := test.Must(os.ReadFile("../../web/prior/default.safetensors"))(t)
	p := test.Must(model.DecodePrior(b))(t)
	set := test.Must(dataset.Load("../../testdata/dataset/emoji.npz"))(t)
	pool := episode.Pool{Name: set.Name, Classes: set.Classes}
	for c := range set.Classes {
		pool.Rows = append(pool.Rows, set.ClassRows(c))
	}
	return p, set, pool
}

// transformed returns the rows of the set as the classifier takes them.
func transformed(t *testing.T, tr *embed.Transform, set *dataset.Set) *mat.Dense {
	t.Helper()
	x := mat.NewDense(set.Len(), set.Dim, nil)
	for i := range set.Len() {
		test.OK(t, tr.ApplyTo(x.RawRowView(i), set.RowTo(x.RawRowView(i), i)))
	}
	return x
}

// enrolled returns the classifier of an episode.
func enrolled(t *testing.T, p *niw.Prior, o qda.Options, x *mat.Dense, e *episode.Episode) *qda.Classifier {
	t.Helper()
	c := test.Must(qda.New(p, o))(t)
	for j, rows := range e.Support {
		test.OK(t, c.AddClass(strconv.Itoa(j)))
		for _, r := range rows {
			test.OK(t, c.Add(strconv.Itoa(j), x.RawRowView(r)))
		}
	}
	return c
}

// nearestCentroid counts the queries that the strongest simple competitor gets
// right.
func nearestCentroid(t *testing.T, x *mat.Dense, e *episode.Episode) (correct int) {
	t.Helper()
	task := baseline.Task{Way: e.Way()}
	var support []float64
	for j, rows := range e.Support {
		for _, r := range rows {
			support = append(support, x.RawRowView(r)...)
			task.Labels = append(task.Labels, j)
		}
	}
	_, d := x.Dims()
	task.Support = mat.NewDense(len(task.Labels), d, support)
	m := &baseline.Centroid{}
	test.OK(t, m.Fit(task))
	queries := mat.NewDense(len(e.Query), d, nil)
	for i, r := range e.Query {
		queries.SetRow(i, x.RawRowView(r))
	}
	scores := mat.NewDense(len(e.Query), e.Way(), nil)
	m.ScoresTo(scores, queries)
	for i, y := range e.QueryLabel {
		if metrics.Best(scores.RawRowView(i)) == y {
			correct++
		}
	}
	return correct
}

// answers is what a classifier says of the queries of many episodes.
type answers struct {
	closed         *metrics.Tally // of known queries, among the classes
	none           metrics.Reliability
	known, unknown []float64 // p(none) of the queries of each kind
	byMax          [2][]float64
	centroid       int // known queries that the nearest centroid gets right
}

// ask enrols and asks episodes of five classes, half of the queries of five others.
func ask(t *testing.T, shot, episodes int) *answers {
	t.Helper()
	p, set, pool := shipped(t)
	white, unit := transformed(t, &p.Transform, set), transformed(t, &embed.Transform{Kind: embed.L2}, set)
	p.NIW.WhitenRowsTo(white, white) // once for all episodes
	config := episode.Fixed(5, shot, 1)
	config.UnknownClasses = 5
	sampler := test.Must(episode.NewUniform(pool, config, 1))(t)
	o := p.Session.Options()
	o.NonePrior = 0.5
	a := &answers{closed: metrics.NewTally(metrics.DefaultBins), none: metrics.NewReliability(metrics.DefaultBins)}
	for i := range episodes {
		e := sampler.Episode(i)
		c := enrolled(t, p.NIW.Whitened(), o, white, &e)
		for k, r := range e.Query {
			a.add(t, c, white.RawRowView(r), e.QueryLabel[k])
		}
		a.centroid += nearestCentroid(t, unit, &e)
	}
	return a
}

func (a *answers) add(t *testing.T, c *qda.Classifier, x []float64, label int) {
	t.Helper()
	q := make([]float64, 5)
	none := test.Must(c.ProbabilitiesTo(q, x))(t)
	unsure := 1 - q[metrics.Best(q)]/(1-none)
	a.none.Add(none, label == episode.Unknown)
	if label == episode.Unknown {
		a.unknown, a.byMax[1] = append(a.unknown, none), append(a.byMax[1], unsure)
		return
	}
	a.known, a.byMax[0] = append(a.known, none), append(a.byMax[0], unsure)
	for j, v := range q {
		q[j] = math.Log(v / (1 - none))
	}
	a.closed.Add(q, label, 1, make([]float64, 5))
}

// The floors are some points below what was measured, room for a prior that is
// learned anew.
func TestShippedPriorOnEmoji(t *testing.T) {
	for _, floor := range []struct {
		shot     int
		accuracy float64
		centroid float64 // how much better than the nearest centroid
		ece      float64 // at most
		auroc    float64
		noneECE  float64 // at most
	}{
		{1, 0.83, 0.02, 0.10, 0.79, 0.16},
		{2, 0.91, 0.015, 0.045, 0.85, 0.15},
		{5, 0.95, 0.01, 0.035, 0.88, 0.10},
	} {
		a := ask(t, floor.shot, 200)
		centroid := float64(a.centroid) / float64(a.closed.Queries)
		accuracy, ece, auroc, byMax, noneECE := a.closed.Accuracy(), a.closed.Bins.ECE(), metrics.AUROC(a.unknown, a.known), metrics.AUROC(a.byMax[1], a.byMax[0]), a.none.ECE()
		if !(accuracy >= floor.accuracy && accuracy >= centroid+floor.centroid && ece <= floor.ece) {
			t.Errorf("%d shots: accuracy %.3f, nearest centroid %.3f, ECE %.3f; want %.2f, %.2f more than that, and at most %.3f",
				floor.shot, accuracy, centroid, ece, floor.accuracy, floor.centroid, floor.ece)
		}
		if !(auroc >= floor.auroc && auroc > byMax && noneECE <= floor.noneECE) {
			t.Errorf("%d shots: AUROC of none %.3f, of 1-max %.3f, ECE %.3f; want %.2f, more than that, and at most %.2f",
				floor.shot, auroc, byMax, noneECE, floor.auroc, floor.noneECE)
		}
	}
}
