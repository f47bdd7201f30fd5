package main

import (
	"bytes"
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

func TestTableHasOneLineForACaseAndTheRatioToNative(t *testing.T) {
	var rows []measure.Row
	for i, place := range places {
		for _, classes := range []int{5, 100} {
			rows = append(rows, measure.Row{Name: "predict", Where: place, Dimension: 1280, Classes: classes, Shots: 5, MedianMS: float64(i + 1), P95MS: 9})
		}
	}
	var out bytes.Buffer
	printTable(&out, &report{Rows: rows})
	lines := strings.Split(out.String(), "\n")
	fields := strings.Fields(lines[2])
	want := "predict 1280 5 5 1 (9) 0 2 (9) 0 2.00 3 (9) 0 3.00 4 (9) 0"
	got := strings.Join(fields, " ")
	test.FailIf(t, got != want, "first line %q, want %q", got, want)
}
