// Package simd puts 128-bit SIMD kernels under gonum in the browser.
//
// Go's WebAssembly compiler emits no vector instructions. The kernels in
// kernels/ (AssemblyScript, about 4 KB compiled) do: they work on Go's own
// linear memory, which they import, and Go calls them as functions of module
// "simd". [Install] hands them to blas64 behind gonum's interface,
// so that gonum/mat and everything above runs on them without knowing.
//
// Routines: Dot, Axpy, Scal, Nrm2, Gemv, Trsv, Gemm, Syrk and Trsm in
// float64, for unit strides. Everything else, and whatever is too small to be worth a
// call, goes to gonum's own code, which also judges the arguments: a call
// with bad arguments panics exactly as it does there.
//
// Results differ from gonum's by rounding alone (sums are taken in another
// order), with one exception: gonum skips zeros in a factor, so that 0 times an
// infinity or NaN leaves no trace there; here, as in IEEE 754 and the reference
// BLAS of today, it gives NaN. A zero sum may also differ in sign.
//
// A program that imports this package needs the imports of module "simd" to
// be there: web/engine/kernels.js makes them for pages and workers, exec.mjs for Node.
// Without SIMD they are there too, and [Available] is false.
//
// It is not for native programs: there gonum has assembly of its own, and
// [Install] does nothing.
package simd
