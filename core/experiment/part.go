package experiment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
)

// Part is what one process hands over: the records of its shard of the tasks, or of
// all of them. A whole evaluation that was written as a [Report] has results in
// their place.
type Part struct {
	*Header
	Shard   Shard     `json:"shard"`
	Blocks  []*Block  `json:"blocks"`
	Results []*Result `json:"results,omitempty"`

	name string // of the file, for messages
}

// Encode returns the part as JSON, which [DecodePart] reads.
func (p *Part) Encode() ([]byte, error) {
	h := *p.Header
	h.Format = shardFormat
	return json.Marshal(Part{Header: &h, Shard: p.Shard, Blocks: p.Blocks})
}

// DecodePart decodes what [Part.Encode] or [Report.Encode] wrote. file is used in
// messages.
func DecodePart(file string, data []byte) (*Part, error) {
	p := &Part{Header: &Header{}, name: file}
	if err := json.Unmarshal(data, p); err != nil || p.Format != reportFormat && (p.Format != shardFormat || p.Shard.Of < 1) {
		return nil, fmt.Errorf("%s is neither shard nor evaluation; name files that `metaqda eval --json FILE` wrote", file)
	}
	for _, b := range p.Blocks {
		for _, r := range b.Records {
			if r == nil || r.Raw == nil || r.Raw.Queries < 1 || len(r.Raw.Bins) == 0 || p.Protocol == Sessions && r.Open == nil {
				return nil, fmt.Errorf("%s is damaged; compute the shard again", file)
			}
		}
	}
	return p, nil
}

// Report sums the records of a whole evaluation.
func (p *Part) Report() *Report { return newReport(p.Header, p.Blocks) }

// Merge joins parts: all shards of one evaluation, in any order, or evaluations of
// the same cells by different methods. The report has the bytes of the undivided
// evaluation; methods that were run apart may have fewer tasks, which are the first
// of the others'.
func Merge(parts ...*Part) (*Report, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("no shards given; name the files that `metaqda eval --json` wrote")
	}
	if parts[0].Format == reportFormat && parts[0].Results != nil {
		return mergeMethods(parts)
	}
	return mergeShards(parts)
}

// mergeShards joins shards of one evaluation, each exactly once.
func mergeShards(parts []*Part) (*Report, error) {
	first := parts[0]
	have := make([]*Part, first.Shard.Of)
	for _, p := range parts {
		if !reflect.DeepEqual(p.Header, first.Header) || p.Shard.Of != first.Shard.Of || len(p.Blocks) != len(first.Blocks) {
			return nil, fmt.Errorf("%s and %s are not shards of one evaluation; run both with the same flags on the same data", first.name, p.name)
		}
		k := p.Shard.Index
		if k < 0 || k >= len(have) {
			return nil, fmt.Errorf("%s is damaged: it is shard %d of %d; compute it again", p.name, k, len(have))
		}
		if have[k] != nil {
			return nil, fmt.Errorf("%s and %s are the same shard %d/%d; give each once", have[k].name, p.name, k, len(have))
		}
		have[k] = p
	}
	for k, p := range have {
		if p == nil {
			return nil, fmt.Errorf("shard %d/%d is missing; compute it with --shard %d/%d and give its file too", k, len(have), k, len(have))
		}
	}
	h := *first.Header
	h.Format = reportFormat
	return newReport(&h, joinBlocks(parts)), nil
}

// joinBlocks puts the records of all parts in the order of the episodes: summed in
// that order they give the bits of the undivided evaluation.
func joinBlocks(parts []*Part) []*Block {
	blocks := make([]*Block, len(parts[0].Blocks))
	for i, b := range parts[0].Blocks {
		joined := *b
		joined.Records = nil
		for _, p := range parts {
			joined.Records = append(joined.Records, p.Blocks[i].Records...)
		}
		sort.Slice(joined.Records, func(i, j int) bool { return joined.Records[i].Episode < joined.Records[j].Episode })
		blocks[i] = &joined
	}
	return blocks
}
