// Package anomaly tells whether a picture is like a few good ones. It uses the picture's cells: the
// outputs of a network at each place, before it averages over places. It needs no bad examples. It
// compares the whole picture and its places:
//
//	y    = h(x̄)/|h(x̄)|,   x̄ = mean of the cells,   h(v) = sign(v) √|v|
//	E(y) = (y - m)ᵀ (I + RᵀR/s)⁻¹ (y - m)                            the whole picture
//	z_c  = x_c/|x_c|
//	C(z) = mean over the four largest of  min_b |z_c - b|²           its places
//
// m is the mean of the N good pictures y_k, and R their residuals y_k - m, N×d. E is, up to a factor,
// the quadratic form of a posterior predictive density: a Normal-inverse-Wishart prior with the scale
// matrix s I, updated by the good pictures (package niw). s is a tenth of their variance
// Σ_k |y_k - m|²/(N-1). The smaller s, the closer is E to the squared distance from the subspace that
// they span. b runs over the vectors z of all cells of the good pictures. C is PatchCore's distance
// (Roth et al., Towards Total Recall in Industrial Anomaly Detection, 2022), with the mean of the four
// largest distances in place of the largest one. Distances are those of sketches of 1,024 bits a cell.
//
// Each good picture is left out in turn, with the other frames of its burst. Its E_k and C_k say how
// far good ones lie. K is the number of bursts, and each burst counts alike in the means:
//
//	u = (ln E - mean ln E_k)/σ_E,   v = (ln C - mean ln C_k)/σ_C
//	p(wrong) = 1/(1 + exp(-(a + b ln K + (c + e ln K) max(u, v) + f mean ln C_k)))
//
// σ_E and σ_C are the standard deviations of ln E_k and ln C_k, shrunk to those of the population. E
// counts as at least .02, and C as at least .15: smaller distances are noise of a camera and of coding.
// Without these bounds, a further frame would look wrong if the good pictures are frames of one view. The
// coefficients a, b, c, e and f come from logistic regression on sets of pictures. Half of their queries
// are bad (core/lab/experiment/RESULTS.md). With few good pictures σ_E and σ_C rest mostly on the
// population. The last term says how unlike each other the good ones are. If they are much alike, further
// good ones often lie many σ away.
//
// The package is not for small flaws of a tenth of a picture's side or less, since a cell of the
// page's network covers a sixth of the side.
package anomaly

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/niw"
)

const (
	// Fewest is the number of good pictures needed. With two, leaving one out leaves a single one,
	// which has no variance.
	Fewest = 3
	// Most is the largest number of good pictures compared with. With more, asking would cost more
	// than the network does.
	Most = 32

	farthest = 4     // number of cells in the mean C
	weight   = 10    // s is the variance of the good pictures divided by it
	leastE   = 0.02  // a camera frame drawn another way has an E of .01 to .02; good pictures of six sets have .04 to .8
	leastC   = 0.15  // the same for C: .05 to .1, up to .03 more by chance in the signs, and .35 to 1.5
	tiny     = 1e-18 // keeps the factor of equal pictures definite
)

// Picture holds 128 bytes for each cell of a picture, and its mean. It does not change.
type Picture struct {
	mean  []float64 // y, length one
	cells []sketch  // n
}

// CellsError reports cells that are not rows of length d, or not in the form of the other pictures.
type CellsError struct{ Message string }

// Error returns the message.
func (e *CellsError) Error() string { return e.Message }

// FewError reports too few good pictures.
type FewError struct{ Got int }

// Error returns a sentence with the remedy.
func (e *FewError) Error() string {
	return "This needs at least " + strconv.Itoa(Fewest) + " good examples with cells, frames of a group counted once, and there are " + strconv.Itoa(e.Got) + ": add more, and set the cells of each example."
}

// CheckCells returns a *[CellsError] unless cells are at least one vector of length d.
func CheckCells(cells []float32, d int) error {
	if d < 1 || len(cells) == 0 || len(cells)%d != 0 {
		return &CellsError{"The cells have length " + strconv.Itoa(len(cells)) + ", want rows of length " + strconv.Itoa(d) + ": give at least one cell, each with as many numbers as a vector."}
	}
	return nil
}

// Describe returns the [Picture] of cells, which hold n vectors of length d, one after the other.
// It returns the error of [CheckCells], and a *[niw.ValueError] for a number that is not finite.
// Cost n d log d.
func Describe(cells []float32, d int) (*Picture, error) {
	if err := CheckCells(cells, d); err != nil {
		return nil, err
	}
	n := len(cells) / d
	mean, all := make([]float64, d), make([]float64, len(cells))
	for i, v := range cells {
		all[i] = float64(v)
		mean[i%d] += float64(v) / float64(n)
	}
	if err := niw.CheckVector("cell", all, len(all)); err != nil {
		return nil, err
	}
	for i, v := range mean {
		mean[i] = math.Copysign(math.Sqrt(math.Abs(v)), v)
	}
	unit(mean)
	p, sketches := &Picture{mean: mean, cells: make([]sketch, n)}, newSketcher(d)
	for c := range n {
		unit(all[c*d : (c+1)*d])
		p.cells[c] = sketches.of(all[c*d : (c+1)*d])
	}
	return p, nil
}

// fits reports whether two pictures have cells of one form: the same n and d.
func (p *Picture) fits(q *Picture) bool {
	return len(p.mean) == len(q.mean) && len(p.cells) == len(q.cells)
}

// unit scales x to length one; zero stays zero.
func unit(x []float64) {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	if top == 0 {
		return
	}
	sum := 0.0
	for i := range x {
		x[i] /= top
		sum += x[i] * x[i]
	}
	blas64.Scal(1/math.Sqrt(sum), blas64.Vector{N: len(x), Data: x, Inc: 1})
}
