package tables

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"metaqda/core/lab/experiment"
)

// Table is text in rows and columns, each row as long as the header.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
	Note   string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Text renders the table with aligned columns: the first to the left, numbers
// to the right.
func (t *Table) Text() string {
	rows := append([][]string{t.Header}, t.Rows...)
	first := 0
	for _, row := range rows {
		first = max(first, utf8.RuneCountInString(row[0]))
	}
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		for _, cell := range row[1:] {
			fmt.Fprint(w, cell, "\t")
		}
		fmt.Fprintln(w)
	}
	w.Flush() // writing to memory does not fail
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(t.Title + "\n")
	}
	for i, line := range strings.Split(strings.TrimSuffix(aligned.String(), "\n"), "\n") {
		line = fmt.Sprintf("%-*s%s\n", first, rows[i][0], line)
		b.WriteString(line)
		if i == 0 {
			b.WriteString(strings.Repeat("-", utf8.RuneCountInString(line)-1) + "\n")
		}
	}
	if t.Note != "" {
		b.WriteString(t.Note + "\n")
	}
	return b.String()
}

// Markdown renders the table for a document.
func (t *Table) Markdown() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString("**" + t.Title + "**\n\n")
	}
	b.WriteString("| " + strings.Join(t.Header, " | ") + " |\n|---|" + strings.Repeat("---:|", len(t.Header)-1) + "\n")
	for _, row := range t.Rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	if t.Note != "" {
		b.WriteString("\n" + t.Note + "\n")
	}
	return b.String()
}

// Percent writes a rate with two decimals, as the field's tables do.
func Percent(v float64) string { return fmt.Sprintf("%.2f", 100*v) }

// accuracy writes the mean accuracy with its interval, which a single task does not have.
func accuracy(x *experiment.Result) string {
	if x.Tasks == 1 {
		return Percent(x.Accuracy.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", 100*x.Accuracy.Mean, 100*x.Accuracy.CI95)
}

// Optional writes a rate that may not have been measured.
func Optional(v *float64) string {
	if v == nil {
		return "-"
	}
	return Percent(*v)
}
