//go:build !amd64

package fastblas

const available = false

func dot2x4(k int, a *float64, lda int, b *float64, ldb int, out *[8]float64) {
	panic("fastblas: no kernel for this processor")
}
