package tables

import (
	"fmt"

	"metaqda/core/experiment"
	"metaqda/core/metrics"
)

// meanTable is the means over all data sets at one way, and on how many of them a
// method is more than [experiment.Tolerated] below MetaQDA that judges one by one.
func (r report) meanTable(way int) *Table {
	t := &Table{Title: fmt.Sprintf("mean of %d data sets, %d-way, %d queries a class%s, %d tasks, seed %d", len(r.Data), way, r.Query, r.asked(), r.Tasks*r.Repeat, r.Seed),
		Header: []string{"method"}, Note: fmt.Sprintf("below: data sets on which it is more than %.1f points below fb", 100*experiment.Tolerated)}
	for _, shot := range r.Shot {
		for _, c := range append(r.columns(), column{name: "below"}) {
			t.Header = append(t.Header, fmt.Sprintf("%d-shot %s", shot, c.name))
		}
	}
	for _, m := range r.Methods {
		row := []string{r.label(m)}
		for _, shot := range r.Shot {
			mean, below := r.mean(m, way, shot)
			for _, c := range r.columns() {
				row = append(row, c.get(mean))
			}
			row = append(row, below)
		}
		t.Add(row...)
	}
	return t
}

// mean returns the means of a method over all data sets, the interval of the accuracy
// being that of the sets, and on how many of them it is below fb.
func (r report) mean(method string, way, shot int) (mean *experiment.Result, below string) {
	mean = &experiment.Result{}
	var accuracy []float64
	n, lower := float64(len(r.Data)), 0
	below = "-"
	for _, d := range r.Data {
		x := r.Find(method, d.Name, way, shot)
		accuracy = append(accuracy, x.Accuracy.Mean)
		mean.ECE, mean.NLL = mean.ECE+x.ECE/n, mean.NLL+x.NLL/n
		for _, v := range []struct {
			to   **float64
			from *float64
		}{{&mean.AUROCNone, x.AUROCNone}, {&mean.ECENone, x.ECENone}, {&mean.BrierNone, x.BrierNone}} {
			if v.from == nil {
				continue
			}
			if *v.to == nil {
				*v.to = new(float64)
			}
			**v.to += *v.from / n
		}
		if fb := r.Find("fb", d.Name, way, shot); fb != nil {
			if experiment.PairedDifference(x, fb).Mean < -experiment.Tolerated {
				lower++
			}
			below = fmt.Sprint(lower)
		}
	}
	mean.Accuracy.Mean, mean.Accuracy.CI95 = metrics.MeanCI(accuracy)
	return mean, below
}
