// Command why measures three answers of a session about itself: which example spoils others, which
// class needs another example most, and which labels are in a set. Each data set is tested with all
// its classes, under the prior learned without its family:
//
//	go run ./scripts/why -prior build/lodo -tasks 8 spoiled build/data/*.npz
//
// The first argument is spoiled, next or sets. `make why` runs all three.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	metaqda "metaqda/core"
	"metaqda/core/lab/dataset"
)

const way = 5

// questions measure the tasks of a set. They return the figures of each task by their names.
var questions = map[string]func(s *source, task int) (map[string]float64, error){"spoiled": spoiled, "next": next, "sets": sets}

// reports print the figures of all sets: the tasks of each, by its name.
var reports = map[string]func(all map[string][]map[string]float64){"spoiled": reportSpoiled, "next": reportNext, "sets": reportSets}

func main() {
	priors := flag.String("prior", "build/lodo", "folder of the priors that were learned without a family: without-NAME.safetensors")
	tasks := flag.Int("tasks", 8, "tasks of each set")
	flag.Parse()
	if err := run(*priors, *tasks, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "why:", err)
		os.Exit(1)
	}
}

func run(priors string, tasks int, args []string) error {
	if len(args) < 2 || questions[args[0]] == nil {
		return errors.New("name a question (spoiled, next or sets) and data sets")
	}
	all, trouble := map[string][]map[string]float64{}, make([]error, len(args)-1)
	var mu sync.Mutex
	var wg sync.WaitGroup
	free := make(chan bool, runtime.NumCPU())
	for i, file := range args[1:] {
		wg.Add(1)
		free <- true
		go func() {
			defer func() { <-free; wg.Done() }()
			name, figures, err := ask(questions[args[0]], priors, file, tasks)
			mu.Lock()
			defer mu.Unlock()
			all[name], trouble[i] = figures, err
		}()
	}
	wg.Wait()
	if err := errors.Join(trouble...); err != nil {
		return err
	}
	reports[args[0]](all)
	return nil
}

func ask(question func(s *source, task int) (map[string]float64, error), priors, file string, tasks int) (string, []map[string]float64, error) {
	s, err := open(priors, file)
	if err != nil {
		return "", nil, err
	}
	var all []map[string]float64
	for n := range tasks {
		figures, err := question(s, n)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", file, err)
		}
		if figures != nil {
			all = append(all, figures)
		}
	}
	return s.set.Name, all, nil
}

// source is a set of embeddings with a prior.
type source struct {
	set   *dataset.Set
	prior *metaqda.Prior
}

func open(priors, file string) (*source, error) {
	set, err := dataset.Load(file)
	if err != nil {
		return nil, err
	}
	bytes, err := os.ReadFile(filepath.Join(priors, "without-"+set.Name+".safetensors"))
	if err != nil {
		return nil, err
	}
	prior, err := metaqda.DecodePrior(bytes)
	return &source{set, prior}, err
}

// draw returns rows of at most five classes that have at least so many, in a random order, and of
// all the other classes.
func (s *source) draw(rng *rand.Rand, least int) (classes [][]int, others []int) {
	for _, k := range rng.Perm(len(s.set.Classes)) {
		rows := slices.Clone(s.set.ClassRows(k))
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if len(rows) >= least && len(classes) < way {
			classes = append(classes, rows)
		} else {
			others = append(others, rows...)
		}
	}
	return classes, others
}

// example is a row that is taught as a class.
type example struct{ row, label int }

// teach returns a classifier of the given classes, and the ids of the examples.
func (s *source) teach(classes int, all []example) (c *metaqda.Classifier, ids []string, err error) {
	c, err = metaqda.New(metaqda.Settings{NonePrior: 0.2}, s.prior)
	for k := 0; k < classes && err == nil; k++ {
		_, err = c.AddClass(strconv.Itoa(k))
	}
	for i := 0; i < len(all) && err == nil; i++ {
		var id string
		id, err = c.Add(strconv.Itoa(all[i].label), "", s.set.Row(all[i].row))
		ids = append(ids, id)
	}
	return c, ids, err
}

// accuracy returns the mean over classes of the share of rows that are right, whatever p(none).
func (s *source) accuracy(c *metaqda.Classifier, asked [][]int) (share float64, err error) {
	for k, rows := range asked {
		for _, row := range rows {
			a, err := c.Predict(s.set.Row(row))
			if err != nil {
				return 0, err
			}
			if a.Label == strconv.Itoa(k) {
				share += 1 / float64(len(rows)*len(asked))
			}
		}
	}
	return share, nil
}

// sum adds a figure over all tasks of all sets.
func sum(all map[string][]map[string]float64, name string) (total float64) {
	for _, tasks := range all {
		for _, t := range tasks {
			total += t[name]
		}
	}
	return total
}

// bySet returns the mean of a figure over the tasks of each set, its mean over the sets and its least.
func bySet(all map[string][]map[string]float64, name string) (mean, least, n float64) {
	least = math.Inf(1)
	for _, tasks := range all {
		m, k := 0.0, 0.0
		for _, t := range tasks {
			if v, ok := t[name]; ok {
				m, k = m+v, k+1
			}
		}
		if k > 0 {
			mean, least, n = mean+m/k, min(least, m/k), n+1
		}
	}
	return mean / max(1, n), least, n
}
