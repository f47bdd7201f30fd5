package dataset

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

// unlabelledNPZ is a .npz with embeddings alone.
func unlabelledNPZ(t testing.TB, descr, shape string, x any) []byte {
	return packNPZ(t, []packed{{"embeddings", npyBytes(descr, shape, x), nil, 0}})
}

func TestRowsNeedNoLabels(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6}
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"a.npz": unlabelledNPZ(t, "<f4", "(3, 2)", x), "b.npy": npyBytes("<f4", "(3, 2)", x), "labelled.npz": writeNPZ(t, x, 2, []int32{9, -4, 9}),
		"bare.csv": []byte("1,2\n3,4\n5,6\n"), "marked.csv": []byte("\ufeff1,2\n3,4\n5,6\n"), "headed.csv": []byte("a,b\n1,2\n3,4\n5,6\n"), "named.csv": []byte("1,x,2\n3,y,4\n5,x,6\n"), "classed.csv": []byte("Label,a,b\n7,1,2\n8,3,4\n7,5,6\n"),
		"x-and-y.csv": []byte("x,y\n1,2\n3,4\n5,6\n"), "grouped.csv": []byte("group,a,b\n7,1,2\n8,3,4\n7,5,6\n"),
	} {
		path := filepath.Join(dir, name)
		test.OK(t, os.WriteFile(path, data, 0o644))
		r, err := LoadRows(path, 2)
		if err != nil || fmt.Sprint(r.Dim, r.X, r.Len(), r.Files == nil, r.File() == path) != "2 [1 2 3 4 5 6] 3 true true" {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		test.OK(t, os.WriteFile(besides(path, ".json"), []byte(`{"dimension":2,"extractor":"x","files":["p","q","r"]}`), 0o644))
		r, err = LoadRows(path, 2)
		if err != nil || fmt.Sprintf("%v %s %v", r.Files, r.Extractor, r.Row(1)) != "[p q r] x [3 4]" {
			t.Errorf("%s with its .json: %v, %v", name, r, err)
		}
	}
}

// pandas heads the columns of an array with their numbers. Two numbers may be an embedding.
func TestHeadingsOfPandasAreNoRow(t *testing.T) {
	for text, want := range map[string]string{
		"0,1,2\n1,2,3\n4,5,6\n":              "3 [1 2 3 4 5 6]",
		"0,1,2,group\n1,2,3,7\n4,5,6,7\n":    "3 [1 2 3 4 5 6]",
		"group,0,1,2\na,1,2,3\na,4,5,6\n":    "3 [1 2 3 4 5 6]",
		"0,1,2.0\n1,2,3\n4,5,6\n":            "3 [0 1 2 1 2 3 4 5 6]",
		"1,2,3,group\n1,2,3,pear\n4,5,6,x\n": "3 [1 2 3 1 2 3 4 5 6]", // a class called group
		"0,1\n1,2\n":                         "2 [0 1 1 2]",
	} {
		r, err := DecodeRows("x.csv", []byte(text), nil, 0)
		if err != nil || fmt.Sprint(r.Dim, r.X) != want {
			t.Errorf("%q: %v, %v; want %s", text, r, err, want)
		}
	}
}

func TestRowsThatCannotBe(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		data []byte
		meta *Meta
		row  int
		say  string
	}{
		"no array":        {packNPZ(t, nil), nil, -1, `has no array "embeddings"`},
		"no rows":         {unlabelledNPZ(t, "<f4", "(0, 2)", []float32{}), nil, -1, "holds no embeddings"},
		"no numbers":      {unlabelledNPZ(t, "<f4", "(2, 0)", []float32{}), nil, -1, "holds no embeddings"},
		"one axis":        {unlabelledNPZ(t, "<f4", "(2,)", []float32{1, 2}), nil, -1, "has shape [2]"},
		"cut":             {unlabelledNPZ(t, "<f4", "(3, 2)", []float32{1, 2}), nil, -1, "takes 94 bytes by its shape [3 2] and 78"},
		"claims 64 GB":    {unlabelledNPZ(t, "<f4", "(4000000, 4000)", []float32{1, 2}), nil, -1, "takes 64000000079 bytes"},
		"no number":       {unlabelledNPZ(t, "<f4", "(2, 2)", []float32{1, 2, 3, nan}), nil, 1, "column 1 is NaN"},
		"no zip":          {[]byte("label,a\nx,1\n"), nil, -1, "is no .npz"},
		"other dimension": {unlabelledNPZ(t, "<f4", "(1, 2)", []float32{1, 2}), &Meta{Dimension: 3}, -1, "has rows of length 2 but x.json says 3"},
		"too few files":   {unlabelledNPZ(t, "<f4", "(1, 2)", []float32{1, 2}), &Meta{Files: []string{}}, -1, "has different numbers of embeddings and files named in x.json, 1 and 0"},
	} {
		r, err := DecodeRows("x.npz", c.data, c.meta, 0)
		var wrong *FileError
		if r != nil || !errors.As(err, &wrong) || wrong.Row != c.row || wrong.Remedy == "" || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, %v; want %q", name, r, err, c.say)
		}
	}
	for _, path := range []string{"gone.npz", fixtures + "emoji.json"} {
		var wrong *FileError
		r, err := LoadRows(path, 0)
		if r != nil || !errors.As(err, &wrong) {
			t.Errorf("%s: %v, %v", path, r, err)
		}
	}
}

// packed is an array of a zip: its bytes in two parts, and the size that the zip
// tells, 0 for the true one.
type packed struct {
	name       string
	head, rest []byte
	told       int
}

// packNPZ writes a zip that may lie.
func packNPZ(t testing.TB, arrays []packed) []byte {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for _, a := range arrays {
		var body bytes.Buffer
		deflate := test.Must(flate.NewWriter(&body, flate.BestSpeed))(t)
		deflate.Write(a.head)
		deflate.Write(a.rest)
		deflate.Close()
		told := a.told
		if told == 0 {
			told = len(a.head) + len(a.rest)
		}
		w := test.Must(z.CreateRaw(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Deflate, CompressedSize64: uint64(body.Len()), UncompressedSize64: uint64(told)}))(t)
		w.Write(body.Bytes())
	}
	test.OK(t, z.Close())
	return file.Bytes()
}

// writeNPZ is an encoder of its own, so that the decoder is not checked
// against itself.
func writeNPZ(t testing.TB, x []float32, dim int, labels []int32, groups ...any) []byte {
	t.Helper()
	arrays := []packed{{"embeddings", npyBytes("<f4", fmt.Sprintf("(%d, %d)", len(x)/dim, dim), x), nil, 0}, {"labels", npyOf(labels), nil, 0}}
	for _, g := range groups {
		arrays = append(arrays, packed{"groups", npyOf(g), nil, 0})
	}
	return packNPZ(t, arrays)
}

// npyOf encodes an array of one axis.
func npyOf(v any) []byte {
	switch v := v.(type) {
	case []int32:
		return npyBytes("<i4", fmt.Sprintf("(%d,)", len(v)), v)
	case []int64:
		return npyBytes("<i8", fmt.Sprintf("(%d,)", len(v)), v)
	case []float32:
		return npyBytes("<f4", fmt.Sprintf("(%d,)", len(v)), v)
	}
	panic("no array")
}

func npyBytes(descr, shape string, data any) []byte {
	var w bytes.Buffer
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	w.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&w, binary.LittleEndian, uint16(len(head)))
	w.WriteString(head)
	binary.Write(&w, binary.LittleEndian, data)
	return w.Bytes()
}
