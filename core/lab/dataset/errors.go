package dataset

import (
	"errors"
	"fmt"
	"io/fs"
)

// FileError says what is wrong with a file, where, and what to do about it.
type FileError struct {
	File    string // path as given
	Row     int    // row counted from 0, or -1 when the whole file is meant
	Problem string // continues "FILE ..." or "FILE, row N: ..."
	Remedy  string // what the person can do
	Err     error  // cause, or nil
}

// Error returns one sentence.
func (e *FileError) Error() string {
	where := e.File
	if e.Row >= 0 {
		where = fmt.Sprintf("%s, row %d:", e.File, e.Row)
	}
	return fmt.Sprintf("%s %s; %s", where, e.Problem, e.Remedy)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// FieldError says which value of an experiment or a recipe makes no sense.
type FieldError struct {
	Field   string // as the command's flag is called
	Problem string // continues "FIELD ..."
}

// BadField returns a *[FieldError].
func BadField(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Error returns one sentence.
func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

// unreadable wraps an error of the file system.
func unreadable(file string, err error) error {
	problem, remedy := "cannot be read ("+Reason(err)+")", "check the file and its permissions"
	if errors.Is(err, fs.ErrNotExist) {
		problem, remedy = "does not exist", "check the path"
	}
	return &FileError{File: file, Row: -1, Problem: problem, Remedy: remedy, Err: err}
}

// Reason returns the innermost message of an error of the file system, without the path that
// stands before it.
func Reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func noEmbeddings(file string) error {
	return &FileError{File: file, Row: -1, Problem: "holds no embeddings", Remedy: "write at least one row with at least one number"}
}

// kindError says that an array has elements of a wrong kind.
type kindError string

func (e kindError) Error() string { return string(e) }

// damaged returns a *[FileError] for bytes that do not follow the format.
func damaged(file, what string, err error) error {
	remedy := "write the file again: it is damaged or of another kind"
	if errors.As(err, new(kindError)) {
		remedy = "convert it with numpy's astype and save it again: embeddings to float32, labels to int or str, groups to int"
	}
	return &FileError{File: file, Row: -1, Problem: what, Remedy: remedy, Err: err}
}
