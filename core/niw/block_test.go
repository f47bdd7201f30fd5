package niw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// crossRows returns the inner products of rows k to n of w with the first n.
func crossRows(w *mat.Dense, k, n int) blas64.General {
	if k == n {
		return blas64.General{Cols: n, Stride: n}
	}
	var gram mat.Dense
	gram.Mul(w, w.T())
	return gram.Slice(k, n, 0, n).(*mat.Dense).RawMatrix()
}

// A group of rows that came together is that of rows that came one by one.
func TestAppendRowsIsAppend(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 1))
	const d = 40
	for _, kind := range []string{"ordinary", "duplicates", "huge scatter"} {
		p, w := randomPrior(rng, d), some(rng, kind, 420, d)
		for _, of := range [][2]int{{0, 0}, {0, 1}, {0, 5}, {3, 40}, {0, 256}, {0, 257}, {0, 272}, {100, 300}, {256, 321}, {290, 295}, {0, 420}} {
			k, n := of[0], of[1]
			want, got := new(Group), new(Group)
			got.Reset(p)
			want.Reset(p)
			cross := crossRows(w, 0, n)
			for i := range n {
				row := cross.Data[i*cross.Stride : i*cross.Stride+i+1]
				want.Append(row)
				if i < k {
					got.Append(row)
				}
			}
			if k > 1 {
				got.LogProbWithout(FB, k/2)
			}
			got.AppendRows(crossRows(w, k, n))
			what := fmt.Sprint(kind, ", ", k, " to ", n)
			tol := 1e-11
			if kind == "huge scatter" { // M has eigenvalues from 1 to 1e10
				tol = 1e-4
			}
			near(t, what+": log det", got.Posterior().LogDetS, want.Posterior().LogDetS, tol)
			if n > 0 {
				got.LogProbWithout(FB, 0)
			}
			if diff := farthest(&got.chol, inverted(&want.chol)); !(diff <= tol) {
				t.Errorf("%s: factor differs by %v", what, diff)
			}
			if n <= oneByOne {
				sameBits(t, what, got, want)
			}
			for got.Len() > oneByOne { // what is left has the bits of a small group
				got.Remove(got.Len() - 1)
			}
			for want.Len() > oneByOne {
				want.Remove(want.Len() - 1)
			}
			sameBits(t, what+", less", got, want)
		}
	}
}

// farthest returns the largest difference of the factors and of their inverses.
func farthest(got, want *factor) (most float64) {
	for i := range want.n {
		scale := math.Max(1, want.row(i)[i])
		for j, v := range want.row(i) {
			if j > i {
				scale = 1
			}
			most = math.Max(most, math.Abs(got.row(i)[j]-v)/scale)
		}
		most = math.Max(most, math.Abs(got.diag[i]-want.diag[i]))
	}
	return most
}

// inverted has T computed row by row.
func inverted(f *factor) *factor {
	for ; f.known < f.n; f.known++ {
		f.invertRow(f.known, 0)
	}
	return f
}

func TestAddThenRemoveAfterBlocksGivesTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	const n, d = 330, 40
	p, w := randomPrior(rng, d), randomRows(rng, n+20, d)
	g, want := new(Group), new(Group)
	g.Reset(p)
	g.AppendRows(crossRows(w, 0, n))
	g.LogProbWithout(FB, 0)
	want.CopyFrom(g)
	for _, m := range []int{1, 20} {
		g.AppendRows(crossRows(w, n, n+m))
		g.LogProbWithout(FB, 0)
		for range m {
			g.Remove(g.Len() - 1)
		}
		sameBits(t, fmt.Sprint(m), g, want)
	}
}
