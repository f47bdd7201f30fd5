package metatrain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"metaqda/core/episode"
)

// Validation whitens whole domains; its episodes score as tasks do.
func TestValidationScoresAsTasksDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	const d = 5
	p, world := randomParams(rng, d), newWorld(1, 8, 10, 0.5, spread(d))
	v := world.validator(t, 3, episode.Fixed(3, 2, 4))
	scores, err := v.Collect(context.Background(), p, nil, Objective{}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	e, w := NewEngine(d, Objective{}), &Workspace{}
	e.Set(p)
	for n, got := range scores {
		ep := v.episodes[0][n]
		task := &Task{Dim: d, Shots: []int{2, 2, 2}, Labels: ep.QueryLabel}
		for _, r := range append(slices.Concat(ep.Support...), ep.Query...) {
			for _, x := range world.domain.Row(r) {
				task.X = append(task.X, float64(x))
			}
		}
		e.Forward(w, task)
		for i, l := range w.logp {
			if want := l - w.logp0[i/3]; math.Abs(got.query[i]-want) > 1e-9*math.Max(1, math.Abs(want)) {
				t.Errorf("episode %d [%d]: %v, by itself %v", n, i, got.query[i], want)
			}
		}
	}
}
