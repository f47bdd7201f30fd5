package model

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// grouped is a classifier with all that a file may hold, of n examples a class.
func grouped(n int) *Classifier {
	c := sampleClassifier()
	for i := range n {
		x := Example{Embedding: []float32{float32(i), -1}, Thumbnail: bytes.Repeat([]byte{byte(i)}, i%7)}
		if i%3 > 0 {
			x.Group = strings.Repeat("g", 1+i%5)
		}
		c.Classes[i%2].Examples = append(c.Classes[i%2].Examples, x)
	}
	return c
}

func TestPieceByPieceAFileIsTheSame(t *testing.T) {
	c := grouped(40)
	want := must(EncodeClassifier(c))
	e, err := NewEncoder(c)
	if err != nil {
		t.Fatal(err)
	}
	pieces := 0
	for done := false; !done; pieces++ {
		asked := 0
		if done, err = e.Write(func() bool { asked++; return asked <= 3 }); err != nil {
			t.Fatal(err)
		}
	}
	if pieces < 14 {
		t.Errorf("43 examples in %d pieces of 3", pieces)
	}
	if !bytes.Equal(e.Bytes(), want) {
		t.Error("the file is another one")
	}
	if _, err := DecodeClassifier(e.Bytes()); err != nil {
		t.Error(err)
	}
}

func TestWhatIsWrongWithAnExampleIsFoundInItsPiece(t *testing.T) {
	c := grouped(40)
	c.Classes[1].Examples[5].Embedding[1] = float32(math.NaN())
	e, err := NewEncoder(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.Write(func() bool { return true }); err == nil || !strings.Contains(err.Error(), `example 5 of its class "empty": number 1 is NaN`) {
		t.Errorf("%v", err)
	}
	if _, err := EncodeClassifier(c); err == nil {
		t.Error("EncodeClassifier wrote it")
	}
}
