package memory

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	metaqda "metaqda/core"
	"metaqda/core/test"
)

// A call that would run out of memory is refused whole, and others go on.
func TestWhatFindsNoMemoryFailsAlone(t *testing.T) {
	measured := 0
	b := &Budget{Most: 1_000_000, Used: func() int { measured++; return 0 }}
	a, c := &metaqda.Classifier{Reserve: b.Reserve}, &metaqda.Classifier{Reserve: b.Reserve}
	x := metaqda.Example{Vector: make([]float32, 100)}
	x.Vector[0] = 1
	test.Must(a.AddAll([]string{"a", "b"}, []metaqda.Example{x, x}))(t)
	if measured != 1 {
		t.Errorf("memory was measured %d times", measured)
	}
	many := slices.Repeat([]metaqda.Example{x}, 1000)
	refused := func(what string, err error) {
		t.Helper()
		if metaqda.Code(err) != "memory" || !strings.Contains(err.Error(), " MB are free: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := c.AddAll(slices.Repeat([]string{"a"}, 1000), many)
	refused("add", err)
	if c.Len() != 0 || c.Dim() != 0 {
		t.Errorf("%d classes and %d numbers are left", c.Len(), c.Dim())
	}
	batch := slices.Repeat([][]float32{x.Vector}, 1000)
	_, err = a.Classify(nil, batch, nil)
	refused("classify", err)
	_, err = a.Suggest(nil, batch, 5, nil)
	refused("suggest", err)
	test.Must(a.LeaveOneOut(nil, nil))(t)
	a.Reserve = (&Budget{Most: 1000, Used: func() int { return 495 }}).Reserve
	_, err = a.LeaveOneOut(nil, nil)
	refused("leave out", err)
	_, err = a.Clone()
	refused("clone", err)
	test.Must(a.Predict(x.Vector))(t)
}

// What a call was granted is there before it begins: the heap does not grow while the call works.
func TestTheHeapGrowsAtOnce(t *testing.T) {
	system := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapSys
	}
	const granted = 256 << 20
	b := &Budget{Most: Most}
	before := system()
	test.OK(t, b.Reserve(granted))
	grown := system()
	if grown < before+granted/2 {
		t.Errorf("the heap has %d bytes, and had %d", grown, before)
	}
	runtime.GC()
	var all [][]byte
	for range granted / 2 / 10_240 {
		all = append(all, make([]byte, 10_240))
	}
	const little = 1 << 20 // stacks and the like
	if now := system(); now > grown+little {
		t.Errorf("the heap grew from %d to %d bytes", grown, now)
	}
	runtime.KeepAlive(all)
	test.OK(t, b.Reserve(1000))
	if now := system(); now > grown+little {
		t.Errorf("it grew for a thousand bytes from %d to %d", grown, now)
	}
	all = nil // garbage, which makes room
	test.OK(t, (&Budget{Most: Most}).Reserve(granted*3/4))
	if now := system(); now > grown+little {
		t.Errorf("it grew beside garbage from %d to %d", grown, now)
	}
}

func TestANegativeSizeGrantsNothing(t *testing.T) {
	b := &Budget{Most: 1000, Used: func() int { return 0 }}
	test.OK(t, b.Reserve(-1<<40))
	if err := b.Reserve(1 << 39); metaqda.Code(err) != "memory" {
		t.Errorf("error %v", err)
	}
}
