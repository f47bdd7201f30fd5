package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	metaqda "metaqda/core"
)

const (
	coverage     = 0.9
	noneShare    = 0.2 // of the queries, as beforehand
	setQueries   = 6   // of each class
	otherQueries = 8
)

var setShots = []int{1, 2, 5, 10}

// sets teaches the same number of examples of each class. It predicts other examples of these classes,
// and examples of no class. It counts how often the right label is in the set, and the size of the set.
// It does so for [metaqda.Classifier.PredictSet] and for the most probable labels up to the coverage.
func sets(s *source, task int) (map[string]float64, error) {
	figures := map[string]float64{}
	for _, shots := range setShots {
		rng := rand.New(rand.NewPCG(uint64(shots), uint64(task)))
		classes, others := s.draw(rng, shots+3)
		var all []example
		for k, rows := range classes {
			for _, row := range rows[:shots] {
				all = append(all, example{row, k})
			}
		}
		c, _, err := s.teach(len(classes), all)
		if err != nil {
			return nil, err
		}
		rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		known, none := map[string]float64{}, map[string]float64{}
		for k, rows := range classes {
			for _, row := range rows[shots:min(len(rows), shots+setQueries)] {
				if err := s.count(known, c, row, k); err != nil {
					return nil, err
				}
			}
		}
		for _, row := range others[:min(len(others), otherQueries)] {
			if err := s.count(none, c, row, -1); err != nil {
				return nil, err
			}
		}
		for name, v := range known {
			if name == "asked" {
				continue
			}
			v /= known["asked"]
			figures[strconv.Itoa(shots)+" known, "+name] = v
			if none["asked"] > 0 {
				v = (1-noneShare)*v + noneShare*none[name]/none["asked"]
			}
			figures[strconv.Itoa(shots)+" all, "+name] = v
		}
	}
	return figures, nil
}

// count adds the sets of a row of a class, -1 for none.
func (s *source) count(to map[string]float64, c *metaqda.Classifier, row, class int) error {
	set, err := c.PredictSet(s.set.Row(row), coverage)
	if err != nil {
		return err
	}
	to["asked"]++
	for name, labels := range map[string][]int{"set": set.Labels, "cumulated": cumulated(set.Answer)} {
		to[name+" right"] += 0
		if slices.Contains(labels, class) {
			to[name+" right"]++
		}
		to[name+" size"] += float64(len(labels))
	}
	return nil
}

// cumulated returns the most probable labels up to the coverage.
func cumulated(a metaqda.Answer) (labels []int) {
	p := append(slices.Clone(a.Probabilities), a.None)
	for total := 0.0; total < coverage && len(labels) < len(p); {
		at := 0
		for i := range p {
			if p[i] > p[at] {
				at = i
			}
		}
		total += p[at]
		if p[at] = -1; at == len(a.Probabilities) {
			at = -1
		}
		labels = append(labels, at)
	}
	return labels
}

func reportSets(all map[string][]map[string]float64) {
	fmt.Println("shots  labels      coverage %, worst set  of known queries %, worst set  mean size")
	for _, shots := range setShots {
		for _, name := range []string{"set", "cumulated"} {
			right, worst, _ := bySet(all, strconv.Itoa(shots)+" all, "+name+" right")
			known, worstKnown, _ := bySet(all, strconv.Itoa(shots)+" known, "+name+" right")
			size, _, _ := bySet(all, strconv.Itoa(shots)+" all, "+name+" size")
			fmt.Printf("%5d  %-10s  %.1f  %.1f  %.1f  %.1f  %.2f\n", shots, name, 100*right, 100*worst, 100*known, 100*worstKnown, size)
		}
	}
}
