package metatrain

import (
	"testing"

	"metaqda/core/lab/episode"
	"metaqda/core/lda"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// Sessions may have as many classes as a classifier.
func TestSessionsOfManyClasses(t *testing.T) {
	const classes, rows = 70, 3
	dom, pool := &Domain{Name: "many", Dim: 2}, episode.Pool{Name: "many"}
	for j := range classes {
		var own []int
		for i := range rows {
			own = append(own, j*rows+i)
			dom.X = append(dom.X, float32(j), float32(i))
		}
		pool.Rows = append(pool.Rows, own)
	}
	s := test.Must(episode.NewUniform(pool, episode.Fixed(classes, 1, 1), 1))(t)
	all := test.Must(Sessions(t.Context(), niw.HandCrafted(2, 1), lda.Options{Shared: 1, Kappa: 1}, dom, []episode.Sampler{s}, 1, 1))(t)
	if all[0].Way() != classes {
		t.Errorf("%d classes, want %d", all[0].Way(), classes)
	}
}
