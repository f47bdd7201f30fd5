package experiment

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"metaqda/core/dataset/datasettest"
)

// small returns the plan of a protocol on few tasks and a domain for it.
func small(t *testing.T, protocol string) (*Plan, []Domain) {
	t.Helper()
	p, err := NewPlan(protocol)
	if err != nil {
		t.Fatal(err)
	}
	p.Queries, p.Tasks, p.ValTasks = 4, 9, 3
	if p.Methods, err = Choose(Methods(), "fb", "ncc-cl2n"); err != nil {
		t.Fatal(err)
	}
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
			p.Imbalance, p.Strangers = ImbalanceDirichlet, 0.5
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
		if got := encode(run(whole, 4).Report(), nil); !bytes.Equal(got, want) {
			t.Errorf("%s: four workers give other bytes", protocol)
		}
		var parts, memory []*Part
		for _, i := range []int{2, 0, 1} {
			part := run(Shard{i, 3}, 2)
			text, err := part.Encode()
			if err != nil {
				t.Fatal(err)
			}
			read, err := DecodePart("shard", text)
			if err != nil {
				t.Fatal(err)
			}
			parts, memory = append(parts, read), append(memory, part)
		}
		for name, p := range map[string][]*Part{"written": parts, "in memory": memory} {
			if got := encode(Merge(p...)); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: three shards give\n%.300s\nwant\n%.300s", protocol, name, got, want)
			}
		}
		whole, err := DecodePart("whole", want)
		if err != nil {
			t.Fatal(err)
		}
		if protocol != MultiDomain && protocol != Incremental {
			if got := encode(Merge(whole)); !bytes.Equal(got, want) {
				t.Errorf("%s: a report that was written reads back as another", protocol)
			}
		}
	}
}

func TestMergeRefusesDamage(t *testing.T) {
	p, domains := small(t, Standard)
	p.Shard = Shard{1, 2}
	part, err := p.Run(t.Context(), domains)
	if err != nil {
		t.Fatal(err)
	}
	text, err := part.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(); err == nil || !strings.Contains(err.Error(), "no shards") {
		t.Errorf("no parts: %v", err)
	}
	for _, c := range []struct{ old, new, say string }{
		{`"of":2`, `"of":1`, "damaged"}, {`"of":2`, `"of":0`, "neither shard"}, {`"of":2`, `"of":-3`, "neither shard"},
		{`"queries":20`, `"queries":0`, "damaged"}, {`"records":[{`, `"records":[null,{`, "damaged"},
	} {
		damaged := strings.Replace(string(text), c.old, c.new, 1)
		if damaged == string(text) {
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
	for field, spoil := range map[string]func(*Plan){
		"n-tasks is 0": func(p *Plan) { p.Tasks = 0 }, "n-query is -1": func(p *Plan) { p.Queries = -1 }, "n-way is 0": func(p *Plan) { p.Ways = []int{5, 0} },
		"n-shot is 0": func(p *Plan) { p.Shots = []int{0} }, "hand-scale": func(p *Plan) { p.HandScale = 0 }, "workers is 0": func(p *Plan) { p.Workers = 0 },
		"methods names fb twice": func(p *Plan) { p.Methods = append(p.Methods, p.Methods[0]) },
		"repeat is 0":            func(p *Plan) { p.Repeat = 0 }, "shard is 0": func(p *Plan) { p.Shard = Shard{} },
	} {
		p, domains := small(t, Standard)
		spoil(p)
		_, err := p.Run(t.Context(), domains)
		var value *FieldError
		if !errors.As(err, &value) || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	p, domains := small(t, LeaveOneDomainOut)
	if _, err := p.Run(t.Context(), append(domains, Domain{Set: datasettest.Gaussians{Classes: 30, Rows: 20, Dim: 6}.Set("beta"), Prior: domains[0].Prior})); err == nil || !strings.Contains(err.Error(), "one --prior for each") {
		t.Errorf("one prior for two domains left out: %v", err)
	}
	if _, err := p.Run(t.Context(), nil); err == nil {
		t.Error("no domain is no error")
	}
}

// A run ends soon after its context, and with the first error of a method.
func TestRunStops(t *testing.T) {
	p, domains := small(t, Standard)
	ctx, cancel := context.WithCancel(t.Context())
	p.Progress = func(string, int, int) { cancel() }
	if _, err := p.Run(ctx, domains); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
	broken := errors.New("out of order")
	p.Progress = nil
	p.Methods = []Method{{Name: "broken", Prepare: func(*Source, *Plan) (func() Scorer, error) { return nil, broken }}}
	if _, err := p.Run(t.Context(), domains); !errors.Is(err, broken) {
		t.Errorf("a method that cannot be prepared: %v", err)
	}
}

// A set without splits is centred on what the prior was learned from.
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
