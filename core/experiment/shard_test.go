package experiment

import (
	"fmt"
	"testing"
)

func TestShardsCountFromZeroOrOne(t *testing.T) {
	for _, from := range []int{0, 1} {
		done := make([]int, 10)
		for i := range 4 {
			s, err := ParseShard(fmt.Sprintf("%d/4", from+i))
			if err != nil {
				t.Fatal(err)
			}
			for e := range done {
				if s.has(e) {
					done[e]++
				}
			}
		}
		for e, n := range done {
			if n != 1 {
				t.Errorf("counting from %d, episode %d is done %d times", from, e, n)
			}
		}
	}
}
