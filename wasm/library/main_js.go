// Command library is the engine of the npm package: package metaqda/core, compiled to
// WebAssembly, behind exported functions that take and give numbers. It knows of no
// page and no storage, and keeps nothing in JavaScript: with these, which package wasm has
// around the same classifier, it would be 0.5 MB larger (brotli), which is why
// there are two programs of one source.
//
// JavaScript writes what it hands over to the address that mq_room returns, calls a
// function, and reads the reply at the address that mq_reply returns. What a function
// returns is the number of bytes of the reply, or what its comment says; below zero it
// is that of an error: a code, a line feed and a sentence. Classifiers are known by
// handles, numbers from 1 on. web/library/engine.js is the other side.
//
// A call takes about a microsecond. One through syscall/js takes ten.
package main

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"unsafe"

	metaqda "metaqda/core"
	"metaqda/core/model"
	"metaqda/wasm/memory"
	"metaqda/wasm/nfc"
	"metaqda/wasm/simd"
)

func main() {
	simd.Install()
	nfc.Install()
	select {} // the exported functions work on
}

var state = struct {
	room    []float64 // room for what comes, aligned for any number
	reply   []byte
	answer  []float64 // a reply of numbers
	handles map[int32]*metaqda.Classifier
	batches map[int32]*batch
	watches map[int32]watching
	bulks   map[int32]*metaqda.Bulk
	last    int32 // of all four
	memory  memory.Budget
	priors  map[string]*metaqda.Prior // by sha256 of their files
}{handles: map[int32]*metaqda.Classifier{}, batches: map[int32]*batch{}, watches: map[int32]watching{}, bulks: map[int32]*metaqda.Bulk{}, priors: map[string]*metaqda.Prior{}, memory: memory.Budget{Most: memory.Most}}

// guard turns errors and panics into replies.
func guard(f func() (int32, error)) (n int32) {
	defer func() {
		if r := recover(); r != nil {
			text := "unknown"
			switch r := r.(type) {
			case error:
				text = r.Error()
			case string:
				text = r
			}
			n = fail(&metaqda.Error{Code: "internal", Message: "This is a mistake in metaqda (" + text + "): please report it."})
		}
	}()
	n, err := f()
	if err != nil {
		return fail(err)
	}
	return n
}

func fail(err error) int32 {
	state.reply = append(append(append(state.reply[:0], metaqda.Code(err)...), '\n'), err.Error()...)
	return -int32(len(state.reply))
}

// bytes returns n bytes of the room.
func bytes(from, n int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(state.room))), 8*len(state.room))[from : from+n]
}

// vector returns the first n numbers of the room.
func vector(n int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(state.room))), 2*len(state.room))[:n]
}

func text(from, n int32) string { return string(bytes(from, n)) }

//go:noinline // half a kilobyte less to download
func handle(c *metaqda.Classifier, err error) (int32, error) {
	if err != nil {
		return 0, err
	}
	state.last++
	state.handles[state.last] = c
	c.Reserve = state.memory.Reserve
	return state.last, nil
}

func of(h int32) (*metaqda.Classifier, error) {
	if c := state.handles[h]; c != nil {
		return c, nil
	}
	return nil, &metaqda.Error{Code: "disposed", Message: "This classifier was disposed of: create another one."}
}

// with calls f for a classifier.
func with(h int32, f func(c *metaqda.Classifier) (int32, error)) int32 {
	return guard(func() (int32, error) {
		c, err := of(h)
		if err != nil {
			return 0, err
		}
		return f(c)
	})
}

// Reserve refuses so many bytes where memory is short.
//
//go:wasmexport mq_reserve
func Reserve(bytes float64) int32 {
	return guard(func() (int32, error) { return 0, state.memory.Reserve(int(bytes)) })
}

// Room returns the address of room for n bytes, and keeps it until it is called again.
//
//go:wasmexport mq_room
func Room(n int32) unsafe.Pointer {
	state.room = make([]float64, (int(n)+7)/8)
	return unsafe.Pointer(unsafe.SliceData(state.room))
}

// Reply returns the address of the last reply of bytes.
//
//go:wasmexport mq_reply
func Reply() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.reply)) }

// Answer returns the address of the last reply of numbers.
//
//go:wasmexport mq_answer
func Answer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.answer)) }

// Prior takes a prior file of n bytes and replies its sha256.
//
//go:wasmexport mq_prior
func Prior(n int32) int32 {
	return guard(func() (int32, error) {
		file := bytes(0, n)
		sum := model.Sum(file)
		if state.priors[sum] == nil {
			p, err := metaqda.DecodePrior(file)
			if err != nil {
				return 0, err
			}
			state.priors[sum] = p
		}
		return reply(sum, nil)
	})
}

// Create makes a classifier under the prior whose sha256 is the room's n bytes, none
// if n is 0, and returns its handle. The m bytes after them are its name. It standardises
// vectors if standardise is 1.
//
//go:wasmexport mq_create
func Create(none float64, standardise, n, m int32) int32 {
	return guard(func() (int32, error) {
		s := metaqda.Settings{NonePrior: none}
		if standardise == 1 {
			s.Scale = model.Standardise
		}
		c, err := metaqda.New(s, state.priors[text(0, n)])
		if err == nil {
			c.Name = text(n, m)
		}
		return handle(c, err)
	})
}

// Open makes a classifier of a file of n bytes and returns its handle. The m bytes
// after them are the sha256 of a prior to use in place of the file's own.
//
//go:wasmexport mq_open
func Open(n, m int32) int32 {
	return guard(func() (int32, error) {
		if err := state.memory.Reserve(8 * int(n)); err != nil { // of numbers of 4 bytes two of 8, and as much again to grow
			return 0, err
		}
		if other := state.priors[text(n, m)]; other != nil {
			return handle(metaqda.OpenUnder(bytes(0, n), other))
		}
		return handle(metaqda.Open(bytes(0, n), slices.Collect(maps.Values(state.priors))...))
	})
}

// Merge makes a classifier of two and returns its handle.
//
//go:wasmexport mq_merge
func Merge(g, h int32) int32 {
	return with(g, func(a *metaqda.Classifier) (int32, error) {
		b, err := of(h)
		if err != nil {
			return 0, err
		}
		return handle(metaqda.Merge(a, b))
	})
}

// Free forgets a classifier and its watches.
//
//go:wasmexport mq_free
func Free(h int32) {
	delete(state.handles, h)
	for n, w := range state.watches {
		if w.of == h {
			delete(state.watches, n)
		}
	}
}

// Configure changes settings.
//
//go:wasmexport mq_configure
func Configure(h int32, none float64) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		return 0, c.Configure(metaqda.Settings{NonePrior: none, Scale: c.Settings().Scale})
	})
}

// Identify tells which feature extractor gives the vectors: its id in the room's first
// n bytes, its sha256 in the m after them.
//
//go:wasmexport mq_identify
func Identify(h, n, m int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		return 0, c.Identify(model.Extractor{ID: text(0, n), SHA256: text(n, m)})
	})
}

// Add adds the room's first d numbers to a class whose label are the n bytes after
// them, and to a group named by the m after those; it replies the id.
//
//go:wasmexport mq_add
func Add(h, d, n, m int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		return reply(c.Add(text(4*d, n), text(4*d+n, m), vector(d)))
	})
}

// reply replies text.
func reply(s string, err error) (int32, error) {
	state.reply = append(state.reply[:0], s...)
	return int32(len(s)), err
}

// labelIn answers the label of the class that has a name, or one that people take for the
// same, or else the name as a new class would have it.
func labelIn(c *metaqda.Classifier, name string) (string, error) {
	if k, ok := c.Find(name); ok {
		return k.Label, nil
	}
	return metaqda.CleanLabel(name)
}

// Change does to a classifier what the room's texts of n and m bytes say, by a number:
// removes the example n, adds, removes or renames the class n, moves the example n to the
// class m, merges the class n into m, undoes and redoes; 8 changes nothing and replies the
// label n as it is kept. It replies the id of what was added, or the name of what was undone or
// redone, empty for nothing.
//
//go:wasmexport mq_change
func Change(h, what, n, m int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		switch a, b := text(0, n), text(n, m); what {
		case 0:
			return 0, c.Remove(a)
		case 1:
			return reply(c.AddClass(a))
		case 2:
			return 0, c.RemoveClass(a)
		case 3:
			return 0, c.RenameClass(a, b)
		case 4:
			return 0, c.Move(a, b)
		case 5:
			return 0, c.MergeClasses(a, b)
		case 6:
			return step(c.Undo())
		case 7:
			return step(c.Redo())
		case 8:
			return reply(labelIn(c, a))
		}
		return 0, nil
	})
}

// Unscaled returns 1 where a scale would help, see [metaqda.Classifier.Unscaled].
//
//go:wasmexport mq_unscaled
func Unscaled(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (n int32, err error) {
		if c.Unscaled() {
			n = 1
		}
		return n, nil
	})
}

func step(s *metaqda.Step, err error) (int32, error) {
	if s == nil {
		return 0, err
	}
	return reply(s.Name, nil)
}

// Describe replies the length of vectors (32 bits), the prior probability of none, 1 where
// vectors are standardised, the number of classes, and for each the number of its examples; then lines: what would be
// undone and redone, and for each class its label and the ids of its examples.
//
//go:wasmexport mq_describe
func Describe(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		put := func(n int) { state.reply = binary.LittleEndian.AppendUint32(state.reply, uint32(n)) }
		state.reply = state.reply[:0]
		put(c.Dim())
		state.reply = binary.LittleEndian.AppendUint64(state.reply, math.Float64bits(c.Settings().NonePrior))
		scaled := 0
		if c.Settings().Scale == model.Standardise {
			scaled = 1
		}
		put(scaled)
		put(c.Len())
		undo, redo := c.Next()
		lines := []byte(undo + "\n" + redo)
		for _, k := range c.Classes() {
			put(len(k.Examples))
			lines = append(append(lines, '\n'), k.Label...)
			for _, x := range k.Examples {
				lines = append(append(lines, '\n'), x.ID...)
			}
		}
		state.reply = append(state.reply, lines...)
		return int32(len(state.reply)), nil
	})
}

// Save replies the bytes of a classifier file.
//
//go:wasmexport mq_save
func Save(h int32) int32 {
	return file(h, (*metaqda.Classifier).Save)
}

// Export replies the bytes of a file for other programs.
//
//go:wasmexport mq_export
func Export(h int32) int32 {
	return file(h, (*metaqda.Classifier).Export)
}

func file(h int32, write func(*metaqda.Classifier) ([]byte, error)) int32 {
	return with(h, func(c *metaqda.Classifier) (n int32, err error) {
		state.reply, err = write(c)
		return int32(len(state.reply)), err
	})
}
