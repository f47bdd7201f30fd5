package exports

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/memory"
)

// put writes vectors and then texts into the room, and returns the lengths of the texts.
func put(x []float32, texts ...string) []int32 {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	lengths := make([]int32, len(texts))
	for i, text := range texts {
		b, lengths[i] = append(b, text...), int32(len(text))
	}
	Room(int64(len(b)))
	copy(bytes(0, int32(len(b))), b)
	return lengths
}

// putTexts writes the lengths of texts and then the texts.
func putTexts(texts ...string) int32 {
	var b []byte
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	put(nil, string(b)+strings.Join(texts, ""))
	return int32(len(texts))
}

// replied returns the reply of a call, or fails.
func replied(t *testing.T, n int32) string {
	t.Helper()
	if n < 0 {
		t.Fatal(string(state.reply))
	}
	return string(state.reply[:n])
}

// refused checks the code of a call that must fail.
func refused(t *testing.T, code string, n int32) {
	t.Helper()
	if got, _, _ := strings.Cut(string(state.reply), "\n"); n >= 0 || got != code {
		t.Errorf("%d, %q, want an error with the code %s", n, state.reply, code)
	}
}

var rows = []float32{9, 1, 0, 8, 2, 1, 0, 1, 9, 1, 0, 8}

// taught returns a classifier of four vectors, two of a class, and a classifier of core that was
// taught the same.
func taught(t *testing.T, groups ...string) (int32, *metaqda.Classifier) {
	t.Helper()
	n := put(nil, "", "name", "")
	h := Create(0.2, n[0], n[1], n[2])
	b := AddBegin(h, 4, 3)
	put(rows)
	replied(t, AddRows(b, 12))
	n4 := putTexts(append([]string{"cup", "cup", "pen", "pen"}, groups...)...)
	replied(t, AddLabels(b, 4, n4-4))
	if ids := replied(t, AddEnd(h, b)); len(strings.Split(ids, "\n")) != 4 {
		t.Errorf("ids %q, want four", ids)
	}
	AddStop(b)
	c, err := metaqda.New(metaqda.Settings{NonePrior: 0.2}, nil)
	for i, label := range []string{"cup", "cup", "pen", "pen"} {
		if err == nil {
			_, err = c.Add(label, groups[i%len(groups)], rows[3*i:3*i+3])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return h, c
}

// Answers are those of the classifier of core, whether bursts have a name each or one for all.
func TestAnswersAreThoseOfCore(t *testing.T) {
	for _, groups := range [][]string{{""}, {"g"}, {"", "", "g", "g"}} {
		h, c := taught(t, groups...)
		put(rows)
		if n := Predict(h, 4, 3); n != 12 {
			t.Fatalf("%d numbers: %s", n, state.reply)
		}
		for i, got := range slices.Collect(slices.Chunk(state.answer, 3)) {
			want, err := c.Predict(rows[3*i : 3*i+3])
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, append([]float64{want.None}, want.Probabilities...)) {
				t.Errorf("%v for vector %d, want %v", got, i, want)
			}
		}
		put(rows[:3])
		Predict(h, 1, 3)
		want, _ := c.Predict(rows[:3])
		if got := replied(t, Decide(h)); got != want.Headline || state.answer[3] != float64(want.Class) || state.answer[5] != float64(want.First) {
			t.Errorf("%q, %v, want %v", got, state.answer, want)
		}
	}
}

// Sets of several coverages may follow one prediction.
func TestASetIsOfTheLastPrediction(t *testing.T) {
	h, c := taught(t, "")
	put(rows[:3])
	Predict(h, 1, 3)
	want, err := c.PredictSet(rows[:3], 0.9)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		n := Set(h, 0.9)
		if n != int32(len(want.Labels)) || state.answer[2] != float64(want.Labels[0]) {
			t.Fatalf("%d labels, %v, want %v", n, state.answer, want.Labels)
		}
		Set(h, 0.5)
	}
	put(rows[:6])
	Predict(h, 2, 3)
	refused(t, "argument", Set(h, 0.9))
	other, _ := taught(t, "")
	put(rows[:3])
	Predict(other, 1, 3)
	refused(t, "argument", Set(h, 0.9))
}

func TestInputThatIsTooShortIsTheCallersMistake(t *testing.T) {
	h, _ := taught(t, "")
	w := Watch(h, 1)
	b := AddBegin(h, 1, 3)
	for _, call := range []func() int32{
		func() int32 { return Predict(h, 4, 3) },
		func() int32 { return Predict(h, -1, 3) },
		func() int32 { return Predict(h, 1<<16, 1<<16) },
		func() int32 { return Predict(h, math.MaxInt32, math.MaxInt32) },
		func() int32 { return Add(h, 3, 9, 0, 0) },
		func() int32 { return Has(h, 99) },
		func() int32 { return Labels(h, 9) },
		func() int32 { return AddRows(b, 9) },
		func() int32 { return AddLabels(b, -1, 1) },
		func() int32 { return AddLabels(b, 1, -1) },
		func() int32 { state.answer = nil; return Decide(h) },
		func() int32 { return Next(w, 0, 9) },
		func() int32 { return About(h, 4) },
	} {
		put(rows[:3])
		refused(t, "argument", call())
	}
}

func TestLabelsAreThoseOfClasses(t *testing.T) {
	h, _ := taught(t, "")
	if got := replied(t, Labels(h, putTexts("CUP", " new "))); got != "cup\nnew" {
		t.Errorf("%q, want the class cup and a new one", got)
	}
	refused(t, "label", Labels(h, putTexts("new", "NEW")))
	refused(t, "label", Labels(h, putTexts("\n")))
}

func TestWhatIsKnownOfAClassifier(t *testing.T) {
	h, _ := taught(t, "")
	n := put(nil, "mine", "abc")
	replied(t, Identify(h, n[0], n[1]))
	for what, want := range []string{"name", "mine", "abc", ""} {
		if got := replied(t, About(h, int32(what))); got != want {
			t.Errorf("text %d is %q, want %q", what, got, want)
		}
	}
	lines := strings.Split(replied(t, Describe(h))[28:], "\n") // after 3, 0.2, 0, 2 classes and their sizes 2 and 2
	if len(lines) != 8 || lines[0] == "" || lines[1] != "" || lines[2] != "cup" || lines[5] != "pen" {
		t.Errorf("%q, want the names of steps, and two classes of two", lines)
	}
	Free(h)
	refused(t, "disposed", Describe(h))
}

// A host that makes one classifier after another, each with its own prior, would else run out of memory.
func TestAPriorGoesWithItsLastClassifier(t *testing.T) {
	other, _ := taught(t, "")
	p := test.Must(metaqda.DefaultFile(4))(t)
	file := test.Must(model.EncodePrior(p))(t)
	create := func() int32 {
		put(nil, string(file))
		n := put(nil, replied(t, Prior(int32(len(file)))))
		return Create(0.2, n[0], 0, 0)
	}
	a, b := create(), create()
	Free(a)
	if len(state.priors) != 1 {
		t.Errorf("%d priors while one is in use", len(state.priors))
	}
	Free(b)
	if len(state.priors) != 0 {
		t.Errorf("%d priors while none is in use", len(state.priors))
	}
	Free(other)
}

func TestWhatIsNotThereIsRefused(t *testing.T) {
	n := put(nil, strings.Repeat("0", 64))
	refused(t, "prior", Create(0, n[0], 0, 0))
	refused(t, "prior", OpenFile(0, n[0]))
	n = put(nil, "\xff")
	if refused(t, "prior", Create(0, n[0], 0, 0)); !utf8.Valid(state.reply) {
		t.Errorf("the reply %q is not UTF-8", state.reply)
	}
	refused(t, "disposed", Step(99))
	refused(t, "disposed", Next(99, 0, -1))
	refused(t, "disposed", AddRows(99, 0))
	refused(t, "disposed", AddLabels(99, 0, 0))
	refused(t, "disposed", AddThumbnail(99, 0))
	if at := Room(1 << 40); at >= 0 {
		t.Errorf("address %d for a terabyte", at)
	}
	refused(t, "memory", -1)
}

// What may be taught takes 6 bytes for each of its file at most, twice those kept. So its file must open, too.
func TestFilesTakeNoMoreMemoryThanTheirExamples(t *testing.T) {
	c, err := metaqda.New(metaqda.Settings{}, nil)
	h, _ := handle(c, err)
	for i := range 40 {
		x := make([]float32, 8000)
		x[i] = 1
		if _, err := c.Add("cup", "", x); err != nil {
			t.Fatal(err)
		}
	}
	file := replied(t, Save(h))
	if Describe(h); cap(state.reply) > len(file)/2 {
		t.Errorf("%d bytes are kept after the next call, of a file of %d", cap(state.reply), len(file))
	}
	before := state.memory
	defer func() { state.memory = before }()
	put(nil, file)
	for times, want := range map[int]string{5: "memory", 6: ""} {
		state.memory = &memory.Budget{Most: times * len(file), Used: func() int { return len(file) }} // it is in the room
		if want != "" {
			refused(t, want, OpenFile(int32(len(file)), 0))
		} else if n := OpenFile(int32(len(file)), 0); n < 0 {
			t.Error(replied(t, n))
		}
	}
}
