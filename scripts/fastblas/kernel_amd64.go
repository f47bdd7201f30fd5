package fastblas

// dot2x4 stores the eight inner products of two rows of a with four rows of b
// in out, row by row. k is a positive multiple of four.
//
//go:noescape
func dot2x4(k int, a *float64, lda int, b *float64, ldb int, out *[8]float64)

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

func xgetbv() uint32

// available reports whether processor and operating system support AVX2 and
// fused multiply-add.
var available = func() bool {
	const fma, osxsave, avx2, ymm = 1 << 12, 1 << 27, 1 << 5, 1<<1 | 1<<2
	if top, _, _, _ := cpuid(0, 0); top < 7 {
		return false
	}
	_, _, c, _ := cpuid(1, 0)
	_, b, _, _ := cpuid(7, 0)
	return c&fma != 0 && c&osxsave != 0 && b&avx2 != 0 && xgetbv()&ymm == ymm
}()
