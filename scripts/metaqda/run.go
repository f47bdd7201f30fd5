package main

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/episode"
	"metaqda/core/metrics"
)

// cell is one column of an evaluation: a data set and a kind of episode, to be
// scored by every method.
type cell struct {
	source    *source
	way, shot int // 0 where they are drawn
	test      episode.Sampler
	val       episode.Sampler // for the temperature; nil: none is fitted
	doubts    bool            // methods that know no none of these doubt by one minus the largest probability
}

// bench runs cells.
type bench struct {
	methods  []method
	tasks    int
	valTasks int
	shard    shard
	workers  int
	options  *evalOptions
	progress func(done, total int)
}

// run scores all episodes of the cell that belong to the shard and returns one
// block for each method. Results do not depend on the number of workers:
// episodes are independent and are put together in their order.
func (b *bench) run(ctx context.Context, c *cell) ([]*block, error) {
	workers, err := b.prepare(c)
	if err != nil {
		return nil, err
	}
	temperatures, err := b.fitTemperatures(ctx, c, workers)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for i := range b.tasks {
		if b.shard.has(i) {
			numbers = append(numbers, i)
		}
	}
	records := make([][]*record, len(numbers))
	err = b.each(ctx, workers, len(numbers), func(w *benchWorker, k int) error {
		e := c.test.Episode(numbers[k])
		records[k] = make([]*record, len(b.methods))
		return w.score(&e, numbers[k], func(m int, scores *mat.Dense, none []float64) {
			if c.doubts && none == nil {
				none = notBestTo(w.none, scores)
			}
			records[k][m] = newRecord(numbers[k], &e, scores, none, temperatures[m])
		})
	})
	if err != nil {
		return nil, err
	}
	return b.blocks(c, records, temperatures), nil
}

func (b *bench) blocks(c *cell, records [][]*record, temperatures []float64) []*block {
	blocks := make([]*block, len(b.methods))
	for m := range b.methods {
		blocks[m] = &block{Method: b.methods[m].name, Data: c.source.set.Name, Way: c.way, Shot: c.shot, Records: []*record{}}
		if t := temperatures[m]; t > 0 {
			blocks[m].Temperature = &t
		}
		for k := range records {
			blocks[m].Records = append(blocks[m].Records, records[k][m])
		}
	}
	return blocks
}

// benchWorker is what one goroutine owns.
type benchWorker struct {
	workspace
	scorers []scorer
}

// prepare readies the data for all methods and makes the workers.
func (b *bench) prepare(c *cell) ([]*benchWorker, error) {
	workers := make([]*benchWorker, b.workers)
	for i := range workers {
		workers[i] = &benchWorker{}
	}
	for _, m := range b.methods {
		make, err := m.prepare(c.source, b.options)
		if err != nil {
			return nil, err
		}
		for _, w := range workers {
			w.scorers = append(w.scorers, make())
		}
	}
	return workers, nil
}

// score hands the scores of every method to f. They are overwritten by the
// next.
func (w *benchWorker) score(e *episode.Episode, number int, f func(m int, scores *mat.Dense, none []float64)) error {
	w.begin(e, number)
	for m, s := range w.scorers {
		hasNone, err := s.score(&w.workspace, w.scores, w.none)
		if err != nil {
			return err
		}
		none := w.none
		if !hasNone {
			none = nil
		}
		f(m, w.scores, none)
	}
	return nil
}

// each calls f for 0..n-1 from all workers.
func (b *bench) each(ctx context.Context, workers []*benchWorker, n int, f func(w *benchWorker, k int) error) error {
	var next, done atomic.Int64
	var first error
	var once sync.Once
	var wg sync.WaitGroup
	stop := make(chan struct{})
	fail := func(err error) { once.Do(func() { first = err; close(stop) }) }
	for _, w := range workers {
		wg.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				select {
				case <-stop:
					return
				case <-ctx.Done():
					fail(ctx.Err())
					return
				default:
				}
				if err := f(w, k); err != nil {
					fail(err)
					return
				}
				if b.progress != nil {
					b.progress(int(done.Add(1)), n)
				}
			}
		})
	}
	wg.Wait()
	return first
}

// fitTemperatures returns the temperature of each method on validation tasks,
// 0 where there are none. Every shard fits the same.
func (b *bench) fitTemperatures(ctx context.Context, c *cell, workers []*benchWorker) ([]float64, error) {
	temperatures := make([]float64, len(b.methods))
	if c.val == nil {
		return temperatures, nil
	}
	scores := make([][][][]float64, b.valTasks) // by episode, method, query, class
	labels := make([][]int, b.valTasks)
	err := b.each(ctx, workers, b.valTasks, func(w *benchWorker, k int) error {
		e := c.val.Episode(k)
		labels[k] = knownLabels(&e)
		scores[k] = make([][][]float64, len(b.methods))
		return w.score(&e, k, func(m int, s *mat.Dense, _ []float64) {
			for i, y := range e.QueryLabel {
				if y != episode.Unknown {
					scores[k][m] = append(scores[k][m], append([]float64(nil), s.RawRowView(i)...))
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	var all []int
	for _, l := range labels {
		all = append(all, l...)
	}
	for m := range temperatures {
		var s [][]float64
		for k := range scores {
			s = append(s, scores[k][m]...)
		}
		temperatures[m] = metrics.FitTemperature(s, all)
	}
	return temperatures, nil
}

func knownLabels(e *episode.Episode) []int {
	var known []int
	for _, y := range e.QueryLabel {
		if y != episode.Unknown {
			known = append(known, y)
		}
	}
	return known
}

// newRecord measures the scores of one episode. Accuracy and calibration count
// the queries of known classes; unseen ones go to the detection alone.
func newRecord(number int, e *episode.Episode, scores *mat.Dense, none []float64, temperature float64) *record {
	r := &record{Episode: number, Raw: metrics.NewTally(metrics.DefaultBins)}
	if temperature > 0 {
		r.Scaled = metrics.NewTally(metrics.DefaultBins)
	}
	p := make([]float64, e.Way())
	for i, y := range e.QueryLabel {
		row := scores.RawRowView(i)
		if y != episode.Unknown {
			if temperature > 0 {
				r.Scaled.Add(row, y, temperature, p)
			}
			r.Raw.Add(row, y, 1, p) // last: leaves the raw probabilities in p
		} else {
			if r.Open == nil {
				r.Open = &openRecord{}
			}
		}
	}
	if r.Open != nil {
		r.Open.fill(e, scores, none, p)
	}
	return r
}

func (o *openRecord) fill(e *episode.Episode, scores *mat.Dense, none, p []float64) {
	if none != nil {
		o.None = metrics.NewTally(metrics.DefaultBins)
	}
	two := make([]float64, 2)
	for i, y := range e.QueryLabel {
		metrics.SoftmaxTo(p, scores.RawRowView(i), 1)
		unsure := float32(1 - p[metrics.Best(p)])
		outcome := 0
		if y == episode.Unknown {
			outcome = 1
			o.UnseenMax = append(o.UnseenMax, unsure)
		} else {
			o.KnownMax = append(o.KnownMax, unsure)
		}
		if none == nil {
			continue
		}
		odds := float32(math.Max(-math.MaxFloat32, math.Min(math.MaxFloat32, none[i])))
		if y == episode.Unknown {
			o.Unseen = append(o.Unseen, odds)
		} else {
			o.Known = append(o.Known, odds)
		}
		o.None.Add([]float64{0, none[i]}, outcome, 1, two)
	}
}
