// Command anyprior fits the session model of metaqda/core.Default, the prior for vectors without a
// learned one, and measures it:
//
//	go run ./scripts/anyprior -fit "A.npz@1280,A.npz@128 B.npz" -check "C.npz D.npz,E.npz"
//
// A number behind a file is a shorter length of vectors: so many of the set's numbers, drawn at
// random. The sessions are five-way with one, two and five examples, and those of episode.Sessions.
// They have out-of-set queries if the set has more classes.
//
// It prints the coefficients as Go, for core/prior.go. Spaces divide the sets to fit on into
// groups, and each group counts the same. Then it checks the present coefficients. For each group
// of sets to check, and for one, two and five examples a class, it prints accuracy and ECE among
// the classes. Two more figures are for a prior probability of none of these of .2. One is how
// often a query of a taught class is called none of these. The other is the AUROC of the
// probability of none. `make any-prior` has the sets.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	metaqda "metaqda/core"
	"metaqda/core/embed"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lab/metrics"
	"metaqda/core/session"
)

func main() {
	fit := flag.String("fit", "", "data sets to fit on, groups of them between spaces, in each separated by commas")
	check := flag.String("check", "", "data sets to measure on, likewise")
	n := flag.Int("sessions", 25, "sessions of each kind from each data set to fit on")
	tasks := flag.Int("tasks", 400, "tasks of each data set to measure on")
	flag.Parse()
	if err := run(list(*fit, " "), list(*check, " "), *n, *tasks); err != nil {
		fmt.Fprintln(os.Stderr, "anyprior:", err)
		os.Exit(1)
	}
}

func list(s, separator string) []string {
	return slices.DeleteFunc(strings.Split(s, separator), func(s string) bool { return s == "" })
}

func run(fit, groups []string, n, tasks int) error {
	if len(fit) == 0 && len(groups) == 0 {
		return errors.New("name data sets with -fit or -check")
	}
	var all []session.Sample
	for number, group := range fit {
		for _, file := range list(group, ",") {
			t, err := load(file)
			if err != nil {
				return err
			}
			samples, err := t.samples(number, n)
			if err != nil {
				return err
			}
			all = append(all, samples...)
		}
	}
	if len(all) > 0 {
		p, err := session.Fit(all, nil, runtime.NumCPU())
		if err != nil {
			return err
		}
		fmt.Printf("// %d sessions of %d kinds\n%s\n", len(all), len(fit), fmt.Sprintf("%#.3v", *p))
	}
	for _, group := range groups {
		files := list(group, ",")
		for _, shot := range []int{1, 2, 5} {
			var mean [5]float64
			for _, file := range files {
				t, err := load(file)
				if err != nil {
					return err
				}
				row, err := t.measure(shot, tasks)
				if err != nil {
					return err
				}
				for i, v := range row {
					mean[i] += v / float64(len(files))
				}
			}
			fmt.Printf("%d shots, %d sets from %s: accuracy %.1f %%, ECE %.1f %%, NLL %.3f, called none of these %.1f %%, AUROC %.2f\n",
				shot, len(files), files[0], 100*mean[0], 100*mean[1], mean[4], 100*mean[2], mean[3])
		}
	}
	return nil
}

// task is a data set of unit vectors.
type task struct {
	domain *metatrain.Domain
	pool   episode.Pool
}

func load(name string) (*task, error) {
	file, dim, cut := strings.Cut(name, "@")
	set, err := dataset.Load(file)
	if err != nil {
		return nil, err
	}
	d := set.Dim
	if cut {
		if d, err = strconv.Atoi(dim); err != nil || d > set.Dim {
			return nil, fmt.Errorf("%s: want a length up to %d behind @", name, set.Dim)
		}
	}
	kept := rand.New(rand.NewPCG(uint64(d), 1)).Perm(set.Dim)[:d]
	t := &task{domain: &metatrain.Domain{Name: name, Dim: d}, pool: episode.Pool{Name: name}}
	unit, row := embed.Transform{Kind: embed.L2}, make([]float64, d)
	for c, label := range set.Classes {
		var at []int
		for _, i := range set.ClassRows(c) {
			for j, k := range kept {
				row[j] = float64(set.Row(i)[k])
			}
			if err := unit.ApplyTo(row, row); err != nil {
				return nil, fmt.Errorf("%s, row %d: %w", file, i, err)
			}
			at = append(at, len(t.domain.X)/d)
			for _, v := range row {
				t.domain.X = append(t.domain.X, float32(v))
			}
			if set.Groups != nil {
				t.pool.Groups = append(t.pool.Groups, set.Groups[i])
			}
		}
		t.pool.Classes, t.pool.Rows = append(t.pool.Classes, label), append(t.pool.Rows, at)
	}
	return t, nil
}

// uniform draws tasks of up to five classes, and out-of-set queries of the classes that are left.
func (t *task) uniform(shot int) (*episode.Uniform, error) {
	way := min(5, len(t.pool.Classes))
	if way == len(t.pool.Classes) && way > 2 {
		way--
	}
	c := episode.Fixed(way, shot, 7)
	c.UnknownClasses = min(5, len(t.pool.Classes)-way)
	return episode.NewUniform(t.pool, c, 7)
}

// samples are sessions under the prior.
func (t *task) samples(number, n int) ([]session.Sample, error) {
	prior, err := metaqda.DefaultFile(t.domain.Dim)
	if err != nil {
		return nil, err
	}
	var samplers []episode.Sampler
	for _, shot := range []int{1, 2, 5} {
		s, err := t.uniform(shot)
		if err != nil {
			return nil, err
		}
		samplers = append(samplers, s)
	}
	if len(t.pool.Classes) > 2 {
		s, err := episode.NewSessions(t.pool, 7)
		if err != nil {
			return nil, err
		}
		samplers = append(samplers, s)
	}
	o := prior.Session.Options()
	o.Population = nil
	samples, err := metatrain.Sessions(context.Background(), prior.NIW, o, t.domain, samplers, n, runtime.NumCPU())
	for k := range samples {
		samples[k].Domain = number
	}
	return samples, err
}

// measure returns accuracy, ECE, share of the known called none of these, AUROC of none and NLL. Nothing
// was fitted on the tasks.
func (t *task) measure(shot, tasks int) (row [5]float64, err error) {
	sampler, err := t.uniform(shot)
	if err != nil {
		return row, err
	}
	bins := metrics.NewReliability(metrics.DefaultBins)
	var detected []float64
	right := 0
	for i := range tasks {
		e := sampler.Episode(i)
		c, err := metaqda.New(metaqda.Settings{NonePrior: 0.2}, nil)
		if err != nil {
			return row, err
		}
		x := func(r int) []float32 { return t.domain.X[r*t.domain.Dim : (r+1)*t.domain.Dim] }
		for k, rows := range e.Support {
			for _, r := range rows {
				if _, err := c.Add(strconv.Itoa(k), "", x(r)); err != nil {
					return row, err
				}
			}
		}
		var taught, strange []float64
		for q, r := range e.Query {
			p := make([]float64, e.Way())
			none, err := c.ProbabilitiesTo(p, x(r))
			if err != nil {
				return row, err
			}
			if e.QueryLabel[q] == episode.Unknown {
				strange = append(strange, none)
				continue
			}
			taught = append(taught, none)
			if c.Decide(p, none).Class < 0 {
				row[2]++
			}
			sure := slices.Max(p) / (1 - none)
			hit := metrics.Best(p) == e.QueryLabel[q]
			row[4] -= math.Log(max(1e-6, p[e.QueryLabel[q]]/(1-none)))
			bins.Add(sure, hit)
			if hit {
				right++
			}
		}
		if len(strange) > 0 {
			detected = append(detected, metrics.AUROC(strange, taught))
		}
	}
	n := float64(bins.Total())
	row[0], row[1], row[2], row[4] = float64(right)/n, bins.ECE(), row[2]/n, row[4]/n
	if len(detected) > 0 {
		row[3] = stat.Mean(detected, nil)
	}
	return row, nil
}
