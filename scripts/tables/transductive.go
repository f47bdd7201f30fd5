package tables

import (
	"fmt"

	"metaqda/core/lab/experiment"
	"metaqda/core/lab/metrics"
)

// meanTable has the means over all data sets at one way. It also counts the sets on which a method
// is more than [experiment.Tolerated] below metaqda, which answers one by one.
func (r report) meanTable(way int) *Table {
	below := map[*experiment.Result]string{}
	t := r.methodsTable(fmt.Sprintf("mean of %d data sets, %d-way, %d queries a class%s, %d tasks, seed %d", len(r.Data), way, r.Query, r.asked(), r.Tasks*r.Repeat, r.Seed), r.Shot,
		append(r.columns(), column{"below", func(x *experiment.Result) string { return below[x] }}),
		func(method string, shot int) *experiment.Result {
			mean, behind := r.mean(method, way, shot)
			below[mean] = behind
			return mean
		})
	t.Note = fmt.Sprintf("below: data sets on which it is more than %.1f points below metaqda", 100*experiment.Tolerated)
	return t
}

// mean returns the means of a method over all data sets, with the interval of the accuracy over the
// sets. It also returns the number of sets on which the method is below metaqda.
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
		if own := r.Find("metaqda", d.Name, way, shot); own != nil {
			if experiment.PairedDifference(x, own).Mean < -experiment.Tolerated {
				lower++
			}
			below = fmt.Sprint(lower)
		}
	}
	mean.Accuracy.Mean, mean.Accuracy.CI95 = metrics.MeanCI(accuracy)
	return mean, below
}
