// Command bench times prediction, enrolment, removal, a training episode and
// loading, natively and in headless Chromium with and without the SIMD kernels,
// and beside them @tensorflow-models/knn-classifier on the same embeddings in
// the same page.
//
//	make bench
//
// It prints a table and writes build/bench.json. The native half runs in this
// process, the browser's in web/test/bench; both time
// package measure, but predictions in the browser are an engine's and go the way
// that those of the page go. It needs Node.js and the Chromium that CHROMIUM names.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"metaqda/scripts/bench/measure"
)

func main() {
	root := flag.String("root", ".", "the source tree; results go to its build folder")
	quick := flag.Bool("quick", false, "only one case, to see that all of it runs")
	compile := flag.String("compile", "", "options of go build for the browser's program, as for the engine")
	flag.Parse()
	if err := run(*root, *quick, strings.Fields(*compile)); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// A report is build/bench.json.
type report struct {
	Rows    []measure.Row      `json:"rows"`
	Full    []measure.Row      `json:"full_factor"` // predictions with a full factor L
	Machine string             `json:"machine"`
	Go      string             `json:"go"`
	Browser string             `json:"browser"`
	Date    string             `json:"date"`
	KNN     []knn              `json:"knn"`
	Memory  []memory           `json:"memory"`
	Startup map[string]float64 `json:"startup_ms"` // fetch, compile and start of the program in the page
	Worst   float64            `json:"largest_difference"`
}

// knn says how the comparison held the examples of a case.
type knn struct {
	measure.Case
	Backend string  `json:"backend"`
	Held    float64 `json:"held"` // bytes of its tensors
}

// memory is what 10,000 predictions and 1,000 additions and removals left in
// use (warm), and 10,000 and 1,000 more.
type memory struct {
	measure.Case
	Warm usage `json:"warm"`
	End  usage `json:"end"`
}

type usage struct {
	Heap   float64 `json:"heap"`   // bytes in use after a collection
	Memory float64 `json:"memory"` // size of the WebAssembly memory
}

// page is what the browser's half reports.
type page struct {
	report
	Probabilities [][]float64 `json:"probabilities"`
}

func run(root string, quick bool, compile []string) error {
	cases := measure.Cases()
	if quick { // five classes by the largest extractor
		cases = cases[len(cases)-3 : len(cases)-2]
	}
	rows, probabilities := native(cases)
	p, err := browser(root, cases, compile)
	if err != nil {
		return err
	}
	r := p.report
	var all []measure.Row
	for _, row := range append(rows, r.Rows...) {
		if row.Name == "predict-full" {
			r.Full = append(r.Full, row)
		} else {
			all = append(all, row)
		}
	}
	r.Rows = all
	r.Browser, r.Go, r.Machine = "Chromium "+r.Browser, runtime.Version(), machine()
	r.Date = time.Now().UTC().Format(time.DateOnly)
	if r.Worst, err = compare(probabilities, p.Probabilities); err != nil {
		return err
	}
	printTable(os.Stdout, &r)
	return writeJSON(filepath.Join(root, "build", "bench.json"), &r)
}

// native measures in this process.
func native(cases []measure.Case) (rows []measure.Row, probabilities [][]float64) {
	for _, c := range cases {
		fmt.Fprintf(os.Stderr, "native: %d dimensions, %d classes\n", c.Dimension, c.Classes)
		w := measure.New(c)
		for _, name := range measure.Operations {
			if !c.Measures(name) {
				continue
			}
			op, reset := w.Operation(name)
			times := measure.Time(op, reset)
			rows = append(rows, c.Row(name, "native", times, measure.BytesPerOp(op, reset, 1)))
			w.Done(name)
		}
		probabilities = append(probabilities, append([]float64(nil), w.Predict(w.Query)...))
	}
	return rows, probabilities
}

// browser builds the program and runs it in headless Chromium.
func browser(root string, cases []measure.Case, compile []string) (*page, error) {
	dir := filepath.Join(root, "build", "bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	program, list, out := filepath.Join(dir, "bench.wasm"), filepath.Join(dir, "cases.json"), filepath.Join(dir, "browser.json")
	if err := writeJSON(list, cases); err != nil {
		return nil, err
	}
	build := command(root, "go", slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w"}, compile, []string{"-o", program, "./scripts/bench/browser"})...)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building the program: %w", err)
	}
	kernels := filepath.Join(root, "build", "site", "metaqda-simd.wasm")
	if err := command(root, "node", filepath.Join(root, "web", "test", "bench", "run.mjs"), program, kernels, list, out).Run(); err != nil {
		return nil, fmt.Errorf("measuring in the browser: %w", err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	p := new(page)
	return p, json.Unmarshal(text, p)
}

func command(root, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = root, os.Stderr, os.Stderr
	return c
}

// tolerance bounds the difference of the browser's probabilities from the native ones.
const tolerance = 1e-9

// compare returns the largest difference between two sets of probabilities, or
// an error if it is more than rounding.
func compare(native, browser [][]float64) (worst float64, err error) {
	if len(native) != len(browser) {
		return 0, fmt.Errorf("the browser measured %d cases, not %d", len(browser), len(native))
	}
	for c, p := range native {
		if len(browser[c]) != len(p) {
			return 0, fmt.Errorf("case %d: the browser has %d classes, not %d", c, len(browser[c]), len(p))
		}
		for i, v := range p {
			worst = max(worst, v-browser[c][i], browser[c][i]-v)
		}
	}
	if !(worst <= tolerance) {
		return worst, fmt.Errorf("probabilities in the browser differ by %g from the native ones", worst)
	}
	return worst, nil
}

// machine names the processor where the system tells it.
func machine() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return fmt.Sprintf("%s, %d processors", strings.TrimSpace(value), runtime.NumCPU())
		}
	}
	return fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

func writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
