package learn

import (
	"testing"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
)

func TestWhatIsLearnedIsOfTheExtractorThatReadThePictures(t *testing.T) {
	made := model.Extractor{ID: "net@1", SHA256: "ab"}
	c, err := model.DecodeClassifier(file(t))
	if err != nil {
		t.Fatal(err)
	}
	c.Extractor = made
	taught, err := model.EncodeClassifier(c)
	if err != nil {
		t.Fatal(err)
	}
	other := model.Extractor{ID: "net@0"}
	known, err := model.EncodePrior(&model.Prior{NIW: niw.HandCrafted(dim, 1), Transform: embed.Transform{Kind: embed.None}, Extractor: other})
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]struct {
		task Task
		want model.Extractor
	}{
		"from the hand-crafted one": {Task{Classifier: taught, Steps: 2}, made},
		"from one that names its":   {Task{Classifier: taught, Prior: known, Steps: 2}, other},
		"where nothing says":        {Task{Classifier: file(t), Steps: 2}, model.Extractor{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLearner(newWatched(t), nil)
			if _, err := l.Begin("s", k.task); err != nil {
				t.Fatal(err)
			}
			got, err := l.Finished()
			if err != nil {
				t.Fatal(err)
			}
			p, err := model.DecodePrior(got.Prior)
			if err != nil {
				t.Fatal(err)
			}
			if p.Extractor != k.want {
				t.Errorf("it names %v, want %v", p.Extractor, k.want)
			}
		})
	}
}
