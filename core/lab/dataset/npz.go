package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Names under which the arrays of a .npz are looked for.
var (
	embeddingNames = []string{"embeddings", "features", "X", "x"}
	labelNames     = []string{"labels", "targets", "y"}
	groupNames     = []string{"groups"}
)

// These bound an unpacked array: freeRoom bytes, and inflation bytes for each packed byte. Embeddings
// hardly shrink, and a file without packing is bounded by its length. So only arrays of almost constant
// content exceed this. Numbers count as eight bytes, the most that they take in memory.
const (
	freeRoom  = 64 << 20
	inflation = 64
)

// DecodeNPZ decodes a .npz. It is a zip of the arrays "embeddings" (N x d, real) and "labels" (N,
// whole numbers or names). It may also have "groups" (N, whole numbers of 32 bits). meta may be
// nil: then classes are named by their numbers and there is no split but "all". file is used in
// messages.
func DecodeNPZ(file string, data []byte, meta *Meta) (*Set, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, damaged(file, "is no .npz (a zip of arrays)", err)
	}
	s := &Set{Name: baseName(file), file: file}
	read := func(names []string, read func(a *array) error) {
		if err == nil {
			err = member(file, z, len(data), names, read)
		}
	}
	read(embeddingNames, s.readMatrix)
	read(labelNames, func(a *array) error { return s.readLabels(a, meta) })
	if find(z, groupNames) != nil {
		read(groupNames, s.readGroups)
	}
	if err != nil {
		return nil, err
	}
	return s.describe(meta)
}

// member reads the array with the first of the names that the zip has. size is the length of the
// whole zip. Before member reserves memory, it checks that the zip and the array's header give the
// same length, and that the packed length allows it.
func member(file string, z *zip.Reader, size int, names []string, read func(a *array) error) error {
	f := find(z, names)
	if f == nil {
		return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("has no array %q", names[0]),
			Remedy: fmt.Sprintf("save it with numpy.savez(..., %s=...)", names[0])}
	}
	r, err := f.Open()
	if err != nil {
		return damaged(file, "holds an array that cannot be opened", err)
	}
	defer r.Close()
	name := strings.TrimSuffix(f.Name, ".npy")
	a, err := openArray(r)
	if err == nil && uint64(a.length()) != f.UncompressedSize64 {
		err = fmt.Errorf("takes %d bytes by its shape %v and %d by the list of the zip", a.length(), a.shape, f.UncompressedSize64)
	}
	if err == nil {
		if err := checkRoom(file, name, a, min(f.CompressedSize64, uint64(size))); err != nil {
			return err
		}
		err = read(a)
	}
	if err == nil {
		// The checksum is compared at the end of the stream.
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return damaged(file, fmt.Sprintf("array %q %v", name, err), err)
	}
	return nil
}

// checkRoom refuses an array that unpacks to far more than was packed.
func checkRoom(file, name string, a *array, packed uint64) error {
	size := uint64(max(8, a.kind.size))
	if room := freeRoom + inflation*packed; size*uint64(a.count) > room {
		return &FileError{File: file, Row: -1,
			Problem: fmt.Sprintf("array %q of shape %v unpacks to %d MiB from %d bytes, %d MiB at most are taken", name, a.shape, size*uint64(a.count)>>20, packed, room>>20),
			Remedy:  "save it without packing, with numpy.savez"}
	}
	return nil
}

func find(z *zip.Reader, names []string) *zip.File {
	for _, name := range names {
		for _, f := range z.File {
			if f.Name == name+".npy" || f.Name == name {
				return f
			}
		}
	}
	return nil
}

// DecodeNPY decodes embeddings and labels from two .npy files.
func DecodeNPY(file string, embeddings, labels []byte, meta *Meta) (*Set, error) {
	s := &Set{Name: baseName(file), file: file}
	if err := fromFile(file, embeddings, s.readMatrix); err != nil {
		return nil, err
	}
	if err := fromFile(besides(file, ".labels.npy"), labels, func(a *array) error { return s.readLabels(a, meta) }); err != nil {
		return nil, err
	}
	return s.describe(meta)
}

func (s *Set) readMatrix(a *array) (err error) {
	s.X, s.Dim, err = a.matrix()
	return err
}

func (s *Set) readGroups(a *array) (err error) {
	s.Groups, err = a.groups()
	return err
}

// readLabels takes labels as whole numbers or as the names of the classes.
func (s *Set) readLabels(a *array, m *Meta) (err error) {
	if a.kind.text == nil {
		s.Labels, err = a.integers()
		return err
	}
	names, err := a.texts()
	if err != nil {
		return err
	}
	return s.label(names, m)
}

// fromFile reads a .npy file that is in memory, if it is at least as long as its header says.
func fromFile(file string, data []byte, read func(a *array) error) error {
	a, err := openArray(bytes.NewReader(data))
	if err == nil && len(data) < a.length() {
		err = fmt.Errorf("ends after %d of the %d bytes that its shape %v takes", len(data), a.length(), a.shape)
	}
	if err == nil {
		err = read(a)
	}
	if err != nil {
		return damaged(file, err.Error(), err)
	}
	return nil
}
