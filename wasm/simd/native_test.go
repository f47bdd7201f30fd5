//go:build !js

package simd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"metaqda/core/test"
)

func TestNativeProgramsKeepGonum(t *testing.T) {
	test.StopIf(t, Available() || Install(), "kernels outside WebAssembly")
	_, ok := blas64.Implementation().(gonum.Implementation)
	test.FailIf(t, !ok, "blas64 uses %T", blas64.Implementation())
}

// TestBuildTags requires that whatever refers to the kernels is compiled for js
// and wasm alone: elsewhere the imports do not link.
func TestBuildTags(t *testing.T) {
	files, err := filepath.Glob("*_js*.go")
	test.StopIf(t, err != nil || len(files) == 0, "no files for js: %v", err)
	for _, name := range files {
		source := test.Must(os.ReadFile(name))(t)
		test.FailIf(t, !strings.HasPrefix(string(source), "//go:build js && wasm\n"), "%s does not begin with its build tag", name)
	}
}
