package reproduce

import "metaqda/core/experiment"

// crossDomain has the shape of the paper's table 4: a prior of miniImageNet's
// training classes on the test classes of other domains.
func (r *reproduction) crossDomain() error {
	r.title("Cross-domain, by the page's extractor")
	targets := []string{"caltech101", "cifarfs", "omniglot"}
	if !r.has("miniimagenet") || !r.has(targets...) {
		return nil
	}
	prior, err := r.train("miniimagenet", "deep", 1500, "miniimagenet")
	if err != nil {
		return err
	}
	e, err := r.eval(evaluation{name: "cross-domain", protocol: experiment.CrossDomain, data: targets, prior: prior, methods: "ncc-cl2n,cosine,linear,fb"})
	if err != nil {
		return err
	}
	r.tables(e)
	for _, n := range targets {
		r.aboveAll(e, n, "ncc-cl2n")
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
	prior, err := r.train("three-domains", "deep", 1500, seen...)
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
	r.tables(e)
	return nil
}

// singleDomains is table 1 on the page's own extractor.
func (r *reproduction) singleDomains(names []string, prior string) error {
	e, err := r.eval(evaluation{name: "pictures-standard", protocol: experiment.Standard, data: names, prior: prior, methods: "ncc-cl2n,cosine,linear,knn,fb"})
	if err != nil {
		return err
	}
	r.tables(e)
	for _, n := range names {
		r.aboveAll(e, n, "ncc-cl2n", "linear")
	}
	return nil
}
