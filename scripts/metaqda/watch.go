package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	core "metaqda/core"
	"metaqda/core/watch"
)

const watchAbout = `Reads a stream of embeddings and prints what comes and goes, each event as a line of JSON:

  {"label":"cup","here":true,"since":12.25,"probability":0.97}

"since" is the time at which it came, or went if "here" is false. Each line of the input has a
time in seconds and then the numbers of an embedding, all separated by commas. A line with a time
alone says that there was nothing to judge, such as no hand. The command reads lines as they arrive,
for example four a second:

  camera | metaqda watch --classifier session.safetensors`

// report is an event as it is printed.
type report struct {
	Label       string  `json:"label"`
	Here        bool    `json:"here"`
	Since       float64 `json:"since"`
	Probability float64 `json:"probability"`
}

func watchCommand() *cli.Command {
	j, perHour := defaultJob(), watch.Default
	return &cli.Command{
		Name: "watch", Usage: "say what comes and goes in a stream of embeddings", Description: watchAbout,
		Flags: []cli.Flag{
			textFlag(&j.Classifier, "classifier", "classifier file of teach, the page or the npm package"),
			textFlag(&j.Examples, "examples", "a data set of labelled examples instead of --classifier"),
			textFlag(&j.Data, "data", "file of lines, in place of the standard input"),
			numberFlag(&perHour, "false-events-per-hour", "about how many false events an hour are allowed; with more, fewer events are missed"),
			textFlag(&j.Prior, "prior", priorUsage),
			j.nonePriorFlag("the classifier's own if left out, 0.2 for examples"), j.scaleFlag(),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := errors.Join(noArguments(c), j.checkTaught()); err != nil {
				return err
			}
			j.Note = c.Root().ErrWriter
			in, name := c.Root().Reader, "standard input"
			if j.Data != "" {
				file, err := os.Open(j.Data)
				if err != nil {
					return fmt.Errorf("%s cannot be read (%w): check the path of --data", j.Data, err)
				}
				defer file.Close()
				in, name = file, j.Data
			}
			taught, err := j.Open()
			if err != nil {
				return err
			}
			w, err := taught.Watch(perHour)
			if err != nil {
				return fmt.Errorf("--false-events-per-hour: %w", err)
			}
			return watchLines(ctx, taught, w, in, name, c.Root().Writer)
		},
	}
}

// maxLine is the length of a line, in bytes: 8,192 numbers of at most 25 characters.
const maxLine = 1 << 18

// watchLines reads lines until they end or ctx does, and prints each event at once.
func watchLines(ctx context.Context, c *core.Classifier, w *core.Watch, in io.Reader, name string, out io.Writer) error {
	lines, failed := make(chan string), make(chan error, 1)
	go func() { // reading cannot be interrupted
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for n := 1; ; n++ {
		var line string
		var more bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more = <-lines:
		}
		if !more {
			if err := <-failed; err != nil {
				return fmt.Errorf("%s, line %d cannot be read (%w): give a time and an embedding in each line", name, n, err)
			}
			return nil
		}
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // a byte order mark
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		events, err := watchLine(c, w, line)
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		for _, e := range events {
			if err := encoder.Encode(report(e)); err != nil {
				return err
			}
		}
	}
}

// watchLine judges the embedding of a line.
func watchLine(c *core.Classifier, w *core.Watch, line string) ([]core.Event, error) {
	fields := strings.Split(line, ",")
	numbers := make([]float64, len(fields))
	for i, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // a number above all others is infinity
			return nil, fmt.Errorf("%q is not a number: give a time and an embedding, separated by commas", field)
		}
		numbers[i] = v
	}
	if len(numbers) == 1 {
		return w.Next(numbers[0], nil)
	}
	x := make([]float32, len(numbers)-1)
	for i, v := range numbers[1:] {
		if x[i] = float32(v); math.IsInf(float64(x[i]), 0) {
			return nil, fmt.Errorf("%q is too large: give finite numbers up to 3.4e38", strings.TrimSpace(fields[i+1]))
		}
	}
	a, err := c.Predict(x)
	if err != nil {
		return nil, err
	}
	return w.Next(numbers[0], a.Probabilities)
}
