package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// Rows is embeddings without labels.
type Rows struct {
	Dim       int       // d, the numbers in a row
	X         []float32 // N x d, row-major
	Files     []string  // N, what each row is of; nil: not known
	Extractor string    // how the embeddings were made, in words

	file string // for messages
}

// Len returns N, the number of rows.
func (r *Rows) Len() int { return len(r.X) / r.Dim }

// File returns the path or name the rows were read from.
func (r *Rows) File() string { return r.file }

// Row returns row i, a view.
func (r *Rows) Row(i int) []float32 { return r.X[i*r.Dim : (i+1)*r.Dim : (i+1)*r.Dim] }

// LoadRows reads embeddings from a .npz, .npy or .csv. If there is a .json beside it, it takes
// "files" and "extractor" from there. It ignores labels. d is as in [DecodeRows].
func LoadRows(path string, d int) (*Rows, error) {
	data, meta, err := readBoth(path)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz", ".npy", ".csv":
		return DecodeRows(path, data, meta, d)
	}
	return nil, unknownKind(path)
}

// DecodeRows decodes embeddings: the array "embeddings" (N x d, real) of a .npz, a .npy, or a .csv.
// A .csv is as for [DecodeCSV], with or without a column of class names. d is the length of rows if
// it is known, else 0: if a .csv has d columns, those headed class, target or y are numbers. meta
// may be nil. file is used in messages.
func DecodeRows(file string, data []byte, meta *Meta, d int) (*Rows, error) {
	s := &Set{file: file}
	if err := s.decodeRows(data, d); err != nil {
		return nil, err
	}
	if s.Dim <= 0 || len(s.X) == 0 {
		return nil, noEmbeddings(file)
	}
	if err := checkFinite(file, s.X, s.Dim); err != nil {
		return nil, err
	}
	r := &Rows{file: file, X: s.X, Dim: s.Dim}
	if meta == nil {
		return r, nil
	}
	r.Files, r.Extractor = meta.Files, meta.Extractor
	if r.Files != nil && len(r.Files) != r.Len() {
		return nil, &FileError{File: file, Row: -1, Problem: fmt.Sprintf("has different numbers of embeddings and files named in %s, %d and %d", besides(file, ".json"), r.Len(), len(r.Files)),
			Remedy: "name one file for each row, or leave \"files\" out"}
	}
	if err := meta.checkDimension(file, r.Dim); err != nil {
		return nil, err
	}
	return r, nil
}

// decodeRows fills in the rows alone.
func (s *Set) decodeRows(data []byte, d int) error {
	switch strings.ToLower(filepath.Ext(s.file)) {
	case ".npy":
		return fromFile(s.file, data, s.readMatrix)
	case ".csv":
		p := csvParser{file: s.file, bare: true, want: d}
		err := p.read(bytes.NewReader(data))
		s.X, s.Dim = p.x, p.dim
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return damaged(s.file, "is no .npz (a zip of arrays)", err)
	}
	return member(s.file, z, len(data), embeddingNames, s.readMatrix)
}

// checkFinite returns a *[FileError] for the first row with a number that is not
// finite.
func checkFinite(file string, x []float32, dim int) error {
	for i, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return &FileError{File: file, Row: i / dim, Problem: fmt.Sprintf("column %d is %v", i%dim, v),
				Remedy: "every number must be finite: remove the row or compute its embedding again"}
		}
	}
	return nil
}
