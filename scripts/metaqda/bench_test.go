package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"metaqda/core/dataset"
	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// BenchmarkTestEpisode scores one 5-way episode with 15 queries a class of a
// data set that is already whitened; run it with -cpu 1.
func BenchmarkTestEpisode(b *testing.B) {
	for _, c := range []struct {
		method    string
		dim, shot int
	}{{"fb", 640, 1}, {"fb", 640, 5}, {"fb", 1104, 5}, {"map", 640, 5}, {"fb-lda", 640, 5}, {"ncc-cl2n", 640, 5}, {"linear", 640, 5}, {"qda", 640, 5}, {"cosine", 640, 5}, {"knn", 640, 5}, {"teachable", 640, 5}} {
		b.Run(fmt.Sprintf("%s/d=%d/shot=%d", c.method, c.dim, c.shot), func(b *testing.B) {
			s, o := benchSource(b, c.dim)
			o.shots = []int{c.shot}
			cells, err := o.cells(s)
			if err != nil {
				b.Fatal(err)
			}
			methods, err := parseMethods(c.method)
			if err != nil {
				b.Fatal(err)
			}
			make, err := methods[0].prepare(s, o)
			if err != nil {
				b.Fatal(err)
			}
			var w workspace
			scorer := make()
			i := 0
			for b.Loop() {
				e := cells[0].test.Episode(i)
				w.begin(&e, i)
				if _, err := scorer.score(&w, w.scores, w.none); err != nil {
					b.Fatal(err)
				}
				newRecord(i, &e, w.scores, nil, 1)
				i++
			}
		})
	}
}

// BenchmarkEval600 is the whole command: reading a file of 100 classes of 100
// rows, whitening, 600 test tasks at 5-way 5-shot and 200 validation tasks.
func BenchmarkEval600(b *testing.B) {
	dir := b.TempDir()
	path := toy{classes: 100, rows: 100, dim: 640}.write(b, dir, "bench")
	prior := writePrior(b, filepath.Join(dir, "p.safetensors"), &model.Prior{NIW: niw.HandCrafted(640, 1), Transform: embed.Transform{Kind: embed.L2}})
	b.ResetTimer()
	for b.Loop() {
		if status, _, stderr := metaqda("eval", "--data", path, "--prior", prior, "--methods", "fb", "--n-shot", "5"); status != 0 {
			b.Fatal(stderr)
		}
	}
}

func benchSource(b *testing.B, dim int) (*source, *evalOptions) {
	b.Helper()
	dir := b.TempDir()
	set, err := dataset.Load(toy{classes: 100, rows: 30, dim: dim}.write(b, dir, "bench"))
	if err != nil {
		b.Fatal(err)
	}
	p := randomPrior(dim)
	o := &evalOptions{protocol: "standard", split: "test", ways: []int{5}, query: 15, tasks: 600, workers: 1, shard: whole, handScale: 1, repeat: 1}
	return &source{set: set, centre: p.Transform.Center, prior: &learnedPrior{niw: p.NIW, transform: p.Transform, session: p.Session}}, o
}
