package main

import (
	"math/rand/v2"

	"fmt"

	metaqda "metaqda/core"
)

// next teaches one to six examples of each class; in half of the tasks all classes have the same
// number. Then it teaches another example of one class, and takes the mean over three such examples.
// It compares the gain in accuracy for four choices of the class: that of
// [metaqda.Classifier.Needs], the one with the fewest examples, the one with the least accuracy by
// examples left out, or any.
func next(s *source, task int) (map[string]float64, error) {
	const more, queries = 3, 12
	rng := rand.New(rand.NewPCG(5, uint64(task)))
	classes, _ := s.draw(rng, 15)
	if len(classes) < 2 {
		return nil, nil
	}
	var all []example
	shots, asked := make([]int, len(classes)), make([][]int, len(classes))
	for k, rows := range classes {
		if shots[k] = 2 + task/2%4; task%2 == 1 {
			shots[k] = 1 + rng.IntN(6)
		}
		for _, row := range rows[:shots[k]] {
			all = append(all, example{row, k})
		}
		asked[k] = rows[shots[k]+more : min(len(rows), shots[k]+more+queries)]
	}
	c, _, err := s.teach(len(classes), all)
	if err != nil {
		return nil, err
	}
	before, err := s.accuracy(c, asked)
	if err != nil {
		return nil, err
	}
	gains, mean := make([]float64, len(classes)), 0.0
	for k, rows := range classes {
		for _, row := range rows[shots[k] : shots[k]+more] {
			with, _, err := s.teach(len(classes), append(all[:len(all):len(all)], example{row, k}))
			if err != nil {
				return nil, err
			}
			after, err := s.accuracy(with, asked)
			if err != nil {
				return nil, err
			}
			gains[k] += (after - before) / more
		}
		mean += gains[k] / float64(len(classes))
	}
	need, err := c.Needs(nil, nil)
	if err != nil {
		return nil, err
	}
	left, err := c.LeaveOneOut(nil, nil)
	if err != nil {
		return nil, err
	}
	fewest := 0
	for k := range shots {
		if shots[k] < shots[fewest] {
			fewest = k
		}
	}
	return map[string]float64{"before": before, "any class": mean, "the class of needs": gains[need.Class], "the one with the fewest examples": gains[fewest], "the one with the least accuracy": gains[worst(left, shots)]}, nil
}

// worst returns the class with the smallest share of right answers about its left-out examples. To
// each class it adds half a right and half a wrong answer.
func worst(left []metaqda.LeftOut, shots []int) (class int) {
	right, asked := make([]float64, len(shots)), make([]float64, len(shots))
	for _, x := range left {
		if x.Alone {
			continue
		}
		if asked[x.Class]++; metaqda.DecideAmong(make([]string, len(shots)), shots, x.Probabilities, x.None).Class == x.Class {
			right[x.Class]++
		}
	}
	share := func(k int) float64 { return (right[k] + 0.5) / (asked[k] + 1) }
	for k := range shots {
		if share(k) < share(class) {
			class = k
		}
	}
	return class
}

func reportNext(all map[string][]map[string]float64) {
	before, _, n := bySet(all, "before")
	fmt.Printf("%.0f sets: accuracy %.1f %%; what another example adds, in points\n", n, 100*before)
	for _, name := range []string{"any class", "the one with the least accuracy", "the one with the fewest examples", "the class of needs"} {
		mean, _, _ := bySet(all, name)
		fmt.Printf("  %-34s %+.2f\n", name, 100*mean)
	}
}
