package reproduce

import (
	"fmt"
	"strings"

	"metaqda/core/experiment"
	"metaqda/scripts/tables"
)

// crossDomain has the shape of the paper's table 4: a prior of miniImageNet's
// training classes on the test classes of other domains.
func (r *reproduction) crossDomain() error {
	r.title("Cross-domain, by the page's extractor")
	targets := []string{"caltech101", "cifarfs", "omniglot"}
	if !r.has("miniimagenet") || !r.has(targets...) {
		return nil
	}
	prior, err := r.train("miniimagenet", "default", 800, "miniimagenet")
	if err != nil {
		return err
	}
	methods := []string{"ncc-cl2n", "cosine", "linear", "fb"}
	e, err := r.eval(evaluation{name: "cross-domain", protocol: experiment.CrossDomain, data: targets, prior: prior, methods: strings.Join(methods, ",")})
	if err != nil {
		return err
	}
	t := &tables.Table{Title: "Cross-domain, prior of miniImageNet, accuracy in percent", Header: []string{"method"}}
	for _, n := range targets {
		for _, shot := range []int{1, 5} {
			t.Header = append(t.Header, fmt.Sprintf("%s %d-shot", n, shot))
		}
	}
	for _, m := range methods {
		row := []string{m}
		for _, n := range targets {
			for _, shot := range []int{1, 5} {
				row = append(row, tables.Mean(e.Find(m, n, 0, shot).Accuracy))
			}
		}
		t.Add(row...)
	}
	r.print(t)
	for _, n := range targets {
		for _, shot := range []int{1, 5} {
			r.above(e, n, shot, "fb", "ncc-cl2n")
		}
	}
	return nil
}

// multiDomain has the shape of the paper's table 5.
func (r *reproduction) multiDomain() error {
	r.title("Multi-domain, by the page's extractor")
	seen := []string{"miniimagenet", "cifarfs", "omniglot"}
	all := append(append([]string{}, seen...), "caltech101")
	if !r.has(all...) {
		return nil
	}
	prior, err := r.train("three-domains", "default", 1200, seen...)
	if err != nil {
		return err
	}
	if err := r.singleDomains(all, prior); err != nil {
		return err
	}
	e, err := r.eval(evaluation{name: "multi-domain", protocol: experiment.MultiDomain, data: all, prior: prior, inDomain: seen, methods: "ncc-un,ncc-cl2n,knn,map,fb"})
	if err != nil {
		return err
	}
	t := &tables.Table{Title: "Multi-domain, random way and shot, accuracy in percent", Header: []string{"method", "avg. rank", "overall", "in-domain", "out-of-domain"},
		Note: "In-domain: miniImageNet, CIFAR-FS and Omniglot; out-of-domain: Caltech-101."}
	for _, s := range e.Summary {
		t.Add(s.Method, fmt.Sprintf("%.2f", s.AverageRank), tables.Percent(s.Overall), tables.Optional(s.InDomain), tables.Optional(s.OutOfDomain))
	}
	r.print(t)
	return nil
}

// singleDomains is table 1 on the page's own extractor.
func (r *reproduction) singleDomains(names []string, prior string) error {
	methods := []string{"ncc-cl2n", "cosine", "linear", "knn", "fb"}
	e, err := r.eval(evaluation{name: "pictures-standard", protocol: experiment.Standard, data: names, prior: prior, methods: strings.Join(methods, ",")})
	if err != nil {
		return err
	}
	for _, n := range names {
		t := &tables.Table{Title: "Standard, " + n, Header: []string{"method", "1-shot accuracy", "1-shot ECE", "5-shot accuracy", "5-shot ECE"}}
		for _, m := range methods {
			a, b := e.Find(m, n, 0, 1), e.Find(m, n, 0, 5)
			t.Add(m, tables.Mean(a.Accuracy), tables.Percent(a.ECE), tables.Mean(b.Accuracy), tables.Percent(b.ECE))
		}
		r.print(t)
		for _, shot := range []int{1, 5} {
			r.above(e, n, shot, "fb", "ncc-cl2n")
			r.above(e, n, shot, "fb", "linear")
		}
	}
	return nil
}
