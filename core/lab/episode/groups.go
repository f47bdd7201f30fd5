package episode

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

// grouped reports whether rows belong to groups.
func (p *Pool) grouped() bool { return p.Groups != nil }

// separated returns pools in which no group has rows of two classes: otherwise one thing could be
// support of one class and query of another. It keeps only the rows of the group's first class.
// Pools without groups are returned as they are.
func separated(pools ...Pool) []Pool {
	type place struct{ pool, class int }
	owner := map[int32]place{}
	out := slices.Clone(pools)
	for k := range out {
		p := &out[k]
		if !p.grouped() {
			continue
		}
		p.Rows = slices.Clone(p.Rows)
		for c, rows := range p.Rows {
			p.Rows[c] = slices.DeleteFunc(slices.Clone(rows), func(row int) bool {
				first, taken := owner[p.Groups[row]]
				if !taken {
					owner[p.Groups[row]] = place{k, c}
				}
				return taken && first != place{k, c}
			})
		}
	}
	return out
}

// divide draws at most shot support rows of class c in random order, and at most query other rows.
// No query shares a group with the support. No fewer than least rows are left for queries: a row joins
// the support only if the class can spare its whole group. Without groups, support and queries are the
// first rows of one shuffle.
func (p *Pool) divide(rng *rand.Rand, c, shot, query, least int) (support, queries []int) {
	rows := p.Rows[c]
	if !p.grouped() {
		shot = min(shot, len(rows)-least)
		rows = pick(rng, rows, min(shot+query, len(rows)))
		return rows[:shot:shot], rows[shot:]
	}
	size := p.groupSizes(c)
	left := len(rows) - least
	used := map[int32]bool{} // groups of the support
	rows = pick(rng, rows, len(rows))
	for _, row := range rows {
		g := p.Groups[row]
		if len(support) == shot || !used[g] && size[g] > left {
			continue
		}
		if !used[g] {
			used[g] = true
			left -= size[g]
		}
		support = append(support, row)
	}
	for _, row := range rows {
		if len(queries) < query && !used[p.Groups[row]] {
			queries = append(queries, row)
		}
	}
	return support, queries
}

// groupSizes returns the number of rows in each group of class c.
func (p *Pool) groupSizes(c int) map[int32]int {
	size := map[int32]int{}
	for _, row := range p.Rows[c] {
		size[p.Groups[row]]++
	}
	return size
}

// mostSupport returns the largest number of support rows of class c that [Pool.divide] always finds
// while it leaves least rows for queries. 0 or less means that it finds none.
func (p *Pool) mostSupport(c, least int) int {
	most := len(p.Rows[c]) - least
	if !p.grouped() || most <= 0 {
		return most
	}
	return leastFull(slices.Collect(maps.Values(p.groupSizes(c))), most)
}

// leastFull returns the smallest content of a full knapsack of capacity most. It is full if no
// left-out size fits in. Let size_i be the smallest left-out size. Then all smaller ones are in, and
// the content is more than most - size_i. Cost O(len(sizes) most).
func leastFull(sizes []int, most int) int {
	slices.SortStableFunc(sizes, cmp.Compare[int]) // the sort of core/lda: a second kind makes programs 17 KB larger
	before := 0
	for _, n := range sizes {
		before += n
	}
	if before <= most {
		return before
	}
	least := most
	sums := make([]bool, most+1) // whether some of the sizes after i have this sum
	sums[0] = true
	for i := len(sizes) - 1; i >= 0; i-- {
		n := sizes[i]
		before -= n
		for t := max(0, most-n-before+1); before+t < least; t++ {
			if sums[t] {
				least = before + t
			}
		}
		for t := most; t >= n; t-- {
			sums[t] = sums[t] || sums[t-n]
		}
	}
	return least
}
