// Command bursts measures the effect of near-copies on a class. It draws tasks of five classes, with
// one to three things of each class. It teaches these things, and predicts pictures of other things:
//
//	go run ./scripts/bursts -prior WITHOUT-A.safetensors,WITHOUT-B.safetensors A.npz B.npz
//
// The sets have groups: the frames of a thing. Each set is measured under the prior that was learned
// without it, and under the default prior. First each thing is taught in one frame, drawn at random.
// The command prints the accuracy and the negative log likelihood. Then one class, or every class,
// is taught in all frames, without naming their group. The command prints the change, once with the
// prior's weights of near-copies, and once with every frame counted in full. `make bursts` makes the
// sets and runs the command.
//
// The one frame is drawn at random because the first frame is the picture without noise and shift,
// like the queries. So teaching only first frames would raise the accuracy, even if near-copies did
// no harm.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	metaqda "metaqda/core"
	"metaqda/core/lab/dataset"
	"metaqda/core/model"
)

func main() {
	priors := flag.String("prior", "", "prior files, separated by commas, that name the sets they were learned without")
	tasks := flag.Int("tasks", 100, "tasks of each set")
	flag.Parse()
	if err := run(*priors, flag.Args(), *tasks); err != nil {
		fmt.Fprintln(os.Stderr, "bursts:", err)
		os.Exit(1)
	}
}

const (
	way   = 5
	query = 6 // pictures of each class, at most
)

// ways are the ways of teaching a task.
var ways = []struct {
	name       string
	one, every bool // one class is taught in all frames, or every class
	full       bool // every frame counts in full: the prior detects no near-copies
}{
	{name: "one frame of each thing"},
	{name: "all frames of one class", one: true},
	{name: "all frames of every class", every: true},
	{name: "all frames of one class in full", one: true, full: true},
	{name: "all frames of every class in full", every: true, full: true},
}

// figures are those of one way of teaching, by set.
type figures struct{ accuracy, loss []float64 }

func run(priors string, files []string, tasks int) error {
	if len(files) == 0 || priors == "" {
		return errors.New("name data sets with groups, and by -prior the priors that were learned without them: -prior WITHOUT-A.safetensors,WITHOUT-B.safetensors A.npz B.npz")
	}
	var learned []*model.Prior
	for _, file := range strings.Split(priors, ",") {
		bytes, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		p, err := model.DecodePrior(bytes)
		if err != nil {
			return err
		}
		learned = append(learned, p)
	}
	for _, kind := range []string{"learned", "default"} {
		for things := 1; things <= 3; things++ {
			all := make([]figures, len(ways))
			for _, file := range files {
				set, err := dataset.Load(file)
				if err != nil {
					return err
				}
				if set.Groups == nil {
					return fmt.Errorf("%s has no groups: add an array “groups” to the .npz, with the same whole number for all rows of one thing", file)
				}
				p, err := metaqda.DefaultFile(set.Dim)
				if at := slices.IndexFunc(learned, func(p *model.Prior) bool {
					return slices.Contains(strings.Split(p.Facts["without"], ", "), set.Name)
				}); kind == "learned" && at >= 0 {
					p = learned[at]
				} else if kind == "learned" {
					err = fmt.Errorf("no prior was learned without %s", set.Name)
				}
				if err == nil {
					err = measure(all, set, p, things, tasks)
				}
				if err != nil {
					return err
				}
			}
			fmt.Printf("%s prior, %d things a class: %s\n", kind, things, all[0].mean())
			for i, w := range ways[1:] {
				fmt.Printf("  %s: %s\n", w.name, all[i+1].beside(all[0]))
			}
		}
	}
	return nil
}

func (f figures) mean() string {
	accuracy, loss := 0.0, 0.0
	for i, a := range f.accuracy {
		accuracy, loss = accuracy+a/float64(len(f.accuracy)), loss+f.loss[i]/float64(len(f.accuracy))
	}
	return fmt.Sprintf("accuracy %.1f %%, NLL %.3f", 100*accuracy, loss)
}

func (f figures) beside(first figures) string {
	accuracy, loss, least, most := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for i := range f.accuracy {
		a, l := f.accuracy[i]-first.accuracy[i], f.loss[i]-first.loss[i]
		accuracy, loss = accuracy+a/float64(len(f.accuracy)), loss+l/float64(len(f.accuracy))
		least, most = min(least, a), max(most, l)
	}
	return fmt.Sprintf("accuracy %+.1f, worst %+.1f; NLL %+.3f, worst %+.3f", 100*accuracy, 100*least, loss, most)
}

// measure appends the figures of a set, for each of the ways.
func measure(all []figures, set *dataset.Set, p *model.Prior, things, tasks int) error {
	full := *p
	full.Session.Near = 0
	priors := map[bool]*metaqda.Prior{}
	for inFull, file := range map[bool]*model.Prior{false: p, true: &full} {
		bytes, err := model.EncodePrior(file)
		if err != nil {
			return err
		}
		if priors[inFull], err = metaqda.DecodePrior(bytes); err != nil {
			return err
		}
	}
	right, loss := make([]float64, len(ways)), make([]float64, len(ways))
	asked := 0.0
	rng := rand.New(rand.NewPCG(uint64(things), 1))
	for n := range tasks {
		task := draw(rng, set, things)
		for i, w := range ways {
			c, err := metaqda.New(metaqda.Settings{}, priors[w.full])
			if err != nil {
				return err
			}
			for j, groups := range task.taught {
				for _, rows := range groups {
					if !w.every && (!w.one || j != n%len(task.taught)) {
						rows = rows[:1]
					}
					for _, row := range rows {
						if _, err := c.Add(strconv.Itoa(j), "", set.Row(row)); err != nil {
							return err
						}
					}
				}
			}
			for j, rows := range task.asked {
				for _, row := range rows {
					a, err := c.Predict(set.Row(row))
					if err != nil {
						return err
					}
					if i == 0 {
						asked++
					}
					if a.Label == strconv.Itoa(j) {
						right[i]++
					}
					loss[i] -= math.Log(max(a.Probabilities[j], 1e-9))
				}
			}
		}
	}
	for i := range all {
		all[i].accuracy = append(all[i].accuracy, right[i]/asked)
		all[i].loss = append(all[i].loss, loss[i]/asked)
	}
	return nil
}

// task is rows by class: groups that are taught, and groups of queries.
type task struct {
	taught [][][]int
	asked  [][]int
}

func draw(rng *rand.Rand, set *dataset.Set, things int) (t task) {
	for _, class := range rng.Perm(len(set.Classes))[:min(way, len(set.Classes))] {
		groups := map[int32][]int{}
		var order []int32
		for _, row := range set.ClassRows(class) {
			g := set.Groups[row]
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], row)
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		var taught [][]int
		var asked []int
		for _, g := range order {
			if rows := groups[g]; len(rows) > 1 && len(taught) < things {
				rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
				taught = append(taught, rows)
			} else if len(asked) < query {
				asked = append(asked, rows[0])
			}
		}
		t.taught, t.asked = append(t.taught, taught), append(t.asked, asked)
	}
	return t
}
