package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metaqda/core/test"
)

func TestTheDocumentSaysWhatTheCodeDoes(t *testing.T) {
	is, want, err := compare("../..")
	test.OK(t, err)
	if string(is) != string(want) {
		t.Errorf("%s has another table than the code: run go run ./scripts/wasi", document)
	}
}

func TestATable(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(root, name)
		test.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		test.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	put("wasm/exports/a.go", "package exports\n\n// Ask asks [Make]'s\n// things. It replies {\"a\": [{\"b\"}]}.\n//\n//go:wasmexport mq_ask\nfunc Ask(h, n int32, x float64) int64 { return 0 }\n\n// helper helps.\nfunc helper() {}\n")
	put("wasm/exports/exports_wasm.go", "package exports\n\nimport \"unsafe\"\n\n// Make makes.\n//\n//go:wasmexport mq_make\nfunc Make() unsafe.Pointer { return nil }\n\n// Free frees.\n//\n//go:wasmexport mq_free\nfunc Free(h int32) {}\n")
	put(document, "before\n"+begin+"old\n"+end+"after\n")
	test.OK(t, write(root))
	text := string(test.Must(os.ReadFile(filepath.Join(root, document)))(t))
	want := []string{"before", "`mq_make() → i32` | Makes.", "`mq_free(h i32)` | Frees.",
		"`mq_ask(h i32, n i32, x f64) → i64` | Asks `mq_make`'s things. It replies `{\"a\": [{\"b\"}]}`.", "after"}
	at := 0
	for _, w := range want {
		found := strings.Index(text[at:], w)
		if found < 0 {
			t.Errorf("%q is missing, or is not after what precedes it, in:\n%s", w, text)
			continue
		}
		at += found
	}
	if strings.Contains(text, "old") || strings.Contains(text, "helper") {
		t.Errorf("too much in:\n%s", text)
	}
	put(document, "no place")
	err := write(root)
	if err == nil || !strings.Contains(err.Error(), "where it belongs") {
		t.Errorf("without a place: %v", err)
	}
}
