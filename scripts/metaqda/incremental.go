package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/baseline"
	"metaqda/core/dataset"
	"metaqda/core/episode"
	"metaqda/core/metrics"
	"metaqda/core/niw"
)

// incremental runs class-incremental learning on every data set.
func (o *evalOptions) incremental(ctx context.Context, sources []*source) ([]*block, error) {
	if len(o.ways) != 1 || len(o.shots) != 1 {
		return nil, fmt.Errorf("incremental takes one --n-way and one --n-shot; run it once for each")
	}
	var blocks []*block
	for _, s := range sources {
		test, err := o.newIncrementalRun(s, o.split, o.repeat)
		if err != nil {
			return nil, err
		}
		val := o.validationRun(s)
		s.rows = test.rows()
		if val != nil {
			s.rows = append(s.rows, val.rows()...)
		}
		slices.Sort(s.rows)
		s.rows = slices.Compact(s.rows)
		for _, m := range o.methods {
			got, err := test.method(ctx, m, val)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, got...)
		}
	}
	return blocks, nil
}

// incrementalRun is the sessions of all runs on one data set.
type incrementalRun struct {
	o        *evalOptions
	s        *source
	sessions [][]episode.Increment // by run
	base     episode.Pool
	novel    episode.Pool
}

// heldOutShare is the part of each class that is kept for testing, of 600
// pictures 100 as in the benchmark.
const heldOutShare, heldOutMost = 6, 100

func (o *evalOptions) newIncrementalRun(s *source, split string, runs int) (*incrementalRun, error) {
	r := &incrementalRun{o: o, s: s}
	var err error
	if r.base, err = s.pool("train"); err != nil {
		return nil, err
	}
	if r.novel, err = s.pool(split); err != nil {
		return nil, err
	}
	smallest := s.set.Len()
	for _, rows := range slices.Concat(r.base.Rows, r.novel.Rows) {
		smallest = min(smallest, len(rows))
	}
	c := episode.Incremental{Way: o.ways[0], Shot: o.shots[0], HeldOut: max(1, min(heldOutMost, smallest/heldOutShare))}
	for run := range runs {
		sessions, err := c.Increments(r.base, r.novel, o.seed, run)
		if err != nil {
			return nil, err
		}
		r.sessions = append(r.sessions, sessions)
	}
	return r, nil
}

// validationRuns is how many runs the balance of base and new classes is fitted
// on.
const validationRuns = 3

// validationRun returns sessions that add the validation classes, nil where
// there are none or they are what is tested.
func (o *evalOptions) validationRun(s *source) *incrementalRun {
	if o.valTasks == 0 || slices.Contains(list(o.split), "val") || slices.Contains(list(o.split), dataset.SplitAll) {
		return nil
	}
	r, err := o.newIncrementalRun(s, "val", validationRuns)
	if err != nil {
		return nil
	}
	return r
}

func (r *incrementalRun) rows() []int {
	return slices.Concat(slices.Concat(r.base.Rows...), slices.Concat(r.novel.Rows...))
}

// method scores one method: the base classes once, then each run's own.
func (r *incrementalRun) method(ctx context.Context, m method, val *incrementalRun) ([]*block, error) {
	make, err := m.prepare(r.s, r.o)
	if err != nil {
		return nil, err
	}
	learner, ok := make().(incrementalScorer)
	if !ok || !learner.independent() {
		return nil, fmt.Errorf("method %q cannot add classes one session at a time; incremental takes fb, map, their handcrafted forms, ncc-un, ncc-l2n and ncc-cl2n", m.name)
	}
	var fit *balance
	if val != nil {
		fit = val.fitBalance(learner)
	}
	queries := r.allQueries()
	base := learner.classScores(r.sessions[0][0].Support, queries, r.o.workers)
	records := make2(len(r.sessions[0]), 0)
	for run, sessions := range r.sessions {
		if !r.o.shard.has(run) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for n, rec := range r.score(learner, base, queries, sessions, fit) {
			rec.Episode = run
			records[n] = append(records[n], rec)
		}
	}
	return r.blocks(m, records), nil
}

func make2(a, b int) [][]*record {
	m := make([][]*record, a)
	for i := range m {
		m[i] = make([]*record, b)
	}
	return m
}

// allQueries returns the held-out rows of all classes of all runs, which are
// the same in every run, base first.
func (r *incrementalRun) allQueries() []int {
	seen := map[int]bool{}
	var rows []int
	for _, sessions := range r.sessions {
		for _, s := range sessions {
			for _, q := range s.Query {
				for _, row := range q {
					if !seen[row] {
						seen[row] = true
						rows = append(rows, row)
					}
				}
			}
		}
	}
	return rows
}

// score returns one record for each session of a run. The scores of a class
// are computed when it is added and never again: later classes do not touch
// them.
func (r *incrementalRun) score(learner incrementalScorer, base *mat.Dense, queries []int, sessions []episode.Increment, fit *balance) []*record {
	at := make(map[int]int, len(queries))
	for i, row := range queries {
		at[row] = i
	}
	scores := []*mat.Dense{base}
	var test []labelled
	classes := 0
	var records []*record
	for n, s := range sessions {
		if n > 0 {
			scores = append(scores, learner.classScores(s.Support, queries, r.o.workers))
		}
		for j, rows := range s.Query {
			for _, row := range rows {
				test = append(test, labelled{at[row], classes + j})
			}
		}
		classes += len(s.Classes)
		records = append(records, tallySession(scores, classes, test, fit))
	}
	return records
}

// labelled is a query, by its row in the score matrices, and its class in order
// of appearance.
type labelled struct{ query, class int }

// tallySession measures one session: the scores as they are and, with a fit,
// balanced.
func tallySession(scores []*mat.Dense, classes int, test []labelled, fit *balance) *record {
	rec := &record{Raw: metrics.NewTally(metrics.DefaultBins)}
	if fit != nil {
		rec.Scaled = metrics.NewTally(metrics.DefaultBins)
	}
	_, base := scores[0].Dims()
	row, p := make([]float64, 0, classes), make([]float64, classes)
	for _, q := range test {
		row = row[:0]
		for _, c := range scores {
			row = append(row, c.RawRowView(q.query)...)
		}
		rec.Raw.Add(row, q.class, 1, p)
		hit := metrics.Best(row) == q.class
		if fit != nil {
			fit.apply(row, base)
			rec.Scaled.Add(row, q.class, 1, p)
			hit = metrics.Best(row) == q.class
		}
		if q.class >= base {
			rec.Novel.count(hit)
		}
	}
	return rec
}

func (r *incrementalRun) blocks(m method, records [][]*record) []*block {
	var blocks []*block
	classes := len(r.base.Rows)
	for n := range records {
		if n > 0 {
			classes += r.o.ways[0]
		}
		blocks = append(blocks, &block{Method: m.name, Data: r.s.set.Name, Way: r.o.ways[0], Shot: r.o.shots[0],
			Session: pointer(n), Classes: classes, Records: records[n]})
	}
	return blocks
}

// incrementalScorer is a scorer whose score of a class depends on no other
// class.
type incrementalScorer interface {
	// independent reports whether that is so for this method.
	independent() bool

	// classScores returns the log scores (queries x classes) of new classes
	// given by their support rows.
	classScores(support [][]int, queries []int, workers int) *mat.Dense
}

// eachClass calls f for 0..n-1 from several goroutines.
func eachClass(n, workers int, f func(c int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, workers) {
		wg.Go(func() {
			for c := range next {
				f(c)
			}
		})
	}
	for c := range n {
		next <- c
	}
	close(next)
	wg.Wait()
}

// rowsOf copies rows of the space into a matrix.
func (s *space) rowsOf(rows []int) *mat.Dense {
	_, d := s.x.Dims()
	m := mat.NewDense(len(rows), d, nil)
	s.gather(m, 0, rows)
	return m
}

func (s *niwScorer) independent() bool { return !s.options.Pooled }

// classScores uses the smaller of the two forms for each class: Gram products
// of its rows, or the d x d scatter where rows outnumber dimensions. Classes come
// and go here, so that nothing is left that they share: neither a mean of the
// session nor its hardness, which keeps the order of the classes.
func (s *niwScorer) classScores(support [][]int, queries []int, workers int) *mat.Dense {
	z := s.space.rowsOf(queries)
	dst := mat.NewDense(len(queries), len(support), nil)
	var empty niw.Group
	empty.ResetFrom(s.prior)
	inf := s.options.Inference
	eachClass(len(support), workers, func(c int) {
		w := s.space.rowsOf(support[c])
		density := s.classDensity(w, z)
		slope, offset := s.population().Line(float64(len(support[c])))
		for i, row := range queries {
			none := empty.LogProb(inf, s.space.norm2[s.space.index[row]], nil)
			dst.Set(i, c, slope*(density(i)-none)+offset)
		}
	})
	return dst
}

// classDensity returns the log density of the i-th row of z under a class with
// the whitened rows w.
func (s *niwScorer) classDensity(w, z *mat.Dense) func(i int) float64 {
	k, d := w.Dims()
	if k >= d {
		return s.denseDensity(w, z)
	}
	var gram, cross mat.Dense
	gram.Mul(w, w.T())
	cross.Mul(z, w.T())
	var g niw.Group
	g.ResetFrom(s.prior)
	for i := range k {
		g.Append(gram.RawRowView(i)[:i+1])
	}
	return func(i int) float64 {
		row := z.RawRowView(i)
		return g.LogProb(s.options.Inference, floats.Dot(row, row), cross.RawRowView(i))
	}
}

func (s *niwScorer) denseDensity(w, z *mat.Dense) func(i int) float64 {
	k, d := w.Dims()
	var scatter niw.Scatter
	scatter.Reset(s.niw)
	scatter.Add(w.RawMatrix())
	if !scatter.Factorize() {
		panic("metaqda: scatter of finite rows is not positive definite")
	}
	centre := make([]float64, d)
	for i := range k {
		floats.Add(centre, w.RawRowView(i))
	}
	floats.Scale(1/(s.prior.Kappa+float64(k)), centre)
	post := scatter.Posterior(k)
	diff := make([]float64, d)
	return func(i int) float64 {
		floats.SubTo(diff, z.RawRowView(i), centre)
		scatter.SolveTo(diff)
		return post.LogProb(s.options.Inference, floats.Dot(diff, diff))
	}
}

// independent is true of nearest centroid alone: the other competitors fit all
// classes together.
func (b *baselineScorer) independent() bool {
	_, ok := b.c.(*baseline.Centroid)
	return ok
}

func (b *baselineScorer) classScores(support [][]int, queries []int, workers int) *mat.Dense {
	x := b.space.rowsOf(queries)
	dst := mat.NewDense(len(queries), len(support), nil)
	eachClass(len(support), workers, func(c int) {
		rows := b.space.rowsOf(support[c])
		var m baseline.Centroid
		if err := m.Fit(baseline.Task{Support: rows, Labels: make([]int, len(support[c])), Way: 1}); err != nil {
			panic(err) // Centroid.Fit has no way to fail
		}
		column := mat.NewDense(len(queries), 1, nil)
		m.ScoresTo(column, x)
		for i := range queries {
			dst.Set(i, c, column.At(i, 0))
		}
	})
	return dst
}
