package model

import (
	"math"
	"testing"

	"github.com/x448/float16"

	"metaqda/core/embed"
	"metaqda/core/lda"
	"metaqda/core/niw"
	"metaqda/core/test"
)

func TestEncodeRejectsWhatRoundingRuins(t *testing.T) {
	p := samplePrior(3, "F16")
	p.NIW.L.SetTri(2, 2, 1e-9) // rounds to zero
	_, err := EncodePrior(p)
	if err == nil {
		t.Error("a diagonal that rounds to zero was written")
	}
	p.Precision = "F32"
	_, err = EncodePrior(p)
	if err != nil {
		t.Errorf("with F32: %v", err)
	}
}

func wide(h float16.Float16) float64 { return float64(h.Float32()) }

// Every binary16 number is read by its bits and written unchanged. Numbers between two neighbours
// go to the nearer one, ties to the even one.
func TestHalf(t *testing.T) {
	for h := range uint16(0x7c00) {
		exp, fraction := max(int(h>>10), 1), float64(h&0x3ff)
		if h >= 0x400 {
			fraction += 0x400
		}
		x := math.Ldexp(fraction, exp-25)
		next := math.Ldexp(fraction+1, exp-25)
		got := wide(float16.Frombits(h))
		if got != x {
			t.Fatalf("%#x is %v, want %v", h, got, x)
		}
		if half(x).Bits() != h || half(-x).Bits() != h|1<<15 {
			t.Fatalf("%#x: %v came back as %#x", h, x, half(x).Bits())
		}
		middle := (x + next) / 2
		if got := half(math.Nextafter(middle, 0)).Bits(); got != h {
			t.Fatalf("below the middle of %#x: %#x", h, got)
		}
		if got := half(math.Nextafter(middle, 1e9)).Bits(); got != h+1 {
			t.Fatalf("above the middle of %#x: %#x", h, got)
		}
		if got := half(middle).Bits(); got != h+h&1 {
			t.Fatalf("tie above %#x: %#x", h, got)
		}
	}
	for _, x := range []float64{math.Inf(-1), -1e300, -math.MaxFloat32} {
		got := half(x).Bits()
		if got != 0xfc00 {
			t.Errorf("%v became %#x", x, got)
		}
	}
	if half(1e-300).Bits() != 0 || half(math.NaN()).Bits() != 0x7e00 {
		t.Error("a tiny number or NaN lost")
	}
}

// At the bounds of valid priors all answers are probabilities.
func TestExtremePriorsAnswer(t *testing.T) {
	for _, kappa := range []float64{1.1e-12, 1, 0.9e9} {
		for _, excess := range []float64{1e-11, 1, 0.9e9} {
			for _, scale := range []float64{1.1e-12, 1, 0.9e9} {
				for _, m := range []float64{-1e9, 0, 1e9} {
					p := samplePrior(3, "F64")
					p.NIW = niw.HandCrafted(3, scale)
					p.NIW.Kappa, p.NIW.Nu, p.NIW.M[1] = kappa, 2+excess, m
					p.Transform = embed.Transform{Kind: embed.None}
					back := test.Must(DecodePrior(must(EncodePrior(p))))(t)
					answers(t, back, []float64{1, 2, 3})
					answers(t, back, []float64{3e38, -3e38, 0})
					answers(t, back, []float64{1e-45, 0, 1e-45})
				}
			}
		}
	}
}

// answers teaches two classes and asks about x: all must be probabilities.
func answers(t *testing.T, p *Prior, x []float64) {
	t.Helper()
	if p.Session.Shared == 0 {
		return // one for the paper's densities, which package lda refuses
	}
	d := p.NIW.Dim()
	o := p.Session.Options()
	o.NonePrior = 0.1
	c := test.Must(lda.New(p.NIW, o))(t)
	ones := make([]float64, d)
	ones[0] = 1
	for label, v := range map[string][]float64{"a": ones, "b": x} {
		test.OK(t, c.AddClass(label))
		for range 2 {
			y := make([]float64, d)
			if p.Transform.ApplyTo(y, v) != nil || c.Add(label, y) != nil {
				return // refused with an error, as it may be
			}
		}
	}
	for _, v := range [][]float64{x, ones} {
		y, answer := make([]float64, d), make([]float64, 2)
		if p.Transform.ApplyTo(y, v) != nil {
			return
		}
		none, err := c.ProbabilitiesTo(answer, y)
		if err != nil {
			return
		}
		sum := none + answer[0] + answer[1]
		if !(math.Abs(sum-1) < 1e-9) {
			t.Fatalf("kappa %g, nu %g, m %v: answers are %v and none %v about %v", p.NIW.Kappa, p.NIW.Nu, p.NIW.M, answer, none, v)
		}
	}
}
