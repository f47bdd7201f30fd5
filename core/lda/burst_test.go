package lda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/niw"
	"metaqda/core/niw/niwtest"
	"metaqda/core/test"
)

// reachFor1 is the d² below which pictures are linked at the length 1: 2^(-d⁴/2) = .6.
var reachFor1 = math.Sqrt(2 * math.Log2(1/0.6))

// groupedNaively returns the pictures of each burst by the definition: the reach of every
// picture over links, repeated until nothing changes. A picture beyond the first mostLinked joins the
// first of these bursts that has several pictures and one that it is linked to.
func groupedNaively(w [][]float64, near float64) (list [][]int) {
	of := make([]int, len(w))
	for i := range of {
		of[i] = i
	}
	linked := func(x, y []float64) bool {
		d := floats.Distance(x, y, 2)
		return d*d < near*reachFor1
	}
	first := w[:min(len(w), mostLinked)]
	for changed := true; changed; {
		changed = false
		for i, x := range first {
			for k, y := range first[:i] {
				if of[i] != of[k] && linked(x, y) {
					of[i], of[k], changed = min(of[i], of[k]), min(of[i], of[k]), true
				}
			}
		}
	}
	size := make([]int, len(w))
	for i := range first {
		size[of[i]]++
	}
	for i, x := range w[len(first):] {
		for k, y := range first {
			if at := len(first) + i; size[of[k]] > 1 && of[k] < of[at] && linked(x, y) {
				of[at] = of[k]
			}
		}
	}
	for i := range w {
		if of[i] == i {
			list = append(list, nil)
			for k := range w {
				if of[k] == i {
					list[len(list)-1] = append(list[len(list)-1], k)
				}
			}
		}
	}
	return list
}

// taughtOne returns a classifier with the pictures in one class and one picture
// in another.
func taughtOne(t testing.TB, p *niw.Prior, o Options, pictures [][]float64) *Classifier {
	t.Helper()
	c := test.Must(New(p, with(o)))(t)
	test.OK(t, c.AddClass("it"))
	test.OK(t, c.AddClass("other"))
	test.OK(t, c.Add("other", niwtest.Vector(rand.New(rand.NewPCG(1, 2)), p.Dim(), 2)))
	for _, x := range pictures {
		test.OK(t, c.Add("it", x))
	}
	return c
}

// sameState compares the class "it" with what replaying its pictures makes of it.
func sameState(t testing.TB, what string, c *Classifier, pictures [][]float64, query []float64, tol float64) {
	t.Helper()
	c.Group(always)
	k := c.classes[0]
	w := make([][]float64, len(pictures))
	for i, x := range pictures {
		w[i] = make([]float64, len(x))
		c.prior.WhitenTo(w[i], x)
		if !slices.Equal(k.picture(i), w[i]) {
			t.Fatalf("%s: picture %d is not what was added", what, i)
		}
	}
	want := groupedNaively(w, c.near)
	if c.Count("it") != len(pictures) || k.count() != len(want) || len(k.list) != len(want) {
		t.Fatalf("%s: %d pictures in %d bursts, want %d in %d", what, c.Count("it"), k.count(), len(pictures), len(want))
	}
	for b, members := range want {
		s := k.list[b]
		if !slices.Equal(s.pictures, members) || (s.frames == nil) != (len(members) == 1) {
			t.Fatalf("%s: burst %d has %v, want %v", what, b, s.pictures, members)
		}
		for _, i := range members {
			if burst, size := c.BurstOf("it", i); burst != b || size != len(members) {
				t.Fatalf("%s: picture %d is in burst %d of %d, want %d of %d", what, i, burst, size, b, len(members))
			}
		}
	}
	fresh := taughtOne(t, c.prior, c.options, pictures)
	fresh.Group(always)
	for b := range want {
		if !slices.Equal(k.row(b), fresh.classes[0].row(b)) {
			t.Fatalf("%s: burst %d has another mean", what, b)
		}
	}
	if len(pictures) == 0 {
		return
	}
	got, again := make([]float64, 2), make([]float64, 2)
	none := test.Must(c.ProbabilitiesTo(got, query))(t)
	other := test.Must(fresh.ProbabilitiesTo(again, query))(t)
	for i, v := range append(again, other) {
		g := append(got, none)[i]
		if !(math.Abs(g-v) <= tol) {
			t.Fatalf("%s: [%d] is %.17g, want %.17g", what, i, g, v)
		}
	}
}

// drift returns pictures along a walk that now and then goes back or stands
// still, so that bursts overlap.
func drift(rng *rand.Rand, n, d int) [][]float64 {
	pictures := make([][]float64, n)
	for i := range pictures {
		from := make([]float64, d)
		if i > 0 {
			from = pictures[rng.IntN(i)]
		}
		pictures[i] = slices.Clone(from)
		if rng.IntN(5) > 0 {
			pictures[i][rng.IntN(min(d, 2))] += rng.NormFloat64()
		}
	}
	return pictures
}

// whatever is what a person may do to a class, one byte a step.
func whatever(t testing.TB, o Options, p *niw.Prior, pictures [][]float64, steps []byte) {
	c := taughtOne(t, p, o, nil)
	var left [][]float64
	query := niwtest.Vector(rand.New(rand.NewPCG(1, 3)), p.Dim(), 0.5)
	for n, step := range steps {
		x := pictures[int(step)%len(pictures)]
		switch {
		case len(left) > 0 && step%32 == 12:
			i := int(step/32) % (len(left) + 1)
			test.OK(t, c.Truncate("it", len(left)-i))
			left = left[:len(left)-i]
		case len(left) > 0 && step%4 == 0:
			i := int(step/4) % len(left)
			test.OK(t, c.Remove("it", i))
			left = slices.Delete(left, i, i+1)
		case step%4 == 1:
			i := int(step/4) % (len(left) + 1)
			test.OK(t, c.Insert("it", i, x))
			left = slices.Insert(left, i, x)
		default:
			test.OK(t, c.Add("it", x))
			left = append(left, x)
		}
		sameState(t, fmt.Sprint("step ", n), c, left, query, 1e-9)
	}
}

// fewLinked lowers mostLinked for a test.
func fewLinked(t testing.TB) {
	was := mostLinked
	mostLinked = 9
	t.Cleanup(func() { mostLinked = was })
}

func TestBurstsOfLongStreamsAreAReplay(t *testing.T) {
	fewLinked(t)
	TestBurstsAreAReplay(t)
}

func TestBurstsAreAReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 1))
	for name, o := range variants {
		for _, p := range []*niw.Prior{niwtest.Prior(rng, 3), niwtest.Prior(rng, 30), niwtest.Spiked(t, rng, 20, 3)} { // 3: in and out of the dense form
			for _, o.Near = range []float64{0, 0.3, 1, 2} {
				steps := make([]byte, 60)
				for i := range steps {
					steps[i] = byte(rng.IntN(256))
				}
				t.Run(fmt.Sprint(name, " d=", p.Dim(), " near ", o.Near), func(t *testing.T) {
					whatever(t, o, p, drift(rng, 60, p.Dim()), steps)
				})
			}
		}
	}
}

func FuzzBursts(f *testing.F) {
	f.Add([]byte{1, 2, 4, 5, 7, 0, 3}, uint8(3), 0.5)
	f.Add([]byte{1, 1, 1, 2, 2, 0, 0, 0}, uint8(2), 1e300)
	f.Add([]byte{1, 1, 1, 2, 2, 3, 6, 1, 2, 3, 2, 1, 1, 2, 2, 44, 0, 0}, uint8(130), 0.5)
	f.Fuzz(func(t *testing.T, steps []byte, d uint8, near float64) {
		if !(near >= 0 && near <= math.MaxFloat64) || len(steps) > 80 {
			return
		}
		if d >= 128 {
			fewLinked(t)
		}
		rng := rand.New(rand.NewPCG(41, uint64(d)))
		n := int(d)%12 + 1
		whatever(t, Options{NonePrior: 0.1, Near: near}, niwtest.Prior(rng, n), drift(rng, 40, n), steps)
	})
}

// Every picture of a class goes once and comes back, then all go, the first ones first.
func TestBurstsOfDegenerateClasses(t *testing.T) {
	const d = 6
	at := func(x float64) []float64 { v := make([]float64, d); v[0] = x; return v }
	for name, of := range map[string]struct {
		pictures []float64
		reach    float64
		want     int
	}{
		"all identical":     {[]float64{1, 1, 1, 1, 1, 1, 1, 1}, 0.1, 1},
		"alternating":       {[]float64{1, 5, 1, 5, 1, 5, 1, 5}, 0.1, 2},
		"reach huge":        {[]float64{1, -5, 1e6, 3, 4}, 1e300, 1},
		"reach tiny":        {[]float64{1, 1, 2, 2}, 1e-300, 2},
		"a little beyond":   {[]float64{0, 1.001, 2.002}, 1, 3},
		"chain":             {[]float64{0, 0.9, 1.8, 2.7, 3.6, 4.5}, 1, 1},
		"chain backwards":   {[]float64{4.5, 3.6, 2.7, 1.8, 0.9, 0}, 1, 1},
		"a link between":    {[]float64{0, 1.5, 5, 0.8}, 1, 2},
		"two chains":        {[]float64{0, 5, 0.9, 5.9, 1.8}, 1, 2},
		"no bursts at all":  {[]float64{1, 1, 2, 2}, 0, 4},
		"one picture alone": {[]float64{1}, 1, 1},
	} {
		p := niw.HandCrafted(d, 1)
		scale := make([]float64, d)
		p.WhitenTo(scale, at(1))
		o := with(Options{NonePrior: 0.2, Near: of.reach / reachFor1})
		var pictures [][]float64
		for _, x := range of.pictures {
			pictures = append(pictures, at(x/scale[0]))
		}
		for out := range pictures {
			c := taughtOne(t, p, o, pictures)
			got := c.classes[0].count()
			if got != of.want {
				t.Errorf("%s: %d bursts, want %d", name, got, of.want)
			}
			left := slices.Clone(pictures)
			test.OK(t, c.Remove("it", out))
			test.OK(t, c.Insert("it", out, pictures[out]))
			sameState(t, name+", one back", c, left, at(0.5), 1e-12)
			for i := out; len(left) > 0; i = 0 {
				test.OK(t, c.Remove("it", i))
				left = slices.Delete(left, i, i+1)
				sameState(t, name, c, left, at(0.5), 1e-12)
			}
		}
	}
}

func TestIdenticalFramesAreOnePicture(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	for name, o := range variants {
		o.Near = 1e-9
		for _, d := range []int{1, 2, 24} {
			p := niwtest.Prior(rng, d)
			pictures := [][]float64{niwtest.Vector(rng, d, 0), niwtest.Vector(rng, d, 0), niwtest.Vector(rng, d, 0)}
			c, query := taughtOne(t, p, o, pictures), niwtest.Vector(rng, d, 0.3)
			want := ask(t, c, query)
			for range 13 {
				test.OK(t, c.Add("it", pictures[1]))
			}
			same(t, name, ask(t, c, query), want, 0)
		}
	}
}

func TestRemoveThenInsertGivesTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 1))
	for name, o := range variants {
		o.Near = 0.8
		for _, d := range []int{3, 24} {
			pictures := drift(rng, 17, d)
			c := taughtOne(t, niwtest.Prior(rng, d), o, pictures)
			query := niwtest.Vector(rng, d, 0.3)
			want := ask(t, c, query)
			for i, x := range pictures {
				test.OK(t, c.Remove("it", i))
				ask(t, c, query)
				test.OK(t, c.Insert("it", i, x))
				same(t, fmt.Sprint(name, " d=", d, " picture ", i), ask(t, c, query), want, 0)
			}
		}
	}
}

// A picture, however far away, leaves nothing behind: not in the correlation length, and only
// rounding in the sums that it is computed from.
func TestARemovedPictureLeavesNothingBehind(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(94, seed))
		p := niwtest.Prior(rng, 6)
		o := Options{Near: 0.5, Spread: float64(seed % 2)}
		s := randomScene(rng, p.Dim(), 3, 5, 4)
		c, want := s.teach(t, p, o), s.teach(t, p, o)
		far := niwtest.Vector(rng, p.Dim(), 0)
		floats.Scale(math.Pow(10, float64(seed/2)), far)
		test.OK(t, c.Add("c1", far))
		c.Near()
		if seed/2%2 == 0 {
			test.OK(t, c.Remove("c1", 5))
		} else {
			test.OK(t, c.Truncate("c1", 5))
		}
		got, k := c.classes[1], want.classes[1]
		same(t, fmt.Sprint("seed ", seed, ": sum"), got.sum, k.sum, 1e-12*math.Sqrt(k.square))
		same(t, fmt.Sprint("seed ", seed, ": sum of squares"), []float64{got.square}, []float64{k.square}, 1e-12*k.square)
		if c.Near() != want.Near() {
			t.Errorf("seed %d: the correlation length is %v, want %v", seed, c.Near(), want.Near())
		}
	}
}

func TestRowsTogetherEqualRowsOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	const d = 30
	for _, near := range []float64{0, 0.8} {
		p, pictures, o := niwtest.Prior(rng, d), drift(rng, 25, d), with(Options{NonePrior: 0.2, Near: near})
		c, other := taughtOne(t, p, o, pictures), taughtOne(t, p, o, nil)
		test.OK(t, other.AddRows("it", dense(pictures)))
		if (c.classes[0].count() == c.Count("it")) != (near == 0) || other.classes[0].count() != c.classes[0].count() {
			t.Errorf("%d bursts, want %d", other.classes[0].count(), c.classes[0].count())
		}
		query := niwtest.Vector(rng, d, 0.1)
		same(t, "batch", ask(t, other, query), ask(t, c, query), 1e-10)
	}
}

func TestAnotherNearReplaysEverything(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 1))
	for _, d := range []int{4, 30} {
		pictures, o := drift(rng, 25, d), with(Options{NonePrior: 0.2})
		p, query := niwtest.Prior(rng, d), niwtest.Vector(rng, d, 0.3)
		c := taughtOne(t, p, o, pictures)
		want := ask(t, c, query)
		for i, near := range []float64{0.5, 3, 1e9, 0.1} {
			o.Near = near
			if i%2 == 0 {
				test.OK(t, c.SetOptions(o))
			} else { // as well for a class that is elsewhere meanwhile
				k := test.Must(c.Detach("it"))(t)
				test.OK(t, c.SetOptions(o))
				test.OK(t, c.AddClass("it"))
				test.Refused[*LabelError](t, c.Attach(0, k), "a label that is taken")
				test.OK(t, c.RemoveClass("it"))
				test.OK(t, c.Attach(0, k))
			}
			sameState(t, fmt.Sprint("near ", o.Near), c, pictures, query, 0)
		}
		o.Near = 0
		test.OK(t, c.SetOptions(o))
		same(t, "back again", ask(t, c, query), want, 0)
	}
}

func TestNoSuchBurst(t *testing.T) {
	c := taughtOne(t, niw.HandCrafted(2, 1), Options{}, nil)
	for _, i := range []int{-1, 0, 7} {
		if burst, size := c.BurstOf("it", i); burst != -1 || size != 0 {
			t.Errorf("no picture %d, but burst %d of %d", i, burst, size)
		}
	}
	if burst, size := c.BurstOf("nobody", 0); burst != -1 || size != 0 {
		t.Errorf("a class that is not there has burst %d of %d", burst, size)
	}
}

// A burst whose pictures all correlate alike counts what correlated rows count: 1ᵀC⁻¹1, by
// the generalised least squares of gonum.
func TestABurstCountsWhatItsCorrelationLeaves(t *testing.T) {
	const d, near = 8, 1.0
	for _, k := range []int{1, 2, 3, 6} {
		for _, d2 := range []float64{0, 1e-6, 0.1, 0.5, 0.99} {
			class := newClass("", d, near)
			c, ones := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
			for i := range k {
				w := make([]float64, d)
				w[i] = math.Sqrt(d2 / 2) // corners of a simplex
				class.add(w)
				ones.SetVec(i, 1)
				for j := range i + 1 {
					c.SetSym(i, j, math.Exp2(-d2*d2/near/near/2))
				}
				c.SetSym(i, i, 1+1e-12)
			}
			var factor mat.Cholesky
			var solved mat.VecDense
			if !factor.Factorize(c) {
				t.Fatalf("%d pictures at %v: C is singular", k, d2)
			}
			_ = factor.SolveVecTo(&solved, ones) // a bad condition is expected of copies
			want := mat.Dot(&solved, ones)
			if got := class.weight(); class.count() != 1 || math.Abs(got-want) > 1e-3*want {
				t.Errorf("%d pictures at %v make %d bursts that count %v, want 1 that counts %v", k, d2, class.count(), got, want)
			}
			if got, want := class.row(0)[0], math.Sqrt(d2/2)/float64(k); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d pictures at %v: mean %v, want %v", k, d2, got, want)
			}
		}
	}
}

// Copies of one example, however many, do not starve its class, and hardly change an answer.
func TestCopiesChangeHardlyAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(49, 1))
	const d = 30
	for name, o := range variants {
		o.Near = 4
		p := niwtest.Prior(rng, d)
		s := randomScene(rng, d, 1, 1, 1, 1, 1)
		want := s.teach(t, p, o)
		copies := slices.Clone(s)
		for range 9 {
			x := slices.Clone(s[0][0])
			for i := range x {
				x[i] += 1e-3 * rng.NormFloat64()
			}
			copies[0] = append(copies[0], x)
		}
		got := copies.teach(t, p, o)
		for range 5 {
			x := niwtest.Vector(rng, d, 2)
			same(t, name, ask(t, got, x), ask(t, want, x), 0.01)
		}
	}
}

// A thing held before the camera for minutes is still one example: its class is as likely as after the
// first frames, and another class loses nothing.
func TestALongStreamOfCopiesChangesHardlyAnything(t *testing.T) {
	fewLinked(t)
	rng := rand.New(rand.NewPCG(49, 1))
	const d = 12
	for name, o := range variants {
		o.Near = 0.5
		p := niwtest.Prior(rng, d)
		thing := niwtest.Vector(rng, d, 1)
		var frames [][]float64
		for range 60 {
			frame := slices.Clone(thing)
			for i := range frame {
				frame[i] += 0.01 * rng.NormFloat64()
			}
			frames = append(frames, frame)
		}
		few, many := taughtOne(t, p, o, frames[:mostLinked]), taughtOne(t, p, o, frames)
		for range 5 {
			x := niwtest.Vector(rng, d, 1)
			same(t, name, ask(t, many, x), ask(t, few, x), 0)
		}
	}
}

// With Options.Spread the correlation length goes by how far apart the classes are, by the
// definition, and every class is grouped by it.
func TestCorrelationLengthInUnitsOfTheSession(t *testing.T) {
	rng := rand.New(rand.NewPCG(50, 1))
	const d = 12
	o := with(Options{NonePrior: 0.2, Near: 0.15, Spread: 1, Population: somePopulation()})
	for _, shots := range [][]int{{4}, {3, 5}, {1, 2, 9}} {
		s := randomScene(rng, d, shots...)
		c := s.teach(t, niw.HandCrafted(d, 1), o)
		g, want, n := make([]float64, d), 0.0, float64(len(s))
		for _, x := range s {
			for _, v := range x {
				if n > 1 {
					floats.AddScaled(g, 1/(n*float64(len(x))), v)
				}
			}
		}
		z, middle := make([]float64, d), make([]float64, d)
		c.prior.WhitenTo(middle, g)
		for _, x := range s {
			for _, v := range x {
				c.prior.WhitenTo(z, v)
				if n == 1 {
					middle = make([]float64, d)
				}
				want += 0.6 * 2 / max(1, n-1) * squaredDistance(z, middle) / float64(len(x))
			}
		}
		several, most := 0, 0.0
		for _, x := range s {
			mean, pairs := 0.0, 0.0
			for i, v := range x {
				for _, u := range x[:i] {
					c.prior.WhitenTo(z, v)
					c.prior.WhitenTo(middle, u)
					mean, pairs = mean+squaredDistance(z, middle), pairs+1
				}
			}
			if pairs > 0 {
				several, most = several+1, max(most, mean/pairs)
			}
		}
		if several > 1 {
			want = min(want, most)
		}
		c.Group(always)
		if got := c.near / 0.15; !(got/want < 1.2 && want/got < 1.2) {
			t.Errorf("%v: length %v, want about %v", shots, got, want)
		}
		for _, k := range c.classes {
			if k.near != c.near {
				t.Errorf("%v: a class is grouped by %v, the session by %v", shots, k.near, c.near)
			}
		}
	}
}

// Where every class has frames of one thing alone, as far apart as the prior takes frames to be,
// they are one burst that hardly counts more than one picture. Another thing is an example of its
// own.
func TestFramesInEveryClassAreOneBurst(t *testing.T) {
	const d, many = 200, 12
	for _, spread := range []float64{0, 0.01, 0.1, 0.7} { // d² of two frames over 400
		for _, near := range []float64{250, 300} { // pictures of two things are 400 apart, or more
			rng := rand.New(rand.NewPCG(50, 1))
			classes, things := make([]*class, 3), make([][]float64, 3)
			for j := range classes {
				things[j] = niwtest.Vector(rng, d, 0)
				classes[j] = newClass(fmt.Sprint(j), d, near)
				for range many {
					classes[j].add(around(rng, things[j], math.Sqrt(spread)))
				}
			}
			c := &Classifier{options: Options{Near: near}, classes: classes, taught: classes}
			c.Group(always)
			for j, k := range c.classes {
				if k.count() != 1 || k.weight() > 1.5 {
					t.Errorf("near %v, spread %v: class %d has %d bursts that count %v", near, spread, j, k.count(), k.weight())
				}
			}
			classes[0].add(around(rng, niwtest.Vector(rng, d, 0), 0)) // another thing
			classes[1].add(around(rng, niwtest.Vector(rng, d, 0), 0))
			c.measured, c.grouped = false, false
			c.Group(always)
			if bursts := c.classes[0].count(); bursts != 2 {
				t.Errorf("near %v, spread %v: two things make %d bursts", near, spread, bursts)
			}
		}
	}
}

// around returns x moved at random, by share times what two random vectors differ by.
func around(rng *rand.Rand, x []float64, share float64) []float64 {
	moved := slices.Clone(x)
	floats.AddScaled(moved, share, niwtest.Vector(rng, len(x), 0))
	return moved
}

// A frame that is added to its burst is compared with the others alone, not these with each
// other: their totals go on from what they were. That is so for a clone, too, whose original
// stays as it was.
func TestAFrameMoreIsComparedWithTheOthersAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 1))
	p := niwtest.Prior(rng, 5)
	c := taughtOne(t, p, Options{Near: 1}, slices.Repeat([][]float64{niwtest.Vector(rng, 5, 0)}, 20))
	c.Group(always)
	original := c.Clone()
	const sentinel = 1000
	was := slices.Clone(c.classes[0].list[0].totals)
	c.classes[0].own()
	c.classes[0].list[0].totals[3] = sentinel
	test.OK(t, c.Add("it", original.unwhitened(original.classes[0].picture(0))))
	got := c.classes[0].list[0].totals
	if len(got) != 21 || got[3] != sentinel+1 || got[20] != 21 {
		t.Errorf("the totals are %v", got)
	}
	if !slices.Equal(original.classes[0].list[0].totals, was) {
		t.Errorf("those of the original are %v, and were %v", original.classes[0].list[0].totals, was)
	}
}

// unwhitened returns the picture that whitens to w.
func (c *Classifier) unwhitened(w []float64) []float64 {
	x := slices.Clone(w)
	c.prior.UnwhitenTo(x)
	floats.Add(x, c.prior.M)
	return x
}

// BenchmarkIdenticalFrames adds 4,000 identical pictures to seven classes.
func BenchmarkIdenticalFrames(b *testing.B) {
	rng := rand.New(rand.NewPCG(48, 1))
	x := niwtest.Vector(rng, 64, 0)
	for b.Loop() {
		c := test.Must(New(niw.HandCrafted(64, 1), with(Options{Near: 0.1})))(b)
		for j := range 7 {
			test.OK(b, c.AddClass(fmt.Sprint(j)))
		}
		for i := range 4000 {
			test.OK(b, c.Add(fmt.Sprint(i%7), x))
		}
	}
}
