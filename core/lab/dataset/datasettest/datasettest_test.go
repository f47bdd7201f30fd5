package datasettest

import (
	"reflect"
	"testing"

	"metaqda/core/lab/dataset"
	"metaqda/core/test"
)

// In memory and as files a data set is the same.
func TestFilesHoldTheSet(t *testing.T) {
	g := Gaussians{Classes: 12, Rows: 8, Dim: 3, Burst: 4}
	npz, text := g.Files("alpha")
	meta := test.Must(dataset.DecodeMeta("alpha.json", text))(t)
	got := test.Must(dataset.DecodeNPZ("alpha.npz", npz, meta))(t)
	want := g.Set("alpha")
	if !reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Labels, want.Labels) || !reflect.DeepEqual(got.Groups, want.Groups) ||
		!reflect.DeepEqual(got.Splits, want.Splits) || !reflect.DeepEqual(got.Classes, want.Classes) {
		t.Errorf("file %+v, memory %+v", got, want)
	}
	if len(want.Splits["train"]) != 6 || len(want.Splits["val"]) != 2 || len(want.Splits["test"]) != 4 {
		t.Errorf("splits %v", want.Splits)
	}
}
