package metatrain

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"metaqda/core/episode"
)

// Validator measures parameters on episodes that stay the same throughout a
// run, so that two validations differ by the parameters alone. Each domain's
// rows are whitened once for all its episodes. Several goroutines may use it at once.
type Validator struct {
	domains  []*Domain
	episodes [][]episode.Episode // by domain
	rows     [][]int             // rows of each domain that some episode uses, ascending
}

// Validation is the outcome: means over the episodes of a domain, then over
// the domains.
type Validation struct {
	Loss     float64        `json:"loss"` // cross-entropy per query, nats
	Accuracy float64        `json:"accuracy"`
	Domains  []DomainResult `json:"domains"`
}

// DomainResult is the outcome on one domain.
type DomainResult struct {
	Name     string  `json:"name"`
	Loss     float64 `json:"loss"`
	Accuracy float64 `json:"accuracy"`
}

// NewValidator returns a validator on the first n episodes of each domain's
// samplers: samplers[i] lists those that draw from domains[i], for example one
// for each number of shots.
func NewValidator(domains []*Domain, samplers [][]episode.Sampler, n int) (*Validator, error) {
	if len(domains) == 0 || len(samplers) != len(domains) || n < 1 {
		return nil, fmt.Errorf("validation on %d domains with %d episodes each: want at least one of both", len(domains), n)
	}
	v := &Validator{domains: domains}
	for i := range domains {
		var episodes []episode.Episode
		used := map[int]bool{}
		for _, s := range samplers[i] {
			for k := range n {
				e := s.Episode(k)
				episodes = append(episodes, e)
				for _, r := range slices.Concat(append(e.Support, e.Query)...) {
					used[r] = true
				}
			}
		}
		v.episodes, v.rows = append(v.episodes, episodes), append(v.rows, slices.Sorted(maps.Keys(used)))
	}
	return v, nil
}

func (v *Validator) run(ctx context.Context, e *Engine, workers int) (*Validation, error) {
	out := &Validation{}
	for i := range v.domains {
		r, err := v.domain(ctx, e, i, workers)
		if err != nil {
			return nil, err
		}
		out.Domains = append(out.Domains, r)
		out.Loss += r.Loss / float64(len(v.domains))
		out.Accuracy += r.Accuracy / float64(len(v.domains))
	}
	return out, nil
}

// domain measures one domain. Scores are summed in the order of the episodes.
func (v *Validator) domain(ctx context.Context, e *Engine, i, workers int) (DomainResult, error) {
	scores := make([]score, len(v.episodes[i]))
	err := v.forEach(ctx, e, i, workers, func(k int, w *Workspace, t *Task) {
		e.lossGradient(w, t)
		scores[k] = w.score
	})
	r := DomainResult{Name: v.domains[i].Name}
	for _, s := range scores {
		if s.queries > 0 {
			r.Loss += s.loss / s.queries / float64(len(scores))
			r.Accuracy += s.correct / s.queries / float64(len(scores))
		}
	}
	return r, err
}

// forEach calls f for every episode of domain i, after forward.
func (v *Validator) forEach(ctx context.Context, e *Engine, i, workers int, f func(k int, w *Workspace, t *Task)) error {
	white := v.whiten(e, i, workers)
	index := make(map[int]int, len(v.rows[i]))
	for at, r := range v.rows[i] {
		index[r] = at
	}
	pool := make(chan *scratch, workers)
	for range workers {
		pool <- &scratch{}
	}
	parallel(len(v.episodes[i]), workers, func(k int) {
		if ctx.Err() != nil {
			return
		}
		s := <-pool
		s.fill(&v.episodes[i][k], e.factor.d, white, index)
		e.forwardWhitened(&s.work, &s.task)
		f(k, &s.work, &s.task)
		pool <- s
	})
	return ctx.Err()
}

// whiten returns the whitened rows of domain i that are in use. Blocks of rows
// are independent.
func (v *Validator) whiten(e *Engine, i, workers int) []float64 {
	d, rows := e.factor.d, v.rows[i]
	white := make([]float64, len(rows)*d)
	parallel((len(rows)+rowBlock-1)/rowBlock, workers, func(b int) {
		lo, hi := b*rowBlock, min((b+1)*rowBlock, len(rows))
		for k := lo; k < hi; k++ {
			dst := white[k*d : (k+1)*d]
			for c, x := range v.domains[i].row(rows[k]) {
				dst[c] = float64(x) - e.m[c]
			}
		}
		e.whitenRows(white[lo*d:hi*d], hi-lo)
	})
	return white
}

// scratch is the memory one worker measures episodes with.
type scratch struct {
	work Workspace
	task Task
}

// fill makes the task from whitened rows.
func (s *scratch) fill(e *episode.Episode, d int, white []float64, index map[int]int) {
	t := &s.task
	t.Shots, t.Labels = t.Shots[:0], append(t.Labels[:0], e.QueryLabel...)
	n := len(e.Query)
	for _, rows := range e.Support {
		t.Shots = append(t.Shots, len(rows))
		n += len(rows)
	}
	t.resize(d, n)
	at := 0
	put := func(r int) {
		copy(t.X[at*d:(at+1)*d], white[index[r]*d:])
		at++
	}
	for _, rows := range e.Support {
		for _, r := range rows {
			put(r)
		}
	}
	for _, r := range e.Query {
		put(r)
	}
}

// betterThan reports whether v is strictly better than w.
func (v *Validation) betterThan(w *Validation, by Selection) bool {
	if by == ByAccuracy && v.Accuracy != w.Accuracy {
		return v.Accuracy > w.Accuracy
	}
	return v.Loss < w.Loss
}
