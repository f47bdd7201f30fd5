package experiment

import (
	"fmt"
	"strings"
)

// The protocols.
const (
	Standard          = "standard"
	CrossDomain       = "cross-domain"
	MultiDomain       = "multi-domain"
	Incremental       = "incremental"
	Calibration       = "calibration"
	Ablation          = "ablation"
	OpenSet           = "open-set"
	Sessions          = "sessions"
	LeaveOneDomainOut = "leave-one-domain-out"
	Transductive      = "transductive"
)

// Protocol is a way to evaluate, with the default values of its plans.
type Protocol struct {
	Name    string
	About   string   // lines of text
	Methods []string // that it compares
	Shots   []int
	Repeat  int
}

// Protocols lists them all.
func Protocols() []Protocol {
	most := strings.Split("metaqda,fb,map,ncc-un,ncc-cl2n,linear,cosine,knn,lda,qda", ",")
	return []Protocol{
		{Standard, "N-way K-shot tasks from the classes of --split", most, []int{1, 5}, 1},
		{CrossDomain, "the same, with a --prior learned on another data set", most, []int{1, 5}, 1},
		{MultiDomain, `random way and shot as Meta-Dataset draws them, for each data set;
averages within and outside the prior's domains, average rank`,
			[]string{"metaqda", "fb", "map", "ncc-un", "ncc-cl2n", "knn"}, []int{0}, 1},
		{Incremental, `classes of the split "train" with all their rows but a sixth
(at most 100), then sessions of --n-way (5) new classes of --split
with --n-shot (5) rows; accuracy over all classes seen; 10 runs.
Scale and offset between base and new classes are fitted on
sessions of validation classes and another sixth of the base rows,
for every method; the accuracy without that is reported too`,
			[]string{"fb", "ncc-cl2n"}, []int{5}, 10},
		{Calibration, "ECE, MCE, Brier and NLL without and with temperature",
			[]string{"metaqda", "fb", "map", "linear", "ncc-cl2n", "qda"}, []int{1, 5}, 1},
		{Ablation, "LDA and QDA without, with hand-crafted and with learned prior",
			[]string{"lda", "qda", "fb-lda-handcrafted", "fb-handcrafted", "fb-lda", "map", "fb", "metaqda"}, []int{1, 5}, 1},
		{OpenSet, `as many queries from unseen classes as from the task's own:
detection of "none of these", its gain over 1 - max p of the
same model, and the calibration of its probability at even
odds; --n-way 1 asks 'is it this, or not?'`,
			[]string{"metaqda", "fb", "map", "ncc-cl2n", "linear", "cosine", "knn", "knn-tfjs", "teachable"}, []int{1, 5}, 1},
		{Sessions, `as people make them: 1 to 8 classes of 1 to 12 examples each, a
third of them taught by one to three bursts where the data has
groups; 10 queries of taught classes and 10 of unseen ones. Ways,
shots and queries are fixed, and no temperature is fitted.
Methods without a reject score use 1 - max p`,
			[]string{"metaqda", "ncc-cl2n", "linear", "teachable", "knn", "knn-tfjs"}, []int{1}, 1},
		{Transductive, `the queries of a task judged together, --n-query (15) a class. With
--imbalance dirichlet as many in all, but with class sizes from a
Dirichlet(2) distribution. With --out-of-set 0.5 as many again of
unseen classes. Methods that judge one by one are for comparison.
No temperature is fitted; methods without a reject score use
1 - max p`,
			[]string{"metaqda", "metaqda-transductive", "propagation", "laplacian", "ncc-cl2n", "linear", "cosine", "knn"}, []int{1, 5}, 1},
		{LeaveOneDomainOut, `each data set with a --prior that was learned without it, in the
same order; how far MetaQDA is above each competitor`,
			[]string{"metaqda", "ncc-cl2n", "linear", "cosine", "knn", "knn-tfjs", "teachable"}, []int{1, 2, 5, 10}, 1},
	}
}

// protocol returns the protocol of that name.
func protocol(name string) (Protocol, error) {
	var names []string
	all := Protocols()
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	last := len(names) - 1
	return Protocol{}, fmt.Errorf("there is no protocol %q; choose %s or %s", name, strings.Join(names[:last], ", "), names[last])
}
