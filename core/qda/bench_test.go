package qda

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The core path of a prediction, whitening included, and of adding and removing
// one example: go test -run=^$ -bench=. -benchmem ./core/qda
func benchmark(b *testing.B, run func(b *testing.B, c *Classifier, x []float64)) {
	for _, d := range []int{64, 256, 640, 1280} {
		for _, classes := range []int{5, 100} {
			b.Run(fmt.Sprintf("d=%d/classes=%d", d, classes), func(b *testing.B) {
				shots := make([]int, classes)
				for i := range shots {
					shots[i] = 5
				}
				rng := rand.New(rand.NewPCG(1, uint64(d)))
				c, _ := teach(b, randomPrior(rng, d), Options{NonePrior: 0.1}, shots)
				run(b, c, randomVector(rng, d, 0))
			})
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	benchmark(b, func(b *testing.B, c *Classifier, x []float64) {
		p := make([]float64, len(c.classes))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.ProbabilitiesTo(p, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAddRemove(b *testing.B) {
	benchmark(b, func(b *testing.B, c *Classifier, x []float64) {
		b.ReportAllocs()
		for b.Loop() {
			must(b, c.Add("c0", x))
			must(b, c.Remove("c0", 5))
		}
	})
}
