// Command wasmshrink makes a Go program that was compiled to WebAssembly smaller
// to download:
//
//	go run ./scripts/wasmshrink build/site/metaqda.wasm
//
// First it takes out file names and line numbers. The linker has no flag for it:
// -s -w leave out what debuggers want, but the tables that tell the line of every
// instruction stay, for stack traces. Of the page's engine they are a tenth of the
// bytes to download. Afterwards a trace still names functions, with "?:0" in place
// of file and line: that is what the runtime says of a function without such
// tables, which is what each becomes.
//
// The tables (package runtime, symtab.go) lie in the program's data, in pclntab:
//
//	header    magic, sizes and the offsets of what follows
//	cutab     for each package where its files' names are
//	filetab   names of files
//	pctab     tables of values that change along a function: stack depth, file,
//	          line, safe points and the like, most of them shared
//	functab   for each function the offset of its record, which holds the
//	          offsets of its tables; 0 is no table
//
// The records' offsets of file and line become 0, and so do the names of files
// and the tables that nothing else uses. Nothing moves, and zeros compress to
// nothing.
//
// Then it joins the data's segments. The linker begins a new one after every few
// zeros, some ten thousands in all, and their addresses hardly compress; the
// zeros do. The page's engine grows by a seventh as it is and shrinks by a
// twelfth when compressed. A smaller -gap keeps the program smaller as it is: with 16
// the buckets of the runtime's findfunctab, of which most are empty, stay out.
//
// With -nameless functions lose their names too, but for those of the runtime, which
// knows its own by them: a trace then tells nothing.
//
// Nothing documents these tables, and each release may change them. So a program
// that another toolchain than the known one built, or whose tables are not what
// that one writes, stays as it is, to the byte; a sentence says so, and it is no
// failure.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	gap := flag.Int("gap", 256, "the most zeros between two segments that are joined")
	nameless := flag.Bool("nameless", false, "take out the names of functions")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: wasmshrink [-gap ZEROS] [-nameless] PROGRAM.wasm")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || *gap < 0 {
		flag.Usage()
		os.Exit(2)
	}
	name := flag.Arg(0)
	err := shrinkFile(name, *gap, *nameless)
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "wasmshrink: %s: %v\n", name, err)
	if _, ok := errors.AsType[unknown](err); !ok {
		os.Exit(1)
	}
}

// shrinkFile replaces the file, or leaves it alone on any error.
func shrinkFile(name string, gap int, nameless bool) error {
	program, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if program, err = shrink(program, gap, nameless); err != nil {
		return err
	}
	return os.WriteFile(name, program, 0o644)
}

// known begins the version of the toolchain whose tables this program knows.
const known = "go1.26"

// unknown says what of a program is not as the known toolchain writes it.
type unknown string

func (u unknown) Error() string {
	return "left as it is, which is more to download and does no harm: " + string(u)
}

var errNoProgram = errors.New("not a WebAssembly program")

// shrink returns the program without line tables, if so wished without names, and with
// segments joined over gaps of so many zeros. It returns an [unknown] for a program that should stay as it is.
func shrink(program []byte, gap int, nameless bool) ([]byte, error) {
	if !bytes.HasPrefix(program, []byte(preamble)) {
		return nil, errNoProgram
	}
	data, err := findData(program)
	if err != nil {
		return nil, err
	}
	if v := toolchain(data.producers); !isKnown(v) {
		return nil, unknown(fmt.Sprintf("it was built by %q, and the tables of %s are what is known", v, known))
	}
	memory := data.image(program)
	table, err := findTable(memory)
	if err != nil {
		return nil, err
	}
	if err := table.clearLines(); err != nil {
		return nil, err
	}
	if nameless {
		table.clearNames()
	}
	return data.replaced(program, segmentsOf(memory, gap), memory), nil
}

// isKnown tells whether a version is the known one or a minor release of it.
func isKnown(version string) bool {
	rest, ok := strings.CutPrefix(version, known)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == ' ')
}

// dataPart is the data section of a program, which stands at from to to.
type dataPart struct {
	from, to  int
	segments  []segment // by address
	producers []byte    // body of the section that names the toolchain
}

// segment is a part of the initial memory: size bytes at the address stand at
// position at of the program.
type segment struct{ address, at, size int }

const (
	preamble      = "\x00asm\x01\x00\x00\x00"
	customSection = 0
	dataSection   = 11
	countSection  = 12 // number of segments, which Go's linker does not write
	i32Const      = 0x41
	end           = 0x0b

	// mostMemory bounds where a segment may begin.
	mostMemory = 1 << 30
)

const errFormat = unknown("its sections are not as Go's linker writes them")

// findData finds the data section and that of the producers.
func findData(program []byte) (*dataPart, error) {
	r := &reader{b: program, at: len(preamble)}
	found := &dataPart{}
	for r.at < len(program) {
		from := r.at
		id, size := r.next(), r.uvarint()
		to := r.at + size
		if r.err != nil || size > len(program)-r.at || id == countSection {
			return nil, errFormat
		}
		if id == dataSection {
			segments, err := r.segments()
			if err != nil || r.at != to {
				return nil, errFormat
			}
			found.from, found.to, found.segments = from, to, segments
		}
		if body := (&reader{b: program[:to], at: r.at}); id == customSection && body.name() == "producers" {
			found.producers = program[body.at:to]
		}
		r.at = to
	}
	if found.segments == nil {
		return nil, errFormat
	}
	return found, nil
}

// toolchain returns the version of the Go compiler that the producers name
// (WebAssembly tool conventions, ProducersSection.md), "" for none.
func toolchain(producers []byte) (version string) {
	r := &reader{b: producers}
	for fields := r.uvarint(); fields > 0 && r.err == nil; fields-- {
		field := r.name()
		for values := r.uvarint(); values > 0 && r.err == nil; values-- {
			name, v := r.name(), r.name()
			if field == "processed-by" && name == "Go cmd/compile" {
				version = v
			}
		}
	}
	return version
}

// segments reads the body of a data section. They come in no order of addresses.
func (r *reader) segments() ([]segment, error) {
	all := make([]segment, 0, 1024)
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		kind, op := r.next(), r.next()
		s := segment{address: r.uvarintSigned()}
		last := r.next()
		s.size = r.uvarint()
		s.at = r.at
		if r.err != nil || kind != 0 || op != i32Const || last != end || s.address < 0 || s.address > mostMemory || s.size > len(r.b)-r.at {
			return nil, errFormat
		}
		r.at += s.size
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b segment) int { return a.address - b.address })
	for i := 1; i < len(all); i++ {
		if all[i].address < all[i-1].address+all[i-1].size {
			return nil, errFormat // then their order would matter
		}
	}
	return all, r.err
}

// image returns the initial memory.
func (d *dataPart) image(program []byte) []byte {
	size := 0
	for _, s := range d.segments {
		size = max(size, s.address+s.size)
	}
	memory := make([]byte, size)
	for _, s := range d.segments {
		copy(memory[s.address:], program[s.at:s.at+s.size])
	}
	return memory
}

// replaced returns the program with the segments of the memory in place of its own.
func (d *dataPart) replaced(program []byte, segments []segment, memory []byte) []byte {
	body := encodeSegments(segments, memory)
	section := append(binary.AppendUvarint([]byte{dataSection}, uint64(len(body))), body...)
	return slices.Concat(program[:d.from], section, program[d.to:])
}

// segmentsOf returns segments that cover all of the memory but runs of more than gap
// zeros.
func segmentsOf(memory []byte, gap int) []segment {
	var all []segment
	for i, v := range memory {
		if v == 0 {
			continue
		}
		if n := len(all); n > 0 && i-(all[n-1].address+all[n-1].size) <= gap {
			all[n-1].size = i + 1 - all[n-1].address
			continue
		}
		all = append(all, segment{address: i, size: 1})
	}
	return all
}

// encodeSegments returns the body of a data section.
func encodeSegments(segments []segment, memory []byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		body = append(body, 0, i32Const)
		body = append(appendSigned(body, s.address), end)
		body = binary.AppendUvarint(body, uint64(s.size))
		body = append(body, memory[s.address:s.address+s.size]...)
	}
	return body
}

// appendSigned appends v >= 0 as a signed LEB128 number: the last byte's highest
// bit but one is the sign.
func appendSigned(b []byte, v int) []byte {
	for v >= 0x40 {
		b = append(b, byte(v&0x7f|0x80))
		v >>= 7
	}
	return append(b, byte(v))
}

// reader reads numbers; after the end all are 0 and err is set.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) next() byte {
	if r.at >= len(r.b) {
		r.err = errFormat
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// name reads a string behind its length.
func (r *reader) name() string {
	n := r.uvarint()
	if r.err != nil || n > len(r.b)-r.at {
		r.err = errFormat
		return ""
	}
	r.at += n
	return string(r.b[r.at-n : r.at])
}

// uvarint reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) uvarint() int {
	v, _ := r.leb()
	return v
}

// uvarintSigned reads a signed LEB128 number of at most 32 bits.
func (r *reader) uvarintSigned() int {
	v, bits := r.leb()
	if bits > 0 && v>>(bits-1)&1 == 1 {
		v -= 1 << bits
	}
	return v
}

func (r *reader) leb() (v, bits int) {
	for bits < 35 {
		c := r.next()
		v |= int(c&0x7f) << bits
		bits += 7
		if c < 0x80 {
			return v, bits
		}
	}
	r.err = errFormat
	return 0, 0
}

// pclntab is the table in the memory it lies in.
type pclntab struct {
	memory    []byte
	functions int // number
	names     int // addresses
	cutab     int
	filetab   int
	pctab     int
	functab   int
}

// magic begins the table since Go 1.20: the magic number 0xfffffff1, two zeros,
// an instruction's least size 1 and a pointer's size 8.
var magic = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// Offsets in the header and in a function's record.
const (
	headerFunctions = 8
	headerNames     = 8 + 3*8 // of functions
	headerCutab     = 8 + 4*8
	headerFiletab   = 8 + 5*8
	headerPctab     = 8 + 6*8
	headerFunctab   = 8 + 7*8
	headerSize      = 8 + 8*8

	recordStack   = 16
	recordFile    = 20
	recordLine    = 24
	recordTables  = 28 // number of further tables
	recordFurther = 44 // their offsets
)

const errTable = unknown("its table of functions is not as " + known + " writes it")

// findTable finds the one place in memory that is a table of functions.
func findTable(memory []byte) (*pclntab, error) {
	var found *pclntab
	for at := 0; ; at++ {
		i := bytes.Index(memory[at:], magic)
		if i < 0 {
			break
		}
		at += i
		if at+headerSize > len(memory) {
			break
		}
		word := func(offset int) int { return int(binary.LittleEndian.Uint64(memory[at+offset:])) }
		t := &pclntab{memory: memory, functions: word(headerFunctions), names: at + word(headerNames), cutab: at + word(headerCutab),
			filetab: at + word(headerFiletab), pctab: at + word(headerPctab), functab: at + word(headerFunctab)}
		if !t.plausible(at) {
			continue
		}
		if found != nil {
			return nil, errTable
		}
		found = t
	}
	if found == nil {
		return nil, errTable
	}
	return found, nil
}

// plausible tells whether the numbers of the header fit together and into the
// memory. The records begin where functab ends, which proves the number of functions.
func (t *pclntab) plausible(at int) bool {
	return t.functions > 0 && t.functions < len(t.memory)/8 && t.names >= at+headerSize && t.cutab > t.names && t.filetab > t.cutab && t.pctab > t.filetab &&
		t.functab > t.pctab && t.functab < len(t.memory) && t.functab+8*t.functions+8 < len(t.memory) && int(t.word(t.functab+4)) == 8*t.functions+8
}

// clearLines removes file and line of every function.
func (t *pclntab) clearLines() error {
	kept, dropped := map[uint32]bool{}, map[uint32]bool{}
	records := make([]int, t.functions)
	for i := range records {
		record := t.functab + int(t.word(t.functab+8*i+4))
		if record+recordFurther > len(t.memory) {
			return errTable
		}
		further := int(t.word(record + recordTables))
		if further > 16 || record+recordFurther+4*further > len(t.memory) {
			return errTable
		}
		kept[t.word(record+recordStack)] = true
		for k := range further {
			kept[t.word(record+recordFurther+4*k)] = true
		}
		dropped[t.word(record+recordFile)] = true
		dropped[t.word(record+recordLine)] = true
		records[i] = record
	}
	if err := t.clearTables(dropped, kept); err != nil {
		return err
	}
	clear(t.memory[t.cutab:t.pctab])
	for _, record := range records {
		clear(t.memory[record+recordFile : record+recordLine+4])
	}
	return nil
}

// clearNames makes the names of functions empty, each where it stands.
func (t *pclntab) clearNames() {
	for rest := t.memory[t.names:t.cutab]; len(rest) > 0; {
		end := max(bytes.IndexByte(rest, 0), 0)
		if name := rest[:end]; !bytes.HasPrefix(name, []byte("runtime.")) && !bytes.HasPrefix(name, []byte("internal/runtime/")) {
			clear(name)
		}
		rest = rest[end+1:]
	}
}

// clearTables zeroes the tables at the dropped offsets, but not those that are
// kept. First it makes sure that none reaches into another that is.
func (t *pclntab) clearTables(dropped, kept map[uint32]bool) error {
	type span struct{ from, to int }
	var spans []span
	for offset := range dropped {
		if offset == 0 || kept[offset] {
			continue
		}
		to, err := t.tableEnd(offset)
		if err != nil {
			return err
		}
		from := t.pctab + int(offset)
		for k := range kept {
			if at := t.pctab + int(k); at > from && at < to {
				return errTable
			}
		}
		spans = append(spans, span{from, to})
	}
	for _, s := range spans {
		clear(t.memory[s.from:s.to])
	}
	return nil
}

// tableEnd returns the address after a table: pairs of a value's change and an
// address's, until a change of 0 that is not the first.
func (t *pclntab) tableEnd(offset uint32) (int, error) {
	r := &reader{b: t.memory[:t.functab], at: t.pctab + int(offset)}
	for first := true; r.err == nil; first = false {
		if change := r.uvarint(); change == 0 && !first {
			return r.at, nil
		}
		r.uvarint()
	}
	return 0, errTable
}

func (t *pclntab) word(address int) uint32 {
	if address+4 > len(t.memory) {
		return 0
	}
	return binary.LittleEndian.Uint32(t.memory[address:])
}
