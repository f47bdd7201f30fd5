package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"metaqda/core/metrics"
)

// table is text in rows and columns, for the terminal and for Markdown.
type table struct {
	title  string
	header []string
	rows   [][]string
	note   string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// text renders the table with aligned columns: the first to the left, numbers
// to the right.
func (t *table) text() string {
	width := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for c, s := range row {
			width[c] = max(width[c], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	if t.title != "" {
		b.WriteString(t.title + "\n")
	}
	line := func(row []string) {
		for c, s := range row {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(s))
			switch {
			case c == 0:
				b.WriteString(s + pad)
			default:
				b.WriteString("  " + pad + s)
			}
		}
		b.WriteString("\n")
	}
	line(t.header)
	total := -2
	for _, w := range width {
		total += w + 2
	}
	b.WriteString(strings.Repeat("-", max(total, 0)) + "\n")
	for _, row := range t.rows {
		line(row)
	}
	if t.note != "" {
		b.WriteString(t.note + "\n")
	}
	return b.String()
}

// markdown renders the table for a document.
func (t *table) markdown() string {
	var b strings.Builder
	if t.title != "" {
		b.WriteString("**" + t.title + "**\n\n")
	}
	b.WriteString("| " + strings.Join(t.header, " | ") + " |\n|---|" + strings.Repeat("---:|", len(t.header)-1) + "\n")
	for _, row := range t.rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	if t.note != "" {
		b.WriteString("\n" + t.note + "\n")
	}
	return b.String()
}

// percent writes a rate with two decimals, as the field's tables do.
func percent(v float64) string { return fmt.Sprintf("%.2f", 100*v) }

func interval(v Interval) string { return fmt.Sprintf("%.2f ± %.2f", 100*v.Mean, 100*v.CI95) }

// optional writes a rate that may not have been measured.
func optional(v *float64) string {
	if v == nil {
		return "-"
	}
	return percent(*v)
}

// pairedDifference returns the mean difference of two results over the same
// tasks, with its 95 % interval: much narrower than theirs. Of unequal numbers of
// tasks the fewer are the first of the more.
func pairedDifference(a, b *Result) (mean, ci float64) {
	d := make([]float64, min(len(a.EpisodeAccuracy), len(b.EpisodeAccuracy)))
	for i := range d {
		d[i] = a.EpisodeAccuracy[i] - b.EpisodeAccuracy[i]
	}
	return metrics.MeanCI(d)
}
