package adapt

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/lda"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// A spiked prior whitens by another root of S than its factor L, so coordinates whitened by it are
// not those of L.
func TestASpikedPriorLearnsWhatItsFactorLearns(t *testing.T) {
	p := plain()
	scale, rows := make([]float64, dim), mat.NewDense(1, dim, nil)
	for i := range scale {
		scale[i] = 0.5 + 0.05*float64(i%4)
		p.NIW.M[i] = 0.1 * float64(i%5)
	}
	rows.Set(0, 1, 0.6)
	rows.Set(0, dim-2, 0.8)
	p.NIW.L, p.NIW.Spiked = nil, test.Must(niw.NewSpiked(scale, rows, []float64{9}))(t)
	dense := *p
	dense.NIW = p.NIW.Dense()
	s := world(4, 6, 5, 3)
	a, b := learn(t, p, s).Prior.NIW, learn(t, &dense, s).Prior.NIW
	var got, want mat.SymDense
	got.SymOuterK(1, a.Dense().L)
	want.SymOuterK(1, b.Dense().L)
	if !mat.EqualApprox(&got, &want, 1e-9) {
		t.Errorf("S' differs")
	}
	if !mat.EqualApprox(mat.NewVecDense(dim, a.M), mat.NewVecDense(dim, b.M), 1e-9) {
		t.Errorf("m' is %v, want %v", a.M, b.M)
	}
}

// Parts are those of embeddings. The coordinates in which priors are measured have none.
func TestPartsDoNotChangeWhatIsMeasured(t *testing.T) {
	p, s := plain(), world(4, 6, 5, 3)
	want := learn(t, p, s)
	p.Session.Parts = &lda.Parts{First: dim / 3}
	got := learn(t, p, s)
	if got.Before != want.Before || got.After != want.After {
		t.Errorf("%+v and %+v, want %+v and %+v", got.Before, got.After, want.Before, want.After)
	}
}
