package qda

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A prediction takes N (d+r) + r d multiplications and K² for each class: no more
// than linear in the pictures while K is below d. The shortest of many runs is taken
// on either side and three times the straight line allowed; K² d, or M factorised for
// each query, is ten times above it.
func TestPredictionTimeIsLinearInThePictures(t *testing.T) {
	const d, rank, way, few, many = 512, 32, 3, 20, 200
	rng := rand.New(rand.NewPCG(31, 1))
	p := spikedPrior(t, rng, d, rank)
	o := Options{NonePrior: 0.1, Population: somePopulation(), Centre: 1.5}
	query := randomVector(rng, d, 0)
	classifier := func(k int) func() {
		c, _ := teach(t, p, o, []int{k, k, k})
		probabilities := make([]float64, way)
		return func() {
			if _, err := c.ProbabilitiesTo(probabilities, query); err != nil {
				t.Fatal(err)
			}
		}
	}
	small, large := classifier(few), classifier(many)
	shortest := func(best time.Duration, predict func()) time.Duration {
		const runs = 20
		begin := time.Now()
		for range runs {
			predict()
		}
		return min(best, time.Since(begin)/runs)
	}
	short, long := time.Hour, time.Hour
	for range 30 {
		short, long = shortest(short, small), shortest(long, large)
	}
	if most := 3 * many / few * short; long > most {
		t.Errorf("a prediction takes %v with %d pictures a class and %v with %d: want %v at most", short, few, long, many, most)
	}
}
