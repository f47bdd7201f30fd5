package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metrics"
)

// incremental runs class-incremental learning on every data set.
func (p *Plan) incremental(ctx context.Context, sources []*Source) ([]*Block, error) {
	if len(p.Ways) != 1 || len(p.Shots) != 1 {
		return nil, fmt.Errorf("incremental takes one --n-way and one --n-shot; run it once for each")
	}
	var blocks []*Block
	for _, s := range sources {
		base, err := s.Pool("train")
		if err != nil {
			return nil, err
		}
		test, err := p.newIncrementalRun(s, base, p.Split, p.Repeat)
		if err != nil {
			return nil, err
		}
		val := p.validationRun(test)
		pools := []episode.Pool{test.base, test.novel}
		if val != nil {
			pools = append(pools, val.novel)
		}
		s.setRows(pools...)
		for _, m := range p.Methods {
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
	p        *Plan
	s        *Source
	sessions [][]episode.Increment // by run
	base     episode.Pool
	novel    episode.Pool
	queries  []int       // the held-out rows of all classes, which are the same in every run, base first
	at       map[int]int // of each its place among queries
}

// heldOutShare is the part of each class that is kept for testing, as in the benchmark: 100 of 600
// pictures. Of what is left the balance takes as large a part.
const heldOutShare, heldOutMost = 6, 100

func (p *Plan) newIncrementalRun(s *Source, base episode.Pool, split string, runs int) (*incrementalRun, error) {
	r := &incrementalRun{p: p, s: s, base: base, at: map[int]int{}}
	var err error
	if r.novel, err = s.Pool(split); err != nil {
		return nil, err
	}
	smallest := s.Set.Len()
	for _, rows := range slices.Concat(r.base.Rows, r.novel.Rows) {
		smallest = min(smallest, len(rows))
	}
	c := episode.Incremental{Way: p.Ways[0], Shot: p.Shots[0], HeldOut: max(1, min(heldOutMost, smallest/heldOutShare))}
	for run := range runs {
		sessions, err := c.Increments(r.base, r.novel, p.Seed, run)
		if err != nil {
			return nil, err
		}
		r.sessions = append(r.sessions, sessions)
		for _, s := range sessions {
			for _, row := range slices.Concat(s.Query...) {
				if _, there := r.at[row]; !there {
					r.at[row] = len(r.queries)
					r.queries = append(r.queries, row)
				}
			}
		}
	}
	return r, nil
}

// validationRuns is how many runs the balance of base and new classes is fitted
// on.
const validationRuns = 3

// validationRun returns sessions that add the validation classes to the base classes without the rows
// that are tested. It returns nil if there are no validation classes or they are tested.
func (p *Plan) validationRun(test *incrementalRun) *incrementalRun {
	if p.ValTasks == 0 || testsVal(p.Split) {
		return nil
	}
	base := test.base
	base.Rows = test.sessions[0][0].Support
	r, err := p.newIncrementalRun(test.s, base, "val", validationRuns)
	if err != nil {
		return nil
	}
	return r
}

// testsVal reports whether the validation classes are among those of a list of splits.
func testsVal(list string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(name string) bool {
		name = strings.TrimSpace(name)
		return name == "val" || name == dataset.SplitAll
	})
}

// method scores one method: the base classes once, then each run's own.
func (r *incrementalRun) method(ctx context.Context, m Method, val *incrementalRun) ([]*Block, error) {
	make, err := m.Prepare(r.s, r.p)
	if err != nil {
		return nil, err
	}
	scorer, ok := make().(ClassScorer)
	if !ok {
		return nil, fmt.Errorf("method %q cannot add classes one session at a time; incremental takes fb, map, their handcrafted forms, ncc-un, ncc-l2n and ncc-cl2n", m.Name)
	}
	var fit *balance
	support := r.sessions[0][0].Support
	if val != nil {
		// The fit is for these densities: with 84 rows in place of 70 FB names no new class in 1,600 dimensions.
		support = val.sessions[0][0].Support
		if fit, err = val.fitBalance(scorer); err != nil {
			return nil, err
		}
	}
	base, err := r.classScores(scorer, support)
	if err != nil {
		return nil, err
	}
	blocks := r.blocks(m)
	for run, sessions := range r.sessions {
		if !r.p.Shard.has(run) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := 0
		err := r.score(scorer, base, sessions, func(scores []*mat.Dense, test []labelled) {
			rec := tallySession(scores, blocks[n].Classes, test, fit)
			rec.Episode = run
			blocks[n].Records = append(blocks[n].Records, rec)
			n++
		})
		if err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// classScores returns the scores (queries x classes) of new classes.
func (r *incrementalRun) classScores(scorer ClassScorer, support [][]int) (*mat.Dense, error) {
	dst := mat.NewDense(len(r.queries), len(support), nil)
	return dst, scorer.ClassScoresTo(dst, support, r.queries, r.p.Workers)
}

// labelled is a query, by its row in the score matrices, and its class in order
// of appearance.
type labelled struct{ query, class int }

// score calls f for each session of a run, with the scores of the classes seen so far and the
// queries about them. The scores of a class are computed when it is added and never again:
// later classes do not touch them.
func (r *incrementalRun) score(scorer ClassScorer, base *mat.Dense, sessions []episode.Increment, f func(scores []*mat.Dense, test []labelled)) error {
	scores := []*mat.Dense{base}
	var test []labelled
	classes := 0
	for n, s := range sessions {
		if n > 0 {
			added, err := r.classScores(scorer, s.Support)
			if err != nil {
				return err
			}
			scores = append(scores, added)
		}
		for _, rows := range s.Query {
			for _, row := range rows {
				test = append(test, labelled{r.at[row], classes})
			}
			classes++
		}
		f(scores, test)
	}
	return nil
}

// tallySession measures one session: the scores as they are and, with a fit,
// balanced.
func tallySession(scores []*mat.Dense, classes int, test []labelled, fit *balance) *Record {
	rec := &Record{Raw: metrics.NewTally(metrics.DefaultBins)}
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

// blocks returns one for each session. Without records JSON has [] there and not null.
func (r *incrementalRun) blocks(m Method) (blocks []*Block) {
	for n := range r.sessions[0] {
		blocks = append(blocks, &Block{Method: m.Name, Data: r.s.Set.Name, Way: r.p.Ways[0], Shot: r.p.Shots[0],
			Session: new(n), Classes: len(r.base.Rows) + n*r.p.Ways[0], Records: []*Record{}})
	}
	return blocks
}

// eachClass calls f for 0..n-1 from several goroutines and returns the first error.
func eachClass(n, workers int, f func(c int) error) error {
	var g errgroup.Group
	g.SetLimit(max(workers, 1))
	for c := range n {
		g.Go(func() error { return f(c) })
	}
	return g.Wait()
}
