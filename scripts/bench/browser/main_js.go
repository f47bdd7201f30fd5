//go:build js && wasm

// Command browser is the part of the benchmark that runs in a page. It gives web/test/bench/page.js
// the operations of package measure, as functions of the global object metaqdaBench.
//
// It times the core alone. Enrol takes the bytes of a Float32Array.
package main

import (
	"runtime"
	"syscall/js"
	"unsafe"

	"metaqda/scripts/bench/measure"
	"metaqda/wasm/simd"
)

// state is the state of the functions.
type state struct {
	w     *measure.Workload
	x     []float32
	reset func() // of the operation prepared last
	op    func()
	name  string
}

func main() {
	var s state
	api := map[string]any{"simd": simd.Install()}
	for name, f := range map[string]func(args []js.Value) any{
		"setup": s.setup, "enrol": s.enrol, "remove": s.remove, "prepare": s.prepare, "run": s.run,
		"bytes": s.bytes, "examples": s.examples, "query": s.query, "heap": s.heap, "probabilities": s.probabilities,
	} {
		api[name] = js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })
	}
	js.Global().Set("metaqdaBench", js.ValueOf(api))
	select {}
}

// setup(dimension, classes, shots) makes the workload.
func (s *state) setup(args []js.Value) any {
	s.w = nil
	runtime.GC()
	s.w = measure.New(measure.Case{Dimension: args[0].Int(), Classes: args[1].Int(), Shots: args[2].Int()})
	s.x = make([]float32, s.w.Dimension)
	return nil
}

// probabilities() returns the probabilities of the classes for the query.
func (s *state) probabilities([]js.Value) any {
	var p []any
	for _, v := range s.w.Predict(s.w.Query) {
		p = append(p, v)
	}
	return p
}

// take copies an embedding; both machines are little-endian.
func (s *state) take(bytes js.Value) []float32 {
	js.CopyBytesToGo(bytesOf(s.x), bytes)
	return s.x
}

// enrol(x) adds an example, remove() takes it out again.
func (s *state) enrol(args []js.Value) any {
	s.w.Enrol(s.take(args[0]))
	return nil
}

func (s *state) remove([]js.Value) any {
	s.w.Remove()
	return nil
}

// prepare(name) chooses the operation of run and bytes; prepare("") leaves the
// workload as it was.
func (s *state) prepare(args []js.Value) any {
	if s.name != "" {
		s.w.Done(s.name)
	}
	if s.name = args[0].String(); s.name != "" {
		s.op, s.reset = s.w.Operation(s.name)
	}
	return nil
}

func (s *state) run([]js.Value) any {
	s.op()
	return nil
}

// bytes(n) returns what the chosen operation allocates, the mean of n.
func (s *state) bytes(args []js.Value) any { return measure.BytesPerOp(s.op, s.reset, args[0].Int()) }

// examples() and query() return the embeddings, for others to classify.
func (s *state) examples([]js.Value) any { return float32Array(s.w.Examples) }
func (s *state) query([]js.Value) any    { return float32Array(s.w.Query) }

// heap() returns the bytes in use after a collection.
func (s *state) heap([]js.Value) any {
	runtime.GC()
	runtime.GC() // what the finalizers of the first one let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func float32Array(x []float32) js.Value {
	raw := js.Global().Get("Uint8Array").New(4 * len(x))
	js.CopyBytesToJS(raw, bytesOf(x))
	return js.Global().Get("Float32Array").New(raw.Get("buffer"))
}

// bytesOf returns the memory of a slice of numbers.
func bytesOf[T float32 | float64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}
