package tables

import (
	"fmt"
	"strings"
	"testing"

	"metaqda/core/lab/experiment"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lab/metrics"
	"metaqda/core/test"
)

func TestTableIsAligned(t *testing.T) {
	table := &Table{Title: "title", Header: []string{"method", "1-shot", "±"}, Note: "note"}
	table.Add("fb", "61.50 ± 1.0", "")
	table.Add("nearest", "-", "é")
	want := `title
method        1-shot  ±
-----------------------
fb       61.50 ± 1.0   
nearest            -  é
note
`
	got := table.Text()
	if got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	markdown := "**title**\n\n| method | 1-shot | ± |\n|---|---:|---:|\n| fb | 61.50 ± 1.0 |  |\n| nearest | - | é |\n\nnote\n"
	got = table.Markdown()
	if got != markdown {
		t.Errorf("got\n%s, want\n%s", got, markdown)
	}
}

// report has accuracies a two tasks 0.02 to either side: by method, then by data
// set, way and shot.
func leftOut(methods []string, accuracy map[string][]float64) *experiment.Report {
	r := &experiment.Report{Header: &experiment.Header{Protocol: experiment.LeaveOneDomainOut, Methods: methods, Data: []experiment.DomainHeader{{Name: "x"}, {Name: "y"}},
		Way: []int{5, 20}, Shot: []int{1, 5}, Tasks: 2, Repeat: 1}}
	for _, m := range methods {
		for i, a := range accuracy[m] {
			r.Results = append(r.Results, &experiment.Result{Method: m, Data: r.Data[i/4].Name, Way: &r.Way[i/2%2], Shot: &r.Shot[i%2],
				Tasks: 2, Accuracy: experiment.Interval{Mean: a}, EpisodeAccuracy: []float64{a - 0.02, a + 0.02}, ECE: 0.01})
		}
	}
	return r
}

func TestTablesOfDomainsLeftOut(t *testing.T) {
	r := leftOut([]string{"fb", "ncc-cl2n", "linear", "knn"}, map[string][]float64{
		"fb":       {0.50, 0.70, 0.30, 0.50, 0.80, 0.90, 0.60, 0.80},
		"ncc-cl2n": {0.48, 0.69, 0.28, 0.49, 0.78, 0.89, 0.58, 0.79},
		"linear":   {0.47, 0.71, 0.27, 0.48, 0.77, 0.902, 0.57, 0.78},
		"knn":      {0.40, 0.60, 0.20, 0.40, 0.81, 0.80, 0.50, 0.70},
	})
	tables := Of(r)
	if len(tables) != 4+2+1+1 { // cells, two groups of rivals, ECE, margins
		t.Fatalf("%d tables", len(tables))
	}
	grid := tables[4]
	if fmt.Sprint(grid.Rows) != "[[x, 5 +2.00 -1.00] [x, 20 +2.00 +1.00] [y, 5 +2.00 -0.20] [y, 20 +2.00 +1.00]]" {
		t.Errorf("above the heads: %v", grid.Rows)
	}
	want := "fb is more than 0.3 points below ncc-cl2n or linear in 1 of 8 cells: x, 5-way 5-shot; on average +1.10 points from the better"
	if tables[7].Note != want {
		t.Errorf("got %q, want %q", tables[7].Note, want)
	}
	alone := Of(leftOut([]string{"fb"}, map[string][]float64{"fb": {0.5, 0.7, 0.3, 0.5, 0.8, 0.9, 0.6, 0.8}}))
	if len(alone) != 4+1 {
		t.Errorf("%d tables without competitors", len(alone))
	}
}

func TestMeansOfDataSets(t *testing.T) {
	r := leftOut([]string{"metaqda", "metaqda-transductive", "knn"}, map[string][]float64{
		"metaqda":              {0.50, 0.70, 0.30, 0.50, 0.80, 0.90, 0.60, 0.80},
		"metaqda-transductive": {0.60, 0.70, 0.40, 0.50, 0.798, 0.90, 0.59, 0.80},
		"knn":                  {0.40, 0.60, 0.20, 0.40, 0.81, 0.80, 0.50, 0.70},
	})
	r.Protocol, r.Settings = experiment.Transductive, map[string]any{"imbalance": "none", "out_of_set": 0.5}
	for i, x := range r.Results {
		x.NLL = 0.5
		auroc := 0.6 + 0.01*float64(i%8)
		x.AUROCNone, x.ECENone, x.BrierNone = &auroc, &auroc, &auroc
	}
	tables := Of(r)
	if len(tables) != 4+2 {
		t.Fatalf("%d tables", len(tables))
	}
	five := tables[4]
	want := "[metaqda 65.00 1.00 0.500 62.00 62.00 62.00 0 80.00][metaqda-transductive 69.90 1.00 0.500 62.00 62.00 62.00 0 80.00][knn 60.50 1.00 0.500 62.00 62.00 62.00 1 70.00]"
	got := ""
	for _, row := range five.Rows {
		row[1], _, _ = strings.Cut(row[1], " ")
		row[8], _, _ = strings.Cut(row[8], " ")
		got += fmt.Sprint(row[:9])
	}
	if got != want || !strings.HasPrefix(five.Title, "mean of 2 data sets, 5-way, 0 queries a class and as many out of set") {
		t.Errorf("%s\n%s, want\n%s", five.Title, got, want)
	}
	twenty := tables[5]
	if twenty.Rows[1][7] != "1" || twenty.Rows[2][7] != "2" {
		t.Errorf("below metaqda at 20 ways: %v", twenty.Rows)
	}
}

func TestOneTaskHasNoInterval(t *testing.T) {
	for tasks, want := range map[int]string{1: "60.00", 2: "60.00 ± 5.00"} {
		got := accuracy(&experiment.Result{Tasks: tasks, Accuracy: experiment.Interval{Mean: 0.6, CI95: 0.05}})
		if got != want {
			t.Errorf("%d tasks: %s, want %s", tasks, got, want)
		}
	}
}

func TestGain(t *testing.T) {
	none, most, ece := 0.85, 0.7, 0.03
	got := gain(&experiment.Result{AUROCNone: &none, AUROCMaxProb: &most, ECENone: &ece})
	if got != "+15.00" {
		t.Errorf("gain %s", got)
	}
	got = gain(&experiment.Result{AUROCNone: &most, AUROCMaxProb: &most})
	if got != "-" {
		t.Errorf("gain of a method that knows no none-of-these: %s", got)
	}
}

func TestPictures(t *testing.T) {
	bins := metrics.NewReliability(metrics.DefaultBins)
	bins.Add(0.8, true)
	way := 5
	pictures, err := Pictures(&experiment.Report{Results: []*experiment.Result{{Method: "fb", Data: "my data", Way: &way, Bins: bins}}})
	if err != nil || len(pictures) != 1 || pictures[0].Name != "reliability-my_data-5way-fb.svg" || !strings.HasSuffix(strings.TrimSpace(string(pictures[0].SVG)), "</svg>") {
		t.Errorf("%v, %+v", err, pictures)
	}
	history := []metatrain.Point{{Step: 0}, {Step: 10, Loss: 0.5, Validation: &metatrain.Validation{Loss: 0.6, Accuracy: 0.7}}}
	curve := test.Must(Curve(history))(t)
	if !strings.HasPrefix(string(curve), "<?xml") {
		t.Errorf("%.20q", curve)
	}
}
