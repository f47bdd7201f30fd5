package main

import (
	"fmt"
	"strconv"
	"strings"
)

// shard is the part of the episodes that one process does: those whose number
// leaves the same remainder by of as index does. Counting from 0 (0/4 ... 3/4)
// and from 1 (1/4 ... 4/4) therefore both cover everything once.
type shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

var whole = shard{0, 1}

func (s shard) has(episode int) bool { return episode%s.Of == s.Index }

// parseShard reads "i/n".
func parseShard(text string) (shard, error) {
	if text == "" {
		return whole, nil
	}
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || of < 1 || index < 0 || index > of {
		return whole, fmt.Errorf("--shard is %q; write it as i/n with i from 0 to n-1 or from 1 to n, such as 0/4", text)
	}
	return shard{index % of, of}, nil
}
