// Package exports exports metaqda/core as functions that take and return numbers. Every program
// that imports it exports them: the page's (metaqda/wasm), the npm package's
// (metaqda/wasm/library), and the WASI reactor of the Python package and of other runtimes.
// web/engine/exports.js and scripts/python/metaqda/_engine.py call them. web/library/WASI.md
// documents them; `go run ./scripts/wasi` writes its table from the comments here.
//
// The host calls mq_room for an address, writes its input there, and calls a function. The input is
// vectors, little-endian float32 row by row, or bytes, or texts in UTF-8. The function returns what
// its comment says. mq_reply returns the address of its reply, bytes, and mq_answer the address of
// its answer, float64 numbers. If a function returns a negative number, the reply is an error of
// this length: a code of [metaqda.Code], a line feed and a sentence. Classifiers, watches, jobs and
// additions have numbers from 1 on. In a program that keeps a session, 0 is the classifier of that
// session. One instance serves one thread at a time.
//
// The functions reach page and storage only through [Session]. They do not use syscall/js: a call
// takes about a microsecond, and through syscall/js ten.
package exports

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"
	"unsafe"

	metaqda "metaqda/core"
	"metaqda/core/lda"
	"metaqda/core/model"
	"metaqda/wasm/memory"
)

var state = struct {
	room    []float64 // room for what comes, aligned for any number
	reply   []byte
	answer  []float64           // a reply of numbers
	asked   []float64           // the answer of the last [Predict], if it was about one vector
	askedOf *metaqda.Classifier // that gave it
	handles map[int32]*metaqda.Classifier
	batches map[int32]*batch
	watches map[int32]watching
	bulks   map[int32]bulk
	last    int32 // of all four
	memory  *memory.Budget
	priors  map[string]*metaqda.Prior // by sha256 of their files
}{handles: map[int32]*metaqda.Classifier{}, batches: map[int32]*batch{}, watches: map[int32]watching{}, bulks: map[int32]bulk{}, priors: map[string]*metaqda.Prior{}, memory: memory.OfHeap()}

// Session is a session that its program keeps and shows. It has functions, because an interface would
// make the linker keep more of the program.
type Session struct {
	// Ask calls f with the classifier. If vectors is true, it first checks that vectors of the current
	// extractor can be compared with those of the session.
	Ask func(vectors bool, f func(c *metaqda.Classifier) error) error
	// Change calls f, which may change the classifier, and notes what it changed. If vectors is true, it
	// first checks that the session accepts vectors of the current extractor.
	Change func(vectors bool, f func(c *metaqda.Classifier) error) error
}

// Current is the session with the handle 0. It is empty in a program that keeps no session.
var Current Session

// guard turns errors and panics into replies.
func guard(f func() (int32, error)) (n int32) {
	defer func() {
		if r := recover(); r != nil {
			text := "unknown"
			switch r := r.(type) {
			case *metaqda.Error: // of bytes and vector
				n = fail(r)
				return
			case error:
				text = r.Error()
			case string:
				text = r
			}
			n = fail(&metaqda.Error{Code: "internal", Message: "This is a mistake in metaqda (" + text + "): please report it."})
		}
	}()
	if cap(state.reply) > 1<<20 {
		state.reply = nil // a file: its bytes would count as in use
	}
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

// Functions that most exports call are not inlined: the program is 20 kB smaller.

// part returns the address of n numbers of so many bytes each in the room, after from bytes. It panics
// with an error of the caller unless the room has them.
//
//go:noinline
func part(from, n, size int64) unsafe.Pointer {
	if from < 0 || n < 0 || n > (8*int64(len(state.room))-from)/size {
		panic(errShort)
	}
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(state.room)), from)
}

var errShort = &metaqda.Error{Code: "argument", Message: "The input is shorter than the call says, or a number is impossible: ask mq_room for all of the input."}

// bytes returns n bytes of the room, after so many others.
//
//go:noinline
func bytes(from, n int32) []byte {
	return unsafe.Slice((*byte)(part(int64(from), int64(n), 1)), n)
}

// vector returns the first n numbers of the room.
//
//go:noinline
func vector(n int32) []float32 { return vectors(n, 1) }

// vectors returns n vectors of d numbers of the room. It passes a negative n on to part, which refuses
// it. Otherwise the product of two negative numbers would be accepted.
//
//go:noinline
func vectors(n, d int32) []float32 {
	all := int64(n) * int64(d)
	return unsafe.Slice((*float32)(part(int64(min(n, 0)), all, 4)), all)
}

//go:noinline
func text(from, n int32) string { return string(bytes(from, n)) }

// handle stores a classifier and returns its new handle.
//
//go:noinline
func handle(c *metaqda.Classifier, err error) (int32, error) {
	if err != nil {
		return 0, err
	}
	state.last++
	state.handles[state.last] = c
	c.Reserve = state.memory.Reserve
	return state.last, nil
}

// classifier returns the classifier with a handle other than 0.
func classifier(h int32) (*metaqda.Classifier, error) {
	if c := state.handles[h]; c != nil {
		return c, nil
	}
	return nil, &metaqda.Error{Code: "disposed", Message: "This classifier was disposed of: create another one."}
}

// with calls f for a classifier.
//
//go:noinline
func with(h int32, f call) int32 { return through(Current.Ask, false, h, f) }

// comparing calls f, which compares vectors with the examples of a classifier.
//
//go:noinline
func comparing(h int32, f call) int32 { return through(Current.Ask, true, h, f) }

// changing calls f, which changes a classifier.
//
//go:noinline
func changing(h int32, f call) int32 { return through(Current.Change, false, h, f) }

// adding calls f, which adds vectors to a classifier.
//
//go:noinline
func adding(h int32, f call) int32 { return through(Current.Change, true, h, f) }

// call is the work of a function on a classifier. It returns the result of the function.
type call func(c *metaqda.Classifier) (int32, error)

// through calls f for a classifier. For the classifier of the open session it uses a method of the
// session.
//
//go:noinline
func through(way func(bool, func(*metaqda.Classifier) error) error, vectors bool, h int32, f call) int32 {
	return guard(func() (n int32, err error) {
		if h == 0 && way != nil {
			err = way(vectors, func(c *metaqda.Classifier) (err error) {
				n, err = f(c)
				return err
			})
			return n, err
		}
		c, err := classifier(h)
		if err != nil {
			return 0, err
		}
		return f(c)
	})
}

// Room returns the address of n bytes for input, or a negative number for an error. The host may
// use them until the next call of Room.
//
//go:wasmexport mq_room
func Room(n int64) int64 {
	state.room = nil
	if failed := guard(func() (int32, error) {
		if n < 0 {
			return 0, &metaqda.Error{Code: "argument", Message: "There is no room of " + strconv.FormatInt(n, 10) + " bytes: give 0 or more."}
		}
		return 0, state.memory.Reserve(int(n))
	}); failed < 0 {
		return int64(failed)
	}
	state.room = make([]float64, (n+7)/8)
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(state.room))))
}

// Reply returns the address of the last reply. The next call frees it.
//
//go:wasmexport mq_reply
func Reply() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.reply)) }

// Answer returns the address of the last answer. The next call frees it.
//
//go:wasmexport mq_answer
func Answer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(state.answer)) }

// Prior reads a prior file of n bytes. The reply is the sha256 of the file, by which [Create] and
// [OpenFile] find the prior. It returns the length of the reply.
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

// known returns the prior with a sum, nil for "".
func known(sum string) (*metaqda.Prior, error) {
	p := state.priors[sum]
	if sum != "" && p == nil {
		return nil, &metaqda.Error{Code: "prior", Message: "There is no prior with sha256 " + strconv.Quote(sum) + ": hand over its file first."}
	}
	return p, nil
}

// Create makes a classifier and returns its handle. nonePrior is the prior probability of none of
// the classes; the packages pass 0.2. The input has three texts: the sha256 of a prior, from
// [Prior], n bytes; a name, m bytes; and "standardise" for columns with different units, k bytes.
// All may be empty.
//
//go:wasmexport mq_create
func Create(nonePrior float64, n, m, k int32) int32 {
	return guard(func() (int32, error) {
		p, err := known(text(0, n))
		if err != nil {
			return 0, err
		}
		c, err := metaqda.New(metaqda.Settings{NonePrior: nonePrior, Scale: text(n+m, k)}, p)
		if err == nil {
			c.Name = text(n, m)
		}
		return handle(c, err)
	})
}

// OpenFile reads a classifier file of n bytes and returns a handle. m bytes follow the file: the sha256
// of another prior to use. If m is 0, the prior that the file names must have been read.
//
//go:wasmexport mq_open
func OpenFile(n, m int32) int32 {
	return guard(func() (int32, error) {
		if err := state.memory.Reserve(4 * int(n)); err != nil { // each number is kept as float32 and float64; the file counts twice already
			return 0, err
		}
		other, err := known(text(n, m))
		switch {
		case err != nil:
			return 0, err
		case other != nil:
			return handle(metaqda.OpenUnder(bytes(0, n), other))
		}
		return handle(metaqda.Open(bytes(0, n), slices.Collect(maps.Values(state.priors))...))
	})
}

// Merge makes one classifier from two, with the prior and settings of the first, and returns its
// handle.
//
//go:wasmexport mq_merge
func Merge(h, other int32) int32 {
	return with(h, func(a *metaqda.Classifier) (int32, error) {
		b, err := classifier(other)
		if err != nil {
			return 0, err
		}
		return handle(metaqda.Merge(a, b))
	})
}

// Free forgets a classifier, its watches, and all priors that no other classifier uses.
//
//go:wasmexport mq_free
func Free(h int32) {
	if state.askedOf == state.handles[h] {
		state.askedOf = nil
	}
	delete(state.handles, h)
priors:
	for sum, p := range state.priors {
		for _, c := range state.handles {
			if c.Prior() == p {
				continue priors
			}
		}
		delete(state.priors, sum)
	}
	for n, w := range state.watches {
		if w.classifier == h {
			delete(state.watches, n)
		}
	}
}

// Configure sets the prior probability of none of the classes. It returns 0.
//
//go:wasmexport mq_configure
func Configure(h int32, nonePrior float64) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) {
		return 0, c.Configure(metaqda.Settings{NonePrior: nonePrior, Scale: c.Settings().Scale})
	})
}

// Identify says which feature extractor makes the vectors: its id, n bytes, and its sha256, m bytes.
// Once set, it refuses another one. It returns 0.
//
//go:wasmexport mq_identify
func Identify(h, n, m int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		return 0, c.Identify(model.Extractor{ID: text(0, n), SHA256: text(n, m)})
	})
}

// Add adds a vector of d numbers to a class, which may be new: its label is n bytes of text. m bytes
// follow, the name of a burst, and then k bytes, a thumbnail that sessions keep. Both may be empty.
// The reply is the example's id. It returns the length of the reply.
//
//go:wasmexport mq_add
func Add(h, d, n, m, k int32) int32 {
	return adding(h, func(c *metaqda.Classifier) (int32, error) {
		x := metaqda.Example{Vector: vector(d), Group: text(4*d+n, m)}
		if k > 0 {
			x.Thumbnail = slices.Clone(bytes(4*d+n+m, k))
		}
		ids, err := c.AddAll([]string{text(4*d, n)}, []metaqda.Example{x})
		if err != nil {
			return 0, err
		}
		return reply(ids[0], nil)
	})
}

// reply writes a text to the reply and returns its length.
//
//go:noinline
func reply(s string, err error) (int32, error) {
	state.reply = append(state.reply[:0], s...)
	return int32(len(s)), err
}

// Labels finds the label for each of n texts. The reply is the labels, a line each. It returns the
// length of the reply. If a text is the label of a class, or looks like it, it gets this label. Any
// other text gets the label that a new class would have. It refuses two texts of one class. The
// lengths of the texts come first, as n whole numbers of 32 bits.
//
//go:wasmexport mq_labels
func Labels(h, n int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		state.reply = state.reply[:0]
		folded := map[string]string{}
		for _, name := range texts(n) {
			label, err := metaqda.CleanLabel(name)
			if k, ok := c.Find(name); ok {
				label = k.Label
			} else if err != nil {
				return 0, err
			}
			key := model.FoldLabel(label)
			if other, there := folded[key]; there {
				return 0, &lda.LabelError{Label: name, Reason: "looks like " + strconv.Quote(other) + ", which would be the same class: rename one of them"}
			}
			folded[key] = name
			if len(folded) > 1 {
				state.reply = append(state.reply, '\n')
			}
			state.reply = append(state.reply, label...)
		}
		return int32(len(state.reply)), nil
	})
}

// Has returns 1 if there is a class with a label, n bytes of text, or with a label that looks the same to
// people. Otherwise it returns 0.
//
//go:wasmexport mq_has
func Has(h, n int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		_, ok := c.Find(text(0, n))
		return int32(number(ok)), nil
	})
}

// texts returns n texts of the room, whose lengths come first.
func texts(n int32) []string {
	part(0, int64(n), 4) // or else n may be absurd
	all, at := make([]string, n), 4*n
	for i := range all {
		size := int32(binary.LittleEndian.Uint32(bytes(4*int32(i), 4)))
		all[i], at = text(at, size), at+size
	}
	return all
}

// AddClass adds a class without examples: its label is n bytes of text. It returns 0.
//
//go:wasmexport mq_add_class
func AddClass(h, n int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) {
		_, err := c.AddClass(text(0, n))
		return 0, err
	})
}

// RenameClass changes a label, n bytes of text, to another one, m bytes. It returns 0.
//
//go:wasmexport mq_rename_class
func RenameClass(h, n, m int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return 0, c.RenameClass(text(0, n), text(n, m)) })
}

// MergeClasses moves the examples of the class with a label, n bytes of text, to another class, m bytes,
// and removes the class. It returns 0.
//
//go:wasmexport mq_merge_classes
func MergeClasses(h, n, m int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return 0, c.MergeClasses(text(0, n), text(n, m)) })
}

// RemoveClass removes a class and its examples: its label is n bytes of text. It returns 0.
//
//go:wasmexport mq_remove_class
func RemoveClass(h, n int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return 0, c.RemoveClass(text(0, n)) })
}

// SetActions sets the actions of a class, m bytes of text. Its label is n bytes; an empty one means
// none of the classes. The host runs the actions. It returns 0.
//
//go:wasmexport mq_set_actions
func SetActions(h, n, m int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return 0, c.SetActions(text(0, n), text(n, m)) })
}

// Move moves an example to the end of a class. The example's id is n bytes of text, the label of the
// class m bytes. It returns 0.
//
//go:wasmexport mq_move
func Move(h, n, m int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return 0, c.Move(text(0, n), text(n, m)) })
}

// Remove removes an example: its id is n bytes of text. It returns 0.
//
//go:wasmexport mq_remove
func Remove(h, n int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return 0, c.Remove(text(0, n)) })
}

// Undo takes back the change of a step. The step's id is n bytes of text; if n is 0, it is the last
// step. The reply is the name of the change, empty if there was none. It returns the length of the
// reply.
//
//go:wasmexport mq_undo
func Undo(h, n int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) {
		if n > 0 {
			return step(c.UndoStep(text(0, n)))
		}
		return step(c.Undo())
	})
}

// Redo repeats the change that was undone last. Reply and result are as for [Undo].
//
//go:wasmexport mq_redo
func Redo(h int32) int32 {
	return changing(h, func(c *metaqda.Classifier) (int32, error) { return step(c.Redo()) })
}

func step(s *metaqda.Step, err error) (int32, error) {
	if s == nil {
		return 0, err
	}
	return reply(s.Name, nil)
}

// Unscaled returns 1 if "standardise" would help, otherwise 0. It helps if the columns of vectors of at
// most 256 numbers differ in spread by more than a hundredfold. It also helps if vectors of at most 32
// numbers differ in length by more than fourfold.
//
//go:wasmexport mq_unscaled
func Unscaled(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) { return int32(number(c.Unscaled())), nil })
}

// Describe describes a classifier. It returns the length of the reply. The reply begins with
// numbers, of 32 bits if not stated otherwise: the length of the vectors, the prior probability of
// none (float64), and 1 if it standardises. The number of classes follows, and the number of
// examples of each. Then come lines of text: the steps that undo and redo would take, and for each
// class its label and the ids of its examples.
//
//go:wasmexport mq_describe
func Describe(h int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		put := func(n int) { state.reply = binary.LittleEndian.AppendUint32(state.reply, uint32(n)) }
		state.reply = state.reply[:0]
		put(c.Dim())
		state.reply = binary.LittleEndian.AppendUint64(state.reply, math.Float64bits(c.Settings().NonePrior))
		put(int(number(c.Settings().Scale == model.Standardise)))
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

// About gives one text about a classifier: its name (0), the id (1) or the sha256 (2) of its feature
// extractor, or the sha256 of its prior (3), which is empty if the prior has no file. The reply is
// the text. It returns the length of the reply.
//
//go:wasmexport mq_about
func About(h, what int32) int32 {
	return with(h, func(c *metaqda.Classifier) (int32, error) {
		texts := [...]string{c.Name, c.Extractor.ID, c.Extractor.SHA256, ""}
		if p := c.Prior(); p != nil {
			texts[3] = p.Sum()
		}
		if what < 0 || int(what) >= len(texts) {
			return 0, errShort
		}
		return reply(texts[what], nil)
	})
}

// Save writes a classifier file to the reply and returns its number of bytes.
//
//go:wasmexport mq_save
func Save(h int32) int32 {
	return file(h, (*metaqda.Classifier).Save)
}

// Export writes a file for other programs to the reply and returns its number of bytes.
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
