// Package experiment runs few-shot classifiers through the protocols of the field
// and measures accuracy, calibration and the detection of unknown classes.
//
// A [Plan] names the protocol, its numbers and the methods. [Plan.Run] draws the episodes of each
// [Domain] and lets every [Method] score the same ones. It returns a [Record] of each as a [Part].
// [Merge] puts parts together and gives the [Report]. All sums follow the order of the episodes. So
// the report has the same bytes for any number of workers and of shards.
//
// Your own method is a value like those of [Methods]: see the example. Several machines can share
// the work: scripts/shards runs a shard on each. The package makes no tables and no pictures, reads
// and writes no files, and learns no prior. It has no command line, but its errors name the flags
// of the command metaqda.
//
// The protocols are those of Zhang, Meng, Gouk and Hospedales, "Shallow Bayesian
// Meta Learning for Real-World Few-Shot Recognition" (ICCV 2021), tables 1 to 9.
// Episodes of random way and shot are those of Triantafillou et al., "Meta-Dataset"
// (2020). ECE is of Naeini et al. (2015), temperature scaling of Guo et al. (2017). The detection
// of unseen classes by AUROC, with one minus the largest probability as the score, is of Hendrycks
// and Gimpel (2017).
package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sort"

	"metaqda/core/lab/dataset"
	"metaqda/core/lab/episode"
)

// Plan is everything that determines the numbers of an experiment, except the data. [NewPlan] fills
// it with the values of the protocol.
type Plan struct {
	Protocol string
	Methods  []Method
	Ways     []int // classes of a task, each number measured
	Shots    []int // support rows of a class, each number measured
	Queries  int   // query rows of a class
	Tasks    int
	ValTasks int // validation tasks to fit the temperature on, 0 for none
	Repeat   int // multiplies the tasks; runs of [Incremental]
	Seed     uint64
	Split    string // of classes to draw tasks from

	Imbalance string  // of the queries of [Transductive]: ImbalanceNone or ImbalanceDirichlet
	OutOfSet  float64 // share of queries of unseen classes in [Transductive]: 0 or 0.5

	HandScale float64  // s of the hand-crafted prior S = s² I
	MAMLTasks int      // tasks that maml-qda learns its start from
	InDomain  []string // data sets the prior was learned on, for [MultiDomain]; nil: what the prior says

	Shard    Shard             // the part of the tasks to do
	Workers  int               // tasks at a time; does not change the results
	Versions map[string]string // what computes the numbers, for the report

	// Progress, if not nil, is called after each task, by any goroutine.
	Progress func(what string, done, total int)
}

// NewPlan returns the plan of a protocol as it is commonly run: 600 tasks of five
// ways with 15 queries a class from the split "test", 200 validation tasks, seed 0.
func NewPlan(name string) (*Plan, error) {
	d, err := protocol(name)
	if err != nil {
		return nil, err
	}
	methods, err := Choose(Methods(), d.Methods...)
	if err != nil {
		return nil, err
	}
	return &Plan{Protocol: name, Methods: methods, Ways: []int{5}, Shots: d.Shots, Queries: 15, Tasks: 600, ValTasks: 200, Repeat: d.Repeat,
		Split: "test", Imbalance: ImbalanceNone, HandScale: 1, MAMLTasks: 1000, Shard: whole, Workers: runtime.GOMAXPROCS(0)}, nil
}

// Validate returns a *[dataset.FieldError] for the first value outside its domain.
func (p *Plan) Validate() error {
	if _, err := protocol(p.Protocol); err != nil {
		return err
	}
	type bound struct {
		field      string
		value, low int
	}
	bounds := []bound{{"n-query", p.Queries, 1}, {"n-tasks", p.Tasks, 1}, {"n-val-tasks", p.ValTasks, 0}, {"repeat", p.Repeat, 1},
		{"maml-tasks", p.MAMLTasks, 0}, {"workers", p.Workers, 1}, {"shard", p.Shard.Of, 1}}
	for _, v := range p.Ways {
		bounds = append(bounds, bound{"n-way", v, 1})
	}
	least := 1
	if p.Protocol == MultiDomain { // draws its shots
		least = 0
	}
	for _, v := range p.Shots {
		bounds = append(bounds, bound{"n-shot", v, least})
	}
	for _, b := range bounds {
		if b.value < b.low {
			return dataset.BadField(b.field, "is %d; give %d or more", b.value, b.low)
		}
	}
	for i, m := range p.Methods {
		if slices.ContainsFunc(p.Methods[:i], func(other Method) bool { return other.Name == m.Name }) {
			return dataset.BadField("methods", "names %s twice; give each once", m.Name)
		}
	}
	if err := p.validateTransductive(); err != nil {
		return err
	}
	if len(p.InDomain) > 0 && p.Protocol != MultiDomain {
		return dataset.BadField("in-domain", "is for the protocol %s; leave it out", MultiDomain)
	}
	if !(p.HandScale > 0) || p.HandScale > 1e6 {
		return dataset.BadField("hand-scale", "is %v; give a positive number such as 1", p.HandScale)
	}
	return nil
}

// Run does the plan's shard of the tasks on every domain. Errors name the file, the
// row where there is one, and the remedy. Cost: methods x tasks, after O(N d^2) for
// each domain and prior.
func (p *Plan) Run(ctx context.Context, domains []Domain) (*Part, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if len(domains) == 0 {
		return nil, dataset.BadField("data", "is empty; give one data set or more")
	}
	for _, name := range p.InDomain {
		if !slices.ContainsFunc(domains, func(d Domain) bool { return d.Set.Name == name }) {
			return nil, dataset.BadField("in-domain", "names %q, which is no data set of --data; name those of --data that the prior was learned on, and no others", name)
		}
	}
	drawn := *p
	if p.Protocol == Transductive {
		drawn.ValTasks = 0
	}
	if p.Protocol == Sessions { // draws all of these
		drawn.Ways, drawn.Shots, drawn.Queries, drawn.ValTasks = nil, nil, episode.SessionQueries, 0
	}
	return drawn.run(ctx, domains)
}

func (p *Plan) run(ctx context.Context, domains []Domain) (*Part, error) {
	sources, err := p.sources(domains)
	if err != nil {
		return nil, err
	}
	part := &Part{Header: p.header(sources), Shard: p.Shard, name: fmt.Sprintf("shard %d/%d", p.Shard.Index, p.Shard.Of)}
	if p.Protocol == Incremental {
		part.Blocks, err = p.incremental(ctx, sources)
		return part, err
	}
	var cells []*cell
	for _, s := range sources {
		c, err := p.cells(s)
		if err != nil {
			return nil, err
		}
		cells = append(cells, c...)
	}
	for _, c := range cells {
		blocks, err := p.runCell(ctx, c)
		if err != nil {
			return nil, err
		}
		part.Blocks = append(part.Blocks, blocks...)
	}
	return part, nil
}

// validationSeed keeps the tasks for fitting a temperature apart from the reported ones.
const validationSeed = 0x76616c6964617465

// cell is one column of an evaluation: a data set and a kind of episode, to be
// scored by every method.
type cell struct {
	source    *Source
	way, shot int // 0 where they are drawn
	test      episode.Sampler
	val       episode.Sampler // for the temperature; nil: none is fitted
	maxAsNone bool            // methods that know no none-of-these have one minus the largest probability
}

// name is the name in reports of progress.
func (c *cell) name() string {
	if c.way == 0 {
		return c.source.Set.Name
	}
	return fmt.Sprintf("%s %d-way %d-shot", c.source.Set.Name, c.way, c.shot)
}

// cells returns the columns of a data set.
func (p *Plan) cells(s *Source) ([]*cell, error) {
	test, err := s.Pool(s.split)
	if err != nil {
		return nil, err
	}
	val, err := s.Pool("val")
	if err != nil || p.ValTasks == 0 || testsVal(s.split) {
		val = episode.Pool{}
	}
	s.setRows(test, val)
	switch p.Protocol {
	case Sessions:
		sampler, err := episode.NewSessions(test, p.Seed)
		return []*cell{{source: s, test: sampler, maxAsNone: true}}, err
	case MultiDomain:
		return p.multiDomainCells(s, test, val)
	}
	var cells []*cell
	for _, way := range p.Ways {
		for _, shot := range p.Shots {
			c, err := p.fixedCell(s, way, shot, test, val)
			if err != nil {
				return nil, err
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// fixedCell is a cell of tasks of fixed way and shot; val has no classes where no
// temperature is fitted.
func (p *Plan) fixedCell(s *Source, way, shot int, test, val episode.Pool) (*cell, error) {
	config := episode.Fixed(way, shot, p.Queries)
	if p.Protocol == OpenSet || p.OutOfSet > 0 {
		config.UnknownClasses = way
	}
	if p.Imbalance == ImbalanceDirichlet {
		config.Concentration = concentration
	}
	sampler, err := episode.NewUniform(test, config, p.Seed)
	if err != nil {
		return nil, err
	}
	config.UnknownClasses = 0
	return &cell{source: s, way: way, shot: shot, test: sampler, val: p.validation(val, config), maxAsNone: p.Protocol == Transductive}, nil
}

// validation returns the sampler of validation tasks, nil where there is none.
// Where the validation classes are fewer than the way, tasks take all of them: a
// temperature from fewer classes is better than none.
func (p *Plan) validation(val episode.Pool, c episode.Config) episode.Sampler {
	c.Way = episode.Exactly(min(c.Way.Max, len(val.Rows)))
	if v, err := episode.NewUniform(val, c, p.Seed^validationSeed); err == nil {
		return v
	}
	return nil
}

func (p *Plan) multiDomainCells(s *Source, test, val episode.Pool) ([]*cell, error) {
	sampler, err := episode.NewMetaDataset(test, p.Seed)
	if err != nil {
		return nil, err
	}
	c := &cell{source: s, test: sampler}
	if v, err := episode.NewMetaDataset(val, p.Seed^validationSeed); err == nil {
		c.val = v
	}
	return []*cell{c}, nil
}

// Part is the result of one process: the records of its shard of the tasks, or of all of them. A
// whole evaluation that was written as a [Report] has results in their place.
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

// DecodePart decodes what [Part.Encode] or [Report.Encode] wrote. It returns a *[dataset.FileError],
// which names file, for other content or a damaged shard.
func DecodePart(file string, data []byte) (*Part, error) {
	p := &Part{Header: &Header{}, name: file}
	if err := json.Unmarshal(data, p); err != nil || p.Format != reportFormat && (p.Format != shardFormat || p.Shard.Of < 1) {
		return nil, &dataset.FileError{File: file, Row: -1, Problem: "is neither shard nor evaluation", Remedy: "name files that `metaqda eval --json FILE` wrote", Err: err}
	}
	if problem := p.damage(); problem != "" {
		return nil, &dataset.FileError{File: file, Row: -1, Problem: "is damaged: " + problem, Remedy: "compute the shard again"}
	}
	return p, nil
}

// damage returns what is missing in the blocks of a shard that was read, or "" if they can be
// summed.
func (p *Part) damage() string {
	for i, b := range p.Blocks {
		if b == nil {
			return fmt.Sprintf("block %d is null", i)
		}
		for k, r := range b.Records {
			if problem := r.damage(p.Protocol); problem != "" {
				return fmt.Sprintf("record %d of block %d %s", k, i, problem)
			}
		}
	}
	return ""
}

// Report sums the records of a whole evaluation.
func (p *Part) Report() *Report {
	r := newReport(p.Header, p.Blocks)
	r.sumUp()
	return r
}

// Merge joins parts: all shards of one evaluation, in any order, or evaluations of
// the same cells by different methods. The report has the bytes of the undivided evaluation.
// Methods that were run apart may have fewer tasks; these are the first ones of the others.
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
	have, of := map[int]*Part{}, first.Shard.Of // of may be any number in a damaged file
	for _, p := range parts {
		if !reflect.DeepEqual(p.Header, first.Header) || p.Shard.Of != of || len(p.Blocks) != len(first.Blocks) {
			return nil, fmt.Errorf("%s and %s are not shards of one evaluation; run both with the same flags on the same data", first.name, p.name)
		}
		k := p.Shard.Index
		if k < 0 || k >= of {
			return nil, fmt.Errorf("%s is damaged: it is shard %d of %d; compute it again", p.name, k, of)
		}
		if have[k] != nil {
			return nil, fmt.Errorf("%s and %s are the same shard %d/%d; give each once", have[k].name, p.name, k, of)
		}
		have[k] = p
	}
	for k := range of {
		if have[k] == nil {
			return nil, fmt.Errorf("shard %d/%d is missing; compute it with --shard %d/%d and give its file too", k, of, k, of)
		}
	}
	h := *first.Header
	h.Format = reportFormat
	r := newReport(&h, joinBlocks(parts))
	if err := r.check(first.name); err != nil {
		return nil, err
	}
	r.sumUp()
	return r, nil
}

// joinBlocks puts the records of all parts in the order of the episodes. Summed in this order they
// give the same bits as the undivided evaluation.
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
