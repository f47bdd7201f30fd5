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
pictures in a session do not go along. "make site" builds what the file is made of.`

// A shareJob is a file to be shared.
type shareJob struct {
	classifier, prior, site string
	learn                   bool
	now                     func() time.Time
}

func shareCommand() *cli.Command {
	j, out := shareJob{site: "build/site", now: time.Now}, ""
	return fileCommand(cli.Command{Name: "share", Usage: "write one HTML file that recognises by itself", Description: shareAbout},
		neededFile{&out, "out", "file to write"},
		[]neededFile{{&j.classifier, "classifier", "classifier file"}, {&j.prior, "prior", "prior file"}},
		[]cli.Flag{
			textFlag(&j.site, "site", "folder of the built site"),
			boolFlag(&j.learn, "learn", "let people teach it more"),
		},
		func(context.Context, *cli.Command) ([]byte, error) { return j.page() })
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
	if _, err := model.DecodePrior(prior); err != nil {
		return nil, fmt.Errorf("%s: %w", j.prior, err)
	}
	record, err := j.part("extractor/extractor.json")
	if err != nil {
		return nil, err
	}
	type part struct{ Name string }
	var extractor struct {
		ID       string
		Files    []part
		Runtimes struct{ SIMD, Plain part }
	}
	if err := json.Unmarshal(record, &extractor); err != nil {
		return nil, fmt.Errorf("the extractor of %s has no readable record (%w); build the site anew", j.site, err)
	}
	manifest, err := j.part("manifest.json")
	if err != nil {
		return nil, err
	}
	about := aboutShared{Made: j.now().UTC().Format(time.RFC3339), Learn: j.learn, Sort: "probability", Extractor: record}
	if err := json.Unmarshal(manifest, &struct{ Version *string }{&about.Version}); err != nil {
		return nil, fmt.Errorf("the manifest of %s cannot be read (%w); build the site anew", j.site, err)
	}
	classifier, err := j.taught(&about, extractor.ID)
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	blocks := []string{block("about", first), block("classifier", classifier), block("prior", prior)}
	parts := [][2]string{{"engine", "share/engine.wasm"}, {"notices", "share/notices.txt"}}
	for _, p := range append(extractor.Files, extractor.Runtimes.SIMD, extractor.Runtimes.Plain) {
		parts = append(parts, [2]string{p.Name, "extractor/" + p.Name})
	}
	for _, b := range parts {
		content, err := j.part(b[1])
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block(b[0], content))
	}
	page, err := j.part("share/page.html")
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

// taught returns the classifier without pictures, and tells about it.
func (j *shareJob) taught(about *aboutShared, extractor string) ([]byte, error) {
	file, err := input.File(j.classifier, "classifier")
	if err != nil {
		return nil, err
	}
	c, err := model.DecodeClassifier(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.classifier, err)
	}
	if c.Extractor.ID != "" && c.Extractor.ID != extractor {
		return nil, fmt.Errorf("%s was taught with the feature extractor %q, the site has %q: build a site with the former", j.classifier, c.Extractor.ID, extractor)
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
