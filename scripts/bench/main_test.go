package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
	"metaqda/scripts/bench/measure"
)

func TestCompareAcceptsRoundingOnly(t *testing.T) {
	native := [][]float64{{0.25, 0.75}}
	worst, err := compare(native, [][]float64{{0.25 + 1e-12, 0.75}})
	test.FailIf(t, err != nil || worst < 1e-13, "difference %g, error %v, want 1e-12 and none", worst, err)
	for name, other := range map[string][][]float64{
		"another answer": {{0.26, 0.74}}, "a class less": {{0.25}}, "a case more": {{0.25, 0.75}, {1}},
	} {
		_, err := compare(native, other)
		test.FailIf(t, err == nil, "%s is accepted", name)
	}
}

// rowsOfOneCase is a table with every place.
func rowsOfOneCase() (rows []measure.Row) {
	for i, place := range places {
		for _, classes := range []int{5, 100} {
			rows = append(rows, measure.Row{Name: "predict", Where: place, Dimension: drawn, Classes: classes, Shots: 5, MedianMS: float64(i + 1), P95MS: 9})
		}
	}
	return rows
}

func TestTableHasOneLineForACaseAndTheRatioToNative(t *testing.T) {
	var out bytes.Buffer
	printTable(&out, &report{Rows: rowsOfOneCase()})
	lines := strings.Split(out.String(), "\n")
	fields := strings.Fields(lines[2])
	want := "predict 1280 5 5 1 (9) 0 2 (9) 0 2.00 3 (9) 0 3.00 4 (9) 0"
	got := strings.Join(fields, " ")
	test.FailIf(t, got != want, "first line %q, want %q", got, want)
}

func TestPictureHasALineForEveryPlace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bench.svg")
	test.OK(t, picture(name, rowsOfOneCase()))
	svg := test.Must(os.ReadFile(name))(t)
	for _, place := range places {
		test.FailIf(t, !strings.Contains(string(svg), styles[place].name), "no %q in the picture", styles[place].name)
	}
}
