package tables

import (
	"fmt"
	"sort"
	"strings"

	"metaqda/core/lab/episode"
	"metaqda/core/lab/experiment"
)

// Of renders a report in the shape of the paper's tables.
func Of(r *experiment.Report) []*Table { return report{r}.tables() }

// report is a report with the data to render it.
type report struct{ *experiment.Report }

func (r report) tables() []*Table {
	switch r.Protocol {
	case experiment.MultiDomain:
		return []*Table{r.multiDomainTable()}
	case experiment.Incremental:
		return r.incrementalTables()
	}
	var tables []*Table
	for _, d := range r.Data {
		if r.Protocol == experiment.Sessions {
			tables = append(tables, r.sessionsTable(d))
		}
		for _, way := range r.Way {
			tables = append(tables, r.cellTable(d, way))
		}
	}
	if r.Protocol == experiment.LeaveOneDomainOut {
		tables = append(tables, r.leftOutTables()...)
	}
	if r.Protocol == experiment.Transductive && len(r.Data) > 1 {
		for _, way := range r.Way {
			tables = append(tables, r.meanTable(way))
		}
	}
	return tables
}

// column is one measure of a cell.
type column struct {
	name string
	get  func(*experiment.Result) string
}

var (
	accuracyColumn = column{"accuracy", accuracy}
	eceColumn      = column{"ECE", func(x *experiment.Result) string { return Percent(x.ECE) }}
	eceTSColumn    = column{"ECE+TS", func(x *experiment.Result) string { return Optional(x.ECETS) }}
	nllColumn      = column{"NLL", func(x *experiment.Result) string { return fmt.Sprintf("%.3f", x.NLL) }}
)

// gain is the AUROC of none of these less that of one minus the largest probability of the same
// model, in points. It is empty for methods without none of these.
func gain(x *experiment.Result) string {
	if x.ECENone == nil || x.AUROCNone == nil || x.AUROCMaxProb == nil {
		return "-"
	}
	return fmt.Sprintf("%+.2f", 100*(*x.AUROCNone-*x.AUROCMaxProb))
}

func (r report) columns() []column {
	switch r.Protocol {
	case experiment.Calibration:
		return []column{accuracyColumn, eceTSColumn, eceColumn,
			{"MCE", func(x *experiment.Result) string { return Percent(x.MCE) }},
			{"Brier", func(x *experiment.Result) string { return fmt.Sprintf("%.3f", x.Brier) }},
			{"NLL+TS", func(x *experiment.Result) string {
				if x.NLLTS == nil {
					return "-"
				}
				return fmt.Sprintf("%.3f", *x.NLLTS)
			}}, nllColumn}
	case experiment.OpenSet:
		return []column{accuracyColumn,
			{"AUROC", func(x *experiment.Result) string { return Optional(x.AUROCNone) }},
			{"AUROC 1-max", func(x *experiment.Result) string { return Optional(x.AUROCMaxProb) }},
			{"gain", gain},
			{"AUPR", func(x *experiment.Result) string { return Optional(x.AUPRNone) }},
			{"ECE none", func(x *experiment.Result) string { return Optional(x.ECENone) }},
			{"Brier none", func(x *experiment.Result) string { return Optional(x.BrierNone) }}}
	case experiment.Sessions:
		return []column{accuracyColumn, eceColumn, nllColumn,
			{"none AUROC", func(x *experiment.Result) string { return Optional(x.NoneAUROC) }},
			{"none ECE", func(x *experiment.Result) string { return Optional(x.NoneECE) }},
			{"none Brier", func(x *experiment.Result) string { return Optional(x.NoneBrier) }},
			{"wrongly none", func(x *experiment.Result) string { return Optional(x.WronglyNone) }},
			{"wrongly known", func(x *experiment.Result) string { return Optional(x.WronglyKnown) }}}
	case experiment.Transductive:
		c := []column{accuracyColumn, eceColumn, nllColumn}
		if r.Settings["out_of_set"] == 0. {
			return c
		}
		return append(c, column{"none AUROC", func(x *experiment.Result) string { return Optional(x.AUROCNone) }},
			column{"none ECE", func(x *experiment.Result) string { return Optional(x.ECENone) }},
			column{"none Brier", func(x *experiment.Result) string { return Optional(x.BrierNone) }})
	case experiment.Ablation, experiment.LeaveOneDomainOut:
		return []column{accuracyColumn, eceColumn}
	}
	return []column{accuracyColumn, eceColumn, eceTSColumn, nllColumn}
}

// cellTable is one data set at one way: methods down, shots across.
func (r report) cellTable(d experiment.DomainHeader, way int) *Table {
	return r.methodsTable(fmt.Sprintf("%s, split %s, %d-way, %d queries a class%s, %d tasks, seed %d", d.Name, r.SplitOf(d), way, r.Query, r.asked(), r.Tasks*r.Repeat, r.Seed), r.Shot, r.columns(),
		func(method string, shot int) *experiment.Result { return r.Find(method, d.Name, way, shot) })
}

// methodsTable has a row for each method and all columns for each shot, 0 standing for any.
func (r report) methodsTable(title string, shots []int, columns []column, find func(method string, shot int) *experiment.Result) *Table {
	t := &Table{Title: title, Header: []string{"method"}}
	for _, shot := range shots {
		for _, c := range columns {
			if shot > 0 {
				c.name = fmt.Sprintf("%d-shot %s", shot, c.name)
			}
			t.Header = append(t.Header, c.name)
		}
	}
	for _, m := range r.Methods {
		row := []string{r.label(m)}
		for _, shot := range shots {
			x := find(m, shot)
			for _, c := range columns {
				row = append(row, c.get(x))
			}
		}
		t.Add(row...)
	}
	return t
}

// asked describes special queries, for titles.
func (r report) asked() (text string) {
	if r.Protocol != experiment.Transductive {
		return ""
	}
	if r.Settings["imbalance"] == experiment.ImbalanceDirichlet {
		text = " on average"
	}
	if r.Settings["out_of_set"] != 0. {
		text += " and as many out of set"
	}
	return text
}

// label is a method's name. If its number of tasks differs from the others', the label has it.
func (r report) label(method string) string {
	for _, x := range r.Results {
		if x.Method == method && x.Tasks != r.Tasks*r.Repeat {
			return fmt.Sprintf("%s (%d tasks)", method, x.Tasks)
		}
	}
	return method
}

// sessionsTable is one data set: methods down, measures across.
func (r report) sessionsTable(d experiment.DomainHeader) *Table {
	t := r.methodsTable(fmt.Sprintf("%s, split %s, sessions of 1 to %d classes with 1 to %d examples, %d queries and %d of unseen classes, %d sessions, seed %d", d.Name, r.SplitOf(d),
		episode.SessionWay, episode.SessionShot, episode.SessionQueries, episode.SessionQueries, r.Tasks*r.Repeat, r.Seed), []int{0}, r.columns(),
		func(method string, _ int) *experiment.Result { return r.Find(method, d.Name, 0, 0) })
	t.Note = "accuracy, ECE and NLL are of the taught classes, none of these left out"
	return t
}

func (r report) multiDomainTable() *Table {
	t := &Table{Title: fmt.Sprintf("Meta-Dataset tasks, split %s, %d tasks a data set, seed %d", r.Split, r.Tasks*r.Repeat, r.Seed), Header: []string{"method", "avg. rank", "overall", "in-domain", "out-of-domain"}}
	for _, d := range r.Data {
		t.Header = append(t.Header, d.Name)
	}
	for _, s := range r.Summary {
		row := []string{s.Method, fmt.Sprintf("%.2f", s.AverageRank), Percent(s.Overall), Optional(s.InDomain), Optional(s.OutOfDomain)}
		for _, d := range r.Data {
			for _, x := range r.On(d.Name) {
				if x.Method == s.Method {
					row = append(row, accuracy(x))
				}
			}
		}
		t.Add(row...)
	}
	if len(r.InDomain) > 0 {
		t.Note = "in-domain: " + strings.Join(r.InDomain, ", ")
	}
	return t
}

func (r report) incrementalTables() []*Table {
	var tables []*Table
	for _, d := range r.Data {
		t := &Table{Title: fmt.Sprintf("%s, class-incremental, %d new classes a session with %d rows each, %d runs, seed %d", d.Name, r.Way[0], r.Shot[0], r.Repeat, r.Seed), Header: []string{"method"}}
		for _, m := range r.Methods {
			var sessions []*experiment.Result
			for _, x := range r.On(d.Name) {
				if x.Method == m {
					sessions = append(sessions, x)
				}
			}
			sort.Slice(sessions, func(i, j int) bool { return *sessions[i].Session < *sessions[j].Session })
			row, asIs, novel := []string{m}, []string{m + ", unbalanced"}, []string{m + ", new classes"}
			for i, x := range sessions {
				if len(t.Header) <= i+1 {
					t.Header = append(t.Header, fmt.Sprintf("%d (%d)", i, *x.Classes))
				}
				row = append(row, Percent(x.Accuracy.Mean))
				asIs = append(asIs, Percent(x.AccuracyAsIs.Mean))
				novel = append(novel, Optional(x.AccuracyNovel))
			}
			t.Add(row...)
			t.Add(asIs...)
			t.Add(novel...)
		}
		t.Note = "columns: session (classes seen); scores of base and new classes are balanced on validation classes where there are any"
		tables = append(tables, t)
	}
	return tables
}
