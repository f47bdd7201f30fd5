package experiment

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/episode"
	"metaqda/core/test"
)

// A picture that is alone has nothing to borrow: judged together it is judged as one
// by one, none of these included.
func TestTogetherIsOneByOneForOneQuery(t *testing.T) {
	s, p := sourceOf(t, 30, 20, 6)
	p.OutOfSet = 0.5
	cells := test.Must(p.cells(s))(t)
	alone := workerOf(t, p, s, "metaqda")
	together := workerOf(t, p, s, "metaqda-transductive")
	collect := func(w *worker, e episode.Episode) (all []float64) {
		test.OK(t, w.score(&e, 0, func(_ int, scores *mat.Dense, none []float64) {
			for i := range e.Query {
				all = append(append(all, scores.RawRowView(i)...), none[i])
			}
		}))
		return all
	}
	differ := false
	for i := range 10 {
		e := cells[0].test.Episode(i)
		for _, one := range collect(alone, e) {
			if math.IsNaN(one) {
				t.Fatal("not a number")
			}
		}
		a, b := collect(alone, e), collect(together, e)
		for k := range a {
			differ = differ || math.Abs(a[k]-b[k]) > 1e-3
		}
		e.Query, e.QueryLabel = e.Query[:1], e.QueryLabel[:1]
		a, b = collect(alone, e), collect(together, e)
		for k := range a {
			if math.Abs(a[k]-b[k]) > 1e-9 {
				t.Fatalf("task %d: one by one %v, together %v", i, a, b)
			}
		}
	}
	if !differ {
		t.Error("many queries together are no different from one by one")
	}
}

// Tasks have the class sizes and out-of-set queries of the plan. Their measures have the names of
// the other protocols.
func TestTogetherMeasures(t *testing.T) {
	for _, c := range []struct {
		imbalance string
		outOfSet  float64
	}{{ImbalanceNone, 0}, {ImbalanceDirichlet, 0}, {ImbalanceNone, 0.5}, {ImbalanceDirichlet, 0.5}} {
		p, domains := small(t, Transductive)
		p.Ways, p.Shots, p.Imbalance, p.OutOfSet = []int{4}, []int{2}, c.imbalance, c.outOfSet
		domains[0].Set = datasettest.Gaussians{Classes: 60, Rows: 40, Dim: 6}.Set("alpha")
		methods := []string{"metaqda", "metaqda-transductive", "propagation", "laplacian", "ncc-cl2n", "knn"}
		var err error
		p.Methods, err = Choose(Methods(), methods...)
		test.OK(t, err)
		sources := test.Must(p.sources(domains))(t)
		cells := test.Must(p.cells(sources[0]))(t)
		unequal := false
		for i := range 20 {
			e := cells[0].test.Episode(i)
			sizes, unknown := make([]int, 4), 0
			for _, y := range e.QueryLabel {
				if y == episode.Unknown {
					unknown++
				} else {
					sizes[y]++
				}
			}
			for _, n := range sizes {
				unequal = unequal || n != p.Queries
			}
			if sizes[0]+sizes[1]+sizes[2]+sizes[3] != 4*p.Queries || float64(unknown) != 2*c.outOfSet*4*float64(p.Queries) {
				t.Fatalf("%+v: %v queries and %d out of set", c, sizes, unknown)
			}
		}
		if unequal != (c.imbalance == ImbalanceDirichlet) {
			t.Errorf("%+v: unequal class sizes: %v", c, unequal)
		}
		part := test.Must(p.Run(t.Context(), domains))(t)
		r := part.Report()
		if r.ValTasks != 0 || r.Settings["imbalance"] != c.imbalance || r.Settings["out_of_set"] != c.outOfSet {
			t.Errorf("%+v: header %+v", c, r.Header)
		}
		for _, m := range methods {
			x := r.Find(m, "alpha", 4, 2)
			if x.Queries != 9*4*p.Queries || !(x.Accuracy.Mean > 0.3) || !(x.NLL > 0) || !(x.ECE >= 0 && x.ECE < 1) || x.ECETS != nil {
				t.Errorf("%+v, %s: %+v", c, m, x)
			}
			for name, v := range map[string]*float64{"AUROC": x.AUROCNone, "ECE": x.ECENone, "Brier": x.BrierNone} {
				if (v != nil) != (c.outOfSet > 0) || v != nil && !(*v >= 0 && *v <= 1) {
					t.Errorf("%+v, %s: %s of none is %v", c, m, name, v)
				}
			}
			knows := strings.HasPrefix(m, "metaqda")
			if c.outOfSet > 0 && !knows && math.Abs(*x.AUROCNone-*x.AUROCMaxProb) > 0.02 {
				t.Errorf("%s knows no none of these, but its AUROC is %v and that of one minus the largest %v", m, *x.AUROCNone, *x.AUROCMaxProb)
			}
		}
	}
}

// Balanced tasks without out-of-set queries are those of the standard protocol.
func TestTogetherAsksWhatStandardAsks(t *testing.T) {
	p, domains := small(t, Transductive)
	q, _ := small(t, Standard)
	q.ValTasks = 0
	var accuracy [2]float64
	for i, plan := range []*Plan{p, q} {
		part := test.Must(plan.Run(t.Context(), domains))(t)
		accuracy[i] = part.Report().Find("fb", "alpha", 5, 5).Accuracy.Mean
	}
	if accuracy[0] != accuracy[1] {
		t.Errorf("accuracy of fb is %v, in the standard protocol %v", accuracy[0], accuracy[1])
	}
}
