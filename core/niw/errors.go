package niw

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"
)

// DimensionError reports a vector or matrix of the wrong size.
type DimensionError struct {
	Name      string // the argument, for example "embedding"
	Got, Want int    // its length
	Remedy    string // empty: use the same feature extractor for all vectors
}

// Error returns the size, the expected size and the remedy.
func (e *DimensionError) Error() string {
	remedy := e.Remedy
	if remedy == "" {
		remedy = "use the same feature extractor for all of them"
	}
	return e.Name + " has length " + strconv.Itoa(e.Got) + ", want " + strconv.Itoa(e.Want) + ": " + remedy
}

// ValueError reports a number outside its domain, or a matrix of the wrong form.
type ValueError struct {
	Name  string  // the quantity, for example "kappa" or "embedding"
	Index int     // position in the quantity, -1 for a scalar or a whole matrix
	Value float64 // the offending number, unless Form is set
	Form  string  // the offending form of a matrix, for example "upper triangular"; empty for a number
	Want  string  // the domain and the remedy
}

// Error returns the value or form, the domain and the remedy.
func (e *ValueError) Error() string {
	name := e.Name
	if e.Index >= 0 {
		name += "[" + strconv.Itoa(e.Index) + "]"
	}
	got := e.Form
	if got == "" {
		got = strconv.FormatFloat(e.Value, 'g', -1, 64)
	}
	return name + " is " + got + ": want " + e.Want
}

// CheckValue returns nil if ok, else a *[ValueError] about a scalar.
//
//go:noinline // some kilobytes less to download
func CheckValue(ok bool, name string, v float64, want string) error {
	if ok {
		return nil
	}
	return &ValueError{Name: name, Index: -1, Value: v, Want: want}
}

// CheckVector checks the vector of an example or a query. It returns a *[DimensionError] if x does
// not have length d, and a *[ValueError] with the first entry that is NaN or infinite.
func CheckVector(name string, x []float64, d int) error {
	return checkVector(name, x, d, "", "a finite number: leave this vector out")
}

// anew is the remedy for the numbers of a prior.
const anew = "make the prior anew"

// CheckPriorVector is [CheckVector] for numbers of a prior: its errors name another remedy.
func CheckPriorVector(name string, x []float64, d int) error {
	return checkVector(name, x, d, anew, "a finite number: "+anew)
}

func checkVector(name string, x []float64, d int, remedy, want string) error {
	if len(x) != d {
		return &DimensionError{Name: name, Got: len(x), Want: d, Remedy: remedy}
	}
	// A finite sum of squares proves every number finite, and is quick to compute.
	v := blas64.Vector{N: d, Data: x, Inc: 1}
	if s := blas64.Dot(v, v); s <= math.MaxFloat64 {
		return nil
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &ValueError{Name: name, Index: i, Value: v, Want: want}
		}
	}
	return nil
}
