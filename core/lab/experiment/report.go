package experiment

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Header says what was run: everything that decides the numbers.
type Header struct {
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
	Data     []DomainHeader    `json:"data"`
	InDomain []string          `json:"in_domain,omitempty"`
}

// DomainHeader describes a domain.
type DomainHeader struct {
	Name      string `json:"name"`
	File      string `json:"file"`
	Rows      int    `json:"rows"`
	Dimension int    `json:"dimension"`
	Split     string `json:"split,omitempty"` // if it differs from the split of the report
	Extractor string `json:"extractor,omitempty"`
	Prior     string `json:"prior,omitempty"`
	PriorSum  string `json:"prior_sha256,omitempty"`
	MAPSum    string `json:"prior_map_sha256,omitempty"`
}

const (
	reportFormat = "metaqda.eval.1"
	shardFormat  = "metaqda.shard.1"
)

func (p *Plan) header(sources []*Source) *Header {
	h := &Header{Format: reportFormat, Versions: p.Versions, Protocol: p.Protocol, Seed: p.Seed, Split: p.Split, Way: p.Ways,
		Shot: p.Shots, Query: p.Queries, Tasks: p.Tasks, ValTasks: p.ValTasks, Repeat: p.Repeat}
	for _, m := range p.Methods {
		h.Methods = append(h.Methods, m.Name)
	}
	h.Settings = map[string]any{"hand_scale": p.HandScale, "maml_tasks": float64(p.MAMLTasks)}
	if p.Protocol == Transductive {
		h.Settings["imbalance"], h.Settings["out_of_set"] = p.Imbalance, p.OutOfSet
	}
	for _, s := range sources {
		d := DomainHeader{Name: s.Set.Name, File: s.Set.File(), Rows: s.Set.Len(), Dimension: s.Set.Dim, Extractor: s.Set.Extractor}
		if s.split != p.Split {
			d.Split = s.split
		}
		if s.Prior != nil {
			d.Prior, d.PriorSum = s.Prior.File, s.Prior.SHA256
		}
		if s.MAPPrior != nil {
			d.MAPSum = s.MAPPrior.SHA256
		}
		h.Data = append(h.Data, d)
	}
	if p.Protocol == MultiDomain {
		h.InDomain = p.inDomain(sources)
	}
	return h
}

// inDomain returns the data sets that count as seen by the prior.
func (p *Plan) inDomain(sources []*Source) []string {
	if len(p.InDomain) > 0 || sources[0].Prior == nil {
		return p.InDomain
	}
	return sources[0].Prior.data()
}

// Report is the whole result of an evaluation.
type Report struct {
	*Header
	Results []*Result  `json:"results"`
	Summary []*Summary `json:"summary,omitempty"`
	Margins []*Margin  `json:"margins,omitempty"`
}

// Summary is one method over several data sets, as the paper's Meta-Dataset
// table gives it.
type Summary struct {
	Method      string   `json:"method"`
	Overall     float64  `json:"overall"`
	InDomain    *float64 `json:"in_domain"`
	OutOfDomain *float64 `json:"out_of_domain"`
	AverageRank float64  `json:"average_rank"`
}

// newReport sums the records of each block. The summaries are not there yet: see [Report.sumUp].
func newReport(h *Header, blocks []*Block) *Report {
	r := &Report{Header: h}
	for _, b := range blocks {
		x := b.result()
		if h.Protocol == Sessions {
			x.addSessions(b.Records)
		}
		r.Results = append(r.Results, x)
	}
	return r
}

// sumUp adds the summaries of some protocols over all results.
func (r *Report) sumUp() {
	switch r.Protocol {
	case MultiDomain:
		r.summarise()
	case LeaveOneDomainOut:
		r.addMargins()
	}
}

// summarise averages over the data sets. Each data set counts the same. Ranks are by the mean accuracy
// on each data set. Methods of equal accuracy share a rank.
func (r *Report) summarise() {
	ranks := map[string]float64{}
	for _, d := range r.Data {
		for _, a := range r.On(d.Name) {
			rank := 1.0
			for _, b := range r.On(d.Name) {
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
		s := &Summary{Method: m, AverageRank: ranks[m]}
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

// On returns the results on a data set, in the order of the methods.
func (r *Report) On(data string) []*Result {
	var on []*Result
	for _, x := range r.Results {
		if x.Data == data {
			on = append(on, x)
		}
	}
	return on
}

// Encode returns the report as JSON.
func (r *Report) Encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		for _, x := range r.Results {
			if _, err := json.Marshal(x); err != nil {
				return nil, fmt.Errorf("the result of %s on %s has a number that JSON cannot hold (%v); choose more tasks or queries", x.Method, x.Data, err)
			}
		}
		return nil, err
	}
	return append(text, '\n'), nil
}

// Find returns the result of a method on a data set at a way and a shot, or nil. A way
// or a shot of 0 stands for any.
func (r *Report) Find(method, data string, way, shot int) *Result {
	for _, x := range r.Results {
		if x.Method == method && x.Data == data && (way == 0 || x.Way != nil && *x.Way == way) && (shot == 0 || x.Shot != nil && *x.Shot == shot) {
			return x
		}
	}
	return nil
}

// SplitOf returns the split that the tasks of a data set were drawn from.
func (r *Report) SplitOf(d DomainHeader) string {
	if d.Split == "" {
		return r.Split
	}
	return d.Split
}
