#include "textflag.h"

// func dot2x4(k int, a *float64, lda int, b *float64, ldb int, out *[8]float64)
//
// Two rows of a, four of b, k a multiple of four: eight running sums of four
// products each hide the latency of the multiply-add units.
TEXT ·dot2x4(SB), NOSPLIT, $0-48
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ lda+16(FP), R8
	MOVQ b+24(FP), DI
	MOVQ ldb+32(FP), R9
	MOVQ out+40(FP), DX
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (SI)(R8*1), R10
	LEAQ (DI)(R9*1), R11
	LEAQ (DI)(R9*2), R12
	LEAQ (R11)(R9*2), R13
	XORQ AX, AX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

loop:
	VMOVUPD (SI)(AX*8), Y12
	VMOVUPD (R10)(AX*8), Y13
	VMOVUPD (DI)(AX*8), Y8
	VMOVUPD (R11)(AX*8), Y9
	VMOVUPD (R12)(AX*8), Y10
	VMOVUPD (R13)(AX*8), Y11
	VFMADD231PD Y8, Y12, Y0
	VFMADD231PD Y9, Y12, Y1
	VFMADD231PD Y10, Y12, Y2
	VFMADD231PD Y11, Y12, Y3
	VFMADD231PD Y8, Y13, Y4
	VFMADD231PD Y9, Y13, Y5
	VFMADD231PD Y10, Y13, Y6
	VFMADD231PD Y11, Y13, Y7
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  loop

	// Sum each register: pairs, then halves.
	VHADDPD Y1, Y0, Y0
	VHADDPD Y3, Y2, Y2
	VHADDPD Y5, Y4, Y4
	VHADDPD Y7, Y6, Y6
	VEXTRACTF128 $1, Y0, X1
	VEXTRACTF128 $1, Y2, X3
	VEXTRACTF128 $1, Y4, X5
	VEXTRACTF128 $1, Y6, X7
	VADDPD X1, X0, X0
	VADDPD X3, X2, X2
	VADDPD X5, X4, X4
	VADDPD X7, X6, X6
	VMOVUPD X0, 0(DX)
	VMOVUPD X2, 16(DX)
	VMOVUPD X4, 32(DX)
	VMOVUPD X6, 48(DX)
	VZEROUPPER
	RET

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET
