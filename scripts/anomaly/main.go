// Command anomaly measures package core/anomaly, and fits its population. Each class of a set is
// good in turn. Some of its pictures are the examples, the others are queries. Further queries are
// pictures of the other classes, and good ones with a spot pasted onto them:
//
//	go run ./scripts/anomaly -cells build/cells steel_defects magnetic_tile pcb_defects textures_dtd10
//
// It measures the named sets. The population for a set is fitted on all sets of the folder that are
// not of its family. `make anomaly` has the sets.
package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metaqda/core/anomaly"
	"metaqda/core/lab/metrics"
)

func main() {
	folder := flag.String("cells", "build/cells", "folder with SET.json, SET.cells and SET.spots")
	draws := flag.Int("draws", 4, "draws of good pictures, for each class and number")
	full := flag.Int("patchcore", 1, "draws with PatchCore on cells of full length, which takes most of the time")
	flag.Parse()
	if err := run(*folder, flag.Args(), *draws, *full); err != nil {
		fmt.Fprintln(os.Stderr, "anomaly:", err)
		os.Exit(1)
	}
}

// family names the family of sets that are related to each other.
var family = map[string]string{"steel_defects": "surfaces", "magnetic_tile": "surfaces", "pcb_defects": "surfaces"}

var shots = []int{3, 5, 10}

// picture is a picture of a set.
type picture struct {
	label string
	cells []float32
	kept  *anomaly.Picture
	unit  []float64 // the mean of the cells, of length one
}

type set struct {
	name            string
	d               int
	pictures, spots []picture
}

func read(folder, name string) (*set, error) {
	var head struct {
		Labels           []string
		Cells, Dimension int
	}
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err == nil {
		err = json.Unmarshal(text, &head)
	}
	s := &set{name: name, d: head.Dimension}
	for _, part := range []struct {
		ext string
		to  *[]picture
	}{{".cells", &s.pictures}, {".spots", &s.spots}} {
		if err != nil {
			return nil, err
		}
		*part.to, err = readPictures(filepath.Join(folder, name+part.ext), head.Labels, head.Cells, head.Dimension)
	}
	return s, err
}

func readPictures(file string, labels []string, n, d int) ([]picture, error) {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(bytes) != 4*n*d*len(labels) {
		return nil, fmt.Errorf("%s has %d bytes, not those of %d pictures", file, len(bytes), len(labels))
	}
	all := make([]picture, len(labels))
	for i := range all {
		p := picture{label: labels[i], cells: make([]float32, n*d), unit: make([]float64, d)}
		for j := range p.cells {
			p.cells[j] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*(i*n*d+j):]))
			p.unit[j%d] += float64(p.cells[j])
		}
		floats.Scale(1/floats.Norm(p.unit, 2), p.unit)
		if p.kept, err = anomaly.Describe(p.cells, d); err != nil {
			return nil, err
		}
		all[i] = p
	}
	return all, nil
}

// event is a query.
type event struct {
	set, fam string
	shot     int
	task     int    // which draw, in its set
	kind     string // "good", "other" class, or "spot"
	scores   map[string]float64
	x        []float64 // the terms of p(wrong)
}

func run(folder string, measured []string, draws, full int) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there are no cells in %s: run make anomaly", folder)
	}
	var events []event
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		s, err := read(folder, name)
		if err != nil {
			return err
		}
		n := 0
		if slices.Contains(measured, name) {
			n = full
		}
		fmt.Fprintln(os.Stderr, name)
		found, err := s.ask(draws, n)
		if err != nil {
			return err
		}
		events = append(events, found...)
	}
	fmt.Printf("coefficients of all sets: %.3f\n\n", fit(events))
	report(events, measured)
	return nil
}

// ask teaches some pictures of each class, and predicts others.
func (s *set) ask(draws, full int) ([]event, error) {
	const most = 30 // pictures of other classes
	var events []event
	rng, task := rand.New(rand.NewPCG(37, 0)), 0
	classes := map[string][]int{}
	for i, p := range s.pictures {
		classes[p.label] = append(classes[p.label], i)
	}
	labels := make([]string, 0, len(classes))
	for l := range classes {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	if len(labels) < 2 {
		return nil, fmt.Errorf("%s has one class: give a set with others, which are bad", s.name)
	}
	for _, label := range labels {
		for _, shot := range shots {
			if len(classes[label]) <= shot {
				continue // no picture is left as a query
			}
			for draw := range draws {
				own := slices.Clone(classes[label])
				rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
				good := make([]picture, shot)
				for k, i := range own[:shot] {
					good[k] = s.pictures[i]
				}
				j, err := newJudge(good, s.d, draw < full)
				if err != nil {
					return nil, err
				}
				task++
				add := func(p picture, kind string) {
					if err != nil {
						return
					}
					e := event{set: s.name, fam: s.family(), shot: shot, task: task, kind: kind}
					if e.scores, e.x, err = j.scores(p); err == nil {
						events = append(events, e)
					}
				}
				for _, i := range own[shot:] {
					add(s.pictures[i], "good")
					add(s.spots[i], "spot")
				}
				for n, i := range rng.Perm(len(s.pictures)) {
					if s.pictures[i].label != label && n < most*len(labels)/(len(labels)-1) {
						add(s.pictures[i], "other")
					}
				}
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return events, nil
}

func (s *set) family() string {
	if f := family[s.name]; f != "" {
		return f
	}
	return s.name
}

// fit returns the coefficients of logistic regression, under a normal prior of variance one. In each set
// and for each number of good pictures, the good ones weigh one together, and so do the bad ones. Both
// kinds of bad weigh the same.
func fit(events []event) []float64 {
	counts := map[string]float64{}
	key := func(e event) string { return fmt.Sprint(e.set, e.shot, e.kind) }
	for _, e := range events {
		counts[key(e)]++
	}
	n := len(events[0].x)
	b := make([]float64, n)
	for range 50 {
		hessian, gradient := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		for i, v := range b {
			hessian.SetSym(i, i, 1)
			gradient.SetVec(i, -v)
		}
		for _, e := range events {
			w, y := 1/counts[key(e)], 0.0
			if e.kind != "good" {
				w, y = w/2, 1
			}
			p := probability(b, e.x)
			x := mat.NewVecDense(n, e.x)
			gradient.AddScaledVec(gradient, w*(y-p), x)
			hessian.SymRankOne(hessian, w*p*(1-p), x)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(hessian) || chol.SolveVecTo(&step, gradient) != nil {
			break
		}
		floats.Add(b, step.RawVector().Data)
		if mat.Norm(&step, 2) < 1e-9 {
			break
		}
	}
	return b
}

func probability(b, x []float64) float64 { return 1 / (1 + math.Exp(-floats.Dot(b, x))) }

// report prints the area under the curve by method and set, and the calibration.
func report(events []event, measured []string) {
	without := map[string][]float64{} // coefficients by the family left out
	for i, e := range events {
		if !slices.Contains(measured, e.set) {
			continue
		}
		if without[e.fam] == nil {
			without[e.fam] = fit(slices.DeleteFunc(slices.Clone(events), func(o event) bool { return o.fam == e.fam }))
		}
		events[i].scores["p(wrong)"] = probability(without[e.fam], e.x)
	}
	for _, bad := range []string{"other", "spot"} {
		for _, shot := range shots {
			fmt.Printf("| bad: %s, %d good | %s | mean |\n|---|%s---|\n", bad, shot, strings.Join(measured, " | "), strings.Repeat("---|", len(measured)))
			for _, method := range methods {
				row := make([]float64, len(measured))
				for i, name := range measured {
					row[i] = auroc(events, name, method, bad, shot)
				}
				line(method, append(row, stat.Mean(row, nil)))
			}
			fmt.Println()
		}
	}
	fmt.Printf("| ECE of p(wrong), both kinds of bad | %s | mean | all as one set |\n|---|%s---|---|\n", strings.Join(measured, " | "), strings.Repeat("---|", len(measured)))
	for _, shot := range shots {
		row := make([]float64, len(measured))
		for i := range measured {
			row[i] = ece(events, measured[i:i+1], shot)
		}
		line(fmt.Sprint(shot, " good"), append(row, stat.Mean(row, nil), ece(events, measured, shot)))
	}
}

// auroc is the mean over draws of the area under the curve, in percent.
func auroc(events []event, name, method, bad string, shot int) float64 {
	positive, negative := map[int][]float64{}, map[int][]float64{}
	for _, e := range events {
		v, ok := e.scores[method]
		if e.set != name || e.shot != shot || !ok {
			continue
		}
		switch e.kind {
		case bad:
			positive[e.task] = append(positive[e.task], v)
		case "good":
			negative[e.task] = append(negative[e.task], v)
		}
	}
	var all []float64
	for task, p := range positive {
		all = append(all, 100*metrics.AUROC(p, negative[task]))
	}
	return stat.Mean(all, nil)
}

// ece is the expected calibration error in percent, over ten bins of p(wrong). Good ones and both
// kinds of bad ones weigh as in fit.
func ece(events []event, names []string, shot int) float64 {
	const bins = 10
	of := func(e event) bool { return e.shot == shot && slices.Contains(names, e.set) }
	counts := map[string]float64{}
	for _, e := range events {
		if of(e) {
			counts[e.set+e.kind]++
		}
	}
	var p, y [bins]float64
	for _, e := range events {
		if !of(e) {
			continue
		}
		v := e.scores["p(wrong)"]
		b, w := min(int(v*bins), bins-1), 1/counts[e.set+e.kind]/2/float64(len(names))
		if e.kind != "good" {
			w /= 2
			y[b] += w
		}
		p[b] += w * v
	}
	return 100 * floats.Distance(p[:], y[:], 1)
}

func line(name string, row []float64) {
	fmt.Printf("| %s |", name)
	for _, v := range row {
		fmt.Printf(" %.1f |", v)
	}
	fmt.Println()
}
