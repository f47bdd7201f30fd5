package metatrain

import (
	"context"

	"metaqda/core/lab/episode"
)

// Validator measures parameters on episodes that stay the same throughout a run. So two validations
// differ by the parameters alone. Several goroutines may use it at once.
type Validator struct {
	domains  []*Domain
	episodes [][]episode.Episode // by domain
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
// for each number of shots. It panics unless there is one of each.
func NewValidator(domains []*Domain, samplers [][]episode.Sampler, n int) *Validator {
	if len(domains) == 0 || len(samplers) != len(domains) || n < 1 {
		panic("metatrain: validation on nothing")
	}
	v := &Validator{domains: domains}
	for i := range domains {
		var episodes []episode.Episode
		for _, s := range samplers[i] {
			for k := range n {
				episodes = append(episodes, s.Episode(k))
			}
		}
		v.episodes = append(v.episodes, episodes)
	}
	return v
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

// scratch is the memory one worker measures episodes with.
type scratch struct {
	work Workspace
	task Task
}

// domain measures one domain. Scores are summed in the order of the episodes.
func (v *Validator) domain(ctx context.Context, e *Engine, i, workers int) (DomainResult, error) {
	scores := make([]score, len(v.episodes[i]))
	pool := make(chan *scratch, workers)
	for range workers {
		pool <- &scratch{}
	}
	parallel(len(scores), workers, func(k int) {
		if ctx.Err() != nil {
			return
		}
		s := <-pool
		v.domains[i].fillTo(&s.task, &v.episodes[i][k])
		e.forward(&s.work, &s.task)
		e.lossGradient(&s.work, &s.task)
		scores[k] = s.work.score
		pool <- s
	})
	r := DomainResult{Name: v.domains[i].Name}
	for _, s := range scores {
		if s.queries > 0 {
			r.Loss += s.loss / s.queries / float64(len(scores))
			r.Accuracy += s.correct / s.queries / float64(len(scores))
		}
	}
	return r, ctx.Err()
}

// betterThan reports whether v is strictly better than w.
func (v *Validation) betterThan(w *Validation, by Selection) bool {
	if by == ByAccuracy && v.Accuracy != w.Accuracy {
		return v.Accuracy > w.Accuracy
	}
	return v.Loss < w.Loss
}
