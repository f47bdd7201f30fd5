package experiment

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/episode"
	"metaqda/core/lab/metrics"
)

// runCell scores all episodes of the cell that belong to the shard and returns one
// block for each method. Results do not depend on the number of workers:
// episodes are independent and are put together in their order.
func (p *Plan) runCell(ctx context.Context, c *cell) ([]*Block, error) {
	workers, err := p.prepare(c.source)
	if err != nil {
		return nil, err
	}
	temperatures, err := p.fitTemperatures(ctx, c, workers)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for i := range p.Tasks * p.Repeat {
		if p.Shard.has(i) {
			numbers = append(numbers, i)
		}
	}
	records := make([][]*Record, len(numbers))
	err = p.each(ctx, c, workers, len(numbers), func(w *worker, k int) error {
		e := c.test.Episode(numbers[k])
		records[k] = make([]*Record, len(p.Methods))
		return w.score(&e, numbers[k], func(m int, scores *mat.Dense, none []float64) {
			if c.maxAsNone && none == nil {
				none = notBestTo(w.none, scores)
			}
			records[k][m] = newRecord(numbers[k], &e, scores, none, temperatures[m])
		})
	})
	if err != nil {
		return nil, err
	}
	return p.blocks(c, records, temperatures), nil
}

func (p *Plan) blocks(c *cell, records [][]*Record, temperatures []float64) []*Block {
	blocks := make([]*Block, len(p.Methods))
	for m := range p.Methods {
		blocks[m] = &Block{Method: p.Methods[m].Name, Data: c.source.Set.Name, Way: c.way, Shot: c.shot, Records: []*Record{}}
		if t := temperatures[m]; t > 0 {
			blocks[m].Temperature = &t
		}
		for k := range records {
			blocks[m].Records = append(blocks[m].Records, records[k][m])
		}
	}
	return blocks
}

// worker is the memory of one goroutine.
type worker struct {
	Task
	scorers []Scorer
	scores  *mat.Dense // queries x way
	none    []float64  // queries
}

// prepare readies the data for all methods and makes the workers.
func (p *Plan) prepare(s *Source) ([]*worker, error) {
	workers := make([]*worker, p.Workers)
	for i := range workers {
		workers[i] = &worker{}
	}
	for _, m := range p.Methods {
		make, err := m.Prepare(s, p)
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
func (w *worker) score(e *episode.Episode, number int, f func(m int, scores *mat.Dense, none []float64)) error {
	w.begin(e, number)
	w.scores, w.none = grow(w.scores, len(e.Query), e.Way()), slices.Grow(w.none[:0], len(e.Query))[:len(e.Query)]
	for m, s := range w.scorers {
		hasNone, err := s.ScoresTo(w.scores, w.none, &w.Task)
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

// grow returns an r x c matrix, in m's memory where it fits.
func grow(m *mat.Dense, r, c int) *mat.Dense {
	if m != nil {
		if data := m.RawMatrix().Data; cap(data) >= r*c {
			return mat.NewDense(r, c, data[:r*c])
		}
	}
	return mat.NewDense(r, c, nil)
}

// each calls f for 0..n-1 from all workers, until one fails or ctx ends.
func (p *Plan) each(ctx context.Context, c *cell, workers []*worker, n int, f func(w *worker, k int) error) error {
	var next, done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range workers {
		g.Go(func() error {
			for {
				k := int(next.Add(1)) - 1
				if k >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := f(w, k); err != nil {
					return err
				}
				if p.Progress != nil {
					p.Progress(c.name(), int(done.Add(1)), n)
				}
			}
		})
	}
	return g.Wait()
}

// fitTemperatures returns the temperature of each method on validation tasks,
// 0 where there are none. Every shard fits the same.
func (p *Plan) fitTemperatures(ctx context.Context, c *cell, workers []*worker) ([]float64, error) {
	temperatures := make([]float64, len(p.Methods))
	if c.val == nil {
		return temperatures, nil
	}
	scores := make([][][][]float64, p.ValTasks) // by episode, method, query, class
	labels := make([][]int, p.ValTasks)
	err := p.each(ctx, c, workers, p.ValTasks, func(w *worker, k int) error {
		e := c.val.Episode(k)
		scores[k] = make([][][]float64, len(p.Methods))
		return w.score(&e, k, func(m int, s *mat.Dense, _ []float64) {
			for i, y := range e.QueryLabel {
				if y == episode.Unknown {
					continue
				}
				scores[k][m] = append(scores[k][m], slices.Clone(s.RawRowView(i)))
				if m == 0 {
					labels[k] = append(labels[k], y)
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for m := range temperatures {
		var s [][]float64
		for k := range scores {
			s = append(s, scores[k][m]...)
		}
		temperatures[m] = metrics.FitTemperature(s, slices.Concat(labels...))
	}
	return temperatures, nil
}

// newRecord measures the scores of one episode. Accuracy and calibration count
// the queries of known classes; unseen ones go to the detection alone.
func newRecord(number int, e *episode.Episode, scores *mat.Dense, none []float64, temperature float64) *Record {
	r := &Record{Episode: number, Raw: metrics.NewTally(metrics.DefaultBins)}
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
			r.Raw.Add(row, y, 1, p)
		} else if r.Open == nil {
			r.Open = &OpenRecord{}
		}
	}
	if r.Open != nil {
		r.Open.fill(e, scores, none)
	}
	return r
}

func (o *OpenRecord) fill(e *episode.Episode, scores *mat.Dense, none []float64) {
	if none != nil {
		o.None = metrics.NewTally(metrics.DefaultBins)
	}
	two, unsure := make([]float64, 2), notBestTo(make([]float64, len(e.Query)), scores)
	for i, y := range e.QueryLabel {
		outcome := 0
		if y == episode.Unknown {
			outcome = 1
			o.UnseenMax = append(o.UnseenMax, single(unsure[i]))
		} else {
			o.KnownMax = append(o.KnownMax, single(unsure[i]))
		}
		if none == nil {
			continue
		}
		if y == episode.Unknown {
			o.Unseen = append(o.Unseen, single(none[i]))
		} else {
			o.Known = append(o.Known, single(none[i]))
		}
		o.None.Add([]float64{0, none[i]}, outcome, 1, two)
	}
}

// single returns the finite number of single precision that is nearest to log odds.
func single(logit float64) float32 {
	return float32(math.Max(-math.MaxFloat32, math.Min(math.MaxFloat32, logit)))
}
