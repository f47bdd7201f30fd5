package qda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// BenchmarkShared times a prediction, the first one after an example more, and making
// the covariance anew: go test -run=^$ -bench=Shared ./core/qda
func BenchmarkShared(b *testing.B) {
	const d = 1280
	for _, size := range []struct{ way, shot int }{{5, 5}, {100, 5}, {1000, 5}, {1, 1000}, {1000, 1}} {
		rng := rand.New(rand.NewPCG(1, 1))
		c, err := New(niw.HandCrafted(d, 1), Options{Shared: 3. / d, Kappa: 5, Centre: 1.67, NonePrior: 0.2, Population: somePopulation()})
		must(b, err)
		for j := range size.way {
			label := fmt.Sprint(j)
			must(b, c.AddClass(label))
			x := mat.NewDense(size.shot, d, nil)
			x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
			must(b, c.AddRows(label, x))
		}
		query, p := randomVector(rng, d, 1), make([]float64, size.way)
		ask := func() {
			_, err := c.ProbabilitiesTo(p, query)
			must(b, err)
		}
		name := fmt.Sprintf("%dx%d", size.way, size.shot)
		b.Run(name+"/build", func(b *testing.B) {
			for b.Loop() {
				c.shared.cov.build(c.taught, size.way*size.shot-size.way >= d, always)
			}
		})
		ask()
		b.Run(name+"/predict", func(b *testing.B) {
			for b.Loop() {
				ask()
			}
		})
		b.Run(name+"/add", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				must(b, c.Add(fmt.Sprint(i%size.way), query))
				ask()
				b.StopTimer()
				must(b, c.Remove(fmt.Sprint(i%size.way), size.shot))
				ask()
				b.StartTimer()
			}
		})
		b.Run(name+"/remove", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				must(b, c.Add(fmt.Sprint(i%size.way), query))
				ask()
				b.StartTimer()
				must(b, c.Remove(fmt.Sprint(i%size.way), size.shot/2))
				ask()
			}
		})
	}
}

// Many pictures together, among twenty classes of one or five examples: the time for a
// batch grows as the pictures do.
func BenchmarkClassify(b *testing.B) {
	const d = 1104
	rng := rand.New(rand.NewPCG(6, d))
	p := spikedPrior(b, rng, d, 128)
	for _, shots := range []int{1, 5} {
		for _, n := range []int{500, 1000, 2000} {
			b.Run(fmt.Sprint("shots=", shots, "/pictures=", n), func(b *testing.B) {
				o := variants["session"]
				o.Centre, o.Near = 1.67, 0.45
				c, examples := teach(b, p, o, slices.Repeat([]int{shots}, 20))
				x := mat.NewDense(n, d, nil)
				for i := range n {
					floats.AddTo(x.RawRowView(i), examples[i%20][0], randomVector(rng, d, 0))
				}
				for b.Loop() {
					_, err := c.Classify(context.Background(), x, nil)
					must(b, err)
				}
			})
		}
	}
}
