package experiment

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metrics"
	"metaqda/core/test"
)

// small returns the plan of a protocol on few tasks and a domain for it.
func small(t *testing.T, protocol string) (*Plan, []Domain) {
	t.Helper()
	p, err := NewPlan(protocol)
	test.OK(t, err)
	p.Queries, p.Tasks, p.ValTasks = 4, 9, 3
	p.Methods, err = Choose(Methods(), "fb", "ncc-cl2n")
	test.OK(t, err)
	if protocol == Incremental {
		p.Ways, p.Repeat = []int{3}, 5
	}
	return p, []Domain{{Set: datasettest.Gaussians{Classes: 30, Rows: 20, Dim: 6}.Set("alpha"), Prior: randomPrior(6)}}
}

// Shards that were written and read, and any number of workers, give the bytes of
// the undivided run.
func TestPartsMergeToTheWhole(t *testing.T) {
	for _, protocol := range []string{Standard, OpenSet, MultiDomain, Sessions, Transductive, Incremental} {
		p, domains := small(t, protocol)
		if protocol == Transductive {
			p.Imbalance, p.OutOfSet = ImbalanceDirichlet, 0.5
			p.Methods, _ = Choose(Methods(), "fb", "metaqda-transductive", "propagation", "laplacian", "ncc-cl2n")
		}
		run := func(shard Shard, workers int) *Part {
			q := *p
			q.Shard, q.Workers = shard, workers
			part, err := q.Run(t.Context(), domains)
			if err != nil {
				t.Fatalf("%s: %v", protocol, err)
			}
			return part
		}
		encode := func(r *Report, err error) []byte {
			if err != nil {
				t.Fatalf("%s: %v", protocol, err)
			}
			text, err := r.Encode()
			if err != nil {
				t.Fatalf("%s: %v", protocol, err)
			}
			return text
		}
		want := encode(run(whole, 1).Report(), nil)
		got := encode(run(whole, 4).Report(), nil)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: four workers give other bytes", protocol)
		}
		var parts, memory []*Part
		for _, i := range []int{2, 0, 1} {
			part := run(Shard{i, 3}, 2)
			text := test.Must(part.Encode())(t)
			read := test.Must(DecodePart("shard", text))(t)
			parts, memory = append(parts, read), append(memory, part)
		}
		for name, p := range map[string][]*Part{"written": parts, "in memory": memory} {
			got := encode(Merge(p...))
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %s: three shards give\n%.300s\nwant\n%.300s", protocol, name, got, want)
			}
		}
		if protocol == MultiDomain || protocol == Incremental {
			continue
		}
		written := []*Part{test.Must(DecodePart("whole", want))(t)}
		apart := written
		if protocol == Sessions { // has one cell: results of all methods stand one after the other
			apart = nil
			for _, m := range slices.Clone(p.Methods) {
				p.Methods = []Method{m}
				apart = append(apart, test.Must(DecodePart(m.Name, encode(run(whole, 2).Report(), nil)))(t))
			}
		}
		for name, p := range map[string][]*Part{"a report that was written": written, "methods that were run apart": apart} {
			got := encode(Merge(p...))
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %s give\n%.300s\nwant\n%.300s", protocol, name, got, want)
			}
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	p, domains := small(t, Standard)
	shard := func(index, of int, seed uint64) *Part {
		p.Shard, p.Seed = Shard{index, of}, seed
		return test.Must(p.Run(t.Context(), domains))(t)
	}
	a0, a1, a2, b1 := shard(0, 3, 0), shard(1, 3, 0), shard(2, 3, 0), shard(1, 3, 5)
	many := *a1
	many.Shard.Of = 9e15
	for _, c := range []struct {
		parts []*Part
		say   string
	}{
		{nil, "no shards given"}, {[]*Part{a0, a1}, "shard 2/3 is missing"}, {[]*Part{a0, a1, a1}, "the same shard"}, {[]*Part{a0, b1, a2}, "not shards of one evaluation"},
		{[]*Part{&many}, "shard 0/9000000000000000 is missing"},
	} {
		err := test.Err(Merge(c.parts...))
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v, want %q", err, c.say)
		}
	}
	half, undivided := string(test.Must(shard(1, 2, 0).Encode())(t)), string(test.Must(shard(0, 1, 0).Encode())(t))
	for _, c := range []struct{ old, new, say string }{
		{`"of":2`, `"of":1`, "damaged"}, {`"of":2`, `"of":0`, "neither shard"}, {`"of":2`, `"of":-3`, "neither shard"},
		{`"queries":20`, `"queries":0`, "a tally of no queries"}, {`"records":[{`, `"records":[null,{`, "record 0 of block 0 is null"},
		{`"blocks":[{`, `"blocks":[null,{`, "block 0 is null"},
		{`"raw":{`, `"raw":null,"was":{`, "no \"raw\""},
		{`"bins":[`, `"bins":[{},`, "21 bins in place of 20"},
		{`"scaled":{`, `"scaled":{"bins":[]},"was":{`, "0 bins in place of 20"},
		{`{"episode":`, `{"open":{"none":{"bins":[]}},"episode":`, "0 bins in place of 20"},
		{`"methods":["`, `"methods":["other","`, "no result of other on"},
		{`"n_shot":[`, `"n_shot":[7,`, "7-shot"}, {`"n_way":[`, `"n_way":[],"was":[`, "a header without"},
		{`"records":[`, `"records":[],"was":[`, "an empty result"},
		{`"protocol":"standard"`, `"protocol":"unknown"`, "a header without"},
		{`"protocol":"standard"`, `"protocol":"incremental"`, "an empty result"},
		{`"protocol":"standard"`, `"protocol":"sessions"`, "no \"open\""},
		{`{"episode":`, `{"open":{"known_max":"","unseen_max":""},"episode":`, "no scores"},
	} {
		text := undivided
		if strings.HasPrefix(c.old, `"of"`) {
			text = half
		}
		damaged := strings.Replace(text, c.old, c.new, 1)
		if damaged == text {
			t.Fatalf("no %s in the part", c.old)
		}
		read, err := DecodePart("torn.json", []byte(damaged))
		if err == nil {
			_, err = Merge(read)
		}
		if err == nil || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), "torn.json") {
			t.Errorf("%s: %v, want %q", c.new, err, c.say)
		}
	}
}

func TestPlanIsChecked(t *testing.T) {
	for field, c := range map[string]struct {
		protocol string
		spoil    func(*Plan)
	}{
		"n-tasks is 0": {Standard, func(p *Plan) { p.Tasks = 0 }}, "n-query is -1": {Standard, func(p *Plan) { p.Queries = -1 }}, "n-way is 0": {Standard, func(p *Plan) { p.Ways = []int{5, 0} }},
		"n-shot is 0": {Standard, func(p *Plan) { p.Shots = []int{0} }}, "hand-scale": {Standard, func(p *Plan) { p.HandScale = 0 }}, "workers is 0": {Standard, func(p *Plan) { p.Workers = 0 }},
		"methods names fb twice": {Standard, func(p *Plan) { p.Methods = append(p.Methods, p.Methods[0]) }},
		"repeat is 0":            {Standard, func(p *Plan) { p.Repeat = 0 }}, "shard is 0": {Standard, func(p *Plan) { p.Shard = Shard{} }},
		`imbalance is "zipf"`: {Transductive, func(p *Plan) { p.Imbalance = "zipf" }}, "imbalance is for the": {Standard, func(p *Plan) { p.Imbalance = ImbalanceDirichlet }},
		"out-of-set is 0.3": {Transductive, func(p *Plan) { p.OutOfSet = 0.3 }}, "out-of-set is NaN": {Transductive, func(p *Plan) { p.OutOfSet = math.NaN() }},
		"out-of-set is for the ":  {OpenSet, func(p *Plan) { p.OutOfSet = 0.5 }},
		`in-domain names "alhpa"`: {MultiDomain, func(p *Plan) { p.InDomain = []string{"alpha", "alhpa"} }}, "in-domain is for the ": {Standard, func(p *Plan) { p.InDomain = []string{"alpha"} }},
	} {
		p, domains := small(t, c.protocol)
		c.spoil(p)
		err := test.Refused[*dataset.FieldError](t, test.Err(p.Run(t.Context(), domains)), "%s", field)
		if !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	p, domains := small(t, LeaveOneDomainOut)
	domains[0].Prior.Facts = nil
	err := test.Err(p.Run(t.Context(), append(domains, Domain{Set: datasettest.Gaussians{Classes: 30, Rows: 20, Dim: 6}.Set("beta"), Prior: domains[0].Prior})))
	if err == nil || !strings.Contains(err.Error(), "one --prior for each") {
		t.Errorf("one prior for two domains left out: %v", err)
	}
	for _, protocol := range []string{CrossDomain, LeaveOneDomainOut} {
		p, domains := small(t, protocol)
		domains[0].Prior.Facts = map[string]string{"data": "omega, alpha"}
		err := test.Err(p.Run(t.Context(), domains))
		if err == nil || !strings.Contains(err.Error(), `learned on "alpha"`) {
			t.Errorf("%s, about what the prior was learned on: %v", protocol, err)
		}
	}
	if test.Err(p.Run(t.Context(), nil)) == nil {
		t.Error("no domain is no error")
	}
	p, domains = small(t, Transductive)
	domains[0].Prior = nil
	p.Methods = test.Must(Choose(Methods(), "metaqda-transductive"))(t)
	err = test.Err(p.Run(t.Context(), domains))
	if err == nil || !strings.Contains(err.Error(), "give one with --prior") {
		t.Errorf("without a prior: %v", err)
	}
}

// A temperature is fitted on no class that is tested.
func TestNoTemperatureOfTestedClasses(t *testing.T) {
	for split, want := range map[string]bool{"test": true, "val": false, "all": false, "test, val": false} {
		p, domains := small(t, Standard)
		p.Split, p.Tasks = split, 2
		for _, x := range test.Must(p.Run(t.Context(), domains))(t).Report().Results {
			if (x.Temperature != nil) != want || (x.ECETS != nil) != want {
				t.Errorf("split %q: %s at temperature %v", split, x.Method, x.Temperature)
			}
		}
	}
}

// A run ends soon after its context, and with the first error of a method.
func TestRunStops(t *testing.T) {
	p, domains := small(t, Standard)
	ctx, cancel := context.WithCancel(t.Context())
	p.Progress = func(string, int, int) { cancel() }
	_, err := p.Run(ctx, domains)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
	broken := errors.New("out of order")
	p.Progress = nil
	p.Methods = []Method{{Name: "broken", Prepare: func(*Source, *Plan) (func() Scorer, error) { return nil, broken }}}
	_, err = p.Run(t.Context(), domains)
	if !errors.Is(err, broken) {
		t.Errorf("a method that cannot be prepared: %v", err)
	}
}

// A set without splits is centred on the mean of the prior's training data.
func TestCentreWithoutSplits(t *testing.T) {
	p, domains := small(t, Standard)
	prior := randomPrior(6)
	prior.Transform.Power = 0.5 // whose centre is no centre of plain features
	prior.DataMean = []float64{3, 3.5, 2.5, 3, 3, 3.25}
	domains[0] = Domain{Set: datasettest.Gaussians{Classes: 12, Rows: 20, Dim: 6, Bare: true}.Set("bare"), Prior: prior}
	sources, err := p.sources(domains)
	if err != nil || !slices.Equal(sources[0].centre, prior.DataMean) || sources[0].split != "all" {
		t.Errorf("centred on %v in split %s, want %v (%v)", sources[0].centre, sources[0].split, prior.DataMean, err)
	}
}

// The measures are computed here again from the scores alone.
func TestSessionsMeasures(t *testing.T) {
	e := episode.Episode{Classes: []int{4, 7}, Support: [][]int{{0}, {1}}, Query: []int{2, 3, 4, 5, 6, 7}, QueryLabel: []int{0, 1, 1, -1, -1, -1}}
	p := []float64{0.9, 0.3, 0.6, 0.8, 0.55, 0.5} // of the first class
	scores := mat.NewDense(6, 2, nil)
	for i, v := range p {
		scores.Set(i, 0, math.Log(v)+3)
		scores.Set(i, 1, math.Log(1-v)+3)
	}
	notBest := notBestTo(make([]float64, 6), scores)
	for i, v := range p {
		want := math.Log((1 - math.Max(v, 1-v)) / math.Max(v, 1-v))
		if math.Abs(notBest[i]-want) > 1e-12 {
			t.Errorf("query %d: log odds %v, want %v", i, notBest[i], want)
		}
	}
	logits := []float64{-2, 1, -0.5, 3, -1, 0.25}
	b := &Block{Method: "m", Data: "d", Records: []*Record{newRecord(0, &e, scores, logits, 0)}}
	x := newReport(&Header{Protocol: Sessions}, []*Block{b}).Results[0]
	var brier float64
	bins := metrics.NewReliability(metrics.DefaultBins)
	for i, v := range logits {
		p, y := 1/(1+math.Exp(-v)), float64(map[bool]int{true: 1}[e.QueryLabel[i] < 0])
		brier += (p - y) * (p - y) / 6
		bins.Add(math.Max(p, 1-p), (p > 0.5) == (y == 1))
	}
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"accuracy", x.Accuracy.Mean, 2. / 3}, {"nll", x.NLL, -(math.Log(0.9) + math.Log(0.7) + math.Log(0.4)) / 3},
		{"none_auroc", *x.NoneAUROC, 6. / 9}, {"none_brier", *x.NoneBrier, brier}, {"none_ece", *x.NoneECE, bins.ECE()},
		{"wrongly_none", *x.WronglyNone, 1. / 3}, {"wrongly_known", *x.WronglyKnown, 1. / 3},
	} {
		if math.Abs(m.got-m.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", m.name, m.got, m.want)
		}
	}
	one := notBestTo(make([]float64, 1), mat.NewDense(1, 1, []float64{5}))
	if !math.IsInf(one[0], -1) {
		t.Errorf("a single class leaves log odds of %v", one[0])
	}
}

// A model that is always sure, as the paper's densities are in many dimensions, is surest of what it
// was taught: 1 - max p is 1e-87 and less about these queries, and more about the others.
func TestTheLargestProbabilityOfASureModel(t *testing.T) {
	e := episode.Episode{Classes: []int{4, 7}, Support: [][]int{{0}, {1}}, Query: []int{2, 3, 4, 5}, QueryLabel: []int{0, 1, -1, -1}}
	scores := mat.NewDense(4, 2, []float64{0, -300, -200, 0, 0, -100, -90, 0})
	b := &Block{Method: "m", Data: "d", Records: []*Record{newRecord(0, &e, scores, nil, 0)}}
	x := newReport(&Header{Protocol: OpenSet}, []*Block{b}).Results[0]
	if *x.AUROCMaxProb != 1 || *x.AUPRMaxProb != 1 {
		t.Errorf("AUROC %v and AUPR %v of 1 - max p, want 1", *x.AUROCMaxProb, *x.AUPRMaxProb)
	}
}

// A head that starts at random starts elsewhere under another seed of the plan.
func TestThePlanSeedsTheMethods(t *testing.T) {
	var all [][]float64
	for seed := range uint64(2) {
		s, p := sourceOf(t, 24, 20, 9)
		p.Seed = seed
		pool := test.Must(s.Pool("test"))(t)
		s.setRows(pool)
		e := test.Must(episode.NewUniform(pool, episode.Fixed(4, 3, 5), 1))(t).Episode(0)
		w := workerOf(t, p, s, "teachable")
		test.OK(t, w.score(&e, 0, func(_ int, scores *mat.Dense, _ []float64) { all = append(all, slices.Clone(scores.RawMatrix().Data)) }))
	}
	if slices.Equal(all[0], all[1]) {
		t.Error("another seed gives the same scores of one task")
	}
}

// A group may be asked about or taught, whatever the protocol and the split.
func TestEvaluationKeepsGroupsApart(t *testing.T) {
	set := datasettest.Gaussians{Classes: 18, Rows: 24, Dim: 4, Burst: 4}.Set("bursts")
	for _, protocol := range []string{Standard, OpenSet, MultiDomain, Sessions} {
		p := test.Must(NewPlan(protocol))(t)
		p.Split, p.Ways, p.Shots, p.Queries, p.ValTasks = "test,val", []int{4}, []int{3}, 5, 1
		sources := test.Must(p.sources([]Domain{{Set: set}}))(t)
		cells := test.Must(p.cells(sources[0]))(t)
		for i := range 50 {
			e := cells[0].test.Episode(i)
			for _, row := range slices.Concat(e.Support...) {
				for _, query := range e.Query {
					if set.Groups[row] == set.Groups[query] {
						t.Fatalf("%s: row %d is taught and %d of its group asked", protocol, row, query)
					}
				}
			}
		}
	}
}

func TestBalanceGradientByFiniteDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	l := balanceLoss{base: 3}
	for i := range 40 {
		row := make([]float64, 5)
		for c := range row {
			row[c] = 3 * rng.NormFloat64()
		}
		l.scores, l.labels = append(l.scores, row), append(l.labels, i%5)
	}
	x, got, scratch := []float64{-0.5, 0.3, 0.7}, make([]float64, 3), make([]float64, 3)
	l.loss(got, x)
	want := fd.Gradient(nil, func(x []float64) float64 { return l.loss(scratch, x) }, x, &fd.Settings{Formula: fd.Central})
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-7 {
			t.Errorf("derivative %d is %v, by differences %v", k, got[k], want[k])
		}
	}
}

// Scores that were made from known logits must be put back.
func TestBalanceIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	truth := balance{0.5, 2, -3}
	l := balanceLoss{base: 4}
	p := make([]float64, 6)
	for range 20000 {
		row := make([]float64, 6)
		for c := range row {
			row[c] = 2 * rng.NormFloat64()
		}
		logits := append([]float64(nil), row...)
		truth.apply(logits, 4)
		metrics.SoftmaxTo(p, logits, 1)
		u, y := rng.Float64(), 0
		for u > p[y] && y < 5 {
			u -= p[y]
			y++
		}
		l.scores, l.labels = append(l.scores, row), append(l.labels, y)
	}
	got := l.minimise()
	if got == nil || math.Abs(got.base-truth.base) > 0.05 || math.Abs(got.novel-truth.novel) > 0.1 || math.Abs(got.offset-truth.offset) > 0.2 {
		t.Errorf("got %+v, want about %+v", got, truth)
	}
}
