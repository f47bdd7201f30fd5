package model

import (
	"encoding/binary"
	"math"
)

// floatTensor packs v with the given dtype, F64, F32 or F16.
func floatTensor(dtype string, v []float64, shape ...int) tensor {
	b := make([]byte, 0, len(v)*dtypeSize[dtype])
	for _, x := range v {
		switch dtype {
		case "F64":
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		case "F32":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		case "F16":
			b = binary.LittleEndian.AppendUint16(b, toHalf(x))
		default:
			panic("model: unknown dtype")
		}
	}
	return tensor{dtype: dtype, shape: shape, data: b}
}

// floats unpacks a tensor of real numbers.
func (t tensor) floats() ([]float64, error) {
	size := dtypeSize[t.dtype]
	if size == 0 {
		return nil, fail("a tensor of real numbers has dtype ", quoted(t.dtype))
	}
	v := make([]float64, len(t.data)/size)
	switch t.dtype {
	case "F64":
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
		}
	case "F32":
		for i := range v {
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
		}
	case "F16":
		for i := range v {
			v[i] = fromHalf(binary.LittleEndian.Uint16(t.data[2*i:]))
		}
	default:
		return nil, fail("a tensor of real numbers has dtype ", quoted(t.dtype))
	}
	return v, nil
}

// intTensor packs v as I32 or I64.
func intTensor(dtype string, v []int) tensor {
	b := make([]byte, 0, len(v)*dtypeSize[dtype])
	for _, x := range v {
		if dtype == "I32" {
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(x)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return tensor{dtype: dtype, shape: []int{len(v)}, data: b}
}

// ints unpacks a tensor of whole numbers.
func (t tensor) ints() ([]int, error) {
	var v []int
	for b := t.data; len(b) > 0; b = b[dtypeSize[t.dtype]:] {
		switch t.dtype {
		case "I32":
			v = append(v, int(int32(binary.LittleEndian.Uint32(b))))
		case "I64":
			v = append(v, int(int64(binary.LittleEndian.Uint64(b))))
		default:
			return nil, fail("a tensor of whole numbers has dtype ", quoted(t.dtype))
		}
	}
	return v, nil
}

// toHalf rounds x to the nearest IEEE 754 binary16 number, ties to even. Beyond
// its range the result is an infinity. By way of float32 the tie rule could
// fail on double rounding, so it works on x itself: the spacing of binary16
// numbers near x is a power of two that divides exactly.
func toHalf(x float64) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 1<<15, -x
	}
	if math.IsNaN(x) {
		return sign | 0x7e00
	}
	_, exp := math.Frexp(x) // x in [2^(exp-1), 2^exp)
	exp = max(exp, -13)     // subnormal numbers share the spacing 2^-24
	n := math.RoundToEven(math.Ldexp(x, 11-exp))
	if math.Ldexp(n, exp-11) >= 65520 {
		return sign | 0x7c00
	}
	if n < 1024 {
		return sign | uint16(n)
	}
	if n == 2048 { // rounded up to the next power of two
		n, exp = 1024, exp+1
	}
	return sign | uint16(exp+14)<<10 | uint16(n)&0x3ff
}

// fromHalf is exact.
func fromHalf(h uint16) float64 {
	exp, frac := int(h>>10&0x1f), float64(h&0x3ff)
	var x float64
	switch exp {
	case 0:
		x = math.Ldexp(frac, -24)
	case 31:
		x = math.Inf(1)
		if frac != 0 {
			return math.NaN()
		}
	default:
		x = math.Ldexp(frac+1024, exp-25)
	}
	if h>>15 == 1 {
		return -x
	}
	return x
}
