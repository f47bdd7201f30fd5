package niw

import "math"

// remove takes row and column i of M out by plane rotations (Golub and Van Loan
// 2013, section 6.5.4): C without row i has one column too many, which rotations
// of that column and each of the later ones make vanish. C Cᵀ does not change
// under rotations of columns, and rows of T turn as columns of C do. Cost O(n²),
// with errors as small as those of a new factor.
func (f *factor) remove(i int) {
	f.rotateOut(i)
	if i < f.known {
		f.rotateInverseOut(i)
		f.known--
	}
	f.n--
	f.sumDiagonal()
}

// rotateOut computes the rotations and stores C without row i.
func (f *factor) rotateOut(i int) {
	for m := i + 1; m < f.n; m++ {
		from, to := f.row(m), f.row(m-1)
		x := from[i]
		copy(to[:i], from[:i])
		for k := i + 1; k < m; k++ {
			y := from[k]
			to[k-1] = f.cos[k]*y + f.sin[k]*x
			x = f.cos[k]*x - f.sin[k]*y
		}
		r := math.Hypot(from[m], x)
		f.cos[m], f.sin[m] = from[m]/r, x/r
		to[m-1] = r
	}
}

// rotateInverseOut does the same to T, after C.
func (f *factor) rotateInverseOut(i int) {
	for j := range f.known {
		from, to, k := f.row(j), f.row(j), i+1
		var x float64
		switch {
		case j < i:
			x = from[i]
		case j == i:
			continue
		default: // T_jj was one by the pivot before the rotation
			to, k = f.row(j-1), j+1
			x = -f.sin[j] / (f.cos[j] * to[j-1])
		}
		for ; k < f.known; k++ {
			y := from[k]
			to[k-1] = f.cos[k]*y + f.sin[k]*x
			x = f.cos[k]*x - f.sin[k]*y
		}
	}
}

// moveLast makes the last row and column of M the i-th, by reflections of
// neighbouring columns of C that leave nothing of that row after the diagonal.
// Cost O(n²).
func (f *factor) moveLast(i int) {
	inverted := f.known > i
	if inverted {
		f.inverseDiagonal(i)
	}
	last := f.spare[:f.n]
	copy(last, f.row(f.n-1))
	t := 1 / last[f.n-1]
	for k := f.n - 1; k > i; k-- {
		r := math.Hypot(last[k-1], last[k])
		f.cos[k], f.sin[k] = last[k-1]/r, last[k]/r
		last[k-1] = r
		last[k] = -f.cos[k] * t // of T
		t *= f.sin[k]
	}
	for j := f.n - 2; j >= i; j-- {
		f.reflectDown(j, i, inverted)
	}
	for j := 0; inverted && j < i; j++ {
		t := f.row(j)
		t[i] = f.reflect(t, t, f.n-1, i, t[f.n-1])
	}
	copy(f.row(i), last)
	f.sumDiagonal()
}

// reflectDown stores row j >= i of the square as row j+1.
func (f *factor) reflectDown(j, i int, inverted bool) {
	from, to := f.row(j), f.row(j+1)
	if inverted {
		f.reflect(to, from, f.n-1, j+1, from[f.n-1])
	}
	to[j+1] = f.sin[j+1] * from[j]
	to[i] = f.reflect(to, from, j, i, f.cos[j+1]*from[j])
	copy(to[:i], from[:i])
}

// reflect stores what the reflections of columns k-1 and k, from the first k down
// to the last but one, make of a row in dst, and returns what they make of the
// last column. z is what stands in the first one.
func (f *factor) reflect(dst, row []float64, first, last int, z float64) float64 {
	for k := first; k > last; k-- {
		y := row[k-1]
		dst[k] = f.sin[k]*y - f.cos[k]*z
		z = f.cos[k]*y + f.sin[k]*z
	}
	return z
}
