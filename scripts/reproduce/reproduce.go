// Package reproduce learns priors on a folder of data sets and prints the tables of
// the MetaQDA paper (Zhang et al., ICCV 2021) with the paper's figures beside ours,
// and says which of the paper's claims hold. It is no test: it takes minutes, and
// what it prints is for reading.
package reproduce

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"metaqda/core/experiment"
	"metaqda/scripts/files"
)

// Config says what to reproduce from.
type Config struct {
	Data     string  // folder of the data sets by Conv-4, ResNet-18 and WRN-28-10
	Pictures string  // folder of those by the page's extractor
	Out      string  // folder for everything that is written
	Tasks    int     // of every cell
	Steps    float64 // factor on the training steps
	Seed     uint64
	Stdout   io.Writer

	// Command does what metaqda does with these arguments.
	Command func(ctx context.Context, args ...string) error
}

// reproduction is one run.
type reproduction struct {
	Config
	ctx      context.Context
	markdown strings.Builder
	claims   []claim
}

// claim is a statement of the paper about two results.
type claim struct {
	text  string
	holds bool
}

// Run prints all tables for which there are data. Everything is written to the
// folder Out; priors that are there already are used again.
func Run(ctx context.Context, c Config) error {
	if c.Data == "" {
		return fmt.Errorf("no data given; name the folder with --data DIR")
	}
	if !(c.Steps > 0 && c.Steps <= 100) {
		return fmt.Errorf("--steps is %v; give a number above 0 such as 1", c.Steps)
	}
	if info, err := os.Stat(c.Data); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder of data sets; check --data", c.Data)
	}
	if err := files.Folder(c.Out); err != nil {
		return err
	}
	r := &reproduction{Config: c, ctx: ctx}
	return r.all()
}

func (r *reproduction) all() error {
	sections := []func() error{
		func() error { return r.conv4("cifarfs-conv4", 3000, true) },
		func() error { return r.conv4("miniimagenet-conv4", 600, false) },
		r.deep, r.crossDomain, r.multiDomain,
	}
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	r.title("Claims")
	for _, o := range r.claims {
		word := "holds:         "
		if !o.holds {
			word = "does not hold: "
		}
		r.say("%s%s\n", word, o.text)
	}
	return files.Write(filepath.Join(r.Out, "tables.md"), []byte(r.markdown.String()))
}

func (r *reproduction) say(format string, args ...any) {
	fmt.Fprintf(r.Stdout, format, args...)
	fmt.Fprintf(&r.markdown, format, args...)
}

func (r *reproduction) title(text string) { r.say("\n## %s\n\n", text) }

// has reports whether the data sets are there.
func (r *reproduction) has(names ...string) bool {
	for _, name := range names {
		if _, err := os.Stat(r.npz(name)); err != nil {
			r.say("%s is not in %s: its tables are left out\n", name, filepath.Dir(r.npz(name)))
			return false
		}
	}
	return true
}

func (r *reproduction) npz(name string) string {
	folder := r.Pictures
	if backbone.MatchString(name) {
		folder = r.Data
	}
	return filepath.Join(folder, name+".npz")
}

func (r *reproduction) file(name string) string { return filepath.Join(r.Out, name) }

// command prints the command that does a step, and does it.
func (r *reproduction) command(args ...string) error {
	fmt.Fprintf(r.Stdout, "$ metaqda %s\n", strings.Join(args, " "))
	fmt.Fprintf(&r.markdown, "    metaqda %s\n", strings.Join(args, " "))
	return r.Command(r.ctx, args...)
}

// train learns a prior by a preset unless it is there, and returns its file.
func (r *reproduction) train(name, preset string, steps int, data ...string) (string, error) {
	out := r.file(name + ".safetensors")
	if _, err := os.Stat(out); err == nil {
		r.say("%s is there already and is used again\n", out)
		return out, nil
	}
	return out, r.command("train", "--data", r.npzs(data), "--out", out, "--random-seed", fmt.Sprint(r.Seed), "--steps", fmt.Sprint(max(1, int(r.Steps*float64(steps)))),
		"--curve", r.file(name+".svg"), "--quiet", "--preset", preset)
}

// evaluation is one run of a protocol, written to NAME.json.
type evaluation struct {
	name, protocol  string
	data            []string
	prior, mapPrior string   // files; no mapPrior: prior
	inDomain        []string // nil: what the prior says
	methods         string   // "": those of the protocol
	pictures        string   // folder, "" for none
}

// flags returns the evaluation as the command takes it.
func (r *reproduction) flags(e *evaluation) []string {
	args := []string{"eval", "--protocol", e.protocol, "--data", r.npzs(e.data), "--prior", e.prior}
	for _, f := range [][2]string{{"--prior-map", e.mapPrior}, {"--in-domain", strings.Join(e.inDomain, ",")}, {"--methods", e.methods}, {"--pictures", e.pictures}} {
		if f[1] != "" {
			args = append(args, f[0], f[1])
		}
	}
	return append(args, "--n-tasks", fmt.Sprint(r.Tasks), "--random-seed", fmt.Sprint(r.Seed), "--json", r.file(e.name+".json"))
}

// eval runs an evaluation.
func (r *reproduction) eval(e evaluation) (*experiment.Report, error) {
	if err := r.command(r.flags(&e)...); err != nil {
		return nil, err
	}
	text, err := files.Read(r.file(e.name+".json"), "report")
	if err != nil {
		return nil, err
	}
	report := &experiment.Report{Header: &experiment.Header{}}
	return report, json.Unmarshal(text, report)
}

// npzs returns the files of some data sets, separated by commas.
func (r *reproduction) npzs(names []string) string {
	var files []string
	for _, name := range names {
		files = append(files, r.npz(name))
	}
	return strings.Join(files, ",")
}
