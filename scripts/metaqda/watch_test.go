package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	core "metaqda/core"
	"metaqda/core/test"
)

// A thing comes and goes. The lines say so.
func TestWatchingLines(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	taught := "label,a,b,c,d\n"
	for i := range 4 {
		taught += fmt.Sprintf("<cup>,9,%d,1,0\npen,0,1,9,%d\n", i%2, i%2)
	}
	save(t, at("taught.csv"), []byte(taught))
	mustRun(t, "teach", "--examples", at("taught.csv"), "--out", at("taught"))
	stream := "\ufeff"
	for i := range 24 {
		switch {
		case i < 8:
			stream += fmt.Sprintf("%v, 9,0.5,1,0\n", float64(i)/4)
		case i < 16:
			stream += fmt.Sprintf("%v,0,1,9,0.5\n\n", float64(i)/4)
		default:
			stream += fmt.Sprintf("%v\n", float64(i)/4)
		}
	}
	save(t, at("stream"), []byte(stream))
	for _, from := range [][]string{{"--classifier", at("taught")}, {"--examples", at("taught.csv")}} {
		status, out, notes := metaqda(append([]string{"watch", "--data", at("stream")}, from...)...)
		said := ""
		for line := range strings.Lines(out) {
			said += line[:strings.Index(line, `,"probability":`)] + "\n"
		}
		want := `{"label":"<cup>","here":true,"since":0
{"label":"<cup>","here":false,"since":2
{"label":"pen","here":true,"since":2
{"label":"pen","here":false,"since":4
`
		if status != 0 || said != want {
			t.Errorf("status %d, %q, events\n%s", status, notes, out)
		}
	}
	for say, content := range map[string]string{
		`line 2: "x" is not a number`:            "0\n1,9,x,1,0\n",
		"line 1: vector has length 2":            "0,9,0\n",
		"line 2: time is 1: want no time before": "2\n1\n",
		"line 1: time is NaN":                    "NaN\n",
		"line 1: embedding[1] is NaN":            "0,9,nan,1,0\n",
		`line 1: "1e300" is too large`:           "0,9, 1e300,1,0\n",
		`line 1: "-inf" is too large`:            "0,9,-inf,1,0\n",
		`line 1: "1e400" is too large`:           "0,9,1e400,1,0\n",
		"line 2 cannot be read":                  "0\n" + strings.Repeat("1", maxLine+1),
	} {
		save(t, at("bad"), []byte(content))
		refused(t, []string{"watch", "--classifier", at("taught"), "--data", at("bad")}, say)
	}
	for say, args := range map[string][]string{
		"by --classifier or by --examples": {"watch"},
		"false events per hour is 0":       {"watch", "--classifier", at("taught"), "--data", at("stream"), "--false-events-per-hour", "0"},
		"check the path of --data":         {"watch", "--classifier", at("taught"), "--data", at("gone")},
	} {
		refused(t, args, say)
	}
}

// It stops when it is told to, even while no line comes.
func TestWatchingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := test.Must(core.New(core.Settings{}, nil))(t)
	w := test.Must(c.Watch(1))(t)
	in, out := io.Pipe()
	defer out.Close()
	err := watchLines(ctx, c, w, in, "input", io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
