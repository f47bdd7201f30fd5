package experiment

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// BenchmarkTestEpisode scores one 5-way episode with 15 queries a class of a
// data set that is already whitened; run it with -cpu 1.
func BenchmarkTestEpisode(b *testing.B) {
	for _, c := range []struct {
		method    string
		dim, shot int
	}{{"fb", 640, 1}, {"fb", 640, 5}, {"fb", 1104, 5}, {"map", 640, 5}, {"fb-lda", 640, 5}, {"ncc-cl2n", 640, 5}, {"linear", 640, 5}, {"qda", 640, 5}, {"cosine", 640, 5}, {"knn", 640, 5}, {"teachable", 640, 5}} {
		b.Run(fmt.Sprintf("%s/d=%d/shot=%d", c.method, c.dim, c.shot), func(b *testing.B) {
			s, p := sourceOf(b, 100, 30, c.dim)
			p.Ways, p.Shots, p.Queries = []int{5}, []int{c.shot}, 15
			cells, err := p.cells(s)
			if err != nil {
				b.Fatal(err)
			}
			w := workerOf(b, p, s, c.method)
			i := 0
			for b.Loop() {
				e := cells[0].test.Episode(i)
				err := w.score(&e, i, func(_ int, scores *mat.Dense, _ []float64) { newRecord(i, &e, scores, nil, 1) })
				if err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
