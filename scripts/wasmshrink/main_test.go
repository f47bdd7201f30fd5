package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// probe builds the probe and returns its bytes and the script that runs it.
func probe(t *testing.T) (program []byte, script string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "probe.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", name, "testdata/probe.go")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return program, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js")
}

func run(t *testing.T, program []byte, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.wasm")
	if err := os.WriteFile(name, program, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "--stack-size=8192", script, name)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "GODEBUG=gcstoptheworld=1"}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// requireKnown skips a test of tables that the toolchain at hand does not write.
func requireKnown(t *testing.T) {
	t.Helper()
	if !isKnown(runtime.Version()) {
		t.Skipf("the toolchain at hand is %s, not %s", runtime.Version(), known)
	}
}

func TestProgramRunsAsBefore(t *testing.T) {
	requireKnown(t)
	program, script := probe(t)
	const want = "12406 runtime error: index out of range [0] with length 0 main.main "
	if got := run(t, program, script); got != want+"true true\n" {
		t.Fatalf("before: %q", got)
	}
	before := bytes.Clone(program)
	small, err := shrink(program, 256, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(program, before) {
		t.Error("what was handed in has changed")
	}
	if got := run(t, small, script); got != want+"false false\n" {
		t.Errorf("after: %q", got)
	}
	again, err := shrink(small, 256, false)
	if err != nil || !bytes.Equal(again, small) {
		t.Errorf("a second time: %v", err)
	}
	compareMemory(t, program, small)

	nameless, err := shrink(program, 256, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, nameless, script); got != strings.Replace(want, "main.main", "", 1)+"false false\n" {
		t.Errorf("without names: %q", got)
	}
	if bytes.Contains(nameless, []byte("main.deep")) || !bytes.Contains(nameless, []byte("runtime.gcStart")) {
		t.Error("other names went than the program's own")
	}
	compareMemory(t, program, nameless)
}

// compareMemory checks that the initial memories differ by zeros alone, and that
// few segments are left.
func compareMemory(t *testing.T, program, small []byte) {
	t.Helper()
	a, err := findData(program)
	if err != nil {
		t.Fatal(err)
	}
	b, err := findData(small)
	if err != nil {
		t.Fatal(err)
	}
	before, after := a.image(program), b.image(small)
	if len(before) != len(after) || len(b.segments)*20 > len(a.segments) {
		t.Fatalf("%d bytes in %d segments became %d in %d", len(before), len(a.segments), len(after), len(b.segments))
	}
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
			if after[i] != 0 {
				t.Fatalf("address %d became %d: only zeros may be written", i, after[i])
			}
		}
	}
	if changed < len(before)/100 {
		t.Errorf("%d bytes of %d were cleared", changed, len(before))
	}
	if !bytes.Equal(program[:a.from], small[:b.from]) || !bytes.Equal(program[a.to:], small[b.to:]) {
		t.Error("other sections have changed")
	}
}

func TestSignedNumbersReadBack(t *testing.T) {
	for _, v := range []int{0, 1, 63, 64, 127, 128, 8191, 8192, 1<<20 - 1, 1 << 27, 1<<31 - 1} {
		r := &reader{b: appendSigned(nil, v)}
		if got := r.uvarintSigned(); got != v || r.at != len(r.b) || r.err != nil {
			t.Errorf("%d reads as %d", v, got)
		}
	}
}

// isLeftAlone checks that the program stays as it is, and that this is no failure.
func isLeftAlone(t *testing.T, what string, program []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "left.wasm")
	if err := os.WriteFile(name, program, 0o644); err != nil {
		t.Fatal(err)
	}
	err := shrinkFile(name, 256, false)
	if _, ok := errors.AsType[unknown](err); !ok {
		t.Errorf("%s: %v, want a sentence that it is left as it is", what, err)
	}
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, program) {
		t.Errorf("%s: the file has changed, %v", what, err)
	}
}

func TestUnknownToolchainsAreLeftAlone(t *testing.T) {
	program, _ := probe(t)
	data, err := findData(program)
	if err != nil {
		t.Fatal(err)
	}
	version := toolchain(data.producers)
	if version != runtime.Version() {
		t.Errorf("the toolchain is called %q, want %q", version, runtime.Version())
	}
	for _, other := range []string{"go1.27" + version[6:], "go1.2x" + version[6:], "devel " + version[6:], strings.Repeat(" ", len(version))} {
		isLeftAlone(t, other, bytes.ReplaceAll(program, []byte(version), []byte(other)))
	}
	isLeftAlone(t, "without producers", bytes.Replace(program, []byte("\tproducers"), []byte("\tsomething"), 1))
	for v, want := range map[string]bool{known: true, known + ".8": true, known + ".8 X:none": true, known + "1": false, known + "rc1": false, "go1.2": false, "": false} {
		if isKnown(v) != want {
			t.Errorf("%q is known: %v", v, !want)
		}
	}
}

func TestUnknownTablesAreLeftAlone(t *testing.T) {
	requireKnown(t)
	program, _ := probe(t)
	data, err := findData(program)
	if err != nil {
		t.Fatal(err)
	}
	memory := data.image(program)
	table, err := findTable(memory)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(memory, magic)
	first := table.functab + int(table.word(table.functab+4))
	edited := func(edit func(m []byte)) []byte {
		m := bytes.Clone(memory)
		edit(m)
		return data.replaced(program, segmentsOf(m, 0), m)
	}
	if _, err := shrink(edited(func([]byte) {}), 256, false); err != nil {
		t.Fatalf("the tables as they are: %v", err)
	}
	for what, edit := range map[string]func(m []byte){
		"another magic number":          func(m []byte) { m[at]-- },
		"pointers of 4 bytes":           func(m []byte) { m[at+7] = 4 },
		"a second table":                func(m []byte) { copy(m[at+8:], m[at:at+headerSize]) },
		"a record out of reach":         func(m []byte) { put32(m[table.functab+8*5+4:], 1<<31) },
		"a record of a million tables":  func(m []byte) { put32(m[first+recordTables:], 1e6) },
		"lines out of reach":            func(m []byte) { put32(m[first+recordLine:], 1<<31) },
		"lines that reach into a table": func(m []byte) { put32(m[first+recordLine:], binary.LittleEndian.Uint32(m[first+recordStack:])-1) },
	} {
		isLeftAlone(t, what, edited(edit))
	}
	for _, offset := range []int{headerFunctions, headerNames, headerCutab, headerFiletab, headerPctab, headerFunctab} {
		for _, v := range []uint64{0, 1, uint64(len(memory)), 1 << 40, math.MaxInt64, math.MaxUint64} {
			isLeftAlone(t, fmt.Sprintf("%d at %d of the header", v, offset), edited(func(m []byte) { binary.LittleEndian.PutUint64(m[at+offset:], v) }))
		}
	}
	for _, functions := range []int{table.functions - 1, table.functions + 1} {
		isLeftAlone(t, fmt.Sprintf("%d functions", functions), edited(func(m []byte) { binary.LittleEndian.PutUint64(m[at+headerFunctions:], uint64(functions)) }))
	}
}

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }

func TestTruncatedProgramsAreLeftAlone(t *testing.T) {
	program, _ := probe(t)
	data, err := findData(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{8, 9, 100, data.from, data.from + 1, data.from + 5, data.from + 1000, data.to - 1, data.to, len(program) - 1} {
		isLeftAlone(t, fmt.Sprintf("%d bytes", n), program[:n])
	}
	memory := data.image(program)
	if table, err := findTable(memory); err == nil {
		cut := slices.DeleteFunc(slices.Clone(data.segments), func(s segment) bool { return s.address > table.functab })
		isLeftAlone(t, "memory cut within the table", data.replaced(program, cut, memory))
	}
}

func TestOtherWebAssemblyIsLeftAlone(t *testing.T) {
	for name, content := range map[string]string{
		"no data":    preamble,
		"cut":        preamble + "\x0b\x80",
		"other data": preamble + "\x0b\x07\x01\x00\x41\x10\x0b\x01\x07",
		"far away":   preamble + "\x0b\x0b\x01\x00\x41\xff\xff\xff\xff\x07\x0b\x01\x07",
	} {
		isLeftAlone(t, name, []byte(content))
	}
}

func TestWhatIsNoProgramIsRefused(t *testing.T) {
	for _, content := range []string{"", "no program", "\x00asm\x02\x00\x00\x00"} {
		if _, err := shrink([]byte(content), 256, false); err != errNoProgram {
			t.Errorf("%q: %v", content, err)
		}
	}
	if err := shrinkFile(filepath.Join(t.TempDir(), "missing"), 256, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
