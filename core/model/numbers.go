package model

import (
	"encoding/binary"
	"math"

	"github.com/x448/float16"
	"gonum.org/v1/gonum/mat"
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
			b = binary.LittleEndian.AppendUint16(b, half(x).Bits())
		default:
			panic("model: unknown dtype")
		}
	}
	return tensor{dtype: dtype, shape: shape, data: b}
}

// floats unpacks a tensor of real numbers.
func (t tensor) floats() ([]float64, error) {
	v := make([]float64, len(t.data)/max(1, dtypeSize[t.dtype]))
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
			v[i] = float64(float16.Frombits(binary.LittleEndian.Uint16(t.data[2*i:])).Float32())
		}
	default:
		return nil, fail("a tensor of real numbers has dtype ", quoted(t.dtype))
	}
	return v, nil
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

// half rounds x to the nearest IEEE 754 binary16 number, ties to even; beyond its range the result
// is an infinity. First x is rounded to odd: digits that float32 cannot hold are cut, and the last
// bit is set. No tie between two numbers of half precision has this bit. So the second rounding
// gives the same result as a single one (Boldo and Melquiond, Emulation of FMA and correctly
// rounded sums, 2008).
func half(x float64) float16.Float16 {
	f := float32(x)
	if float64(f) != x {
		b := math.Float32bits(f)
		if math.Abs(float64(f)) > math.Abs(x) {
			b--
		}
		f = math.Float32frombits(b | 1)
	}
	return float16.Fromfloat32(f)
}

// packLower returns the rows of the lower triangle one after the other.
func packLower(l *mat.TriDense) []float64 {
	raw := l.RawTriangular()
	v := make([]float64, 0, raw.N*(raw.N+1)/2)
	for i := range raw.N {
		v = append(v, raw.Data[i*raw.Stride:i*raw.Stride+i+1]...)
	}
	return v
}

// unpackLower is the inverse of packLower.
func unpackLower(v []float64, d int) *mat.TriDense {
	l := mat.NewTriDense(d, mat.Lower, nil)
	raw := l.RawTriangular()
	for i := range d {
		copy(raw.Data[i*raw.Stride:i*raw.Stride+i+1], v)
		v = v[i+1:]
	}
	return l
}
