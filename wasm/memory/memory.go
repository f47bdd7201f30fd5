// Package memory refuses calls that need more memory than WebAssembly can give. A Go program that
// runs out of memory stops and loses everything. If a call is refused first, only that call fails.
package memory

import (
	"runtime"
	"strconv"
	"sync"

	metaqda "metaqda/core"
)

// Most is how many bytes a program may hold. Bytes in use count twice, because a growing slice
// exists twice for a moment. It is half of the 4 GiB that WebAssembly can address. The other half
// is lost to fragments that growing slices leave behind. With 20,000 vectors of 5,000 numbers,
// added 2,000 at a time, a program stopped at 1.1 GB in use.
const Most = 2 << 30

// In a program that has just started, measuring takes some milliseconds. So small calls do without it.
const (
	atStart = 64 << 20  // bytes granted before the first measurement
	few     = 256 << 10 // less than half of the bytes in use from the start on
)

// Budget counts the bytes granted to calls since memory was last measured. Several goroutines may use it.
type Budget struct {
	mu   sync.Mutex
	Most int        // bound on the bytes granted plus twice the bytes in use
	Used func() int // bytes in use; nil for those of the Go heap
	free int
	idle int // bytes that the heap has and does not use
}

// OfHeap returns the budget of a program that has just started.
func OfHeap() *Budget { return &Budget{Most: Most, free: atStart} }

// Reserve grants a number of bytes, or returns a [metaqda.Error] with the code "memory". It measures
// the memory in use only if too few bytes are free by the last measurement.
func (b *Budget) Reserve(bytes int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	bytes = max(0, bytes)
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

// grow makes the heap large enough for a number of bytes in one step, if they are many beside those
// in use. By itself the heap grows by half a megabyte at a time. V8 collects its own garbage at
// almost each such step, which took seconds with 1,000 classes.
func (b *Budget) grow(bytes int) {
	if b.Used != nil || bytes < few {
		return
	}
	if bytes > b.idle && b.short(bytes) {
		if runtime.GC(); b.short(bytes) {
			runtime.KeepAlive(make([]byte, bytes)) // freed at once; the heap keeps its size
			b.idle = bytes
		}
	}
	b.idle = max(0, b.idle-bytes)
}

// short measures the idle bytes of the heap. It reports whether a number of bytes is larger than
// these, and larger than half of the bytes in use.
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
