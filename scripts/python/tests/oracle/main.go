// Command oracle prints the answers of native Go, for the tests of the Python package:
//
//	oracle SESSION QUERIES COUNT
//	oracle SESSION PICTURES
//
// SESSION is a classifier file, QUERIES a JSON list of vectors, and PICTURES one of lists of cells,
// which are vectors. The output is JSON: answers are the probability of none and then of each class.
// Examples are in the order of the file.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	metaqda "metaqda/core"
	"metaqda/web/prior"
)

type answers struct {
	Labels      []string    `json:"labels"`
	Predict     [][]float64 `json:"predict"`
	Classify    [][]float64 `json:"classify"`
	LeaveOneOut [][]float64 `json:"leaveOneOut"`
	Suggest     []int       `json:"suggest"`
	Influence   []influence `json:"influence"`
	Sets        [][]int     `json:"sets"` // places of labels, -1 for none
	Need        [2]string   `json:"need"`
}

// influence is a [metaqda.Influence], with places of examples in the order of the file.
type influence struct {
	Rows    []int   `json:"rows"`
	Label   string  `json:"label"`
	Like    string  `json:"like"`
	Odds    float64 `json:"odds"`
	Asked   int     `json:"asked"`
	Right   int     `json:"right"`
	LogProb float64 `json:"logProb"`
}

func main() {
	var a any
	var err error
	if len(os.Args) == 3 {
		a, err = askCells(os.Args[1], os.Args[2])
	} else {
		a, err = ask(os.Args[1], os.Args[2], os.Args[3])
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func ask(session, queries, count string) (a answers, err error) {
	c, err := open(session)
	if err != nil {
		return a, err
	}
	text, err := os.ReadFile(queries)
	if err != nil {
		return a, err
	}
	var x [][]float32
	if err := json.Unmarshal(text, &x); err != nil {
		return a, err
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return a, err
	}
	a.Labels = c.Labels()
	for _, v := range x {
		p, err := c.Predict(v)
		if err != nil {
			return a, err
		}
		a.Predict = append(a.Predict, append([]float64{p.None}, p.Probabilities...))
		s, err := c.SetOf(p, 0.9)
		if err != nil {
			return a, err
		}
		a.Sets = append(a.Sets, s.Labels)
	}
	together, err := c.Classify(nil, x, nil)
	if err != nil {
		return a, err
	}
	for _, p := range together {
		a.Classify = append(a.Classify, append([]float64{p.None}, p.Probabilities...))
	}
	left, err := c.LeaveOneOut(nil, nil)
	if err != nil {
		return a, err
	}
	byID := map[string][]float64{}
	for _, l := range left {
		for _, e := range l.Examples {
			byID[e.ID] = append([]float64{l.None}, l.Probabilities...)
		}
	}
	places := map[string]int{}
	for _, k := range c.Classes() {
		for _, e := range k.Examples {
			places[e.ID] = len(places)
			a.LeaveOneOut = append(a.LeaveOneOut, byID[e.ID])
		}
	}
	found, err := c.Influence(nil, nil)
	if err != nil {
		return a, err
	}
	a.Influence = []influence{}
	for _, f := range found {
		one := influence{Label: a.Labels[f.Class], Like: a.Labels[f.Like], Odds: f.Odds, Asked: f.Asked, Right: f.Right, LogProb: f.LogProb}
		for _, e := range f.Examples {
			one.Rows = append(one.Rows, places[e.ID])
		}
		a.Influence = append(a.Influence, one)
	}
	need, err := c.Needs(nil, nil)
	if err != nil {
		return a, err
	}
	for i, k := range []int{need.Class, need.ConfusedWith} {
		if k >= 0 {
			a.Need[i] = a.Labels[k]
		}
	}
	a.Suggest, err = c.Suggest(nil, x, n, nil)
	return a, err
}

func open(session string) (*metaqda.Classifier, error) {
	file, err := os.ReadFile(session)
	if err != nil {
		return nil, err
	}
	priors, err := prior.All()
	if err != nil {
		return nil, err
	}
	return metaqda.Open(file, priors...)
}
