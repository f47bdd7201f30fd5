// Command wasi is the engine of the Python package: package metaqda/core as a WASI reactor, for
// any WebAssembly runtime. scripts/python/metaqda/_engine.py is the other side.
// web/library/WASI.md is for others; `go run ./scripts/wasi` writes its table from the comments here.
//
// The host calls mq_room for an address, writes its input there, and calls a function. The
// input is vectors, little-endian float32 row by row, or bytes of a file, and then UTF-8 JSON.
// The function returns the number of bytes of its reply, which starts at the address that
// mq_reply returns. A comment says so if it returns something else. A negative number is the
// length of an error instead: JSON {"code", "message"} with a code of [metaqda.Code]. Handles
// count up from 1. One instance serves one thread at a time.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	metaqda "metaqda/core"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/wasm/memory"
)

func main() {} // never runs in a reactor

var state = struct {
	room    []float64 // input, aligned for any number
	reply   []byte
	numbers []float64 // a reply of numbers, which reply shares
	handles map[int32]*metaqda.Classifier
	watches map[int32]watching
	last    int32                     // of both
	priors  map[string]*metaqda.Prior // by sha256 of their files
	memory  memory.Budget
}{handles: map[int32]*metaqda.Classifier{}, watches: map[int32]watching{}, priors: map[string]*metaqda.Prior{}, memory: memory.Budget{Most: memory.Most}}

// guard turns errors and panics into replies.
func guard(f func() (int, error)) (n int32) {
	defer func() {
		if r := recover(); r != nil {
			n = fail(&metaqda.Error{Code: "internal", Message: fmt.Sprintf("This is a mistake in metaqda (%v): please report it.", r)})
		}
	}()
	length, err := f()
	if err != nil {
		return fail(err)
	}
	return int32(length)
}

func fail(err error) int32 {
	n, _ := replyJSON(map[string]string{"code": metaqda.Code(err), "message": err.Error()})
	return -int32(n)
}

func reply(b []byte, err error) (int, error) {
	state.reply = b
	return len(b), err
}

func replyJSON(v any) (int, error) { return reply(json.Marshal(v)) }

// replyNumbers replies float64 numbers.
func replyNumbers(x []float64) (int, error) {
	state.numbers = x
	return reply(bytesOf(x), nil)
}

func bytesOf(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
}

// bytes returns n bytes of the room.
func bytes(from, n int32) []byte { return bytesOf(state.room)[from : from+n] }

// vectors returns the first n numbers of the room.
func vectors(n int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(state.room))), 2*len(state.room))[:n]
}

// read decodes n bytes of JSON in the room.
func read(from, n int32, v any) error {
	if err := json.Unmarshal(bytes(from, n), v); err != nil {
		return &metaqda.Error{Code: "argument", Message: "The JSON in the room cannot be read: " + err.Error()}
	}
	return nil
}

// with calls f for a classifier.
func with(h int32, f func(c *metaqda.Classifier) (int, error)) int32 {
	return guard(func() (int, error) {
		c := state.handles[h]
		if c == nil {
			return 0, &metaqda.Error{Code: "disposed", Message: "There is no such classifier: create or open one."}
		}
		return f(c)
	})
}

func handle(c *metaqda.Classifier, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	state.last++
	state.handles[state.last] = c
	c.Reserve = state.memory.Reserve
	return int(state.last), nil
}

// Room returns the address of n bytes for input, or a negative number for an error. The next
// call of it frees them.
//
//go:wasmexport mq_room
func Room(n int32) int64 {
	state.room = nil
	if failed := guard(func() (int, error) { return 0, state.memory.Reserve(int(n)) }); failed < 0 {
		return int64(failed)
	}
	state.room = make([]float64, (int(n)+7)/8)
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(state.room))))
}

// Reply returns the address of the last reply. The next call frees it.
//
//go:wasmexport mq_reply
func Reply() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.reply)) }

// Prior reads a prior file of n bytes. It replies {"sum", "dimension", "extractor"}. [Create] and
// [Open] find the prior by its sum, the sha256 of the file.
//
//go:wasmexport mq_prior
func Prior(n int32) int32 {
	return guard(func() (int, error) {
		p, err := metaqda.DecodePrior(slices.Clone(bytes(0, n)))
		if err != nil {
			return 0, err
		}
		state.priors[p.Sum()] = p
		return replyJSON(map[string]any{"sum": p.Sum(), "dimension": p.Dim(), "extractor": extractorOf(p.Extractor())})
	})
}

type extractor struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

func extractorOf(x model.Extractor) extractor { return extractor{x.ID, x.SHA256} }

// known returns the prior with a sum, nil for "".
func known(sum string) (*metaqda.Prior, error) {
	p := state.priors[sum]
	if sum != "" && p == nil {
		return nil, &metaqda.Error{Code: "prior", Message: "There is no prior with sha256 " + sum + ": hand over its file first."}
	}
	return p, nil
}

// Create makes a classifier by n bytes of JSON, {"nonePrior", "scale", "name", "prior",
// "extractor"}, and returns its handle. Everything may be left out. nonePrior is the probability of
// none of the classes beforehand, 0 if left out; the Python package gives 0.2. scale is
// "standardise" for columns with units of their own. prior is a sum that [Prior] replied.
// extractor is {"id", "sha256"}.
//
//go:wasmexport mq_create
func Create(n int32) int32 {
	return guard(func() (int, error) {
		var o struct {
			NonePrior          float64
			Scale, Name, Prior string
			Extractor          extractor
		}
		if err := read(0, n, &o); err != nil {
			return 0, err
		}
		p, err := known(o.Prior)
		if err != nil {
			return 0, err
		}
		c, err := metaqda.New(metaqda.Settings{NonePrior: o.NonePrior, Scale: o.Scale}, p)
		if err == nil && o.Extractor.ID != "" {
			err = c.Identify(metaqda.Extractor{ID: o.Extractor.ID, SHA256: o.Extractor.SHA256})
		}
		if err == nil {
			c.Name = o.Name
		}
		return handle(c, err)
	})
}

// Open reads a classifier file of n bytes and returns a handle. m bytes of JSON follow the
// file: {"prior"} is the sum of another prior to use. Without it the priors that were read must
// include the one that the file names.
//
//go:wasmexport mq_open
func Open(n, m int32) int32 {
	return guard(func() (int, error) {
		if err := state.memory.Reserve(8 * int(n)); err != nil { // float32 in, float64 kept, and room to grow
			return 0, err
		}
		var o struct{ Prior string }
		if err := read(n, m, &o); err != nil {
			return 0, err
		}
		p, err := known(o.Prior)
		switch {
		case err != nil:
			return 0, err
		case p != nil:
			return handle(metaqda.OpenUnder(bytes(0, n), p))
		}
		return handle(metaqda.Open(bytes(0, n), slices.Collect(maps.Values(state.priors))...))
	})
}

// Free forgets a classifier and its watches.
//
//go:wasmexport mq_free
func Free(h int32) {
	delete(state.handles, h)
	maps.DeleteFunc(state.watches, func(_ int32, w watching) bool { return w.of == h })
}

// Configure sets the prior probability of none of the classes. It returns 0.
//
//go:wasmexport mq_configure
func Configure(h int32, nonePrior float64) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		return 0, c.Configure(metaqda.Settings{NonePrior: nonePrior, Scale: c.Settings().Scale})
	})
}

// Add adds n vectors of d numbers, all or none. m bytes of JSON follow: {"labels", "of",
// "groups"}. labels are the names of classes; those without an example are added, too. of has
// an index into labels for each vector. groups has the name of a burst for each, "" for none,
// or is left out. It replies {"ids", "labels"}: of the examples, and labels as classes have them.
//
//go:wasmexport mq_add
func Add(h, n, d, m int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		var o struct {
			Labels, Groups []string
			Of             []int
		}
		if err := read(4*n*d, m, &o); err != nil {
			return 0, err
		}
		if len(o.Of) != int(n) || o.Groups != nil && len(o.Groups) != int(n) {
			return 0, &metaqda.Error{Code: "argument", Message: fmt.Sprintf("There are %d vectors, %d labels and %d groups: give one of each for each vector.", n, len(o.Of), len(o.Groups))}
		}
		if err := apart(o.Labels); err != nil {
			return 0, err
		}
		labels, examples, all := make([]string, n), make([]metaqda.Example, n), vectors(n*d)
		for i, k := range o.Of {
			if k < 0 || k >= len(o.Labels) {
				return 0, &metaqda.Error{Code: "argument", Message: fmt.Sprintf("There is no label %d: give an index from 0 to %d.", k, len(o.Labels)-1)}
			}
			labels[i] = o.Labels[k]
			examples[i].Vector = all[i*int(d) : (i+1)*int(d)]
			if o.Groups != nil {
				examples[i].Group = o.Groups[i]
			}
		}
		ids, err := c.AddAll(labels, examples)
		if err != nil {
			return 0, err
		}
		for i, label := range o.Labels {
			if _, there := c.Find(label); !there {
				if _, err := c.AddClass(label); err != nil {
					return 0, err
				}
			}
			k, _ := c.Find(label)
			o.Labels[i] = k.Label
		}
		return replyJSON(map[string][]string{"ids": ids, "labels": o.Labels})
	})
}

// apart refuses labels that would be no class, or two of them the same one.
func apart(labels []string) error {
	folded := map[string]string{}
	for _, label := range labels {
		clean, err := metaqda.CleanLabel(label)
		if err != nil {
			return err
		}
		key := model.FoldLabel(clean)
		if other, there := folded[key]; there {
			return &lda.LabelError{Label: label, Reason: fmt.Sprintf("looks like %q, which would be the same class: rename one of them", other)}
		}
		folded[key] = label
	}
	return nil
}

// Describe replies what a classifier is, as JSON: {"dimension", "name", "extractor", "prior",
// "nonePrior", "scale", "unscaled", "classes": [{"label", "ids"}]}.
//
//go:wasmexport mq_describe
func Describe(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) {
		type class struct {
			Label string   `json:"label"`
			IDs   []string `json:"ids"`
		}
		classes := []class{}
		for _, k := range c.Classes() {
			ids := make([]string, len(k.Examples))
			for i, x := range k.Examples {
				ids[i] = x.ID
			}
			classes = append(classes, class{k.Label, ids})
		}
		prior := ""
		if p := c.Prior(); p != nil {
			prior = p.Sum()
		}
		s := c.Settings()
		return replyJSON(map[string]any{
			"dimension": c.Dim(), "name": c.Name, "extractor": extractorOf(c.Extractor), "prior": prior,
			"nonePrior": s.NonePrior, "scale": s.Scale, "unscaled": c.Unscaled(), "classes": classes,
		})
	})
}

// Save replies the bytes of a classifier file.
//
//go:wasmexport mq_save
func Save(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) { return reply(c.Save()) })
}

// Export replies the bytes of a file for other programs.
//
//go:wasmexport mq_export
func Export(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int, error) { return reply(c.Export()) })
}
