//go:build js && wasm

package simd

// The kernels, see kernels/index.ts. Pointers arrive there as addresses in the
// shared memory; Go's collector moves nothing, and nothing else runs during a
// call. None of them keeps a pointer.

//go:wasmimport simd available
func available() int32

//go:wasmimport simd ddot
//go:noescape
func ddot(n int32, x, y *float64) float64

//go:wasmimport simd daxpy
//go:noescape
func daxpy(n int32, alpha float64, x, y *float64)

//go:wasmimport simd dscal
//go:noescape
func dscal(n int32, alpha float64, x *float64)

//go:wasmimport simd dgemv
//go:noescape
func dgemv(trans bool, m, n int32, alpha float64, a *float64, lda int32, x, y *float64)

//go:wasmimport simd dtrsv
//go:noescape
func dtrsv(lower, trans, unit bool, n int32, a *float64, lda int32, x *float64)

//go:wasmimport simd dgemm
//go:noescape
func dgemm(part, m, n, k int32, alpha float64, a *float64, aRow, aCol int32, b *float64, bRow, bCol int32, c *float64, ldc int32, scratch *float64)

//go:wasmimport simd dgemmNT
//go:noescape
func dgemmNT(m, n, k int32, alpha float64, a *float64, lda int32, b *float64, ldb int32, c *float64, ldc int32)

//go:wasmimport simd dtrsm
//go:noescape
func dtrsm(unit bool, m, n int32, a *float64, aRow, aCol int32, b *float64, bRow, bCol int32, scratch *float64)
