package main

import (
	"metaqda/wasm/nfc"
	"metaqda/wasm/simd"
)

func main() {
	simd.Install()
	nfc.Install()
	select {} // the exported functions work on
}
