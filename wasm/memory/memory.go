// Package memory refuses calls that need more memory than WebAssembly can give. A Go program that
// runs out of memory stops and loses everything. A call that is refused beforehand fails alone.
package memory

import (
	"runtime"
	"strconv"

	metaqda "metaqda/core"
)

// Most is how many bytes a program may hold. Those in use count twice, because a slice that grows
// is there twice. It is half of the 4 GiB that WebAssembly can address. The other half is lost to
// places that slices have outgrown. With 20,000 vectors of 5,000 numbers, added 2,000 at a time, a
// program stopped at 1.1 GB in use.
const Most = 2 << 30

// Budget counts what calls were granted since memory was last measured.
type Budget struct {
	Most int        // bytes that may be granted, with twice those in use
	Used func() int // bytes in use; nil for those of the Go heap
	free int
	idle int // bytes that the heap has and does not use
}

// Reserve grants so many bytes, or returns a [metaqda.Error] with the code "memory". It measures
// the memory in use only once all that was free the last time is granted.
func (b *Budget) Reserve(bytes int) error {
	if bytes > b.free {
		b.free = b.Most - 2*b.used()
	}
	if bytes > b.free {
		runtime.GC()
		b.free = b.Most - 2*b.used()
	}
	if bytes > b.free {
		return &metaqda.Error{Code: "memory", Message: "This needs about " + megabytes(bytes) + " of memory, and " + megabytes(max(0, b.free)) +
			" are free: use fewer or shorter vectors, or dispose of other classifiers."}
	}
	b.free -= bytes
	b.grow(bytes)
	return nil
}

// grow makes the heap large enough for so many bytes, in one step, where they are many beside those
// in use. By itself it grows by half a megabyte at a time, and V8 collects its own garbage almost
// each time that its memory grows: with 1,000 classes that took seconds.
func (b *Budget) grow(bytes int) {
	if b.Used != nil {
		return
	}
	if bytes > b.idle && b.short(bytes) {
		if runtime.GC(); b.short(bytes) {
			runtime.KeepAlive(make([]byte, bytes)) // is garbage at once, and its place stays
			b.idle = bytes
		}
	}
	b.idle = max(0, b.idle-bytes)
}

// short measures what the heap has and does not use, and reports whether so many bytes are more
// than that, and many beside those in use.
func (b *Budget) short(bytes int) bool {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.idle = int(m.HeapIdle)
	return bytes > b.idle && bytes > int(m.HeapInuse)/2
}

func (b *Budget) used() int {
	if b.Used != nil {
		return b.Used()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func megabytes(bytes int) string { return strconv.Itoa((bytes+999_999)/1_000_000) + " MB" }
