package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Meta is the content of the .json beside the data.
type Meta struct {
	Name            string                `json:"name"`
	Dimension       int                   `json:"dimension"`
	Classes         []string              `json:"classes"`
	Splits          map[string]ClassNames `json:"splits"` // names of classes, or their numbers
	Extractor       string                `json:"extractor"`
	ExtractorSHA256 string                `json:"extractor_sha256"` // of the extractor's files
	Files           []string              `json:"files"`            // of each row; read by [LoadRows] alone
}

// ClassNames are names of classes. A file may give some by their numbers.
type ClassNames []string

// UnmarshalJSON takes strings and whole numbers.
func (n *ClassNames) UnmarshalJSON(data []byte) error {
	var list []any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		return err
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			*n = append(*n, v)
		case json.Number:
			*n = append(*n, v.String())
		default:
			return fmt.Errorf("%v is not a name or number of a class", v)
		}
	}
	return nil
}

// DecodeMeta decodes the .json beside the data. file is used in messages.
func DecodeMeta(file string, data []byte) (*Meta, error) {
	m := new(Meta)
	err := json.NewDecoder(bytes.NewReader(data)).Decode(m)
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		return nil, damaged(file, fmt.Sprintf("cannot be read: its %q is of the wrong kind (%s)", kind.Field, kind.Value), err)
	}
	if err != nil {
		return nil, damaged(file, "is not the JSON that describes a data set ("+err.Error()+")", err)
	}
	if len(m.Classes) > 0 {
		if err := checkClasses(file, m.Classes); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// describe joins the numbers with their .json.
func (s *Set) describe(m *Meta) (*Set, error) {
	if m == nil {
		m = &Meta{}
	}
	if m.Name != "" {
		s.Name = m.Name
	}
	s.Extractor, s.ExtractorSHA256 = m.Extractor, m.ExtractorSHA256
	if err := m.checkDimension(s.file, s.Dim); err != nil {
		return nil, err
	}
	if len(s.Classes) == 0 {
		s.Classes = m.Classes
	}
	if len(s.Classes) == 0 {
		s.Classes = numbered(s.Labels)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.setSplits(besides(s.file, ".json"), m.Splits); err != nil {
		return nil, err
	}
	return s, nil
}

// checkDimension compares the .json beside a file with its rows.
func (m *Meta) checkDimension(file string, dim int) error {
	if m.Dimension == 0 || m.Dimension == dim {
		return nil
	}
	return &FileError{File: file, Row: -1, Problem: fmt.Sprintf("has rows of length %d but %s says %d", dim, besides(file, ".json"), m.Dimension),
		Remedy: "correct \"dimension\" or use the .json that belongs to the data"}
}

// maxNumbered bounds the classes that have only a number. Each takes memory, even
// without a row.
const maxNumbered = 1 << 20

// numbered names classes by their numbers if there are no names. It leaves absurd
// labels for check to report.
func numbered(labels []int) []string {
	top := -1
	for _, c := range labels {
		if c > top && c < min(len(labels)*1000, maxNumbered) {
			top = c
		}
	}
	names := make([]string, top+1)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return names
}
