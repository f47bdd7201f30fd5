package baseline

import "gonum.org/v1/gonum/mat"

// Centroid is the nearest centroid classifier,
//
//	score_c = -|x - mu_c|^2,
//
// with mu_c the mean of the support of class c; its softmax is the
// prototypical head. Source: Wang et al., SimpleShot, 2019, with the features
// transformed by the caller; Snell et al., Prototypical Networks, 2017.
type Centroid struct{ means *mat.Dense }

// Fit computes the class means.
func (m *Centroid) Fit(t Task) error {
	m.means, _ = t.means()
	return nil
}

// ScoresTo stores the negative squared distances.
func (m *Centroid) ScoresTo(dst, queries *mat.Dense) {
	way, _ := m.means.Dims()
	q, _ := queries.Dims()
	for i := range q {
		x := queries.RawRowView(i)
		for c := range way {
			dst.Set(i, c, -squaredDistance(x, m.means.RawRowView(c)))
		}
	}
}

func squaredDistance(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		v -= y[j]
		sum += v * v
	}
	return sum
}
