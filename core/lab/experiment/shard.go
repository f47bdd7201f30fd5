package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"metaqda/core/lab/dataset"
)

// Shard is the part of the episodes that one process does: their numbers and Index leave the same
// remainder by Of. So counting from 0 (0/4 ... 3/4) and from 1 (1/4 ... 4/4) both cover everything
// once. 0/1 is all episodes; the zero Shard is none, and refused.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

var whole = Shard{0, 1}

// Whole reports whether the shard is all episodes.
func (s Shard) Whole() bool { return s == whole }

// has reports whether an episode belongs to the shard.
func (s Shard) has(episode int) bool { return episode%s.Of == s.Index }

// ParseShard reads "i/n"; an empty text is all episodes.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return whole, nil
	}
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || of < 1 || index < 0 || index > of {
		return whole, dataset.BadField("shard", "is %q; write it as i/n with i from 0 to n-1 or from 1 to n, such as 0/4", text)
	}
	return Shard{index % of, of}, nil
}

// mergeMethods joins evaluations of the same cells by different methods. Their
// tasks are the same as far as both go.
func mergeMethods(parts []*Part) (*Report, error) {
	h, first := *parts[0].Header, parts[0].name
	if h.Protocol == Incremental || h.Protocol == MultiDomain {
		return nil, fmt.Errorf("%s is of the protocol %s, which has no fixed ways and shots; run it with all --methods together", first, h.Protocol)
	}
	h.Methods = nil
	r := &Report{Header: &h}
	for _, f := range parts {
		if !sameCells(f.Header, parts[0].Header) {
			return nil, fmt.Errorf("%s and %s are not of one evaluation; run both with the same flags but for --methods and --n-tasks, on the same data", first, f.name)
		}
		if err := (&Report{Header: f.Header, Results: f.Results}).check(f.name); err != nil {
			return nil, err
		}
		for _, m := range f.Methods {
			if slices.Contains(h.Methods, m) {
				return nil, fmt.Errorf("%s has the method %s, which another file has too; give each once", f.name, m)
			}
			h.Methods = append(h.Methods, m)
		}
		h.Tasks = max(h.Tasks, f.Tasks)
		r.Results = append(r.Results, f.Results...)
	}
	r.sumUp()
	return r, nil
}

// sameCells reports whether two evaluations differ in methods and number of
// tasks only.
func sameCells(a, b *Header) bool {
	x, y := *a, *b
	x.Methods, x.Tasks, y.Methods, y.Tasks = nil, 0, nil, 0
	return reflect.DeepEqual(x, y)
}

// check returns an error, which names a file, if the tables of the protocol cannot be made of the results.
func (r *Report) check(file string) error {
	missing := func(what string, args ...any) error {
		return fmt.Errorf("%s is damaged: it has "+what+"; compute it again", append([]any{file}, args...)...)
	}
	drawn := r.Protocol == Sessions || r.Protocol == MultiDomain // way and shot are drawn for each task
	if _, err := protocol(r.Protocol); err != nil || r.Protocol == Sessions && len(r.Way) > 0 || !drawn && (len(r.Way) == 0 || len(r.Shot) == 0) || len(r.Methods) == 0 || len(r.Data) == 0 {
		return missing("a header without methods or data sets, or of ways and shots that its protocol does not have")
	}
	for _, x := range r.Results {
		if x == nil || len(x.EpisodeAccuracy) == 0 || r.Protocol == Incremental && (x.Session == nil || x.Classes == nil || x.AccuracyAsIs == nil) {
			return missing("an empty result")
		}
	}
	ways, shots := r.Way, r.Shot
	if drawn || r.Protocol == Incremental {
		ways, shots = []int{0}, []int{0}
	}
	for _, m := range r.Methods {
		for _, d := range r.Data {
			for _, way := range ways {
				for _, shot := range shots {
					if r.Find(m, d.Name, way, shot) != nil {
						continue
					}
					if way+shot == 0 {
						return missing("no result of %s on %s", m, d.Name)
					}
					return missing("no result of %s on %s, %d-way %d-shot", m, d.Name, way, shot)
				}
			}
		}
	}
	return nil
}
