package baseline

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Propagation is label propagation. Support and queries are the vertices of a graph. It links
// nearest neighbours with affinity A = max(xᵀy, 0)^Gamma, made symmetric as W = A + Aᵀ. Y holds the
// labels of the support:
//
//	Z = (I - Alpha D^-½ W D^-½)⁻¹ Y,   p(c | i) = Z_ic / Σ Z_i
//
// found by conjugate gradients. A query that no path from the support leads to has equal
// probabilities. Source: Zhou et al., Learning with Local and Global Consistency,
// 2004; the graph and the solver of Iscen et al., Label Propagation for Deep
// Semi-supervised Learning, 2019.
type Propagation struct {
	Neighbours int     // at least 1
	Alpha      float64 // in [0, 1)
	Gamma      float64 // above 0

	t Task
}

// Fit keeps the support. It panics if Neighbours is below 1.
func (m *Propagation) Fit(t Task) error {
	t.check()
	checkNeighbours(m.Neighbours)
	m.t = t
	return nil
}

// ScoresTo stores the logarithms of the probabilities. Cost n² d for n rows of
// support and queries together, memory O(n (Neighbours + way)).
func (m *Propagation) ScoresTo(dst, queries *mat.Dense) {
	support := len(m.t.Labels)
	graph := m.affinity(stack(m.t.Support, queries))
	z := make([]float64, len(graph))
	for c := range m.t.Way {
		for i := range z {
			z[i] = 0
			if i < support && m.t.Labels[i] == c {
				z[i] = 1
			}
		}
		conjugateGradients(z, func(to, from []float64) {
			for i, edges := range graph {
				to[i] = from[i]
				for _, e := range edges {
					to[i] -= m.Alpha * e.weight * from[e.to]
				}
			}
		})
		for i, v := range z[support:] {
			dst.Set(i, c, math.Max(v, 0))
		}
	}
	rows, _ := dst.Dims()
	for i := range rows {
		row := dst.RawRowView(i)
		sum := floats.Sum(row)
		for c, v := range row {
			row[c] = math.Log((v + 1e-12) / (sum + 1e-12*float64(len(row))))
		}
	}
}

// affinity returns D^-½ W D^-½.
func (m *Propagation) affinity(x *mat.Dense) [][]edge {
	graph := nearest(x, m.Neighbours)
	both := make([][]edge, len(graph))
	degree := make([]float64, len(graph))
	for i, edges := range graph {
		for _, e := range edges {
			a := math.Pow(math.Max(e.weight, 0), m.Gamma)
			both[i] = append(both[i], edge{e.to, a})
			both[e.to] = append(both[e.to], edge{i, a})
			degree[i] += a
			degree[e.to] += a
		}
	}
	for i, edges := range both {
		for k, e := range edges {
			if e.weight > 0 {
				edges[k].weight = e.weight / math.Sqrt(degree[i]*degree[e.to])
			}
		}
	}
	return both
}

// conjugateGradients overwrites b with A⁻¹b for a symmetric positive definite A given
// by its products.
func conjugateGradients(b []float64, multiply func(to, from []float64)) {
	const steps, tolerance = 1000, 1e-12
	n := len(b)
	x, r, p, q := make([]float64, n), append([]float64(nil), b...), append([]float64(nil), b...), make([]float64, n)
	square := floats.Dot(r, r)
	least := tolerance * tolerance * square
	for step := 0; step < steps && square > least; step++ {
		multiply(q, p)
		a := square / floats.Dot(p, q)
		floats.AddScaled(x, a, p)
		floats.AddScaled(r, -a, q)
		next := floats.Dot(r, r)
		floats.Scale(next/square, p)
		floats.Add(p, r)
		square = next
	}
	copy(b, x)
}
