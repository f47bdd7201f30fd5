// Command anyprior fits what metaqda/core.Default says of sessions, the prior for
// vectors that no learned one is known for, and tells what it is worth:
//
//	go run ./scripts/anyprior -fit A.npz,B.npz -check C.npz,D.npz -dims 1280,128,32
//
// The sessions are those of episode.AsPeopleMake: one to eight classes of one to twelve
// examples, half of the queries strangers. A length below that of the embeddings takes
// so many of their numbers, drawn at random. Log densities grow with the length d, so
// they are divided by d/1000 before the one population is fitted on all of them.
//
// It prints the coefficients as Go, for core/prior.go, and then, with the coefficients
// that are there, accuracy among the taught, ECE of what is said of them, and AUROC of
// none for each length of the sets to check. `make any-prior` has the sets.
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

	metaqda "metaqda/core"
	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/episode"
	"metaqda/core/metatrain"
	"metaqda/core/metrics"
	"metaqda/core/session"
)

func main() {
	fit := flag.String("fit", "", "data sets to fit on, separated by commas")
	check := flag.String("check", "", "other data sets to measure on")
	dims := flag.String("dims", "1280,128,32", "lengths of vectors")
	n := flag.Int("sessions", 20, "sessions of each data set and length")
	flag.Parse()
	if err := run(split(*fit), split(*check), split(*dims), *n); err != nil {
		fmt.Fprintln(os.Stderr, "anyprior:", err)
		os.Exit(1)
	}
}

func split(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

func run(fit, check, dims []string, n int) error {
	if len(fit) == 0 && len(check) == 0 {
		return errors.New("name data sets with -fit or -check")
	}
	var all []session.Sample
	for number, file := range fit {
		for _, dim := range dims {
			t, err := load(file, dim)
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
		p, err := session.Fit(all, nil, false, runtime.NumCPU())
		if err != nil {
			return err
		}
		fmt.Printf("// %d sessions\n%s\n", len(all), fmt.Sprintf("%#.3v", *p))
	}
	for _, dim := range dims {
		var m measured
		for _, file := range check {
			t, err := load(file, dim)
			if err == nil {
				err = t.measure(&m, n)
			}
			if err != nil {
				return err
			}
		}
		if len(check) > 0 {
			fmt.Printf("%4s numbers, %d data sets: accuracy %.1f %%, ECE %.1f %%, AUROC of none %.2f\n", dim, len(check), 100*m.accuracy(), 100*m.ece(), mean(m.auroc))
		}
	}
	return nil
}

// task is a data set in vectors of a length, and the sessions drawn from it.
type task struct {
	domain   *metatrain.Domain
	raw      [][]float32
	sessions *episode.Sessions
}

func load(file, dim string) (*task, error) {
	set, err := dataset.Load(file)
	if err != nil {
		return nil, err
	}
	d, err := strconv.Atoi(dim)
	if err != nil {
		return nil, err
	}
	d = min(d, set.Dim)
	kept := rand.New(rand.NewPCG(uint64(d), 1)).Perm(set.Dim)[:d]
	t := &task{domain: &metatrain.Domain{Name: set.Name, Dim: d}}
	pool := episode.Pool{Name: set.File()}
	unit := embed.Transform{Kind: embed.L2}
	row := make([]float64, d)
	for c, name := range set.Classes {
		var at []int
		for _, i := range set.ClassRows(c) {
			x := make([]float32, d)
			for j, k := range kept {
				x[j] = set.Row(i)[k]
				row[j] = float64(x[j])
			}
			if err := unit.ApplyTo(row, row); err != nil {
				return nil, fmt.Errorf("%s, row %d: %w", file, i, err)
			}
			at = append(at, len(t.raw))
			t.raw = append(t.raw, x)
			for _, v := range row {
				t.domain.X = append(t.domain.X, float32(v))
			}
			if set.Groups != nil {
				pool.Groups = append(pool.Groups, set.Groups[i])
			}
		}
		pool.Classes, pool.Rows = append(pool.Classes, name), append(pool.Rows, at)
	}
	t.sessions, err = episode.NewSessions(pool, episode.AsPeopleMake(), 7)
	return t, err
}

// samples are sessions under the prior.
func (t *task) samples(number, n int) ([]session.Sample, error) {
	prior, err := metaqda.Default(t.domain.Dim)
	if err != nil {
		return nil, err
	}
	o := prior.Content().Session.Options()
	o.Population = nil
	samples, err := metatrain.Sessions(context.Background(), prior.Content().NIW, o, t.domain, []episode.Sampler{t.sessions}, n, runtime.NumCPU())
	for k := range samples {
		samples[k].Domain = number
	}
	return samples, err
}

// measured is what was asked of sessions that nothing was fitted on.
type measured struct {
	known, right int
	bins         [20]struct{ n, right, sure float64 }
	auroc        []float64 // of each session
}

func (t *task) measure(m *measured, n int) error {
	for i := range n {
		e := t.sessions.Episode(i)
		c, err := metaqda.New(metaqda.Settings{NonePrior: 0.5}, nil)
		if err != nil {
			return err
		}
		for k, rows := range e.Support {
			for _, r := range rows {
				if _, err := c.Add(strconv.Itoa(k), "", t.raw[r]); err != nil {
					return err
				}
			}
		}
		var taught, strange []float64
		for q, r := range e.Query {
			a, err := c.Recognise(t.raw[r])
			if err != nil {
				return err
			}
			if e.QueryLabel[q] == episode.Unknown {
				strange = append(strange, a.None)
				continue
			}
			taught = append(taught, a.None)
			m.tell(slices.Max(a.Probabilities)/(1-a.None), a.Label == strconv.Itoa(e.QueryLabel[q]))
		}
		if len(taught) > 0 && len(strange) > 0 {
			m.auroc = append(m.auroc, metrics.AUROC(strange, taught))
		}
	}
	return nil
}

func (m *measured) tell(sure float64, right bool) {
	bin := &m.bins[min(int(sure*float64(len(m.bins))), len(m.bins)-1)]
	m.known++
	bin.n++
	bin.sure += sure
	if right {
		m.right++
		bin.right++
	}
}

func (m *measured) accuracy() float64 { return float64(m.right) / float64(m.known) }

func (m *measured) ece() (sum float64) {
	for _, b := range m.bins {
		sum += math.Abs(b.sure-b.right) / float64(m.known)
	}
	return sum
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
