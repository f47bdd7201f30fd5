package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"metaqda/core/lab/episode"
)

// These flags have the value of their destination as the default.

func textFlag(to *string, name, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, Value: *to, Destination: to}
}

func intFlag(to *int, name, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Usage: usage, Value: *to, Destination: to}
}

func seedFlag(to *uint64, usage string) cli.Flag {
	return &cli.Uint64Flag{Name: "random-seed", Usage: usage, Value: *to, Destination: to}
}

func numberFlag(to *float64, name, usage string) cli.Flag {
	return &cli.Float64Flag{Name: name, Usage: usage, Value: *to, Destination: to}
}

func boolFlag(to *bool, name, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, Value: *to, Destination: to}
}

func valueFlag(v cli.Value, name, usage string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: v}
}

// outputFlags are the flags of commands that write a report.
func outputFlags(json, markdown, pictures *string) []cli.Flag {
	return []cli.Flag{
		textFlag(json, "json", "write everything to this file"),
		textFlag(markdown, "markdown", "write the tables to this file as Markdown"),
		textFlag(pictures, "pictures", "write reliability diagrams (SVG) to this folder"),
	}
}

// listValue is a comma-separated list; empty items do not count.
type listValue []string

func (l *listValue) Get() any { return []string(*l) }

func (l *listValue) String() string { return strings.Join(*l, ",") }

func (l *listValue) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// intsValue is a comma-separated list of whole numbers.
type intsValue struct {
	to  *[]int
	low int
}

func (l intsValue) Get() any { return *l.to }

func (l intsValue) String() string {
	if l.to == nil {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*l.to), " ", ","), "[]")
}

func (l intsValue) Set(s string) error {
	*l.to = nil
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < l.low {
			return fmt.Errorf("%q is none of the whole numbers from %d on, which commas separate", part, l.low)
		}
		*l.to = append(*l.to, n)
	}
	return nil
}

// rangeValue is a number or two with a hyphen between.
type rangeValue episode.Range

func (r *rangeValue) Get() any { return episode.Range(*r) }

func (r *rangeValue) String() string {
	if r.Min == r.Max {
		return strconv.Itoa(r.Min)
	}
	return fmt.Sprintf("%d-%d", r.Min, r.Max)
}

func (r *rangeValue) Set(s string) error {
	lo, hi, two := strings.Cut(s, "-")
	if !two {
		hi = lo
	}
	var err, err2 error
	r.Min, err = strconv.Atoi(strings.TrimSpace(lo))
	r.Max, err2 = strconv.Atoi(strings.TrimSpace(hi))
	if err != nil || err2 != nil || r.Min < 0 || r.Max < r.Min {
		return fmt.Errorf("%q is not a number or a range like 5-20", s)
	}
	return nil
}
