package main

import "metaqda/scripts/fastblas"

// The command multiplies with AVX2 where it can.
func init() { fastblas.Use() }
