package measure

import (
	"fmt"
	"testing"

	"metaqda/wasm/simd"
)

// BenchmarkOperations times every operation on the largest dimension, with the
// kernels where a runner offers them:
//
//	GOOS=js GOARCH=wasm go test -exec "node --stack-size=8192 $PWD/wasm/simd/exec.mjs" -bench . ./scripts/bench/measure
func BenchmarkOperations(b *testing.B) {
	simd.Install()
	for _, c := range []Case{{640, 5, 5}, {1280, 5, 5}, {1280, 100, 5}} {
		w := New(c)
		for _, name := range Operations {
			if !c.Measures(name) {
				continue
			}
			op, reset := w.Operation(name)
			b.Run(fmt.Sprintf("%s/%d/%d", name, c.Dimension, c.Classes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					op()
					if reset != nil {
						reset() // enrol and remove count together
					}
				}
			})
			w.Done(name)
		}
	}
}
