package baseline

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// edge leads to a neighbour.
type edge struct {
	to     int
	weight float64
}

// graphBlock is how many rows of inner products are in memory at a time.
const graphBlock = 128

// nearest returns for every row of x, n x d, the k other rows nearest to it by Euclidean distance.
// The nearest comes first; among equals, the first row. The weight of an edge is the inner product.
// Cost n² d, memory n k + [graphBlock] n numbers.
func nearest(x *mat.Dense, k int) [][]edge {
	n, d := x.Dims()
	k = min(k, n-1)
	graph := make([][]edge, n)
	norm2 := make([]float64, n)
	for i := range n {
		norm2[i] = dot(x.RawRowView(i), x.RawRowView(i))
	}
	products := mat.NewDense(min(graphBlock, n), n, nil)
	order := make([]int, 0, n)
	for first := 0; first < n; first += graphBlock {
		end := min(first+graphBlock, n)
		block := products.Slice(0, end-first, 0, n).(*mat.Dense)
		block.Mul(x.Slice(first, end, 0, d), x.T())
		for i := first; i < end; i++ {
			row := block.RawRowView(i - first)
			order = order[:0]
			for j := range n {
				if j != i {
					order = append(order, j)
				}
			}
			far := func(j int) float64 { return norm2[j] - 2*row[j] }
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far(a), far(b)) })
			for _, j := range order[:k] {
				graph[i] = append(graph[i], edge{j, row[j]})
			}
		}
	}
	return graph
}

// stack returns the rows of a above those of b.
func stack(a, b *mat.Dense) *mat.Dense {
	s := new(mat.Dense)
	s.Stack(a, b)
	return s
}
