package model

import (
	"encoding/binary"
	"math/bits"
)

// Sum returns the sha256 of the bytes of a file, in hexadecimal. It is FIPS 180-4 to the letter.
// crypto/sha256 imports the whole of Go's certified module, a seventh of a program for the browser.
func Sum(b []byte) string {
	d := newDigest()
	d.write(b)
	return d.sum()
}

// digest is a sha256 of bytes that come piece by piece.
type digest struct {
	h    [8]uint32
	rest []byte // fewer than a block
	n    uint64 // bytes taken in
}

func newDigest() *digest { return &digest{h: sumStart, rest: make([]byte, 0, 128)} }

// write takes in more bytes.
func (d *digest) write(b []byte) {
	d.n += uint64(len(b))
	if len(d.rest) > 0 {
		k := min(64-len(d.rest), len(b))
		d.rest, b = append(d.rest, b[:k]...), b[k:]
		if len(d.rest) < 64 {
			return
		}
		sumBlock(&d.h, d.rest)
		d.rest = d.rest[:0]
	}
	whole := len(b) &^ 63
	for i := 0; i < whole; i += 64 {
		sumBlock(&d.h, b[i:i+64])
	}
	d.rest = append(d.rest, b[whole:]...)
}

// sum returns the sha256, in hexadecimal. Nothing may be taken in after it.
func (d *digest) sum() string {
	rest := append(d.rest, 0x80)
	for len(rest)%64 != 56 {
		rest = append(rest, 0)
	}
	rest = binary.BigEndian.AppendUint64(rest, 8*d.n)
	for i := 0; i < len(rest); i += 64 {
		sumBlock(&d.h, rest[i:i+64])
	}
	const hex = "0123456789abcdef"
	text := make([]byte, 0, 64)
	for _, v := range d.h {
		for shift := 28; shift >= 0; shift -= 4 {
			text = append(text, hex[v>>shift&15])
		}
	}
	return string(text)
}

// sumStart holds the first 32 bits of the fractional parts of the square roots of the first 8
// primes. sumRounds holds the same of the cube roots of the first 64.
var (
	sumStart  = [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	sumRounds = [64]uint32{
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
		0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
		0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
		0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
		0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
		0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
		0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
	}
)

// sumBlock takes in one block of 64 bytes.
func sumBlock(h *[8]uint32, block []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := 16; i < 64; i++ {
		x, y := w[i-15], w[i-2]
		w[i] = w[i-16] + w[i-7] +
			(bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3) +
			(bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10)
	}
	a, b, c, d, e, f, g, k := h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
	for i, v := range w {
		s := k + sumRounds[i] + v + (e&f ^ ^e&g) + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25))
		t := (a&b ^ a&c ^ b&c) + (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22))
		a, b, c, d, e, f, g, k = s+t, a, b, c, d+s, e, f, g
	}
	for i, v := range [8]uint32{a, b, c, d, e, f, g, k} {
		h[i] += v
	}
}
