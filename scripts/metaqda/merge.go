package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"sort"
)

var mergeCommand = command{"merge", "put the shards or the methods of an evaluation together", runMerge}

const mergeAbout = `Puts files of one evaluation together and prints and writes what the undivided
evaluation would have:

  shards    that "metaqda eval --shard i/n --json FILE" wrote, all n, in any order
  methods   that "metaqda eval --json FILE" ran apart, with the same flags but for
            --methods and --n-tasks: a slow method may have fewer tasks, which are
            the first of the others'. For protocols with fixed ways and shots, and
            for sessions

usage: metaqda merge --json OUT FILE...`

// shardFile is what one shard hands over: blocks. A whole evaluation's file has
// results in their place.
type shardFile struct {
	*header
	Shard   shard     `json:"shard"`
	Blocks  []*block  `json:"blocks"`
	Results []*Result `json:"results,omitempty"`
}

func deliverShard(o *evalOptions, h *header, blocks []*block, stdout io.Writer) error {
	if o.json == "" {
		return fmt.Errorf("--shard without --json computes for nothing; name a file with --json OUT")
	}
	h.Format = shardFormat
	text, err := json.Marshal(shardFile{header: h, Shard: o.shard, Blocks: blocks})
	if err != nil {
		return err
	}
	if err := writeFile(o.json, text); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "shard %d of %d is in %s; put all together with: metaqda merge --json OUT FILE...\n", o.shard.Index, o.shard.Of, o.json)
	return nil
}

func runMerge(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := newFlags("merge", mergeAbout, stdout)
	out := f.String("json", "", "write everything to this file")
	markdown := f.String("markdown", "", "write the tables to this file as Markdown")
	pictures := f.String("pictures", "", "write reliability diagrams (SVG) to this folder")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return fmt.Errorf("no shards given; name the files that `metaqda eval --json` wrote")
	}
	if err := checkWritable(*out, *markdown); err != nil {
		return err
	}
	if err := checkFolder(*pictures); err != nil {
		return err
	}
	rep, err := mergeFiles(f.Args())
	if err != nil {
		return err
	}
	tables := rep.tables()
	for _, t := range tables {
		fmt.Fprintln(stdout, t.text())
	}
	if *pictures != "" {
		if err := rep.drawPictures(*pictures); err != nil {
			return err
		}
	}
	return writeReport(rep, tables, *out, *markdown)
}

// mergeFiles reads the files and joins them, shards or evaluations as the first
// one is.
func mergeFiles(names []string) (*report, error) {
	var files []*shardFile
	for _, path := range names {
		f, err := readShard(path)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if files[0].Format == evalFormat {
		return mergeMethods(files, names)
	}
	h, blocks, err := merge(files, names)
	if err != nil {
		return nil, err
	}
	return newReport(h, blocks), nil
}

func readShard(path string) (*shardFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%v); check the path", path, reason(err))
	}
	s := &shardFile{header: &header{}}
	if err := json.Unmarshal(text, s); err != nil || s.Format != evalFormat && (s.Format != shardFormat || s.Shard.Of < 1) {
		return nil, fmt.Errorf("%s is neither shard nor evaluation; name files that `metaqda eval --json FILE` wrote", path)
	}
	for _, b := range s.Blocks {
		for _, r := range b.Records {
			if r == nil || r.Raw == nil || r.Raw.Queries < 1 || len(r.Raw.Bins) == 0 || s.Protocol == "sessions" && r.Open == nil {
				return nil, fmt.Errorf("%s is damaged; compute the shard again", path)
			}
		}
	}
	return s, nil
}

// merge joins shards of one evaluation, each exactly once.
func merge(shards []*shardFile, names []string) (*header, []*block, error) {
	first := shards[0]
	have := make([]string, first.Shard.Of)
	for i, s := range shards {
		if !reflect.DeepEqual(s.header, first.header) || s.Shard.Of != first.Shard.Of || len(s.Blocks) != len(first.Blocks) {
			return nil, nil, fmt.Errorf("%s and %s are not shards of one evaluation; run both with the same flags on the same data", names[0], names[i])
		}
		if k := s.Shard.Index; k < 0 || k >= len(have) || have[k] != "" {
			return nil, nil, fmt.Errorf("%s and %s are the same shard %d/%d; give each once", have[max(0, min(k, len(have)-1))], names[i], k, len(have))
		}
		have[s.Shard.Index] = names[i]
	}
	for k, name := range have {
		if name == "" {
			return nil, nil, fmt.Errorf("shard %d/%d is missing; compute it with --shard %d/%d and give its file too", k, len(have), k, len(have))
		}
	}
	blocks := first.Blocks
	for _, s := range shards[1:] {
		for i, b := range s.Blocks {
			blocks[i].Records = append(blocks[i].Records, b.Records...)
		}
	}
	for _, b := range blocks {
		sort.Slice(b.Records, func(i, j int) bool { return b.Records[i].Episode < b.Records[j].Episode })
	}
	h := *first.header
	h.Format = evalFormat
	return &h, blocks, nil
}
