package qda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
)

// An affine change of coordinates of pictures and prior together changes no answer.
func TestAnswersAreEquivariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 1))
	for _, d := range []int{1, 4, 15} {
		p, s, x := randomPrior(rng, d), randomScene(rng, d, 3, 6, 1), randomVector(rng, d, 1)
		a, shift := randomPrior(rng, d).L.RawTriangular(), randomVector(rng, d, -3)
		transform := func(v []float64) []float64 {
			v = slices.Clone(v)
			blas64.Trmv(blas.NoTrans, a, blas64.Vector{N: d, Data: v, Inc: 1})
			floats.Add(v, shift)
			return v
		}
		q := p.Clone()
		q.M = transform(p.M)
		q.L = mat.NewTriDense(d, mat.Lower, nil)
		var l mat.Dense
		l.Mul(mat.NewTriDense(d, mat.Lower, a.Data), p.L)
		for i := range d {
			for j := range i + 1 {
				q.L.SetTri(i, j, l.At(i, j))
			}
		}
		other := make(scene, len(s))
		for j, pictures := range s {
			for _, v := range pictures {
				other[j] = append(other[j], transform(v))
			}
		}
		for variant, o := range variants {
			o.Centre = 0.4
			same(t, fmt.Sprint(variant, " d=", d), ask(t, other.teach(t, q, o), transform(x)), ask(t, s.teach(t, p, o), x), 1e-9)
		}
	}
}

func TestDegenerateSessions(t *testing.T) {
	const d = 6
	all := func(v float64) []float64 { return slices.Repeat([]float64{v}, d) }
	for name, s := range map[string]scene{
		"one example":            {{all(2)}},
		"identical examples":     {slices.Repeat([][]float64{all(2)}, 9), {all(-1)}},
		"identical classes":      {{all(2), all(2)}, {all(2), all(2)}},
		"at the prior mean":      {{all(0), all(0)}, {all(0)}},
		"offset 1e3":             {{all(1e3), all(1001)}, {all(999)}},
		"offset 1e7":             {{all(1e7), all(1e7 + 1)}, {all(1e7 - 1)}},
		"offset 1e30":            {{all(1e30), all(1.1e30), all(1e30), all(1e29), all(1e30)}, {all(3e30)}},
		"almost overflowing":     {{all(1e69), all(2e69)}, {all(-1e69)}},
		"opposite":               {{all(1e5)}, {all(-1e5)}},
		"far class, near class":  {{all(1e12)}, {all(1), all(2)}},
		"empty class beside one": {{}, {all(3)}},
	} {
		for _, kappa := range []float64{1e-9, 1, 1e9} {
			for variant, o := range variants {
				for _, o.Centre = range []float64{0, 1e-9, 1, math.MaxFloat64} {
					for _, o.Near = range []float64{0, 4} {
						o.Kappa = kappa
						c := s.teach(t, niw.HandCrafted(d, 1), o)
						for _, pictures := range s {
							for _, x := range pictures {
								ask(t, c, x)
							}
						}
						if t.Failed() {
							t.Fatalf("%s, %s, kappa %v, centre %v", name, variant, kappa, o.Centre)
						}
					}
				}
			}
		}
	}
}

// The same prior with a factor L is the oracle.
func TestSpikedPriorAnswersAsItsFactorDoes(t *testing.T) {
	const d, r = 8, 3
	p := spikedPrior(t, rand.New(rand.NewPCG(7, 1)), d, r)
	for name, o := range variants {
		for _, shots := range [][]int{{1}, {1, 1}, {3, 5, 2, 0}, {3, 9, 1}} {
			spiked, examples := teach(t, p, o, shots)
			dense, _ := teach(t, p.Dense(), o, shots)
			for range 3 {
				x := randomVector(rand.New(rand.NewPCG(8, uint64(len(shots)))), d, 0.5)
				same(t, name, ask(t, spiked, x), ask(t, dense, x), 1e-10)
			}
			before := ask(t, spiked, examples[0][0])
			must(t, spiked.Add("c0", examples[0][0]))
			must(t, spiked.Remove("c0", shots[0]))
			if after := ask(t, spiked, examples[0][0]); !slices.Equal(before, after) {
				t.Errorf("%s: %v before adding and removing, %v after", name, before, after)
			}
			must(t, spiked.Remove("c0", 0))
			must(t, dense.Remove("c0", 0))
			if spiked.Count("c0") > 0 || len(shots) > 1 {
				same(t, name+", after a removal", ask(t, spiked, examples[0][0]), ask(t, dense, examples[0][0]), 1e-10)
			}
		}
	}
}
