package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/scripts/fastblas"
)

// header says what was run: everything that decides the numbers.
type header struct {
	Format   string            `json:"format"`
	Versions map[string]string `json:"versions"`
	Protocol string            `json:"protocol"`
	Seed     uint64            `json:"seed"`
	Split    string            `json:"split"`
	Way      []int             `json:"n_way"`
	Shot     []int             `json:"n_shot"`
	Query    int               `json:"n_query"`
	Tasks    int               `json:"n_tasks"`
	ValTasks int               `json:"n_val_tasks"`
	Repeat   int               `json:"repeat"`
	Methods  []string          `json:"methods"`
	Settings map[string]any    `json:"settings"`
	Data     []dataHeader      `json:"data"`
	InDomain []string          `json:"in_domain,omitempty"`
}

type dataHeader struct {
	Name      string `json:"name"`
	File      string `json:"file"`
	Rows      int    `json:"rows"`
	Dimension int    `json:"dimension"`
	Split     string `json:"split,omitempty"` // where it is not that of all
	Extractor string `json:"extractor,omitempty"`
	Prior     string `json:"prior,omitempty"`
	PriorSum  string `json:"prior_sha256,omitempty"`
	MapSum    string `json:"prior_map_sha256,omitempty"`
}

const (
	evalFormat  = "metaqda.eval.1"
	shardFormat = "metaqda.shard.1"
)

func newHeader(o *evalOptions, sources []*source) *header {
	h := &header{Format: evalFormat, Versions: versions(), Protocol: o.protocol, Seed: o.seed, Split: o.split, Way: o.ways,
		Shot: o.shots, Query: o.query, Tasks: o.tasks, ValTasks: o.valTasks, Repeat: o.repeat}
	for _, m := range o.methods {
		h.Methods = append(h.Methods, m.name)
	}
	h.Settings = map[string]any{"hand_scale": o.handScale, "maml_tasks": float64(o.mamlTasks)}
	for _, s := range sources {
		d := dataHeader{Name: s.set.Name, File: s.set.File(), Rows: s.set.Len(), Dimension: s.set.Dim, Extractor: s.set.Extractor}
		if s.split != o.split {
			d.Split = s.split
		}
		if s.prior != nil {
			d.Prior, d.PriorSum = s.prior.file, s.prior.sha256
		}
		if s.mapPrior != nil {
			d.MapSum = s.mapPrior.sha256
		}
		h.Data = append(h.Data, d)
	}
	if o.protocol == "multi-domain" {
		h.InDomain = o.domains(sources)
	}
	return h
}

// domains returns the data sets that count as seen by the prior.
func (o *evalOptions) domains(sources []*source) []string {
	if len(o.inDomain) > 0 || sources[0].prior == nil {
		return o.inDomain
	}
	return list(sources[0].prior.facts["data"])
}

// versions tells what computed the numbers. Different processors round
// differently.
func versions() map[string]string {
	v := map[string]string{"metaqda": "devel", "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	v["blas"] = "gonum"
	if _, ok := blas64.Implementation().(fastblas.Implementation); ok {
		v["blas"] = "gonum with AVX2 product"
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v["metaqda"] = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Path == "gonum.org/v1/gonum" {
			v["gonum"] = d.Version
		}
	}
	return v
}

// report is the whole result of an evaluation.
type report struct {
	*header
	Results []*Result  `json:"results"`
	Summary []*summary `json:"summary"`
	Margins []*margin  `json:"margins"`
}

// summary is one method over several data sets, as the paper's Meta-Dataset
// table gives it.
type summary struct {
	Method      string   `json:"method"`
	Overall     float64  `json:"overall"`
	InDomain    *float64 `json:"in_domain"`
	OutOfDomain *float64 `json:"out_of_domain"`
	AverageRank float64  `json:"average_rank"`
}

func newReport(h *header, blocks []*block) *report {
	r := &report{header: h}
	for _, b := range blocks {
		x := b.result()
		if h.Protocol == "sessions" {
			x.addDoubts(b.Records)
		}
		r.Results = append(r.Results, x)
	}
	r.sumUp()
	return r
}

// sumUp adds what some protocols say over all results.
func (r *report) sumUp() {
	switch r.Protocol {
	case "multi-domain":
		r.summarise()
	case "leave-one-domain-out":
		r.addMargins()
	}
}

// summarise averages over the data sets, each counting alike. Ranks go by the
// mean accuracy on each data set, methods of equal accuracy share theirs.
func (r *report) summarise() {
	ranks := map[string]float64{}
	for _, d := range r.Data {
		for _, a := range r.on(d.Name) {
			rank := 1.0
			for _, b := range r.on(d.Name) {
				switch {
				case b == a:
				case b.Accuracy.Mean > a.Accuracy.Mean:
					rank++
				case b.Accuracy.Mean == a.Accuracy.Mean:
					rank += 0.5
				}
			}
			ranks[a.Method] += rank / float64(len(r.Data))
		}
	}
	for _, m := range r.Methods {
		s := &summary{Method: m, AverageRank: ranks[m]}
		var all, in, out []float64
		for _, x := range r.Results {
			if x.Method != m {
				continue
			}
			all = append(all, x.Accuracy.Mean)
			if slices.Contains(r.InDomain, x.Data) {
				in = append(in, x.Accuracy.Mean)
			} else {
				out = append(out, x.Accuracy.Mean)
			}
		}
		s.Overall, s.InDomain, s.OutOfDomain = *mean(all), mean(in), mean(out)
		r.Summary = append(r.Summary, s)
	}
}

func (r *report) on(data string) []*Result {
	var on []*Result
	for _, x := range r.Results {
		if x.Data == data {
			on = append(on, x)
		}
	}
	return on
}

// encode returns the report as JSON with one result a line.
func (r *report) encode() ([]byte, error) {
	head, err := json.Marshal(r.header)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(head[:len(head)-1]) // the closing brace comes last
	b.WriteString(",\n\"results\": [")
	for i, x := range r.Results {
		if i > 0 {
			b.WriteString(",")
		}
		line, err := json.Marshal(x)
		if err != nil {
			return nil, fmt.Errorf("result of %s on %s holds a number that JSON cannot (%v); choose more tasks or queries", x.Method, x.Data, err)
		}
		b.WriteString("\n")
		b.Write(line)
	}
	b.WriteString("\n]")
	for _, part := range []struct {
		name  string
		value any
		has   bool
	}{{"summary", r.Summary, r.Summary != nil}, {"margins", r.Margins, r.Margins != nil}} {
		if !part.has {
			continue
		}
		text, err := json.Marshal(part.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",\n%q: %s", part.name, text)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// tables renders the report in the shape of the paper's tables.
func (r *report) tables() []*table {
	switch r.Protocol {
	case "multi-domain":
		return []*table{r.multiDomainTable()}
	case "incremental":
		return r.incrementalTables()
	}
	var tables []*table
	for _, d := range r.Data {
		if r.Protocol == "sessions" {
			tables = append(tables, r.sessionsTable(d))
		}
		for _, way := range r.Way {
			tables = append(tables, r.cellTable(d, way))
		}
	}
	if r.Protocol == "leave-one-domain-out" {
		tables = append(tables, r.foreignTables()...)
	}
	return tables
}

// column is one measure of a cell.
type column struct {
	name string
	get  func(*Result) string
}

var (
	accuracyColumn = column{"accuracy", func(x *Result) string { return interval(x.Accuracy) }}
	eceColumn      = column{"ECE", func(x *Result) string { return percent(x.ECE) }}
	eceTSColumn    = column{"ECE+TS", func(x *Result) string { return optional(x.ECETS) }}
	nllColumn      = column{"NLL", func(x *Result) string { return fmt.Sprintf("%.3f", x.NLL) }}
)

// gain is by how many points none-of-these detects better than one minus the
// largest probability of the same model; nothing for methods that have no other.
func gain(x *Result) string {
	if x.ECENone == nil {
		return "-"
	}
	return fmt.Sprintf("%+.2f", 100*(*x.AUROCNone-*x.AUROCMaxProb))
}

func (r *report) columns() []column {
	switch r.Protocol {
	case "calibration":
		return []column{accuracyColumn, eceTSColumn, eceColumn,
			{"MCE", func(x *Result) string { return percent(x.MCE) }},
			{"Brier", func(x *Result) string { return fmt.Sprintf("%.3f", x.Brier) }},
			{"NLL+TS", func(x *Result) string {
				if x.NLLTS == nil {
					return "-"
				}
				return fmt.Sprintf("%.3f", *x.NLLTS)
			}}, nllColumn}
	case "open-set":
		return []column{accuracyColumn,
			{"AUROC", func(x *Result) string { return optional(x.AUROCNone) }},
			{"AUROC 1-max", func(x *Result) string { return optional(x.AUROCMaxProb) }},
			{"gain", gain},
			{"AUPR", func(x *Result) string { return optional(x.AUPRNone) }},
			{"ECE none", func(x *Result) string { return optional(x.ECENone) }},
			{"Brier none", func(x *Result) string { return optional(x.BrierNone) }}}
	case "sessions":
		return []column{accuracyColumn, eceColumn, nllColumn,
			{"none AUROC", func(x *Result) string { return optional(x.NoneAUROC) }},
			{"none ECE", func(x *Result) string { return optional(x.NoneECE) }},
			{"none Brier", func(x *Result) string { return optional(x.NoneBrier) }},
			{"wrongly none", func(x *Result) string { return optional(x.WronglyNone) }},
			{"wrongly known", func(x *Result) string { return optional(x.WronglyKnown) }}}
	case "ablation", "leave-one-domain-out":
		return []column{accuracyColumn, eceColumn}
	}
	return []column{accuracyColumn, eceColumn, eceTSColumn, nllColumn}
}

// cellTable is one data set at one way: methods down, shots across.
func (r *report) cellTable(d dataHeader, way int) *table {
	t := &table{title: fmt.Sprintf("%s, split %s, %d-way, %d queries a class, %d tasks, seed %d", d.Name, r.splitOf(d), way, r.Query, r.Tasks*r.Repeat, r.Seed),
		header: []string{"method"}}
	for _, shot := range r.Shot {
		for _, c := range r.columns() {
			t.header = append(t.header, fmt.Sprintf("%d-shot %s", shot, c.name))
		}
	}
	for _, m := range r.Methods {
		row := []string{r.label(m)}
		for _, shot := range r.Shot {
			x := r.find(m, d.Name, way, shot)
			for _, c := range r.columns() {
				row = append(row, c.get(x))
			}
		}
		t.add(row...)
	}
	return t
}

// label is a method's name, with the number of its tasks where that is not the
// one of the others.
func (r *report) label(method string) string {
	for _, x := range r.Results {
		if x.Method == method && x.Tasks != r.Tasks*r.Repeat {
			return fmt.Sprintf("%s (%d tasks)", method, x.Tasks)
		}
	}
	return method
}

func (r *report) find(method, data string, way, shot int) *Result {
	if x := r.lookup(method, data, way, shot); x != nil {
		return x
	}
	panic("metaqda: result missing from the report")
}

// lookup is find for what may be missing.
func (r *report) lookup(method, data string, way, shot int) *Result {
	for _, x := range r.Results {
		if x.Method == method && x.Data == data && x.Way != nil && *x.Way == way && x.Shot != nil && *x.Shot == shot {
			return x
		}
	}
	return nil
}

func (r *report) multiDomainTable() *table {
	t := &table{title: fmt.Sprintf("Meta-Dataset tasks, split %s, %d tasks a data set, seed %d", r.Split, r.Tasks*r.Repeat, r.Seed), header: []string{"method", "avg. rank", "overall", "in-domain", "out-of-domain"}}
	for _, d := range r.Data {
		t.header = append(t.header, d.Name)
	}
	for _, s := range r.Summary {
		row := []string{s.Method, fmt.Sprintf("%.2f", s.AverageRank), percent(s.Overall), optional(s.InDomain), optional(s.OutOfDomain)}
		for _, d := range r.Data {
			for _, x := range r.on(d.Name) {
				if x.Method == s.Method {
					row = append(row, interval(x.Accuracy))
				}
			}
		}
		t.add(row...)
	}
	if len(r.InDomain) > 0 {
		t.note = "in-domain: " + strings.Join(r.InDomain, ", ")
	}
	return t
}

func (r *report) incrementalTables() []*table {
	var tables []*table
	for _, d := range r.Data {
		t := &table{title: fmt.Sprintf("%s, class-incremental, %d new classes a session with %d rows each, %d runs, seed %d", d.Name, r.Way[0], r.Shot[0], r.Repeat, r.Seed), header: []string{"method"}}
		for _, m := range r.Methods {
			var sessions []*Result
			for _, x := range r.on(d.Name) {
				if x.Method == m {
					sessions = append(sessions, x)
				}
			}
			sort.Slice(sessions, func(i, j int) bool { return *sessions[i].Session < *sessions[j].Session })
			row, asIs, novel := []string{m}, []string{m + ", unbalanced"}, []string{m + ", new classes"}
			for i, x := range sessions {
				if len(t.header) <= i+1 {
					t.header = append(t.header, fmt.Sprintf("%d (%d)", i, *x.Classes))
				}
				row = append(row, percent(x.Accuracy.Mean))
				asIs = append(asIs, percent(x.AccuracyAsIs.Mean))
				novel = append(novel, optional(x.AccuracyNovel))
			}
			t.add(row...)
			t.add(asIs...)
			t.add(novel...)
		}
		t.note = "columns: session (classes seen); scores of base and new classes are balanced on validation classes where there are any"
		tables = append(tables, t)
	}
	return tables
}
