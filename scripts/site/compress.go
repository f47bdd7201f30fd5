package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/andybalholm/brotli"
)

// codecs are the compressions, each at its highest level: a file is compressed
// once and sent many times.
var codecs = []struct {
	suffix string
	writer func(io.Writer) (io.WriteCloser, error)
}{
	{".br", func(w io.Writer) (io.WriteCloser, error) {
		return brotli.NewWriterLevel(w, brotli.BestCompression), nil
	}},
	{".gz", func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.BestCompression)
	}},
}

// packed are kinds of files that are compressed in themselves.
var packed = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".webp": true, ".avif": true, ".woff2": true, ".mp4": true, ".webm": true, ".ico": true}

// compressAll brings the variants of the named files up to date, removes all
// others from the out folder and from the cache, and returns the sizes. It works on as
// many files at a time as there are processors.
func (b *builder) compressAll(names []string) (*sizeTable, error) {
	table := &sizeTable{}
	used := make(map[string]bool)
	var mu sync.Mutex
	var failures []error
	jobs := make(chan string)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for name := range jobs {
				row, keys, err := b.compress(name)
				mu.Lock()
				table.add(name, row)
				for _, key := range keys {
					used[key] = true
				}
				failures = append(failures, err)
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		jobs <- name
	}
	close(jobs)
	workers.Wait()
	return table, errors.Join(append(failures, b.removeOrphans(used))...)
}

// compress brings the variants of one file up to date. It returns the sizes as
// raw, brotli, gzip and the names in the cache that stand for the file.
func (b *builder) compress(name string) (row [3]int, keys []string, err error) {
	file := filepath.Join(b.out, filepath.FromSlash(name))
	content, err := os.ReadFile(file)
	if err != nil {
		return row, nil, err
	}
	row = [3]int{len(content), len(content), len(content)}
	for i, codec := range codecs {
		if packed[path.Ext(name)] {
			if err := removeIfThere(file + codec.suffix); err != nil {
				return row, nil, err
			}
			continue
		}
		key := hashOf(content) + codec.suffix
		small, err := b.cached(key, func() ([]byte, error) { return pack(content, codec.writer) })
		if err != nil {
			return row, nil, err
		}
		keys = append(keys, key)
		if row[1+i], err = install(file+codec.suffix, small, len(content)); err != nil {
			return row, nil, err
		}
	}
	return row, keys, nil
}

// install makes the variant hold small where that saves at least one part in 32,
// and removes the variant otherwise. It returns the number of bytes a client
// downloads. The variant's time is set to now: the server takes one that is older
// than its file for that of a former build.
func install(variant string, small []byte, raw int) (int, error) {
	if len(small) > raw-raw/32 || raw < 200 {
		return raw, removeIfThere(variant)
	}
	if err := writeIfChanged(variant, small); err != nil {
		return 0, err
	}
	now := time.Now()
	return len(small), os.Chtimes(variant, now, now)
}

// removeIfThere removes a file; that there is none is no error.
func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// cached returns the bytes under key in the cache, made by make at first use.
func (b *builder) cached(key string, make func() ([]byte, error)) ([]byte, error) {
	name := filepath.Join(b.cache, key)
	if content, err := os.ReadFile(name); err == nil {
		return content, nil
	}
	content, err := make()
	if err != nil {
		return nil, err
	}
	return content, writeIfChanged(name, content)
}

// pack returns content compressed.
func pack(content []byte, newWriter func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var small bytes.Buffer
	w, err := newWriter(&small)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return small.Bytes(), err
}

// removeOrphans removes variants whose file is gone and cached bytes not used now.
func (b *builder) removeOrphans(used map[string]bool) error {
	err := walk(b.out, ".", func(name string) error {
		if !isVariant(name) {
			return nil
		}
		full := filepath.Join(b.out, filepath.FromSlash(name))
		file := strings.TrimSuffix(full, filepath.Ext(full))
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		return os.Remove(full)
	})
	if err != nil {
		return err
	}
	return walk(b.cache, ".", func(name string) error {
		if used[name] {
			return nil
		}
		return os.Remove(filepath.Join(b.cache, name))
	})
}

// A sizeTable adds up sizes by part of the site.
type sizeTable struct {
	rows map[string][4]int // files, raw, brotli, gzip
}

// parts are the rows of the table in their order; the page takes the rest.
var parts = []string{"engine", "prior", "extractor", "networks", "page", "samples", "share"}

// partOf names the part that a file belongs to.
func partOf(name string) string {
	switch top, _, nested := strings.Cut(name, "/"); {
	case name == "metaqda.wasm" || name == "metaqda-simd.wasm" || name == "wasm_exec.js":
		return "engine"
	case name == "prior.safetensors":
		return "prior"
	case nested && (top == "extractor" || top == "networks" || top == "samples" || top == "share"):
		return top
	}
	return "page"
}

// add counts one file.
func (t *sizeTable) add(name string, sizes [3]int) {
	if t.rows == nil {
		t.rows = map[string][4]int{}
	}
	row := t.rows[partOf(name)]
	row[0]++
	for i, n := range sizes {
		row[1+i] += n
	}
	t.rows[partOf(name)] = row
}

// print writes the table: bytes to download by part and coding.
func (t *sizeTable) print(w io.Writer, version string) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "site %s\tfiles\tbytes\tgzip\tbrotli\t\n", version)
	var total [4]int
	for _, part := range parts {
		row := t.rows[part]
		for i, n := range row {
			total[i] += n
		}
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\t%d\t\n", part, row[0], row[1], row[3], row[2])
	}
	fmt.Fprintf(tab, "all\t%d\t%d\t%d\t%d\t\n", total[0], total[1], total[3], total[2])
	tab.Flush()
}
