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

// inflation is the most that deflate can expand its input.
const inflation = 1032

// DecodeNPZ decodes a .npz: a zip of the arrays "embeddings" (N x d, real) and
// "labels" (N, whole numbers), with or without "groups" (N, whole numbers of 32
// bits). meta may be nil: then classes are named by their numbers and there is
// no split but "all". file is used in messages.
func DecodeNPZ(file string, data []byte, meta *Meta) (*Set, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, damaged(file, "is no .npz (a zip of arrays)", err)
	}
	s := &Set{Name: baseName(file), file: file}
	err = member(file, z, len(data), embeddingNames, func(a *array, limit int) (err error) {
		s.X, s.Dim, err = a.matrix(limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = member(file, z, len(data), labelNames, func(a *array, limit int) (err error) {
		s.Labels, err = a.integers(limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	if find(z, groupNames) != nil {
		err = member(file, z, len(data), groupNames, func(a *array, limit int) (err error) {
			s.Groups, err = a.groups(limit)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := s.describe(meta, besides(file, ".json")); err != nil {
		return nil, err
	}
	return s, nil
}

// member reads the first array that carries one of the names. size is the
// length of the whole zip; read is told how many bytes the array can hold.
func member(file string, z *zip.Reader, size int, names []string, read func(a *array, limit int) error) error {
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
	a, err := openArray(r)
	if err == nil {
		err = read(a, int(min(f.CompressedSize64, uint64(size)))*inflation)
	}
	if err == nil {
		// The checksum is compared at the end of the stream.
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return damaged(file, fmt.Sprintf("array %q %v", strings.TrimSuffix(f.Name, ".npy"), err), err)
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
	a, err := openArray(bytes.NewReader(embeddings))
	if err == nil {
		s.X, s.Dim, err = a.matrix(len(embeddings))
	}
	if err != nil {
		return nil, damaged(file, err.Error(), err)
	}
	labelFile := besides(file, ".labels.npy")
	a, err = openArray(bytes.NewReader(labels))
	if err == nil {
		s.Labels, err = a.integers(len(labels))
	}
	if err != nil {
		return nil, damaged(labelFile, err.Error(), err)
	}
	if err := s.describe(meta, besides(file, ".json")); err != nil {
		return nil, err
	}
	return s, nil
}

// decodeGroups adds the groups of a .npy file to a set.
func (s *Set) decodeGroups(file string, data []byte) error {
	a, err := openArray(bytes.NewReader(data))
	if err == nil {
		s.Groups, err = a.groups(len(data))
	}
	if err != nil {
		return damaged(file, err.Error(), err)
	}
	return s.checkGroups(file)
}
