package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Load reads a data set by its path: .npz, .npy or .csv, with the .json beside
// it where there is one.
func Load(path string) (*Set, error) {
	data, meta, err := readBoth(path)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		return DecodeNPZ(path, data, meta)
	case ".npy":
		labels, err := readFile(besides(path, ".labels.npy"))
		if err != nil {
			return nil, err
		}
		s, err := DecodeNPY(path, data, labels, meta)
		if err != nil {
			return nil, err
		}
		if err := s.loadGroups(besides(path, ".groups.npy")); err != nil {
			return nil, err
		}
		return s, nil
	case ".csv":
		return DecodeCSV(path, bytes.NewReader(data), meta)
	}
	return nil, unknownKind(path)
}

func unknownKind(path string) error {
	return &FileError{File: path, Row: -1, Problem: "is of no kind that can be read", Remedy: "give a .npz, .npy or .csv file"}
}

func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

// readIfThere returns nil where there is no such file.
func readIfThere(path string) ([]byte, error) {
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// readBoth returns the content of a file and of the .json beside it.
func readBoth(path string) (data []byte, meta *Meta, err error) {
	if data, err = readFile(path); err != nil {
		return nil, nil, err
	}
	text, err := readIfThere(besides(path, ".json"))
	if text != nil {
		meta, err = DecodeMeta(besides(path, ".json"), text)
	}
	return data, meta, err
}

// loadGroups reads the groups from a file, where there is one.
func (s *Set) loadGroups(path string) error {
	data, err := readIfThere(path)
	if data == nil {
		return err
	}
	if err := fromFile(path, data, s.readGroups); err != nil {
		return err
	}
	return s.checkGroups(path)
}

// ReadSplits replaces the splits of the set by those of a file or folder:
//
//	splits.json      {"train": [...], "val": [...], "test": [...]}, or a whole NAME.json
//	folder           train.txt, val.txt, test.txt (one class a line), or the
//	                 same as .csv with a column called label
func (s *Set) ReadSplits(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(path, err)
	}
	if info.IsDir() {
		return s.readSplitFolder(path)
	}
	data, err := readFile(path)
	if err != nil {
		return err
	}
	splits, err := decodeSplits(path, data)
	if err != nil {
		return err
	}
	return s.setSplits(path, splits)
}

func decodeSplits(file string, data []byte) (map[string]ClassNames, error) {
	var whole struct {
		Splits map[string]ClassNames `json:"splits"`
	}
	if err := json.Unmarshal(data, &whole); err == nil && whole.Splits != nil {
		return whole.Splits, nil
	}
	var splits map[string]ClassNames
	if err := json.Unmarshal(data, &splits); err != nil || len(splits) == 0 {
		return nil, damaged(file, `is no split file like {"train": ["class", ...], "test": [...]}`, err)
	}
	return splits, nil
}

func (s *Set) readSplitFolder(dir string) error {
	splits := map[string]ClassNames{}
	for _, name := range []string{"train", "val", "test"} {
		for _, ext := range []string{".txt", ".csv"} {
			file := filepath.Join(dir, name+ext)
			data, err := readIfThere(file)
			if data != nil {
				splits[name], err = readNames(file, bytes.NewReader(data))
			}
			if err != nil {
				return err
			}
		}
	}
	if len(splits) == 0 {
		return &FileError{File: dir, Row: -1, Problem: "holds no split", Remedy: "put train.txt, val.txt and test.txt there, one class a line"}
	}
	return s.setSplits(dir, splits)
}

// baseName returns the file's name without folder and ending.
func baseName(file string) string {
	name := filepath.Base(file)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// besides returns the path with another ending.
func besides(file, ext string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ext }
