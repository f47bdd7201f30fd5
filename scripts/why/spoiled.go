package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	metaqda "metaqda/core"
)

// The orders that are compared. The first one is from [metaqda.Classifier.Influence].
const (
	byOdds      = "log odds of another class"
	byOwn       = "probability of its own class"
	byInfluence = "change of the others' probabilities"
)

const (
	spoiledShots = 10
	first        = 3 // of a list, those that a person looks at
)

// spoiled teaches ten examples of each class, one in twenty of them as another class: two or three
// of fifty. A wrong label costs accuracy if more queries are right without it. spoiled counts such
// labels, and how many of them are among the first three of each list.
func spoiled(s *source, task int) (map[string]float64, error) {
	rng := rand.New(rand.NewPCG(7, uint64(task)))
	classes, _ := s.draw(rng, spoiledShots+4)
	if len(classes) < 3 {
		return nil, nil
	}
	var all []example
	asked := make([][]int, len(classes))
	for k, rows := range classes {
		for _, row := range rows[:spoiledShots] {
			all = append(all, example{row, k})
		}
		asked[k] = rows[spoiledShots:min(len(rows), spoiledShots+20)]
	}
	clean, _, err := s.teach(len(classes), all)
	if err != nil {
		return nil, err
	}
	wrong := rng.Perm(len(all))[:(len(all)+10*(task%2))/20]
	for _, i := range wrong {
		all[i].label = (all[i].label + 1 + rng.IntN(len(classes)-1)) % len(classes)
	}
	c, ids, err := s.teach(len(classes), all)
	if err != nil {
		return nil, err
	}
	figures := map[string]float64{"tasks": 1}
	if figures["right labels"], err = s.accuracy(clean, asked); err != nil {
		return nil, err
	}
	if figures["with wrong labels"], err = s.accuracy(c, asked); err != nil {
		return nil, err
	}
	lists, err := listsOf(c)
	if err != nil {
		return nil, err
	}
	for _, i := range wrong {
		less, err := c.Clone()
		if err == nil {
			err = less.Remove(ids[i])
		}
		if err != nil {
			return nil, err
		}
		without, err := s.accuracy(less, asked)
		if err != nil {
			return nil, err
		}
		if without < figures["with wrong labels"]+1e-9 {
			continue
		}
		figures["costly"]++
		for name, list := range lists {
			if slices.ContainsFunc(slices.Concat(list[:min(first, len(list))]...), func(e *metaqda.Example) bool { return e.ID == ids[i] }) {
				figures[name]++
			}
		}
	}
	for _, e := range slices.Concat(lists[byOdds][:min(first, len(lists[byOdds]))]...) {
		if err := c.Remove(e.ID); err != nil {
			return nil, err
		}
	}
	figures["without the first three"], err = s.accuracy(c, asked)
	return figures, err
}

// listsOf returns examples and bursts, which count once, in the orders that are compared.
func listsOf(c *metaqda.Classifier) (map[string][][]*metaqda.Example, error) {
	left, err := c.LeaveOneOut(nil, nil)
	if err != nil {
		return nil, err
	}
	own := func(x *metaqda.LeftOut) float64 { return math.Log(max(x.Probabilities[x.Class], 1e-6)) }
	at := map[string]float64{}
	for i := range left {
		at[left[i].Examples[0].ID] = own(&left[i])
	}
	influence := map[string]float64{}
	for _, x := range left {
		less, err := c.Clone()
		if err != nil {
			return nil, err
		}
		for _, e := range x.Examples {
			if err := less.Remove(e.ID); err != nil {
				return nil, err
			}
		}
		after, err := less.LeaveOneOut(nil, nil)
		if err != nil {
			return nil, err
		}
		for i := range after {
			influence[x.Examples[0].ID] += at[after[i].Examples[0].ID] - own(&after[i])
		}
	}
	found, err := c.Influence(nil, nil)
	if err != nil {
		return nil, err
	}
	lists := map[string][][]*metaqda.Example{}
	for _, x := range found {
		lists[byOdds] = append(lists[byOdds], x.Examples)
	}
	for name, by := range map[string]map[string]float64{byOwn: at, byInfluence: influence} {
		slices.SortStableFunc(left, func(a, b metaqda.LeftOut) int {
			return cmp.Compare(by[a.Examples[0].ID], by[b.Examples[0].ID])
		})
		for _, x := range left {
			lists[name] = append(lists[name], x.Examples)
		}
	}
	return lists, nil
}

func reportSpoiled(all map[string][]map[string]float64) {
	tasks, costly := sum(all, "tasks"), sum(all, "costly")
	fmt.Printf("%.0f tasks of %d sets: accuracy %.1f %% with right labels, %.1f with one in twenty wrong, %.1f without the first three of the list\n",
		tasks, len(all), 100*sum(all, "right labels")/tasks, 100*sum(all, "with wrong labels")/tasks, 100*sum(all, "without the first three")/tasks)
	fmt.Printf("%.0f wrong labels cost accuracy; among the first three of the list are, in %%\n", costly)
	for _, name := range []string{byOdds, byOwn, byInfluence} {
		fmt.Printf("  %-38s %.1f\n", name, 100*sum(all, name)/costly)
	}
}
