package main

import (
	"path/filepath"
	"testing"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/test"
)

// BenchmarkEval600 is the whole command: reading a file of 100 classes of 100
// rows, whitening, 600 test tasks at 5-way 5-shot and 200 validation tasks.
func BenchmarkEval600(b *testing.B) {
	dir := b.TempDir()
	path := toy{classes: 100, rows: 100, dim: 640}.write(b, dir, "bench")
	prior := writePrior(b, filepath.Join(dir, "p.safetensors"), &model.Prior{NIW: niw.HandCrafted(640, 1), Transform: embed.Transform{Kind: embed.L2}, Session: model.Session{Shared: 1, Kappa: 1}})
	b.ResetTimer()
	for b.Loop() {
		status, _, stderr := metaqda("eval", "--data", path, "--prior", prior, "--methods", "fb", "--n-shot", "5")
		test.StopIf(b, status != 0, "%v", stderr)
	}
}
