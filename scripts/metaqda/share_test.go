package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"metaqda/core/model"
)

// A folder with the parts of a site, and a session with pictures beside it.
func shareable(t *testing.T, name, extractor string) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	for path, text := range map[string]string{
		"share/page.html":          `<title>metaqda</title><template id="blocks"></template><script>'<title>metaqda</title><template id="blocks"></template>'</script>`,
		"share/engine.wasm":        "engine",
		"share/notices.txt":        "notices",
		"manifest.json":            `{"version": "0123456789abcdef"}`,
		"extractor/extractor.json": `{"id": "net", "files": [{"name": "model.json"}, {"name": "weights.bin"}], "runtimes": {"simd": {"name": "a.wasm"}, "plain": {"name": "b.wasm"}}}`,
		"extractor/model.json":     "{}", "extractor/weights.bin": "weights", "extractor/a.wasm": "a", "extractor/b.wasm": "b",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, path), []byte(text))
	}
	file, err := model.EncodeClassifier(&model.Classifier{Name: name, Extractor: model.Extractor{ID: extractor}, Settings: model.Settings{Inference: "fb"}, Classes: []model.Class{
		{Label: "</script>", Weight: 1, Examples: []model.Example{{Embedding: []float32{1, 2}, Thumbnail: []byte("a picture")}}}, {Label: "empty", Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "session"), file)
	prior, err := os.ReadFile("../../web/prior/default.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "prior"), prior)
	return dir, []string{"share", "--site", dir, "--classifier", filepath.Join(dir, "session"), "--prior", filepath.Join(dir, "prior"), "--out", filepath.Join(dir, "one.html")}
}

func TestSharedFilesHoldWhatTheyNeed(t *testing.T) {
	dir, args := shareable(t, "</title> & more", "net")
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
	for name, want := range map[string]string{"engine": "engine", "notices": "notices", "weights.bin": "weights", "a.wasm": "a", "b.wasm": "b", "model.json": "{}"} {
		if blocks[name] != want {
			t.Errorf("block %s is %q, want %q", name, blocks[name], want)
		}
	}
	var about aboutShared
	if err := json.Unmarshal([]byte(blocks["about"]), &about); err != nil || about.Name != "</title> & more" || about.Version != "0123456789abcdef" || !about.Learn || len(about.Classes) != 1 {
		t.Errorf("about %s (%v)", blocks["about"], err)
	}
	c, err := model.DecodeClassifier([]byte(blocks["classifier"]))
	if err != nil || len(c.Classes) != 2 || c.Classes[0].Examples[0].Thumbnail != nil || c.Classes[0].Examples[0].Embedding[1] != 2 {
		t.Errorf("classifier %+v, %v", c, err)
	}
}

func TestShareSaysWhatIsWrong(t *testing.T) {
	dir, args := shareable(t, "x", "another")
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
