package metaqda

import (
	"strings"
	"testing"
)

var animals = []string{"cat", "dog", "hen", "owl"}

func shares(percents []float64) (p []float64, none float64) {
	p, none = make([]float64, len(animals)), 1
	for i, v := range percents {
		p[i] = v / 100
		none -= p[i]
	}
	return p, none
}

// steadied returns the headline of each shown frame of a live view. Its input is the percents
// of the classes; the rest is none of these.
func steadied(frames [][]float64) (said []string) {
	var s Steady
	for _, f := range frames {
		p, none := shares(f)
		bursts := []int{9, 9, 9, 9}
		if d, show := s.Next(DecideAmong(animals, bursts, p, none), animals, bursts, p, none); show {
			said = append(said, d.Headline)
		}
	}
	return said
}

func TestWordsStayWhileThePercentIsNearTheirBound(t *testing.T) {
	for want, frames := range map[string][][]float64{
		"Almost certainly cat": {{97, 1}, {96, 2}, {97, 1}, {94, 4}, {98, 1}},
		"Probably cat":         {{60, 20}, {58, 20}, {61, 20}, {57, 20}, {96, 1}, {90, 1}},
		"Not sure: cat":        {{40, 20, 19, 18}, {40, 19, 18, 18}, {41, 20, 17, 17}},
	} {
		said := steadied(frames)
		if len(said) != len(frames) {
			t.Errorf("%d of %d frames shown: %q", len(said), len(frames), said)
		}
		for i, s := range said {
			p, _ := shares(frames[i])
			if !strings.HasPrefix(s, want) || !strings.Contains(s, Percent(p[0])) {
				t.Errorf("frame %d of %v is called %q, want %q", i, frames, s, want)
			}
		}
	}
}

func TestAnotherAnswerIsShownOnceTwoFramesInARowDiffer(t *testing.T) {
	cat, sure, dog, none := []float64{90, 5}, []float64{99}, []float64{5, 90}, []float64{5, 5}
	for _, c := range []struct {
		frames [][]float64
		want   []string // part of the headline of each shown frame
	}{
		{[][]float64{cat, dog, cat, dog, cat}, []string{"probably cat", "probably cat", "probably cat"}},
		{[][]float64{cat, dog, dog, cat, dog}, []string{"probably cat", "probably dog", "probably dog"}},
		{[][]float64{cat, dog, none, none}, []string{"probably cat", "none of these", "none of these"}},
		{[][]float64{sure, cat, cat}, []string{"almost certainly cat", "probably cat"}},
	} {
		said := steadied(c.frames)
		if len(said) != len(c.want) {
			t.Fatalf("%v: %q, want %q", c.frames, said, c.want)
		}
		for i, want := range c.want {
			if !strings.Contains(strings.ToLower(said[i]), want) {
				t.Errorf("%v: %q, want %q", c.frames, said, c.want)
			}
		}
	}
}
