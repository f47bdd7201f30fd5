package reproduce

import (
	"fmt"
	"regexp"
	"strings"

	"metaqda/core/experiment"
	"metaqda/scripts/tables"
)

// backbone is how the data sets end that the paper's backbones made.
var backbone = regexp.MustCompile("-(conv4|resnet18|wrn28-10)$")

// conv4 reproduces the single-domain tables on a Conv-4 backbone. full asks for
// what takes long: a prior for classes of hundreds of rows, and MAML.
func (r *reproduction) conv4(name string, steps int, full bool) error {
	r.title(name)
	if !r.has(name) {
		return nil
	}
	learned, err := r.train(name, "conv4", steps, name)
	if err != nil {
		return err
	}
	fb, err := r.train(name+"-fb", "plain", steps, name)
	if err != nil {
		return err
	}
	mapped, err := r.train(name+"-map", "plain-map", steps, name)
	if err != nil {
		return err
	}
	many := learned
	if full {
		if many, err = r.train(name+"-many", "many-rows", 2000, name); err != nil {
			return err
		}
	}
	for _, table := range []func() error{
		func() error { return r.standard(name, learned) },
		func() error { return r.calibration(name, fb, mapped, full) },
		func() error { return r.ablation(name, fb, mapped) },
		func() error { return r.incremental(name, many) },
		func() error { return r.openSet(name, learned) },
	} {
		if err := table(); err != nil {
			return err
		}
	}
	return nil
}

// standard is the paper's tables 1 and 3.
func (r *reproduction) standard(name, prior string) error {
	e, err := r.eval(evaluation{name: name + "-standard", protocol: experiment.Standard, data: []string{name}, prior: prior,
		methods: "fb,map,ncc-un,ncc-l2n,ncc-cl2n,proto,linear,cosine,knn,lda,qda,fb-handcrafted"})
	if err != nil {
		return err
	}
	paper := map[string][2]figure{
		"ncc-cl2n": {{59.35, 0.89}, {74.76, 0.72}},
		"fb":       {{60.52, 0.88}, {77.33, 0.73}},
	}
	note := ""
	if strings.HasPrefix(name, "mini") {
		paper = map[string][2]figure{
			"cosine":   {{48.24, 0.75}, {66.43, 0.63}},
			"ncc-cl2n": {{49.69, 0.19}, {66.92, 0.17}},
			"fb":       {{56.41, 0.80}, {72.64, 0.62}},
		}
		note = weaker
	}
	var rows []paperRow
	for _, m := range [][2]string{{"nearest centroid UN", "ncc-un"}, {"nearest centroid L2N", "ncc-l2n"}, {"SimpleShot (CL2N)", "ncc-cl2n"}, {"prototypical head", "proto"}, {"Baseline++", "cosine"},
		{"linear classifier", "linear"}, {"nearest neighbours", "knn"}, {"LDA", "lda"}, {"QDA", "qda"}, {"QDA, hand-crafted prior", "fb-handcrafted"}, {"MetaQDA-MAP", "map"}, {"MetaQDA-FB", "fb"}} {
		rows = append(rows, paperRow{m[0], m[1], paper[m[1]]})
	}
	r.beside("Standard few-shot learning, "+name+", accuracy in percent", note, e, name, rows, accuracyOf)
	r.aboveAll(e, name, "ncc-cl2n", "linear", "lda", "qda", "fb-handcrafted")
	return nil
}

// aboveAll notes whether fb is more accurate than each of its rivals.
func (r *reproduction) aboveAll(e *experiment.Report, data string, rivals ...string) {
	for _, shot := range []int{1, 5} {
		for _, rival := range rivals {
			r.above(e, data, shot, "fb", rival)
		}
	}
}

// above notes whether one method is more accurate than another.
func (r *reproduction) above(e *experiment.Report, data string, shot int, better, worse string) {
	a, b := e.Find(better, data, 0, shot), e.Find(worse, data, 0, shot)
	d := experiment.PairedDifference(a, b)
	r.claims = append(r.claims, claim{fmt.Sprintf("%s, %d-shot accuracy: %s %.2f above %s %.2f (difference over the same tasks %+.2f ± %.2f)",
		data, shot, better, 100*a.Accuracy.Mean, worse, 100*b.Accuracy.Mean, 100*d.Mean, 100*d.CI95), a.Accuracy.Mean > b.Accuracy.Mean})
}

// lower notes whether one calibration error is below another.
func (r *reproduction) lower(data string, shot int, better, worse *experiment.Result) {
	r.claims = append(r.claims, claim{fmt.Sprintf("%s, %d-shot ECE without temperature: %s %.2f below %s %.2f",
		data, shot, better.Method, 100*better.ECE, worse.Method, 100*worse.ECE), better.ECE < worse.ECE})
}

// calibration is the paper's table 7, on priors without any temperature.
func (r *reproduction) calibration(name, fb, mapped string, maml bool) error {
	methods := "linear,ncc-cl2n,qda,map,fb"
	if maml {
		methods += ",maml-qda"
	}
	e, err := r.eval(evaluation{name: name + "-calibration", protocol: experiment.Calibration, data: []string{name}, prior: fb, mapPrior: mapped,
		methods: methods, pictures: r.file("pictures")})
	if err != nil {
		return err
	}
	rows := []paperRow{{"linear classifier", "linear", [2]figure{{3.56, 0}, {2.88, 0}}}, {"SimpleShot", "ncc-cl2n", [2]figure{{3.82, 0}, {3.35, 0}}},
		{"QDA", "qda", [2]figure{{8.25, 0}, {4.37, 0}}}, {"MetaQDA-MAP", "map", [2]figure{{2.75, 0}, {0.89, 0}}}, {"MetaQDA-FB", "fb", [2]figure{{2.33, 0}, {0.45, 0}}}}
	raw := []paperRow{{"linear classifier", "linear", [2]figure{{8.54, 0}, {7.48, 0}}}, {"SimpleShot", "ncc-cl2n", [2]figure{{33.45, 0}, {45.81, 0}}},
		{"QDA", "qda", [2]figure{{43.54, 0}, {26.78, 0}}}, {"MAML QDA", "maml-qda", [2]figure{{52.75, 0}, {38.84, 0}}}, {"MetaQDA-MAP", "map", [2]figure{{8.03, 0}, {5.27, 0}}}, {"MetaQDA-FB", "fb", [2]figure{{4.32, 0}, {2.92, 0}}}}
	note := "The paper's column is Conv-4 on miniImageNet. No temperature is part of these priors."
	r.beside("Calibration, "+name+", ECE in percent", note, e, name, raw, func(x *experiment.Result) string { return tables.Percent(x.ECE) })
	r.beside("Calibration, "+name+", ECE in percent with temperature scaling", note, e, name, rows, func(x *experiment.Result) string { return tables.Optional(x.ECETS) })
	for _, shot := range []int{1, 5} {
		r.lower(name, shot, e.Find("fb", name, 0, shot), e.Find("map", name, 0, shot))
		for _, m := range []string{"fb", "map"} {
			r.lower(name, shot, e.Find(m, name, 0, shot), e.Find("ncc-cl2n", name, 0, shot))
		}
	}
	if err := r.samePrior(name, fb); err != nil || !maml {
		return err
	}
	against := []paperRow{{"MAML", "maml-qda", [2]figure{{54.33, 0.78}, {69.17, 0.77}}}, {"MetaQDA-MAP", "map", [2]figure{}}, {"MetaQDA-FB", "fb", [2]figure{{56.41, 0.80}, {72.64, 0.62}}}}
	r.beside("Bayesian against MAML, "+name+", accuracy in percent", note, e, name, against, accuracyOf)
	for _, shot := range []int{1, 5} {
		r.above(e, name, shot, "fb", "maml-qda")
		r.lower(name, shot, e.Find("fb", name, 0, shot), e.Find("maml-qda", name, 0, shot))
	}
	return nil
}

// samePrior sets the two inferences side by side on one prior. Priors of their
// own make up for what the inference lacks: the one learned with MAP is wider.
// Which of the two is nearer to the truth then depends on how hard the test
// classes are beside the training classes.
func (r *reproduction) samePrior(name, prior string) error {
	e, err := r.eval(evaluation{name: name + "-same-prior", protocol: experiment.Calibration, data: []string{name}, prior: prior, methods: "map,fb"})
	if err != nil {
		return err
	}
	r.say("\nInference alone, %s: both with the prior that was learned with FB\n", name)
	r.tables(e)
	for _, shot := range []int{1, 5} {
		a, b := e.Find("fb", name, 0, shot), e.Find("map", name, 0, shot)
		r.claims = append(r.claims, claim{fmt.Sprintf("%s, %d-shot ECE with one prior for both: fb %.2f below map %.2f", name, shot, 100*a.ECE, 100*b.ECE), a.ECE < b.ECE})
	}
	return nil
}

// ablation is the paper's table 8.
func (r *reproduction) ablation(name, fb, mapped string) error {
	e, err := r.eval(evaluation{name: name + "-ablation", protocol: experiment.Ablation, data: []string{name}, prior: fb, mapPrior: mapped,
		methods: "lda,qda,fb-lda-handcrafted,fb-handcrafted,fb-lda,map,fb"})
	if err != nil {
		return err
	}
	rows := []paperRow{
		{"LDA", "lda", [2]figure{{}, {64.24, 1.42}}}, {"QDA", "qda", [2]figure{{}, {34.45, 0.67}}},
		{"LDA (prior)", "fb-lda-handcrafted", [2]figure{{54.84, 0.80}, {71.48, 0.64}}}, {"QDA (prior)", "fb-handcrafted", [2]figure{{54.84, 0.80}, {71.40, 0.64}}},
		{"MetaLDA", "fb-lda", [2]figure{{56.24, 0.80}, {72.39, 0.64}}}, {"MetaQDA-MAP", "map", [2]figure{{56.32, 0.79}, {72.54, 0.65}}},
		{"MetaQDA-FB", "fb", [2]figure{{56.41, 0.80}, {72.64, 0.62}}}}
	note := "The paper's column is Conv-4 on miniImageNet. LDA and QDA without prior have the smallest ridge that makes them defined; at 1 shot they are nearest centroid."
	r.beside("Ablation, "+name+", accuracy in percent", note, e, name, rows, accuracyOf)
	for _, shot := range []int{1, 5} {
		r.above(e, name, shot, "fb", "fb-handcrafted")
		r.above(e, name, shot, "fb-lda", "fb-lda-handcrafted")
	}
	return nil
}

// incremental has the shape of the paper's table 6.
func (r *reproduction) incremental(name, prior string) error {
	e, err := r.eval(evaluation{name: name + "-incremental", protocol: experiment.Incremental, data: []string{name}, prior: prior, methods: "ncc-cl2n,map,fb"})
	if err != nil {
		return err
	}
	r.tables(e)
	r.say("\nThe paper's figures (ResNet-18, miniImageNet) are within 0.04 of 59.57 60/(60+5n) from session 0 to 8: hardly a new class was recognised. The base classes trained the backbone, their held-out pictures included: session 0 is flattered.\n")
	for _, x := range e.Results {
		if x.Method == "fb" {
			ncc := session(e, "ncc-cl2n", *x.Session)
			r.claims = append(r.claims, claim{fmt.Sprintf("%s, incremental session %d: fb %.2f above ncc-cl2n %.2f", name, *x.Session,
				100*x.Accuracy.Mean, 100*ncc.Accuracy.Mean), x.Accuracy.Mean > ncc.Accuracy.Mean})
		}
	}
	return nil
}

func session(e *experiment.Report, method string, n int) *experiment.Result {
	for _, x := range e.Results {
		if x.Method == method && x.Session != nil && *x.Session == n {
			return x
		}
	}
	return nil
}

// openSet is not in the paper: half of the queries are of unseen classes.
func (r *reproduction) openSet(name, prior string) error {
	e, err := r.eval(evaluation{name: name + "-open-set", protocol: experiment.OpenSet, data: []string{name}, prior: prior, methods: "fb,ncc-cl2n,linear"})
	if err != nil {
		return err
	}
	r.tables(e)
	return nil
}

// deep is the paper's tables 1 to 3 on features of the deep backbones, which
// scripts/backbone trains. MAP and FB are the paper's model with priors of their
// own, the page's head has the preset deep-head; all are of the training classes.
func (r *reproduction) deep() error {
	for _, set := range []struct {
		name  string
		paper map[string][2]figure
	}{
		{"cifarfs-resnet18", map[string][2]figure{"s2m2": {{63.66, 0.17}, {76.07, 0.19}}}},
		{"cifarfs-wrn28-10", map[string][2]figure{"s2m2": {{74.81, 0.19}, {87.47, 0.13}}, "fb": {{75.83, 0.88}, {88.79, 0.75}}}},
		{"miniimagenet-resnet18", map[string][2]figure{"ncc-cl2n": {{62.85, 0.20}, {80.02, 0.14}}, "s2m2": {{64.06, 0.18}, {80.58, 0.12}}, "fb": {{65.12, 0.66}, {80.98, 0.75}}}},
		{"miniimagenet-wrn28-10", map[string][2]figure{"ncc-cl2n": {{63.50, 0.20}, {80.33, 0.14}}, "s2m2": {{64.93, 0.18}, {83.18, 0.22}}, "fb": {{67.83, 0.64}, {84.28, 0.69}}}},
	} {
		r.title(set.name)
		if !r.has(set.name) {
			continue
		}
		var priors [3]string
		for i, p := range []struct {
			suffix, preset string
			steps          int
		}{{"-fb", "deep", 1500}, {"-map", "deep-map", 1500}, {"", "deep-head", 600}} {
			var err error
			if priors[i], err = r.train(set.name+p.suffix, p.preset, p.steps, set.name); err != nil {
				return err
			}
		}
		evaluation := evaluation{name: set.name, protocol: experiment.Calibration, data: []string{set.name}, prior: priors[0], mapPrior: priors[1], methods: "ncc-cl2n,linear,map,fb"}
		paper, err := r.eval(evaluation)
		if err != nil {
			return err
		}
		evaluation.name, evaluation.prior, evaluation.mapPrior, evaluation.methods = set.name+"-head", priors[2], "", "ncc-cl2n,linear,metaqda"
		head, err := r.eval(evaluation)
		if err != nil {
			return err
		}
		t := &tables.Table{Title: set.name, Header: []string{"method"}, Note: "Accuracy and ECE in percent; tempered: with the temperature of the validation classes."}
		for _, shot := range []string{"1", "5"} {
			t.Header = append(t.Header, shot+"-shot accuracy", "paper", "ECE", "tempered")
		}
		for _, m := range [][2]string{{"nearest centroid (SimpleShot CL2N)", "ncc-cl2n"}, {"S2M2", "s2m2"}, {"linear classifier", "linear"}, {"MetaQDA-MAP", "map"}, {"MetaQDA-FB", "fb"}, {"the page's head", "metaqda"}} {
			row := []string{m[0]}
			for i, shot := range []int{1, 5} {
				x := paper.Find(m[1], set.name, 0, shot)
				if x == nil {
					x = head.Find(m[1], set.name, 0, shot)
				}
				ours := []string{"-", "-", "-"}
				if x != nil {
					ours = []string{accuracyOf(x), tables.Percent(x.ECE), tables.Optional(x.ECETS)}
				}
				row = append(row, ours[0], set.paper[m[1]][i].String(), ours[1], ours[2])
			}
			t.Add(row...)
		}
		r.print(t)
		for _, shot := range []int{1, 5} {
			for _, rival := range []string{"ncc-cl2n", "linear"} {
				r.above(paper, set.name, shot, "map", rival)
				r.above(paper, set.name, shot, "fb", rival)
				r.above(head, set.name, shot, "metaqda", rival)
			}
		}
	}
	return nil
}
