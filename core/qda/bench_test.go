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

// A prediction among five classes of five pictures with the session's own mean and
// without.
func BenchmarkPredictWithCentre(b *testing.B) {
	const d = 1104
	rng := rand.New(rand.NewPCG(5, d))
	for name, p := range map[string]*niw.Prior{"full": niw.HandCrafted(d, 1), "spiked": spikedPrior(b, rng, d, 128)} {
		for _, centre := range []float64{0, 1} {
			b.Run(fmt.Sprint(name, "/centre=", centre), func(b *testing.B) {
				o := variants["session"]
				o.Centre = centre
				c, examples := teach(b, p, o, []int{5, 5, 5, 5, 5})
				out := make([]float64, 5)
				b.ReportAllocs()
				for b.Loop() {
					_, err := c.ProbabilitiesTo(out, examples[0][0])
					must(b, err)
				}
			})
		}
	}
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

// A class of a thousand pictures, d = 1104: what one more costs, one less, and to
// score all of them with each left out of its class.
func BenchmarkLargeClass(b *testing.B) {
	const n, d = 1000, 1104
	rng := rand.New(rand.NewPCG(2, d))
	for _, near := range []float64{0, 1} {
		c, _ := teach(b, niw.HandCrafted(d, 1), Options{NonePrior: 0.1, Near: near}, []int{n})
		k, all := c.classes[0], 0.0
		without := func() {
			for i := range k.count() {
				all += k.logProbWithout(c, i, 0)
			}
		}
		without()
		measure := func(name string, change, undo func()) {
			b.Run(fmt.Sprint("near=", near, "/", name), func(b *testing.B) {
				for b.Loop() {
					change()
					k.logProbWithout(c, 0, 0)
					b.StopTimer()
					undo()
					b.StartTimer()
				}
			})
		}
		x := randomVector(rng, d, 0)
		add := func() { must(b, c.Add("c0", x)) }
		removeLast := func() { must(b, c.Remove("c0", n)) }
		measure("Add", add, removeLast)
		add()
		measure("RemoveLast", removeLast, add)
		removeLast()
		for _, i := range []int{0, 500, 980} {
			measure(fmt.Sprint("Remove=", i), func() { must(b, c.Remove("c0", i)) }, add)
		}
		measure("LogProbWithoutAll", without, func() {})
		if near == 0 {
			continue
		}
		frame := make([]float64, d)
		c.prior.UnwhitenTo(append(frame[:0], k.row(0)...))
		for i, v := range c.prior.M {
			frame[i] += v
		}
		frame[0] += 0.1
		measure("AddFrameOfFirst", func() { must(b, c.Add("c0", frame)) }, removeLast)
	}
}

// A class of a thousand bursts of two pictures loses its first burst, of which
// the second picture leads for a while.
func BenchmarkPromote(b *testing.B) {
	const n, d = 1000, 1104
	rng := rand.New(rand.NewPCG(3, d))
	c, err := New(niw.HandCrafted(d, 1), Options{NonePrior: 0.1, Near: 1e-9})
	must(b, err)
	must(b, c.AddClass("it"))
	addPair := func() {
		x := randomVector(rng, d, 0)
		must(b, c.Add("it", x))
		must(b, c.Add("it", x))
	}
	for range n {
		addPair()
	}
	for b.Loop() {
		must(b, c.Remove("it", 0))
		must(b, c.Remove("it", 0))
		b.StopTimer()
		addPair()
		b.StartTimer()
	}
}

// A class of a thousand pictures, d = 1104, is loaded, asked for the first time and
// grows by a picture that is asked about at once.
func BenchmarkLoadLargeClass(b *testing.B) {
	const n, d = 1000, 1104
	rng := rand.New(rand.NewPCG(4, d))
	x := mat.NewDense(n, d, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	query := randomVector(rng, d, 0)
	load := func(o Options) *Classifier {
		c, err := New(niw.HandCrafted(d, 1), o)
		must(b, err)
		must(b, c.AddClass("it"))
		must(b, c.AddClass("other"))
		must(b, c.AddRows("it", x))
		must(b, c.Add("other", query))
		return c
	}
	for _, with := range []Options{{}, {Centre: 1}, {Near: 1}, {Near: 1, Centre: 1}} {
		o := variants["session"]
		o.Near, o.Centre = with.Near, with.Centre
		name := fmt.Sprint("near=", o.Near, "/centre=", o.Centre, "/")
		out := make([]float64, 2)
		ask := func(c *Classifier) {
			_, err := c.ProbabilitiesTo(out, query)
			must(b, err)
		}
		b.Run(name+"AddRows", func(b *testing.B) {
			for b.Loop() {
				load(o)
			}
		})
		c := load(o)
		b.Run(name+"FirstPredict", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c = load(o)
				b.StartTimer()
				ask(c)
			}
		})
		b.Run(name+"AddAndPredict", func(b *testing.B) {
			must(b, c.AddRows("it", x.Slice(0, 1, 0, d).(*mat.Dense))) // make room
			must(b, c.Remove("it", n))
			for b.Loop() {
				must(b, c.Add("it", query))
				ask(c)
				b.StopTimer()
				must(b, c.Remove("it", n))
				b.StartTimer()
			}
		})
		b.Run(name+"Predict", func(b *testing.B) {
			for b.Loop() {
				ask(c)
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
