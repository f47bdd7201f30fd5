// Package episode draws few-shot tasks from the rows of a data set. It knows only the numbers of
// the rows; core/lab/dataset has their content. The samplers draw C-way K-shot tasks ([Uniform]),
// tasks as in Triantafillou et al., Meta-Dataset, 2020 ([MetaDataset]), class-incremental sessions
// ([Incremental]), sessions as people make them ([Sessions]), and tasks to learn a prior from
// ([Training]).
//
// Episode i of a sampler is drawn with a random generator of its own, seeded
// by (seed, i). It does not depend on which episodes were drawn before: any
// machine, core or shard that draws episode i gets the same one.
//
// Where a pool has groups, no query shares a group with the support.
package episode

import (
	"math/rand/v2"
	"strconv"
)

// Unknown labels a query whose class is none of the episode's classes.
const Unknown = -1

// Pool is a population of classes to draw episodes from.
type Pool struct {
	Name    string   // for messages, e.g. the file of the data set
	Classes []string // class names, for messages
	Rows    [][]int  // rows of each class
	Groups  []int32  // group of each row, indexed by the row; nil: every row is a group of its own
}

// Episode is one few-shot task.
type Episode struct {
	Pool       int     // index of the pool it was drawn from
	Classes    []int   // way: indices into the pool's classes
	Support    [][]int // support rows of each class of the episode
	Query      []int   // query rows
	QueryLabel []int   // class of each query, index into Classes, or Unknown
}

// Way returns the number of classes of the episode.
func (e *Episode) Way() int { return len(e.Classes) }

// Sampler draws episodes. Episode must be safe for concurrent use.
type Sampler interface {
	// Episode returns episode i, counted from 0: always the same one.
	Episode(i int) Episode
}

// Range is an interval of whole numbers, both ends included.
type Range struct{ Min, Max int }

// Exactly returns the range that holds n alone.
func Exactly(n int) Range { return Range{n, n} }

func (r Range) draw(rng *rand.Rand) int { return r.Min + rng.IntN(r.Max-r.Min+1) }

// TooFewError says that a pool has too few classes or rows for an episode.
type TooFewError struct {
	Pool  string // name of the pool
	Class string // the class that is too small, or "" when classes are too few
	Have  int    // rows of the class, or classes of the pool
	Need  int

	// Grouped says that the class has enough rows, but that its groups may leave too few for the
	// support. Have then counts the query rows and the support rows that are sure to be found.
	Grouped bool
}

// Error returns one sentence.
func (e *TooFewError) Error() string {
	if e.Class == "" {
		return e.Pool + " has " + strconv.Itoa(e.Have) + " classes where the episode needs " + strconv.Itoa(e.Need) + "; ask for fewer classes or choose a larger split"
	}
	where := "where support and queries need"
	if e.Grouped {
		where = "for support and queries that share no group, which need"
	}
	return e.Pool + ": class " + strconv.Quote(e.Class) + " has " + strconv.Itoa(e.Have) + " rows " + where + " " + strconv.Itoa(e.Need) + "; ask for fewer shots or queries, or leave the class out of the split"
}

// ConfigError says which number of a configuration is impossible.
type ConfigError struct {
	Name  string
	Value int
	Want  string
}

// Error returns one sentence.
func (e *ConfigError) Error() string {
	return e.Name + " is " + strconv.Itoa(e.Value) + "; it must be " + e.Want
}

// named is a range of a configuration and the least that it may hold.
type named struct {
	name string
	Range
	low int
}

// checkRanges returns a *[ConfigError] for the first range that is empty or begins too low.
func checkRanges(ranges ...named) error {
	for _, r := range ranges {
		if r.Min < r.low {
			return &ConfigError{r.name, r.Min, "at least " + strconv.Itoa(r.low)}
		}
		if r.Max < r.Min {
			return &ConfigError{r.name, r.Max, "no less than the smallest of its range"}
		}
	}
	return nil
}

// generator returns the random generator of episode i.
//
// PCG starts from its seed directly, so neighbouring seeds give related first numbers. splitmix64
// decorrelates them.
func generator(seed uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, splitmix(uint64(i))))
}

// splitmix is the output function of Steele, Lea and Flood's SplitMix64.
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// choose returns k of 0..n-1 in random order: the head of a Fisher-Yates
// shuffle.
func choose(rng *rand.Rand, n, k int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := range k {
		j := i + rng.IntN(n-i)
		p[i], p[j] = p[j], p[i]
	}
	return p[:k:k]
}

// pick returns k of the rows in random order.
func pick(rng *rand.Rand, rows []int, k int) []int {
	p := choose(rng, len(rows), k)
	for i, j := range p {
		p[i] = rows[j]
	}
	return p
}

// need returns a *[TooFewError] if the pool has too few classes, or a class fewer than shot+query
// rows. It also returns one if a class's groups may leave fewer than shot rows for the support.
func (p *Pool) need(classes, shot, query int) error {
	if len(p.Rows) < classes {
		return &TooFewError{Pool: p.Name, Have: len(p.Rows), Need: classes}
	}
	for c, r := range p.Rows {
		if len(r) < shot+query {
			return &TooFewError{Pool: p.Name, Class: p.className(c), Have: len(r), Need: shot + query}
		}
		if have := p.mostSupport(c, query); have < shot {
			return &TooFewError{Pool: p.Name, Class: p.className(c), Have: have + query, Need: shot + query, Grouped: true}
		}
	}
	return nil
}

func (p *Pool) className(c int) string {
	if c < len(p.Classes) {
		return p.Classes[c]
	}
	return strconv.Itoa(c)
}
