package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"metaqda/core/model"
	"metaqda/scripts/input"
)

const shareAbout = `Writes one HTML file that recognises by itself, from disk and without a network: what
"Share" of the page writes. The classifier is a session saved by the page, its prior
what the page saves as background knowledge, or web/prior/default.safetensors. The
pictures in a session do not go along. A session of an extractor other than the page's
own needs that one's manifest, with the files beside it: they go into the file.
"make site" builds what the file is made of.`

// From largeFile on the size of a file is told, and from mostFile on none is written;
// web/share/assemble.js has the same two.
const largeFile, mostFile = 7e6, 64e6

// A shareJob is a file to be shared.
type shareJob struct {
	classifier, prior, extractor, site string
	learn                              bool
	now                                func() time.Time
}

func shareCommand() *cli.Command {
	j, out := shareJob{site: "build/site", now: time.Now}, ""
	return fileCommand(cli.Command{Name: "share", Usage: "write one HTML file that recognises by itself", Description: shareAbout},
		neededFile{&out, "out", "file to write"},
		[]neededFile{{&j.classifier, "classifier", "classifier file"}, {&j.prior, "prior", "prior file"}},
		[]cli.Flag{
			textFlag(&j.extractor, "extractor", "manifest of the extractor that read the pictures, if it is not the page's own"),
			textFlag(&j.site, "site", "folder of the built site"),
			boolFlag(&j.learn, "learn", "let people teach it more"),
		},
		func(_ context.Context, c *cli.Command) ([]byte, error) {
			page, err := j.page()
			if err != nil {
				return nil, err
			}
			size := fmt.Sprintf("%.1f MB", float64(len(page))/1e6)
			if len(page) > mostFile {
				return nil, fmt.Errorf("%s would have %s, and one file holds at most 64 MB; hand on the session and the extractor instead", out, size)
			}
			if len(page) > largeFile {
				fmt.Fprintf(c.Root().ErrWriter, "%s has %s, which is too large for many a mail\n", out, size)
			}
			return page, nil
		})
}

// aboutShared is the block "about"; web/share/assemble.js describes it.
type aboutShared struct {
	Name      string          `json:"name"`
	Made      string          `json:"made"`
	Version   string          `json:"version"`
	Learn     bool            `json:"learn"`
	Sort      string          `json:"sort"`
	Classes   []string        `json:"classes"`
	Extractor json.RawMessage `json:"extractor"`
}

// part reads a file of the site.
func (j *shareJob) part(name string) ([]byte, error) {
	return input.File(filepath.Join(j.site, filepath.FromSlash(name)), "site, which `make site` builds")
}

// page returns the bytes of the file.
func (j *shareJob) page() ([]byte, error) {
	prior, err := input.File(j.prior, "prior")
	if err != nil {
		return nil, err
	}
	p, err := model.DecodePrior(prior)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.prior, err)
	}
	network, err := j.network()
	if err != nil {
		return nil, err
	}
	manifest, err := j.part("manifest.json")
	if err != nil {
		return nil, err
	}
	about := aboutShared{Made: j.now().UTC().Format(time.RFC3339), Learn: j.learn, Sort: "probability", Extractor: network.record}
	if err := json.Unmarshal(manifest, &struct{ Version *string }{&about.Version}); err != nil {
		return nil, fmt.Errorf("the manifest of %s cannot be read (%w); build the site anew", j.site, err)
	}
	classifier, err := j.taught(&about, network, p.NIW.Dim())
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	engine, err := j.part("share/engine.wasm")
	if err != nil {
		return nil, err
	}
	blocks := []string{block("about", first), block("classifier", classifier), block("prior", prior), block("engine", engine), block("notices", network.notices)}
	for i, content := range network.files {
		blocks = append(blocks, block(fmt.Sprint("file-", i), content))
	}
	for _, r := range network.runtimes {
		content, err := j.part(r[1])
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block(r[0], content))
	}
	page, err := j.part(network.page)
	if err != nil {
		return nil, err
	}
	const place, title = `<template id="blocks"></template>`, `<title>metaqda</title>`
	text := string(page)
	if !strings.Contains(text, place) || !strings.Contains(text, title) {
		return nil, fmt.Errorf("the page of %s has another form than this program knows: build the site anew", j.site)
	}
	text = strings.Replace(text, title, "<title>"+html.EscapeString(about.Name)+"</title>", 1)
	return []byte(strings.Replace(text, place, strings.Join(blocks, "\n"), 1)), nil
}

// A sharedNetwork is an extractor as it goes into a file.
type sharedNetwork struct {
	id, sha256 string
	dimension  int             // 0 where the manifest does not say
	record     json.RawMessage // the field "extractor" of the block "about"
	page       string          // of the site
	notices    []byte
	files      [][]byte
	runtimes   [][2]string // block, and file of the site
}

// network returns the extractor that is asked for, the site's own or another.
func (j *shareJob) network() (*sharedNetwork, error) {
	type part struct{ Name string }
	var own struct {
		ID, SHA256 string
		Dimension  int
		Files      []part
		Runtimes   struct{ SIMD, Plain part }
	}
	record, err := j.part("extractor/extractor.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(record, &own); err != nil {
		return nil, fmt.Errorf("the extractor of %s has no readable record (%w); build the site anew", j.site, err)
	}
	programs := [][2]string{{"runtime-simd", "extractor/" + own.Runtimes.SIMD.Name}, {"runtime-plain", "extractor/" + own.Runtimes.Plain.Name}}
	if j.extractor != "" {
		return j.brought(programs)
	}
	n := &sharedNetwork{id: own.ID, sha256: own.SHA256, dimension: own.Dimension, page: "share/page.html", runtimes: programs}
	if n.record, err = sharedRecord(record, own.SHA256, true); err != nil {
		return nil, err
	}
	if n.notices, err = j.part("share/notices.txt"); err != nil {
		return nil, err
	}
	for _, f := range own.Files {
		content, err := j.part("extractor/" + f.Name)
		if err != nil {
			return nil, err
		}
		n.files = append(n.files, content)
	}
	return n, nil
}

// brought returns the extractor of the manifest that is given.
func (j *shareJob) brought(programs [][2]string) (*sharedNetwork, error) {
	m, text, files, err := readExtractor(j.extractor)
	if err != nil {
		return nil, err
	}
	n := &sharedNetwork{id: m.ID, sha256: m.SHA256, dimension: m.Dimension, page: "networks/share-" + m.Runtime + ".html", files: files, runtimes: programs}
	if m.Runtime == "onnx" {
		list, err := j.part("networks/networks.json")
		if err != nil {
			return nil, err
		}
		var networks struct{ ONNX struct{ Name string } }
		if err := json.Unmarshal(list, &networks); err != nil {
			return nil, fmt.Errorf("the networks of %s have no readable record (%w); build the site anew", j.site, err)
		}
		n.runtimes = [][2]string{{"runtime-simd", "networks/" + networks.ONNX.Name}}
	}
	if n.record, err = sharedRecord(text, m.SHA256, m.Runtime != "onnx"); err != nil {
		return nil, err
	}
	notices, err := j.part("networks/share-" + m.Runtime + ".txt")
	if err != nil {
		return nil, err
	}
	// The words of web/share/assemble.js.
	n.notices = fmt.Appendf(nil, "The feature extractor “%s” was brought by whoever made this file. Its licence, in the words that came with it:\n\n%s\n\n%s", m.ID, m.Licence, notices)
	return n, nil
}

// sharedRecord is a manifest as web/share/assemble.js has an extractor in a file.
func sharedRecord(manifest []byte, identity string, plain bool) (json.RawMessage, error) {
	var all map[string]any
	if err := json.Unmarshal(manifest, &all); err != nil {
		return nil, err
	}
	delete(all, "runtimes") // of the site's own; they are blocks
	all["sha256"], all["plain"] = identity, plain
	return json.Marshal(all)
}

// taught returns the classifier without pictures, and tells about it. The prior is for
// embeddings of so many numbers.
func (j *shareJob) taught(about *aboutShared, n *sharedNetwork, dimension int) ([]byte, error) {
	file, err := input.File(j.classifier, "classifier")
	if err != nil {
		return nil, err
	}
	c, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.classifier, err)
	}
	switch x := c.Extractor; {
	case j.extractor != "" && x.SHA256 != n.sha256:
		return nil, fmt.Errorf("%s was taught with the feature extractor %q (sha256 %.12s), %s is of %q (%.12s); give the manifest of the former", j.classifier, x.ID, x.SHA256, j.extractor, n.id, n.sha256)
	case x.ID != "" && x.ID != n.id && j.extractor == "", x.SHA256 != "" && n.sha256 != "" && x.SHA256 != n.sha256:
		return nil, fmt.Errorf("%s was taught with the feature extractor %q, the site has %q; give the manifest of the former by --extractor", j.classifier, x.ID, n.id)
	}
	about.Name = c.Name
	if c.Settings.Sort != "" {
		about.Sort = c.Settings.Sort
	}
	for _, k := range c.Classes {
		if len(k.Examples) > 0 {
			about.Classes = append(about.Classes, k.Label)
		}
		for i := range k.Examples {
			switch d := len(k.Examples[i].Embedding); {
			case n.dimension != 0 && d != n.dimension && j.extractor != "":
				return nil, fmt.Errorf(`%s has embeddings of %d numbers, and %s says "dimension" %d; put the manifest right`, j.classifier, d, j.extractor, n.dimension)
			case n.dimension != 0 && d != n.dimension:
				return nil, fmt.Errorf("%s has embeddings of %d numbers, and the extractor of the site gives %d; give the manifest of the one that they are of by --extractor", j.classifier, d, n.dimension)
			case d != dimension:
				return nil, fmt.Errorf("%s has embeddings of %d numbers, and the prior %s is for %d; give the prior that it was taught under", j.classifier, d, j.prior, dimension)
			}
			k.Examples[i].Thumbnail = nil
		}
	}
	if len(about.Classes) == 0 {
		return nil, fmt.Errorf("%s was taught nothing: there is nothing to share", j.classifier)
	}
	return model.EncodeClassifier(c)
}

// block is bytes as assemble.js packs them.
func block(name string, content []byte) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one that there is
	w.Write(content)                                      // a buffer takes everything
	w.Close()
	return `<script type="application/octet-stream" id="block-` + name + `">` + base64.StdEncoding.EncodeToString(b.Bytes()) + `</script>`
}
