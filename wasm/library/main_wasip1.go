// Command library is the engine of the npm package (GOOS=js), and of the Python package and other
// WebAssembly runtimes (GOOS=wasip1): the functions of metaqda/wasm/exports and nothing else.
package main

import _ "metaqda/wasm/exports"

func main() {} // never runs in a reactor
