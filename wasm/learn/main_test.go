package learn

import (
	"os"
	"testing"

	"metaqda/wasm/simd"
)

// TestMain learns on the kernels that the page learns on, where they are.
func TestMain(m *testing.M) {
	simd.Install()
	os.Exit(m.Run())
}
