//go:build !js

package simd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

func TestNativeProgramsKeepGonum(t *testing.T) {
	if Available() || Install() {
		t.Fatal("kernels outside WebAssembly")
	}
	if _, ok := blas64.Implementation().(gonum.Implementation); !ok {
		t.Errorf("blas64 uses %T", blas64.Implementation())
	}
}

// TestBuildTags requires that whatever refers to the kernels is compiled for js
// and wasm alone: elsewhere the imports do not link.
func TestBuildTags(t *testing.T) {
	files, err := filepath.Glob("*_js*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files for js: %v", err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(source), "//go:build js && wasm\n") {
			t.Errorf("%s does not begin with its build tag", name)
		}
	}
}
