package metaqda_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"gonum.org/v1/gonum/floats"

	metaqda "metaqda/core"
	"metaqda/core/lab/dataset"
	"metaqda/core/lab/dataset/datasettest"
	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain/recipe"
	"metaqda/core/model"
)

// Two examples of each thing; vectors of any length, from any network.
func Example() {
	c, err := metaqda.New(metaqda.Settings{NonePrior: 0.2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range []struct {
		label  string
		vector []float32
	}{
		{"cup", []float32{9, 1, 0, 1}}, {"cup", []float32{8, 2, 1, 0}},
		{"pen", []float32{1, 0, 9, 2}}, {"pen", []float32{0, 1, 8, 1}},
	} {
		if _, err := c.Add(x.label, "", x.vector); err != nil {
			log.Fatal(err)
		}
	}
	answer, err := c.Predict([]float32{8, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	other, err := c.Predict([]float32{0, 9, 0, 9})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Label, "and what is out of set is more probably none of them:", other.None > answer.None)
	if _, err := c.Predict([]float32{1, 2}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// cup and what is out of set is more probably none of them: true
	// vector has length 2, want 4: use the same feature extractor for all of them
}

// Undo takes back a change exactly; each example can be left out in turn.
func ExampleClassifier_Undo() {
	c := taught()
	if _, err := c.Add("cup", "", []float32{0, 9, 0, 9}); err != nil { // by mistake
		log.Fatal(err)
	}
	undone, err := c.Undo()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("undone:", undone.Name)
	all, err := c.LeaveOneOut(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	right := 0
	for _, x := range all {
		if floats.MaxIdx(x.Probabilities) == x.Class {
			right++
		}
	}
	fmt.Println(right, "of", len(all), "right")
	// Output:
	// undone: add an example to cup
	// 4 of 4 right
}

// A file holds vectors, classes and settings. It names a learned prior by its sha256.
func ExampleOpen() {
	var mine metaqda.Classifier // like metaqda.New without settings or prior
	for _, label := range []string{"cup", "pen"} {
		if _, err := mine.Add(label, "", []float32{float32(len(mine.Classes())), 1, 0}); err != nil {
			log.Fatal(err)
		}
	}
	file, err := mine.Save()
	if err != nil {
		log.Fatal(err)
	}
	c, err := metaqda.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	both, err := metaqda.Merge(c, &mine)
	if err != nil {
		log.Fatal(err)
	}
	for _, class := range both.Classes() {
		fmt.Println(class.Label, len(class.Examples))
	}
	_, err = metaqda.Open([]byte("no such file"))
	var format *model.FormatError
	fmt.Println(errors.As(err, &format))
	// Output:
	// cup 2
	// pen 2
	// true
}

// Many vectors are judged together: those that are probably cups show the look of cups.
func ExampleClassifier_Classify() {
	c := taught()
	batch := [][]float32{{9, 2, 1, 1}, {7, 1, 0, 2}, {1, 1, 7, 2}, {0, 2, 9, 1}}
	answers, err := c.Classify(context.Background(), batch, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers {
		fmt.Print(a.Label, " ")
	}
	next, err := c.Suggest(context.Background(), batch, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("and", len(next), "to label next")
	// Output: cup cup pen pen and 1 to label next
}

// A prior is learned from labelled vectors of other classes. The data are Gaussians here;
// dataset.Load reads files, and `metaqda train` does all of this.
func ExampleDecodePrior() {
	g := datasettest.Gaussians{Classes: 24, Rows: 20, Dim: 4}
	r := recipe.Default()
	r.Config.Steps, r.Config.ValidateEvery = 20, 10 // use thousands in earnest
	r.Tasks.Way, r.Tasks.Shot = episode.Range{Min: 3, Max: 5}, episode.Range{Min: 1, Max: 4}
	r.Validation.Way, r.Validation.Tasks, r.Calibration.Sessions = 4, 6, 1
	run, err := recipe.New(r, []*dataset.Set{g.Set("things")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := run.Trainer.Run(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	learned, err := run.Prior(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	file, err := model.EncodePrior(learned)
	if err != nil {
		log.Fatal(err)
	}
	prior, err := metaqda.DecodePrior(file)
	if err != nil {
		log.Fatal(err)
	}
	c, err := metaqda.New(metaqda.Settings{NonePrior: 0.1}, prior)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Dim(), "numbers;", len(prior.Sum()), "digits name the prior in files")
	// Output: 4 numbers; 64 digits name the prior in files
}

// taught returns a classifier like that of the first example.
func taught() *metaqda.Classifier {
	c, err := metaqda.New(metaqda.Settings{NonePrior: 0.2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i, x := range [][]float32{{9, 1, 0, 1}, {8, 2, 1, 0}, {1, 0, 9, 2}, {0, 1, 8, 1}} {
		if _, err := c.Add([]string{"cup", "pen"}[i/2], "", x); err != nil {
			log.Fatal(err)
		}
	}
	return c
}
