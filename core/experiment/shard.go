package experiment

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is the part of the episodes that one process does: those whose number
// leaves the same remainder by Of as Index does. Counting from 0 (0/4 ... 3/4)
// and from 1 (1/4 ... 4/4) therefore both cover everything once. 0/1 is all episodes;
// the zero Shard is none, and refused.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

var whole = Shard{0, 1}

// Whole reports whether the shard is all episodes.
func (s Shard) Whole() bool { return s == whole }

// has reports whether an episode belongs to the shard.
func (s Shard) has(episode int) bool { return episode%s.Of == s.Index }

// ParseShard reads "i/n"; an empty text is all episodes.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return whole, nil
	}
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || of < 1 || index < 0 || index > of {
		return whole, fmt.Errorf("--shard is %q; write it as i/n with i from 0 to n-1 or from 1 to n, such as 0/4", text)
	}
	return Shard{index % of, of}, nil
}
