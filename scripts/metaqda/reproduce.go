package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

var reproduceCommand = command{"reproduce", "the paper's tables on a folder of data sets", runReproduce}

const reproduceAbout = `Learns the priors and prints the paper's tables for the data sets of a folder:
cifarfs-conv4, miniimagenet-conv4 and miniimagenet-, cifarfs-, omniglot- and
caltech101-mobilenetv3, each as .npz with its .json. Sets that are missing are
left out. Where the paper has a figure for the same backbone it stands beside
ours. At the end the orders that the paper reports are checked one by one.

Everything is written to the folder --out: priors, JSON, Markdown, reliability
diagrams. Priors that are there already are used again. Every step is a command
that is printed before it runs.`

// reproduction is one run of the command.
type reproduction struct {
	ctx            context.Context
	data, out      string
	tasks, seed    string
	steps          float64 // share of the training steps
	stdout, stderr io.Writer
	markdown       strings.Builder
	orders         []order
}

// order is a claim about two results.
type order struct {
	claim string
	holds bool
}

func runReproduce(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	r := &reproduction{ctx: ctx, stdout: stdout, stderr: stderr}
	f := newFlags("reproduce", reproduceAbout, stdout)
	f.StringVar(&r.data, "data", "", "folder of the data sets (required)")
	f.StringVar(&r.out, "out", "build/reproduce", "folder for everything that is written")
	f.StringVar(&r.tasks, "n-tasks", "600", "tasks of every cell")
	f.StringVar(&r.seed, "random-seed", "0", "seed")
	f.Float64Var(&r.steps, "steps", 1, "factor on the training steps, less than 1 for a quick look")
	if err := f.Parse(args); err != nil {
		return err
	}
	if r.data == "" {
		return fmt.Errorf("no data given; name the folder with --data DIR")
	}
	if !(r.steps > 0 && r.steps <= 100) {
		return fmt.Errorf("--steps is %v; give a number above 0 such as 1", r.steps)
	}
	if info, err := os.Stat(r.data); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder of data sets; check --data", r.data)
	}
	if err := checkFolder(r.out); err != nil {
		return err
	}
	return r.all()
}

func (r *reproduction) all() error {
	sections := []func() error{
		func() error { return r.conv4("cifarfs-conv4", 3000, true) },
		func() error { return r.conv4("miniimagenet-conv4", 600, false) },
		r.crossDomain, r.multiDomain,
	}
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	r.title("Orders")
	for _, o := range r.orders {
		word := "holds:         "
		if !o.holds {
			word = "does not hold: "
		}
		r.say("%s%s\n", word, o.claim)
	}
	return writeFile(filepath.Join(r.out, "tables.md"), []byte(r.markdown.String()))
}

func (r *reproduction) say(format string, args ...any) {
	fmt.Fprintf(r.stdout, format, args...)
	fmt.Fprintf(&r.markdown, format, args...)
}

func (r *reproduction) title(text string) { r.say("\n## %s\n\n", text) }

// has reports whether the folder holds a data set.
func (r *reproduction) has(names ...string) bool {
	for _, name := range names {
		if _, err := os.Stat(r.npz(name)); err != nil {
			r.say("%s is not in %s: its tables are left out\n", name, r.data)
			return false
		}
	}
	return true
}

func (r *reproduction) npz(name string) string { return filepath.Join(r.data, name+".npz") }

func (r *reproduction) file(name string) string { return filepath.Join(r.out, name) }

// command prints and runs a command of this program, without its output.
func (r *reproduction) command(args ...string) error {
	fmt.Fprintf(r.stdout, "$ metaqda %s\n", strings.Join(args, " "))
	fmt.Fprintf(&r.markdown, "    metaqda %s\n", strings.Join(args, " "))
	c := evalCommand
	if args[0] == trainCommand.name {
		c = trainCommand
	}
	return c.run(r.ctx, args[1:], io.Discard, r.stderr)
}

// plainly keeps the model to the paper's: m, kappa and S are learned, nu stays
// d, there is no temperature.
var plainly = []string{"--fixed", "nu,temperature,temperature-shape,bias", "--calibrate", "0"}

// train learns a prior unless it is there.
func (r *reproduction) train(name string, steps int, data []string, flags ...string) (string, error) {
	out := r.file(name + ".safetensors")
	if _, err := os.Stat(out); err == nil {
		r.say("%s is there already and is used again\n", out)
		return out, nil
	}
	var files []string
	for _, d := range data {
		files = append(files, r.npz(d))
	}
	args := []string{"train", "--data", strings.Join(files, ","), "--out", out, "--random-seed", r.seed,
		"--steps", fmt.Sprint(max(1, int(r.steps*float64(steps)))), "--curve", r.file(name + ".svg"), "--quiet"}
	return out, r.command(append(args, flags...)...)
}

// eval runs an evaluation and reads its results back.
func (r *reproduction) eval(name string, flags ...string) (*evaluation, error) {
	out := r.file(name + ".json")
	args := append([]string{"eval"}, flags...)
	args = append(args, "--n-tasks", r.tasks, "--random-seed", r.seed, "--json", out)
	if err := r.command(args...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	e := &evaluation{}
	return e, json.Unmarshal(text, e)
}

// evaluation is what is read back of a result file.
type evaluation struct {
	Results []*Result  `json:"results"`
	Summary []*summary `json:"summary"`
}

func (e *evaluation) find(method, data string, shot int) *Result {
	for _, x := range e.Results {
		if x.Method == method && x.Data == data && (shot == 0 || x.Shot != nil && *x.Shot == shot) {
			return x
		}
	}
	return nil
}

// conv4 reproduces the single-domain tables on a Conv-4 backbone. full asks for
// what takes long: a prior for classes of hundreds of rows, and MAML.
func (r *reproduction) conv4(name string, steps int, full bool) error {
	r.title(name)
	if !r.has(name) {
		return nil
	}
	own := []string{name}
	learned, err := r.train(name, steps, own, "--preset", "conv4")
	if err != nil {
		return err
	}
	fb, err := r.train(name+"-fb", steps, own, append([]string{"--preset", "conv4"}, plainly...)...)
	if err != nil {
		return err
	}
	mapped, err := r.train(name+"-map", steps, own, append([]string{"--preset", "conv4", "--inference", "map"}, plainly...)...)
	if err != nil {
		return err
	}
	many := learned
	if full {
		if many, err = r.train(name+"-many", 2000, own, manyTraining...); err != nil {
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

// manyTraining prepares for classes with hundreds of rows beside classes with
// five: unequal shots, and S = I, which lets a class with many rows have a
// covariance of its own. Where classes are small the common prior serves.
var manyTraining = []string{"--optimizer", "adam", "--learning-rate", "0.001", "--start", "identity", "--scale", "1",
	"--temperature", "25", "--imbalanced", "--n-shot", "5-200", "--n-way", "10-20", "--max-rows", "1000", "--fixed", "nu"}

// figure is a mean in percent with its interval, as the paper prints it.
type figure struct{ mean, ci float64 }

func (f figure) String() string {
	switch {
	case f.mean == 0:
		return "-"
	case f.ci == 0:
		return fmt.Sprintf("%.2f", f.mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", f.mean, f.ci)
}

// paperRow is a method with its figures in the paper, 1 and 5 shots.
type paperRow struct {
	label, method string
	paper         [2]figure
}

// beside prints our figures next to the paper's.
func (r *reproduction) beside(title, note string, e *evaluation, data string, rows []paperRow, get func(*Result) string) {
	t := &table{title: title, header: []string{"model", "method", "1-shot ours", "1-shot paper", "5-shot ours", "5-shot paper"}, note: note}
	for _, row := range rows {
		cells := []string{row.label, row.method}
		for i, shot := range []int{1, 5} {
			x := e.find(row.method, data, shot)
			ours := "-"
			if x != nil {
				ours = get(x)
			}
			cells = append(cells, ours, row.paper[i].String())
		}
		t.add(cells...)
	}
	r.print(t)
}

func (r *reproduction) print(t *table) {
	fmt.Fprintf(r.stdout, "\n%s\n", t.text())
	r.markdown.WriteString("\n" + t.markdown() + "\n")
}

func accuracyOf(x *Result) string { return interval(x.Accuracy) }

const weaker = "The paper's Conv-4 on miniImageNet is a stronger backbone than this one (SimpleShot 49.69 / 66.92 there)."

// standard is the paper's tables 1 and 3.
func (r *reproduction) standard(name, prior string) error {
	e, err := r.eval(name+"-standard", "--protocol", "standard", "--data", r.npz(name), "--prior", prior,
		"--methods", "fb,map,ncc-un,ncc-l2n,ncc-cl2n,proto,linear,cosine,knn,lda,qda,fb-handcrafted")
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
	for _, shot := range []int{1, 5} {
		for _, rival := range []string{"ncc-cl2n", "linear", "lda", "qda", "fb-handcrafted"} {
			r.above(e, name, shot, "fb", rival)
		}
	}
	return nil
}

// above notes whether one method is more accurate than another.
func (r *reproduction) above(e *evaluation, data string, shot int, better, worse string) {
	a, b := e.find(better, data, shot), e.find(worse, data, shot)
	d, ci := pairedDifference(a, b)
	r.orders = append(r.orders, order{fmt.Sprintf("%s, %d-shot accuracy: %s %.2f above %s %.2f (difference over the same tasks %+.2f ± %.2f)",
		data, shot, better, 100*a.Accuracy.Mean, worse, 100*b.Accuracy.Mean, 100*d, 100*ci), a.Accuracy.Mean > b.Accuracy.Mean})
}

// lower notes whether one calibration error is below another.
func (r *reproduction) lower(data string, shot int, better, worse *Result) {
	r.orders = append(r.orders, order{fmt.Sprintf("%s, %d-shot ECE without temperature: %s %.2f below %s %.2f",
		data, shot, better.Method, 100*better.ECE, worse.Method, 100*worse.ECE), better.ECE < worse.ECE})
}

// calibration is the paper's table 7, on priors without any temperature.
func (r *reproduction) calibration(name, fb, mapped string, maml bool) error {
	methods := "linear,ncc-cl2n,qda,map,fb"
	if maml {
		methods += ",maml-qda"
	}
	e, err := r.eval(name+"-calibration", "--protocol", "calibration", "--data", r.npz(name), "--prior", fb, "--prior-map", mapped,
		"--methods", methods, "--pictures", r.file("pictures"))
	if err != nil {
		return err
	}
	rows := []paperRow{{"linear classifier", "linear", [2]figure{{3.56, 0}, {2.88, 0}}}, {"SimpleShot", "ncc-cl2n", [2]figure{{3.82, 0}, {3.35, 0}}},
		{"QDA", "qda", [2]figure{{8.25, 0}, {4.37, 0}}}, {"MetaQDA-MAP", "map", [2]figure{{2.75, 0}, {0.89, 0}}}, {"MetaQDA-FB", "fb", [2]figure{{2.33, 0}, {0.45, 0}}}}
	raw := []paperRow{{"linear classifier", "linear", [2]figure{{8.54, 0}, {7.48, 0}}}, {"SimpleShot", "ncc-cl2n", [2]figure{{33.45, 0}, {45.81, 0}}},
		{"QDA", "qda", [2]figure{{43.54, 0}, {26.78, 0}}}, {"MAML QDA", "maml-qda", [2]figure{{52.75, 0}, {38.84, 0}}}, {"MetaQDA-MAP", "map", [2]figure{{8.03, 0}, {5.27, 0}}}, {"MetaQDA-FB", "fb", [2]figure{{4.32, 0}, {2.92, 0}}}}
	note := "The paper's column is Conv-4 on miniImageNet. No temperature is part of these priors."
	r.beside("Calibration, "+name+", ECE in percent", note, e, name, raw, func(x *Result) string { return percent(x.ECE) })
	r.beside("Calibration, "+name+", ECE in percent with temperature scaling", note, e, name, rows, func(x *Result) string { return optional(x.ECETS) })
	for _, shot := range []int{1, 5} {
		r.lower(name, shot, e.find("fb", name, shot), e.find("map", name, shot))
		for _, m := range []string{"fb", "map"} {
			r.lower(name, shot, e.find(m, name, shot), e.find("ncc-cl2n", name, shot))
		}
	}
	if err := r.samePrior(name, fb); err != nil || !maml {
		return err
	}
	against := []paperRow{{"MAML", "maml-qda", [2]figure{{54.33, 0.78}, {69.17, 0.77}}}, {"MetaQDA-MAP", "map", [2]figure{}}, {"MetaQDA-FB", "fb", [2]figure{{56.41, 0.80}, {72.64, 0.62}}}}
	r.beside("Bayesian against MAML, "+name+", accuracy in percent", note, e, name, against, accuracyOf)
	for _, shot := range []int{1, 5} {
		r.above(e, name, shot, "fb", "maml-qda")
		r.lower(name, shot, e.find("fb", name, shot), e.find("maml-qda", name, shot))
	}
	return nil
}

// samePrior sets the two inferences side by side on one prior. Priors of their
// own make up for what the inference lacks: the one learned with MAP is wider.
// Which of the two is nearer to the truth then depends on how hard the test
// classes are beside the training classes.
func (r *reproduction) samePrior(name, prior string) error {
	e, err := r.eval(name+"-same-prior", "--protocol", "calibration", "--data", r.npz(name), "--prior", prior, "--methods", "map,fb")
	if err != nil {
		return err
	}
	t := &table{title: "Inference alone, " + name + ": both with the prior that was learned with FB", header: []string{"method", "1-shot ECE", "1-shot NLL", "5-shot ECE", "5-shot NLL"}}
	for _, m := range []string{"map", "fb"} {
		row := []string{m}
		for _, shot := range []int{1, 5} {
			x := e.find(m, name, shot)
			row = append(row, percent(x.ECE), fmt.Sprintf("%.3f", x.NLL))
		}
		t.add(row...)
	}
	r.print(t)
	for _, shot := range []int{1, 5} {
		a, b := e.find("fb", name, shot), e.find("map", name, shot)
		r.orders = append(r.orders, order{fmt.Sprintf("%s, %d-shot ECE with one prior for both: fb %.2f below map %.2f", name, shot, 100*a.ECE, 100*b.ECE), a.ECE < b.ECE})
	}
	return nil
}

// ablation is the paper's table 8.
func (r *reproduction) ablation(name, fb, mapped string) error {
	e, err := r.eval(name+"-ablation", "--protocol", "ablation", "--data", r.npz(name), "--prior", fb, "--prior-map", mapped)
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
	e, err := r.eval(name+"-incremental", "--protocol", "incremental", "--data", r.npz(name), "--prior", prior,
		"--methods", "ncc-cl2n,map,fb")
	if err != nil {
		return err
	}
	t := &table{title: "Class-incremental learning, " + name + ", accuracy in percent over all classes seen", header: []string{"method"},
		note: "Columns: session (classes). The paper's figures (ResNet-18, miniImageNet) are within 0.04 of 59.57 60/(60+5n) from session 0 to 8: hardly a new class was recognised. Scores of base and new classes are balanced on sessions of validation classes, those of every method. The base classes trained the backbone, their held-out pictures included: session 0 is flattered."}
	for _, m := range []string{"ncc-cl2n", "map", "fb"} {
		row, asIs, novel := []string{m}, []string{m + ", unbalanced"}, []string{m + ", new classes alone"}
		for _, x := range e.Results {
			if x.Method != m {
				continue
			}
			if m == "ncc-cl2n" {
				t.header = append(t.header, fmt.Sprintf("%d (%d)", *x.Session, *x.Classes))
			}
			row, asIs, novel = append(row, percent(x.Accuracy.Mean)), append(asIs, percent(x.AccuracyAsIs.Mean)), append(novel, optional(x.AccuracyNovel))
			if m == "fb" {
				ncc := e.session("ncc-cl2n", *x.Session)
				r.orders = append(r.orders, order{fmt.Sprintf("%s, incremental session %d: fb %.2f above ncc-cl2n %.2f", name, *x.Session,
					100*x.Accuracy.Mean, 100*ncc.Accuracy.Mean), x.Accuracy.Mean > ncc.Accuracy.Mean})
			}
		}
		t.add(row...)
		t.add(asIs...)
		t.add(novel...)
	}
	r.print(t)
	return nil
}

func (e *evaluation) session(method string, n int) *Result {
	for _, x := range e.Results {
		if x.Method == method && x.Session != nil && *x.Session == n {
			return x
		}
	}
	return nil
}

// openSet is not in the paper: half of the queries are of unseen classes.
func (r *reproduction) openSet(name, prior string) error {
	e, err := r.eval(name+"-open-set", "--protocol", "open-set", "--data", r.npz(name), "--prior", prior, "--methods", "fb,ncc-cl2n,linear")
	if err != nil {
		return err
	}
	t := &table{title: "Open set, " + name + ", AUROC of none-of-these in percent", header: []string{"method", "1-shot", "1-shot, 1 - max p", "5-shot", "5-shot, 1 - max p"}}
	for _, m := range []string{"fb", "ncc-cl2n", "linear"} {
		row := []string{m}
		for _, shot := range []int{1, 5} {
			x := e.find(m, name, shot)
			row = append(row, optional(x.AUROCNone), optional(x.AUROCMaxProb))
		}
		t.add(row...)
	}
	r.print(t)
	return nil
}

// crossDomain has the shape of the paper's table 4: a prior of miniImageNet's
// training classes on the test classes of other domains.
func (r *reproduction) crossDomain() error {
	r.title("Cross-domain, mobilenetv3")
	targets := []string{"caltech101-mobilenetv3", "cifarfs-mobilenetv3", "omniglot-mobilenetv3"}
	if !r.has("miniimagenet-mobilenetv3") || !r.has(targets...) {
		return nil
	}
	prior, err := r.train("miniimagenet-mobilenetv3", 800, []string{"miniimagenet-mobilenetv3"})
	if err != nil {
		return err
	}
	var files []string
	for _, n := range targets {
		files = append(files, r.npz(n))
	}
	methods := []string{"ncc-cl2n", "cosine", "linear", "fb"}
	e, err := r.eval("cross-domain", "--protocol", "cross-domain", "--data", strings.Join(files, ","), "--prior", prior, "--methods", strings.Join(methods, ","))
	if err != nil {
		return err
	}
	t := &table{title: "Cross-domain, prior of miniImageNet, accuracy in percent", header: []string{"method"}}
	for _, n := range targets {
		for _, shot := range []int{1, 5} {
			t.header = append(t.header, fmt.Sprintf("%s %d-shot", strings.TrimSuffix(n, "-mobilenetv3"), shot))
		}
	}
	for _, m := range methods {
		row := []string{m}
		for _, n := range targets {
			for _, shot := range []int{1, 5} {
				row = append(row, interval(e.find(m, n, shot).Accuracy))
			}
		}
		t.add(row...)
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
	r.title("Multi-domain, mobilenetv3")
	seen := []string{"miniimagenet-mobilenetv3", "cifarfs-mobilenetv3", "omniglot-mobilenetv3"}
	all := append(append([]string{}, seen...), "caltech101-mobilenetv3")
	if !r.has(all...) {
		return nil
	}
	prior, err := r.train("three-domains-mobilenetv3", 1200, seen)
	if err != nil {
		return err
	}
	var files []string
	for _, n := range all {
		files = append(files, r.npz(n))
	}
	if err := r.singleDomains(all, files, prior); err != nil {
		return err
	}
	e, err := r.eval("multi-domain", "--protocol", "multi-domain", "--data", strings.Join(files, ","), "--prior", prior,
		"--in-domain", strings.Join(seen, ","), "--methods", "ncc-un,ncc-cl2n,knn,map,fb")
	if err != nil {
		return err
	}
	t := &table{title: "Multi-domain, random way and shot, accuracy in percent", header: []string{"method", "avg. rank", "overall", "in-domain", "out-of-domain"},
		note: "In-domain: miniImageNet, CIFAR-FS and Omniglot; out-of-domain: Caltech-101."}
	for _, s := range e.Summary {
		t.add(s.Method, fmt.Sprintf("%.2f", s.AverageRank), percent(s.Overall), optional(s.InDomain), optional(s.OutOfDomain))
	}
	r.print(t)
	return nil
}

// singleDomains is table 1 on the page's own extractor.
func (r *reproduction) singleDomains(names, files []string, prior string) error {
	methods := []string{"ncc-cl2n", "cosine", "linear", "knn", "fb"}
	e, err := r.eval("mobilenetv3-standard", "--protocol", "standard", "--data", strings.Join(files, ","), "--prior", prior, "--methods", strings.Join(methods, ","))
	if err != nil {
		return err
	}
	for _, n := range names {
		t := &table{title: "Standard, " + n, header: []string{"method", "1-shot accuracy", "1-shot ECE", "5-shot accuracy", "5-shot ECE"}}
		for _, m := range methods {
			a, b := e.find(m, n, 1), e.find(m, n, 5)
			t.add(m, interval(a.Accuracy), percent(a.ECE), interval(b.Accuracy), percent(b.ECE))
		}
		r.print(t)
		for _, shot := range []int{1, 5} {
			r.above(e, n, shot, "fb", "ncc-cl2n")
			r.above(e, n, shot, "fb", "linear")
		}
	}
	return nil
}
