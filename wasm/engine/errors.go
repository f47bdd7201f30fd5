package engine

import (
	"errors"
	"strconv"

	metaqda "metaqda/core"
	"metaqda/core/adapt"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/wasm/store"
)

// Error is what a caller of the engine gets: a short code for programs and a
// sentence for people that names the remedy.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// fail returns an Error.
func fail(code, message string) error { return &Error{Code: code, Message: message} }

// anew is what to do in place of using a prior of a former version.
const anew = "Go on with what is built in, or learn anew from your sessions."

// Explain turns any error into an *Error: those of the core, of storage and of
// the engine keep their own sentence.
func Explain(err error) *Error {
	var (
		own       *Error
		dimension *niw.DimensionError
		format    *model.FormatError
		storage   *store.Error
		little    *adapt.TooLittleError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &dimension):
		return &Error{"dimension", "The " + dimension.Name + " has " + strconv.Itoa(dimension.Got) + " numbers where " + strconv.Itoa(dimension.Want) + " are expected: use one feature extractor for everything in a session, or begin a new session."}
	case errors.As(err, &format) && format.Older:
		return &Error{"older", "This " + format.Format + " file was made by a former version of this page, and its numbers mean other things now. " + anew}
	case errors.As(err, &format):
		return &Error{"format", "This is " + format.Error() + ". Choose a file that was exported here."}
	case errors.As(err, &little):
		return &Error{"too-little", little.Error()}
	case errors.As(err, &storage):
		return &Error{storage.Code, storage.Message}
	}
	return &Error{metaqda.Code(err), err.Error()}
}
