package anomaly

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/test"
)

const d, n = 60, 12

// texture is a picture whose cells are drawn around one of two prototypes, and around the picture's own
// deviation from it.
func texture(rng *rand.Rand, of int) []float32 {
	own := make([]float64, d)
	for j := range own {
		own[j] = 0.5 * rng.NormFloat64()
	}
	cells := make([]float32, n*d)
	for i := range cells {
		if i%d%2 == of {
			cells[i] = 1 + float32(own[i%d]+rng.NormFloat64()*0.3)
		} else {
			cells[i] = float32(math.Abs(own[i%d]/2 + rng.NormFloat64()*0.15))
		}
	}
	return cells
}

func fitted(t *testing.T, rng *rand.Rand, k int) *Model {
	good, burst := make([]*Picture, k), make([]int, k)
	for i := range good {
		good[i], burst[i] = test.Must(Describe(texture(rng, 0), d))(t), i
	}
	return test.Must(Fit(good, burst))(t)
}

func TestGoodOnesAreRightAndOthersWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 37))
	m := fitted(t, rng, 6)
	sum := 0.0
	for range 20 {
		sum += test.Must(m.Ask(test.Must(Describe(texture(rng, 0), d))(t)))(t).Wrong / 20
		if a := test.Must(m.Ask(test.Must(Describe(texture(rng, 1), d))(t)))(t); !(a.Wrong > 0.9) {
			t.Errorf("another texture is wrong with probability %v", a.Wrong)
		}
	}
	if !(sum < 0.5) {
		t.Errorf("other good ones are wrong with probability %v in the mean", sum)
	}
}

func TestASpotStandsOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 37))
	m := fitted(t, rng, 6)
	for at := range n {
		cells := texture(rng, 0)
		whole := test.Must(m.Ask(test.Must(Describe(cells, d))(t)))(t)
		copy(cells[at*d:(at+1)*d], texture(rng, 1))
		spot := test.Must(m.Ask(test.Must(Describe(cells, d))(t)))(t)
		for c, v := range spot.Cells {
			if (c == at) != (v > 2) {
				t.Errorf("with a spot at %d cell %d lies %v from good ones", at, c, v)
			}
		}
		if !(spot.Place > whole.Place && spot.Wrong > whole.Wrong) {
			t.Errorf("a spot makes %v of %v", spot, whole)
		}
	}
}

// The quadratic form is that of the full matrix, which is never formed.
func TestDistanceEqualsTheDenseOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 37))
	for _, k := range []int{2, 3, 7} {
		good := make([]*Picture, k)
		x := mat.NewDense(k, d, nil)
		for i := range good {
			good[i] = test.Must(Describe(texture(rng, i%2), d))(t)
			x.SetRow(i, good[i].mean)
		}
		mean := mat.NewVecDense(d, nil)
		for i := range d {
			mean.SetVec(i, mat.Sum(x.ColView(i))/float64(k))
		}
		scatter := 0.0
		for i := range k {
			row := mat.VecDenseCopyOf(x.RowView(i))
			row.SubVec(row, mean)
			x.SetRow(i, row.RawVector().Data)
			scatter += mat.Dot(row, row) / float64(k-1)
		}
		s := scatter / weight
		var a mat.Dense
		a.Mul(x.T(), x)
		a.Scale(1/s, &a)
		for i := range d {
			a.Set(i, i, a.At(i, i)+1)
		}
		y := test.Must(Describe(texture(rng, 1), d))(t).mean
		q := mat.NewVecDense(d, nil)
		q.SubVec(mat.NewVecDense(d, y), mean)
		var solved mat.VecDense
		test.OK(t, solved.SolveVec(&a, q))
		if got, want := newSpan(good).distance(y), mat.Dot(q, &solved); !(math.Abs(got-want) < 1e-9*want) {
			t.Errorf("%d good ones: %v in place of %v", k, got, want)
		}
	}
}

// Sketches lie as far apart as the vectors, but for chance: an inner product is found with a standard
// deviation of .05 at most, its distance with twice that. Equal vectors have equal sketches.
func TestSketchesLieAsFarAsCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 37))
	for _, d := range []int{1, 2, 3, 8, 100, 1280, 2100} {
		s, bias, square := newSketcher(d), 0.0, 0.0
		const pairs = 400
		for pair := range pairs {
			x, y, like := make([]float64, d), make([]float64, d), float64(pair%5)/4
			for i := range x {
				x[i] = rng.NormFloat64()
				y[i] = like*x[i] + (1-like)*rng.NormFloat64()
			}
			unit(x)
			unit(y)
			a, b := s.of(x), s.of(y)
			off := distances[a.apart(&b)] - squaredDistance(x, y)
			bias += off / pairs
			square += off * off / pairs
			if same := s.of(x); a.apart(&same) != 0 || like == 1 && a != b {
				t.Errorf("d = %d: the same vector has two sketches", d)
			}
		}
		if !(math.Abs(bias) < 0.02 && math.Sqrt(square) < 0.1) {
			t.Errorf("d = %d: distances are off by %v in the mean, %v as a standard deviation", d, bias, math.Sqrt(square))
		}
	}
}

// The nearest cell is that of all cells of the pictures asked about.
func TestNearestCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 37))
	m := fitted(t, rng, 3)
	p := test.Must(Describe(texture(rng, 0), d))(t)
	for _, asked := range [][]bool{nil, {false, true, false}, {true, false, true}} {
		for c, got := range m.nearest(p, asked) {
			want := math.Inf(1)
			for k, q := range m.good {
				for b := range q.cells {
					if asked == nil || asked[k] {
						want = min(want, distances[p.cells[c].apart(&q.cells[b])])
					}
				}
			}
			if got != want {
				t.Errorf("cell %d lies %v from the nearest, not %v", c, got, want)
			}
		}
	}
}

func squaredDistance(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += (v - y[i]) * (v - y[i])
	}
	return sum
}

func TestFramesOfABurstAreLeftOutTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 37))
	var good []*Picture
	var apart, bursts []int
	for i := range 4 {
		p := test.Must(Describe(texture(rng, 0), d))(t)
		good, apart, bursts = append(good, p, p), append(apart, 2*i, 2*i+1), append(bursts, i, i)
	}
	copies, m := test.Must(Fit(good, apart))(t), test.Must(Fit(good, bursts))(t)
	once, twice := 0.0, 0.0
	for range 20 {
		x := test.Must(Describe(texture(rng, 0), d))(t)
		once += test.Must(m.Ask(x))(t).Wrong / 20
		twice += test.Must(copies.Ask(x))(t).Wrong / 20
	}
	if m.Good() != 4 {
		t.Errorf("%d bursts are counted", m.Good())
	}
	if !(once < 0.5 && twice > 0.9) {
		t.Errorf("good ones are wrong with probability %v in the mean, and %v if copies are taken for other things", once, twice)
	}
}

func TestWhatIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 37))
	for _, cells := range [][]float32{nil, make([]float32, d+1)} {
		_, err := Describe(cells, d)
		test.Refused[*CellsError](t, err, "cells that are no rows")
	}
	_, err := Describe(nil, d)
	if !strings.HasPrefix(err.Error(), "The cells have length 0, want rows of length 60: ") { // 0 is a multiple of 60
		t.Error(err)
	}
	_, err = Describe([]float32{1, float32(math.NaN())}, 2)
	test.Refused[*niw.ValueError](t, err, "a cell that is not a number")
	p := test.Must(Describe(texture(rng, 0), d))(t)
	_, err = Fit([]*Picture{p, p, p}, []int{0, 0, 1})
	if few := (*FewError)(nil); !errors.As(err, &few) || few.Got != 2 {
		t.Errorf("two bursts: %v", err)
	}
	other := test.Must(Describe(make([]float32, 6*n), 6))(t)
	_, err = Fit([]*Picture{p, p, other}, []int{0, 1, 2})
	test.Refused[*CellsError](t, err, "cells of two networks")
	_, err = fitted(t, rng, 3).Ask(other)
	test.Refused[*CellsError](t, err, "cells of another network")
}

// Pictures all alike, black ones and numbers as large as they get have finite answers.
func TestDegeneratePictures(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 37))
	black, huge := make([]float32, n*d), make([]float32, n*d)
	for i := range huge {
		huge[i] = math.MaxFloat32
	}
	same := texture(rng, 0)
	all := [][]float32{black, huge, same}
	for _, shown := range all {
		p := test.Must(Describe(shown, d))(t)
		m := test.Must(Fit([]*Picture{p, p, p, p}, []int{0, 1, 2, 3}))(t)
		for _, asked := range all {
			a := test.Must(m.Ask(test.Must(Describe(asked, d))(t)))(t)
			for _, v := range append(a.Cells, a.Wrong, a.Whole, a.Place) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("an answer has %v", v)
				}
			}
			if !(a.Wrong >= 0 && a.Wrong <= 1) {
				t.Errorf("wrong with probability %v", a.Wrong)
			}
		}
	}
}

// BenchmarkAsk is of ten good pictures of two views of 36 cells.
func BenchmarkAsk(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 37))
	draw := func() []float32 {
		cells := make([]float32, 72*1280)
		for i := range cells {
			cells[i] = max(0, rng.Float32()-0.5)
		}
		return cells
	}
	var good []*Picture
	var burst []int
	for i := range 10 {
		good, burst = append(good, test.Must(Describe(draw(), 1280))(b)), append(burst, i)
	}
	m := test.Must(Fit(good, burst))(b)
	x := draw()
	b.Run("describe", func(b *testing.B) {
		for b.Loop() {
			test.Must(Describe(x, 1280))(b)
		}
	})
	p := test.Must(Describe(x, 1280))(b)
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			test.Must(m.Ask(p))(b)
		}
	})
	b.Run("fit", func(b *testing.B) {
		for b.Loop() {
			test.Must(Fit(good, burst))(b)
		}
	})
}

// Frames of one view differ by noise alone. Another frame is like them, another thing is not.
func TestFramesOfOneViewAreLikeEachOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 37))
	view, other := texture(rng, 0), texture(rng, 1)
	frame := func(of []float32, noise float64) *Picture {
		cells := make([]float32, len(of))
		for i, v := range of {
			cells[i] = v + float32(noise*rng.NormFloat64())
		}
		return test.Must(Describe(cells, d))(t)
	}
	for _, noise := range []float64{0, 0.001, 0.01} {
		good, burst := make([]*Picture, 16), make([]int, 16)
		for i := range good {
			good[i], burst[i] = frame(view, noise), i
		}
		m := test.Must(Fit(good, burst))(t)
		for _, more := range []float64{0, 0.001, 0.03} {
			if a := test.Must(m.Ask(frame(view, more)))(t); !(a.Wrong < 0.4) {
				t.Errorf("frames with noise %v: one with %v is wrong with probability %v", noise, more, a.Wrong)
			}
		}
		if a := test.Must(m.Ask(frame(other, noise)))(t); !(a.Wrong > 0.9) {
			t.Errorf("frames with noise %v: another thing is wrong with probability %v", noise, a.Wrong)
		}
	}
}

// A frame that is drawn another way lies up to .13 away, which says nothing. Good pictures lie .35 away and more.
func TestNoiseOfDrawingIsNoDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 37))
	view := texture(rng, 0)
	p := test.Must(Describe(view, d))(t)
	m := test.Must(Fit([]*Picture{p, p, p, p}, []int{0, 1, 2, 3}))(t)
	at := func(least, most float64) *Answer {
		for noise := 1e-3; noise < 1; noise *= 1.02 {
			cells := slices.Clone(view)
			for i := range cells {
				cells[i] += float32(noise * rng.NormFloat64())
			}
			p := test.Must(Describe(cells, d))(t)
			if c := places(m.nearest(p, nil)); c > least && c < most {
				return test.Must(m.Ask(p))(t)
			}
		}
		t.Fatalf("no noise leads to a distance from %v to %v", least, most)
		return nil
	}
	same, drawn, other := test.Must(m.Ask(p))(t), at(0.11, 0.13), at(0.35, 0.4)
	if drawn.Place != same.Place {
		t.Errorf("a frame drawn another way is %v, the same one %v", drawn.Place, same.Place)
	}
	if !(other.Place > same.Place+0.5) {
		t.Errorf("another picture is %v, the same one %v", other.Place, same.Place)
	}
}
