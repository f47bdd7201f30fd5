package niw

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// factor is the lower triangular C of M = C Cᵀ for an n×n matrix M that changes
// by rows, and as much of its inverse as has been needed. One square holds
// both: C on and below the diagonal and Tᵀ, T = C⁻¹, above it, whose own
// diagonal is 1/C_ii. Then
//
//	(M⁻¹)_ii = Σ_k≥i T_ki²
//
// is a sum along a row, of positive terms. Row k of T follows from the rows up
// to k of C alone. So C and T are what they would be without rows that came and
// went at the end, to the bit.
type factor struct {
	n, stride int
	a         []float64 // row-major, n×stride
	known     int       // rows of T computed
	diag      []float64 // of M⁻¹, cut to its first known rows and columns
	cos, sin  []float64 // scratch: plane rotations
	spare     []float64 // scratch: a row
}

// row returns row i of the square.
func (f *factor) row(i int) []float64 { return f.a[i*f.stride : i*f.stride+f.n] }

// empty leaves no rows.
func (f *factor) empty() { f.n, f.known = 0, 0 }

// grow makes room for as many rows as the stride.
func (f *factor) grow(stride int) {
	a := make([]float64, stride*stride)
	for i := range f.n {
		copy(a[i*stride:], f.row(i))
	}
	f.a, f.stride = a, stride
	vectors := make([]float64, 4*stride)
	copy(vectors, f.diag[:f.known])
	f.diag, f.cos, f.sin, f.spare = vectors[:stride], vectors[stride:2*stride], vectors[2*stride:3*stride], vectors[3*stride:]
}

// copyFrom makes f a copy of other. There must be room.
func (f *factor) copyFrom(other *factor) {
	f.n, f.known = other.n, other.known
	for i := range other.n {
		copy(f.row(i), other.row(i))
	}
	copy(f.diag, other.diag[:other.known])
}

// set computes row k of C, from the given column on, where row k of M is
// gram + shift, with one more on the diagonal. Cost O(k²) from column 0.
func (f *factor) set(k, from int, gram []float64, shift float64) {
	row := f.a[k*f.stride:]
	for i := from; i <= k; i++ {
		s := gram[i] + shift
		if i == k {
			s++
		}
		above := f.a[i*f.stride:]
		for j := range i {
			s -= row[j] * above[j]
		}
		if i == k {
			// The Schur complement of M is at least one; rounding may say otherwise.
			row[k] = math.Sqrt(math.Max(s, 1))
		} else {
			row[i] = s / above[i]
		}
	}
}

// solve overwrites y, of length n, with C⁻¹y. Cost n²/2.
func (f *factor) solve(y []float64) {
	for i, s := range y {
		row := f.row(i)[:i+1]
		for j, c := range row[:i] {
			s -= c * y[j]
		}
		y[i] = s / row[i]
	}
}

// inverseDiagonal returns (M⁻¹)_ii. Cost O(n²) for every row that came or
// changed since the last call.
func (f *factor) inverseDiagonal(i int) float64 {
	for f.known < f.n {
		nb := 1
		if f.known < oneByOne || f.n-f.known < fewRows {
			f.invertRow(f.known, 0)
		} else {
			nb = min(factorBlock, f.n-f.known)
			f.invertBlock(f.known, nb)
		}
		f.known += nb
	}
	return f.diag[i]
}

// invertRow computes row k of T, from the given column on: with l what row k of C has
// left of the diagonal,
//
//	T_k. = -lᵀ T / C_kk,   T_kk = 1/C_kk
func (f *factor) invertRow(k, from int) {
	l := f.row(k)
	pivot := 1 / l[k]
	for i := from; i < k; i++ {
		t := f.row(i)
		v := l[i]/t[i] + floats.Dot(t[i+1:k], l[i+1:k])
		t[k] = -v * pivot
		f.diag[i] += t[k] * t[k]
	}
	f.diag[k] = pivot * pivot
}

// forget drops the rows of T from i on.
func (f *factor) forget(i int) {
	if f.known > i {
		f.known = i
		f.sumDiagonal()
	}
}

// sumDiagonal computes what T has of the diagonal of M⁻¹.
func (f *factor) sumDiagonal() {
	for i := range f.known {
		t := f.row(i)
		s := 1 / t[i] * (1 / t[i])
		for _, v := range t[i+1 : f.known] {
			s += v * v
		}
		f.diag[i] = s
	}
}

// cut takes row and column i of M out and leaves what follows of C from column i
// on to be [factor.set].
func (f *factor) cut(i int) {
	f.forget(i)
	for r := i + 1; r < f.n; r++ {
		copy(f.row(r - 1)[:i], f.row(r)[:i])
	}
	f.n--
}
