package main

import (
	"math/rand/v2"
	"slices"
	"strconv"

	metaqda "metaqda/core"
	"metaqda/core/lab/dataset"
)

// A stream lasts ten minutes, at four answers a second.
const (
	rate   = 4.0
	length = 600.0
)

// nonePrior is the prior probability of none of these in the page.
const nonePrior = 0.2

// stream holds the answers about a sensor.
type stream struct {
	classifier *metaqda.Classifier
	frames     []frame
	shows      []show
}

// frame is one answer. Without probabilities the sensor found nothing, such as no hand.
type frame struct {
	seconds float64
	p       []float64 // C
	none    float64
}

// show is a thing before the sensor, of a taught class or -1.
type show struct {
	class      int
	begin, end float64
}

// source is a data set with the data for its streams.
type source struct {
	kind   string // pictures, hands or sounds
	number int    // of the set within its kind
	own    bool   // things that were taught are shown, in other frames; else others of their classes
	set    *dataset.Set
	prior  *metaqda.Prior
	other  *dataset.Set // of other things: some are shown, and one is what is seen in pauses
	moves  [][]float32  // differences between frames of one thing
}

// sight is rows of a set in the order in which they are seen, one a second, repeated without end.
type sight [][]float32

// at returns the sight after so many seconds: each row goes over into the next.
func (s sight) at(seconds float64) []float32 {
	i := int(seconds)
	return mixed(s[i%len(s)], s[(i+1)%len(s)], float32(seconds-float64(i)))
}

func mixed(x, y []float32, share float32) []float32 {
	m := make([]float32, len(x))
	for i := range m {
		m[i] = (1-share)*x[i] + share*y[i]
	}
	return m
}

// stream draws a session of two to five classes of three to six examples. It shows things for four
// to eight seconds, with pauses of two to ten seconds between them. A third of the things is of no
// taught class: half of these of other classes of the set, half of another set.
func (s *source) stream(rng *rand.Rand) (*stream, error) {
	c, err := metaqda.New(metaqda.Settings{NonePrior: nonePrior}, s.prior)
	if err != nil {
		return nil, err
	}
	classes := rng.Perm(len(s.set.Classes))
	way := min(2+rng.IntN(4), len(classes)/2)
	shown := make([][]int, way)
	for j, class := range classes[:way] {
		rows := things(rng, s.set, class)
		k := min(3+rng.IntN(4), len(rows)-2)
		for _, row := range rows[:k] {
			if _, err := c.Add(strconv.Itoa(j), "", s.set.Row(row)); err != nil {
				return nil, err
			}
		}
		if shown[j] = rows[k:]; s.own {
			shown[j] = rows[:k]
		}
	}
	r := recorder{stream: &stream{classifier: c}, rng: rng}
	var background sight
	if s.kind != "hands" { // without a hand there is no answer
		background = s.moving(rng, s.other, rng.IntN(s.other.Len()))
	}
	for float64(len(r.frames)) < length*rate {
		if err := r.record(background, 2+8*rng.Float64()); err != nil {
			return nil, err
		}
		w, set, rows := show{class: -1, begin: r.now()}, s.set, []int(nil)
		switch rng.IntN(6) {
		case 0:
			rows = things(rng, set, classes[way+rng.IntN(len(classes)-way)])
		case 1:
			set = s.other
			rows = things(rng, set, rng.IntN(len(set.Classes)))
		default:
			w.class = rng.IntN(way)
			rows = shown[w.class]
		}
		if err := r.record(s.look(rng, set, rows), 4+4*rng.Float64()); err != nil {
			return nil, err
		}
		w.end = r.now()
		r.shows = append(r.shows, w)
	}
	return r.stream, nil
}

// recorder predicts the things seen.
type recorder struct {
	*stream
	rng  *rand.Rand
	last []float32
}

func (r *recorder) now() float64 { return float64(len(r.frames)) / rate }

// record predicts a sight for so many seconds. Its first frame is still mixed with the last sight.
func (r *recorder) record(s sight, seconds float64) error {
	for i := range int(seconds * rate) {
		f := frame{seconds: r.now(), none: 1}
		if s == nil {
			r.last = nil
			r.frames = append(r.frames, f)
			continue
		}
		x := s.at(float64(i) / rate)
		if i == 0 && r.last != nil {
			x = mixed(x, r.last, r.rng.Float32())
		}
		a, err := r.classifier.Predict(x)
		if err != nil {
			return err
		}
		f.p, f.none, r.last = a.Probabilities, a.None, x
		r.frames = append(r.frames, f)
	}
	return nil
}

// things returns one row of each thing of a class, in random order.
func things(rng *rand.Rand, set *dataset.Set, class int) (rows []int) {
	seen := map[int32]bool{}
	for _, row := range set.ClassRows(class) {
		if set.Groups == nil {
			rows = append(rows, row)
		} else if g := set.Groups[row]; !seen[g] {
			seen[g], rows = true, append(rows, row)
		}
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// look draws a sight of a class. A picture is one thing before a moving camera. Hands and sounds
// show one row after the other.
func (s *source) look(rng *rand.Rand, set *dataset.Set, rows []int) (seen sight) {
	if s.kind == "pictures" {
		return s.moving(rng, set, rows[rng.IntN(len(rows))])
	}
	for range 8 {
		seen = append(seen, set.Row(rows[rng.IntN(len(rows))]))
	}
	return seen
}

// moving returns a thing in several frames, without the row itself. These are the frames of its
// group. If they are fewer than five, the row is moved like frames of other sets to fill up.
func (s *source) moving(rng *rand.Rand, set *dataset.Set, row int) (seen sight) {
	if set.Groups != nil {
		for i, g := range set.Groups {
			if i != row && g == set.Groups[row] {
				seen = append(seen, set.Row(i))
			}
		}
	}
	for len(seen) < 5 && len(s.moves) > 0 {
		x := slices.Clone(set.Row(row))
		for i, v := range s.moves[rng.IntN(len(s.moves))] {
			x[i] = max(0, x[i]+v)
		}
		seen = append(seen, x)
	}
	if len(seen) == 0 {
		return sight{set.Row(row)}
	}
	rng.Shuffle(len(seen), func(i, j int) { seen[i], seen[j] = seen[j], seen[i] })
	return seen
}
