package main

import (
	"fmt"
	"reflect"
	"slices"
)

// mergeMethods joins evaluations of the same cells by different methods. Their
// tasks are the same as far as both go.
func mergeMethods(files []*shardFile, names []string) (*report, error) {
	h := *files[0].header
	if h.Protocol == "incremental" || h.Protocol == "multi-domain" {
		return nil, fmt.Errorf("%s is of the protocol %s, which has no fixed ways and shots; run it with all --methods together", names[0], h.Protocol)
	}
	h.Methods = nil
	r := &report{header: &h}
	for i, f := range files {
		if !sameCells(f.header, files[0].header) {
			return nil, fmt.Errorf("%s and %s are not of one evaluation; run both with the same flags but for --methods and --n-tasks, on the same data", names[0], names[i])
		}
		if err := checkResults(f, names[i]); err != nil {
			return nil, err
		}
		for _, m := range f.Methods {
			if slices.Contains(h.Methods, m) {
				return nil, fmt.Errorf("%s has the method %s, which another file has too; give each once", names[i], m)
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
func sameCells(a, b *header) bool {
	x, y := *a, *b
	x.Methods, x.Tasks, y.Methods, y.Tasks = nil, 0, nil, 0
	return reflect.DeepEqual(x, y)
}

// checkResults finds what is missing before a table asks for it.
func checkResults(f *shardFile, name string) error {
	if slices.Contains(f.Results, nil) {
		return fmt.Errorf("%s is damaged: it has an empty result; compute it again", name)
	}
	r := &report{header: f.header, Results: f.Results}
	for _, m := range f.Methods {
		for _, d := range f.Data {
			if x := r.sessionsOf(m, d.Name); f.Protocol == "sessions" && (x == nil || len(x.EpisodeAccuracy) == 0) {
				return fmt.Errorf("%s is damaged: it has no result of %s on %s; compute it again", name, m, d.Name)
			}
			for _, way := range f.Way {
				for _, shot := range f.Shot {
					if x := r.lookup(m, d.Name, way, shot); x == nil || len(x.EpisodeAccuracy) == 0 {
						return fmt.Errorf("%s is damaged: it has no result of %s on %s, %d-way %d-shot; compute it again", name, m, d.Name, way, shot)
					}
				}
			}
		}
	}
	return nil
}
