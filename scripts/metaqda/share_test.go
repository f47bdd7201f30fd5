package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"metaqda/core/embed"
	"metaqda/core/model"
	"metaqda/core/niw"
)

// A folder with the parts of a site, and a session with pictures beside it.
func shareable(t *testing.T, name string, extractor model.Extractor) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	for path, text := range map[string]string{
		"share/page.html":          `<title>metaqda</title><template id="blocks"></template><script>'<title>metaqda</title><template id="blocks"></template>'</script>`,
		"share/engine.wasm":        "engine",
		"share/notices.txt":        "notices",
		"manifest.json":            `{"version": "0123456789abcdef"}`,
		"extractor/extractor.json": `{"id": "net", "sha256": "aa", "dimension": 2, "files": [{"name": "model.json"}, {"name": "weights.bin"}], "runtimes": {"simd": {"name": "a.wasm"}, "plain": {"name": "b.wasm"}}}`,
		"extractor/model.json":     "{}", "extractor/weights.bin": "weights", "extractor/a.wasm": "a", "extractor/b.wasm": "b",
		"networks/share-onnx.html": `<title>metaqda</title><template id="blocks"></template>onnx`, "networks/share-onnx.txt": "of ONNX",
		"networks/networks.json": `{"onnx": {"name": "ort.wasm"}}`, "networks/ort.wasm": "ort",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, path), []byte(text))
	}
	file, err := model.EncodeClassifier(&model.Classifier{Name: name, Extractor: extractor, Classes: []model.Class{
		{Label: "</script>", Weight: 1, Examples: []model.Example{{Embedding: []float32{1, 2}, Thumbnail: []byte("a picture")}}}, {Label: "empty", Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "session"), file)
	prior, err := model.EncodePrior(&model.Prior{NIW: niw.HandCrafted(2, 1), Transform: embed.Transform{Kind: embed.L2}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "prior"), prior)
	return dir, []string{"share", "--site", dir, "--classifier", filepath.Join(dir, "session"), "--prior", filepath.Join(dir, "prior"), "--out", filepath.Join(dir, "one.html")}
}

func TestSharedFilesHoldWhatTheyNeed(t *testing.T) {
	dir, args := shareable(t, "</title> & more", model.Extractor{ID: "net"})
	var complaint bytes.Buffer
	if status := run(context.Background(), append(args, "--learn"), &complaint, &complaint); status != 0 {
		t.Fatalf("status %d: %s", status, &complaint)
	}
	page, err := os.ReadFile(filepath.Join(dir, "one.html"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if !strings.HasPrefix(text, "<title>&lt;/title&gt; &amp; more</title><script type=") || !strings.HasSuffix(text, `<script>'<title>metaqda</title><template id="blocks"></template>'</script>`) {
		t.Errorf("page %.80s … %s", text, text[len(text)-80:])
	}
	blocks := unpackedBlocks(t, text)
	for name, want := range map[string]string{"engine": "engine", "notices": "notices", "file-0": "{}", "file-1": "weights", "runtime-simd": "a", "runtime-plain": "b"} {
		if blocks[name] != want {
			t.Errorf("block %s is %q, want %q", name, blocks[name], want)
		}
	}
	var about aboutShared
	if err := json.Unmarshal([]byte(blocks["about"]), &about); err != nil || about.Name != "</title> & more" || about.Version != "0123456789abcdef" || !about.Learn || len(about.Classes) != 1 ||
		!strings.Contains(string(about.Extractor), `"plain":true`) || strings.Contains(string(about.Extractor), "runtimes") {
		t.Errorf("about %s (%v)", blocks["about"], err)
	}
	c, err := model.DecodeClassifier([]byte(blocks["classifier"]))
	if err != nil || len(c.Classes) != 2 || c.Classes[0].Examples[0].Thumbnail != nil || c.Classes[0].Examples[0].Embedding[1] != 2 {
		t.Errorf("classifier %+v, %v", c, err)
	}
}

func TestShareSaysWhatIsWrong(t *testing.T) {
	dir, args := shareable(t, "x", model.Extractor{ID: "another"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"share"}, "no --classifier given"},
		{args, `feature extractor "another"`},
		{append(args, "--prior", filepath.Join(dir, "session")), "not a usable prior file"},
		{append(args, "--site", filepath.Join(dir, "nowhere")), "`make site` builds"},
	} {
		var complaint bytes.Buffer
		if status := run(context.Background(), c.args, &complaint, &complaint); status != 2 || !strings.Contains(complaint.String(), c.want) {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, &complaint, c.want)
		}
	}
}

// A classifier of vectors from elsewhere has no extractor's name: their length tells.
func TestWhatTheExtractorCannotGiveIsNotShared(t *testing.T) {
	dir, args := shareable(t, "x", model.Extractor{})
	for want, d := range map[string]int{"has embeddings of 512 numbers, and the extractor of the site gives 2": 512, "": 2} {
		file, err := model.EncodeClassifier(&model.Classifier{Classes: []model.Class{
			{Label: "a", Weight: 1, Examples: []model.Example{{Embedding: make([]float32, d)}}}}})
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "session"), file)
		var complaint bytes.Buffer
		if status := run(context.Background(), args, &complaint, &complaint); (status == 0) != (want == "") || !strings.Contains(complaint.String(), want) {
			t.Errorf("%d numbers: status %d, %q", d, status, &complaint)
		}
	}
	put(t, filepath.Join(dir, "extractor", "extractor.json"), []byte(`{"id": "net", "sha256": "aa"}`))
	args = append(args, "--prior", "../../web/prior/default.safetensors")
	var complaint bytes.Buffer
	if status := run(context.Background(), args, &complaint, &complaint); status != 2 || !strings.Contains(complaint.String(), "the prior ../../web/prior/default.safetensors is for 1280") {
		t.Errorf("another prior: status %d, %q", status, &complaint)
	}
}

// The manifest of an ONNX network of two files in a folder of its own, and its identity.
func broughtManifest(t *testing.T, changes map[string]any) (path string, x model.Extractor) {
	t.Helper()
	dir := t.TempDir()
	all := map[string]any{"format": "metaqda-extractor-1", "id": "theirs", "runtime": "onnx", "dimension": 2, "inputSize": 32, "views": []any{map[string]any{"name": "whole"}},
		"outputs": []any{map[string]any{"node": "x"}}, "licence": "as </script> they say", "files": []any{listed("model.onnx", "model"), listed("data.bin", "data")}}
	put(t, filepath.Join(dir, "model.onnx"), []byte("model"))
	put(t, filepath.Join(dir, "data.bin"), []byte("data"))
	for name, value := range changes {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "manifest.json"), text)
	recipe := `{"filter":"triangle-1","inputSize":32,"views":[{"name":"whole"}],"runtime":"onnx","outputs":[{"node":"x","pooling":"none"}]}`
	sum := sha256.Sum256([]byte("modeldata" + recipe))
	return filepath.Join(dir, "manifest.json"), model.Extractor{ID: "theirs", SHA256: hex.EncodeToString(sum[:])}
}

// listed is a file as a manifest lists it.
func listed(name, content string) map[string]any {
	sum := sha256.Sum256([]byte(content))
	return map[string]any{"name": name, "bytes": len(content), "sha256": hex.EncodeToString(sum[:])}
}

func TestAnExtractorThatWasBroughtIsShared(t *testing.T) {
	manifest, x := broughtManifest(t, nil)
	dir, args := shareable(t, "x", x)
	var complaint bytes.Buffer
	if status := run(context.Background(), append(args, "--extractor", manifest), &complaint, &complaint); status != 0 || complaint.Len() != 0 {
		t.Fatalf("status %d: %s", status, &complaint)
	}
	page, err := os.ReadFile(filepath.Join(dir, "one.html"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := unpackedBlocks(t, string(page))
	for name, want := range map[string]string{"file-0": "model", "file-1": "data", "runtime-simd": "ort", "engine": "engine"} {
		if blocks[name] != want {
			t.Errorf("block %s is %q, want %q", name, blocks[name], want)
		}
	}
	if _, ok := blocks["runtime-plain"]; ok || !strings.HasSuffix(string(page), "onnx") {
		t.Error("the page or the runtime is another one's")
	}
	if n := blocks["notices"]; !strings.Contains(n, "“theirs”") || !strings.Contains(n, "as </script> they say") || !strings.HasSuffix(n, "of ONNX") {
		t.Errorf("notices %q", n)
	}
	var about struct {
		Extractor struct {
			ID, SHA256 string
			Plain      *bool
		}
	}
	if err := json.Unmarshal([]byte(blocks["about"]), &about); err != nil || about.Extractor.SHA256 != x.SHA256 || about.Extractor.Plain == nil || *about.Extractor.Plain {
		t.Errorf("about %s (%v)", blocks["about"], err)
	}
}

func TestShareSaysWhatIsWrongWithAnExtractor(t *testing.T) {
	_, x := broughtManifest(t, nil)
	_, args := shareable(t, "x", x)
	for want, changes := range map[string]map[string]any{
		"has the \"format\" \"x\"":               {"format": "x"},
		"is the manifest of a function":          {"runtime": "function"},
		"has the \"runtime\" \"torch\"":          {"runtime": "torch"},
		"lists no \"files\"":                     {"files": []any{}},
		"\"../model.onnx\" lies elsewhere":       {"files": []any{listed("../model.onnx", "model")}},
		"\"gone.onnx\" that it lists cannot":     {"files": []any{listed("gone.onnx", "model")}},
		"has 5 bytes, and the manifest says 6":   {"files": []any{listed("model.onnx", "models")}},
		"is another one than the manifest":       {"files": []any{listed("model.onnx", "ledom")}},
		"the \"sha256\" 00":                      {"sha256": "00"},
		"is of \"theirs\"":                       {"inputSize": 64},
		"of 2 numbers, and":                      {"dimension": 3},
		"is no manifest of an extractor (json: ": {"views": "whole"},
	} {
		manifest, _ := broughtManifest(t, changes)
		var complaint bytes.Buffer
		if status := run(context.Background(), append(args, "--extractor", manifest), &complaint, &complaint); status != 2 || !strings.Contains(complaint.String(), want) {
			t.Errorf("status %d, %q, want %q", status, &complaint, want)
		}
	}
	var complaint bytes.Buffer
	if status := run(context.Background(), args, &complaint, &complaint); status != 2 || !strings.Contains(complaint.String(), "give the manifest of the former by --extractor") {
		t.Errorf("without a manifest: %d, %q", status, &complaint)
	}
}

func TestRecipesAreThoseOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../testdata/extractor/recipes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Manifest extractorManifest
		Recipe   string
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 5 {
		t.Fatal(len(all), err)
	}
	for _, c := range all {
		if got := c.Manifest.recipe(); got != c.Recipe {
			t.Errorf("got  %s\nwant %s", got, c.Recipe)
		}
	}
}

// unpackedBlocks returns the blocks of a page by name.
func unpackedBlocks(t *testing.T, page string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, found := range regexp.MustCompile(`<script type="application/octet-stream" id="block-([^"]*)">([^<]*)</script>`).FindAllStringSubmatch(page, -1) {
		packed, err := base64.StdEncoding.DecodeString(found[2])
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[found[1]] = string(content)
	}
	return all
}
