// Package view shows a prediction: one meter per class, one for none of these,
// and a sentence that says no more than the numbers do. It is not for the rest of
// the page, which is JavaScript's.
//
// What is shown is decided here, in plain Go; the DOM is touched in dom_js.go
// and nowhere else.
package view

import (
	"slices"
	"sort"
	"strconv"

	"metaqda/core/qda"
)

// Sort is the order of the meters.
type Sort string

const (
	ByProbability Sort = "probability" // most probable first, none of these among them
	AsTaught      Sort = "taught"      // in the order the classes were added, none of these last
)

// NoneName is what the meter of the open set is called.
const NoneName = "None of these"

// noneID tells the row of the open set from those of classes, whose ids are
// never empty.
const noneID = ""

// Class is one class of the session with its probability for the query.
type Class struct {
	ID, Name    string
	Examples    int
	Views       int     // of the examples, those that are nearly the same counted as one; 0 if not known
	Probability float64 // in [0, 1]
}

// Input is all that a prediction's picture depends on.
type Input struct {
	Classes []Class // in the order of the session
	None    float64 // probability of none of these
	Open    bool    // none of these is a hypothesis at all
	Query   bool    // there is something to recognise
	Waiting bool    // what answers is not ready yet
	Sort    Sort
}

// Row is one meter.
type Row struct {
	ID   string  // of the class, empty for none of these
	Name string  // what the meter is called
	Now  string  // probability as the shortest decimal that reads back the same
	Text string  // probability as people say it, or why there is none
	P    float64 // probability, for the length of the bar
	Best bool    // it is what the query is taken for
	None bool
}

// Frame is what the page shows.
type Frame struct {
	Verdict string
	Rows    []Row  // none without a query
	Rest    string // what there is beside the rows, or nothing
	Hint    string // how little the answer rests on and what would help, or nothing
}

// enough pictures of a class show what its things have in common; with fewer the answer
// says so.
const enough = 3

// little says of an answer that rests on little how little, and what would help; of
// others nothing. What the only class is told from is what the page knows of things in
// general, and that lets more pass for it than a second class would.
func little(in Input, best Row) string {
	const help = ": two or three others make it surer"
	alone := taughtClasses(in.Classes) == 1
	for _, c := range in.Classes {
		n := c.Examples
		rests := "rests on " + strconv.Itoa(n) + " pictures"
		switch {
		case n == 1:
			rests = "rests on a single picture"
		case c.Views == 1:
			n, rests = 1, "rests on pictures that are nearly the same"
		}
		few := n < enough
		switch {
		case c.Examples == 0:
		case alone && few:
			return "This " + rests + help + ". And with one class it can only say “" + c.Name + "” or not: a second one shows it what else there is."
		case alone:
			return "With one class it can only say “" + c.Name + "” or not: a second one shows it what else there is."
		case c.ID == best.ID && n == 1:
			return "“" + c.Name + "” " + rests + help + "."
		}
	}
	return ""
}

// mostRows are shown at once: of more classes the most probable.
const mostRows = 60

// Compose decides what to show.
func Compose(in Input) Frame {
	if text := missing(in); text != "" {
		return Frame{Verdict: text}
	}
	rows := make([]Row, 0, len(in.Classes)+1)
	for _, c := range in.Classes {
		r := newRow(c.ID, c.Name, c.Probability)
		if c.Examples == 0 {
			r.Text = "no pictures yet"
		}
		rows = append(rows, r)
	}
	none := newRow(noneID, NoneName, in.None)
	none.None = true
	rows = append(rows, none)
	best := taken(rows)
	ranked := slices.Clone(rows)
	sort.SliceStable(ranked, func(i, j int) bool { return ranked[i].P > ranked[j].P })
	if in.Sort != AsTaught {
		rows = slices.Clone(ranked)
	}
	rows, rest := shortened(rows, ranked)
	for i := range rows {
		rows[i].Best = rows[i].ID == best.ID
	}
	ranked = slices.DeleteFunc(slices.Clone(ranked), func(r Row) bool { return r.ID == best.ID })
	return Frame{Verdict: verdict(in, best, ranked[0]), Rows: rows, Rest: rest, Hint: little(in, best)}
}

// taken returns the row of what the query is taken for, by [qda.Decide]; the last row
// is that of none of these.
func taken(rows []Row) Row {
	last := len(rows) - 1
	p := make([]float64, last)
	for i := range p {
		p[i] = rows[i].P
	}
	if best := qda.Decide(p, rows[last].P); best >= 0 {
		return rows[best]
	}
	return rows[last]
}

// shortened returns the most probable rows and that of none of these, in their order,
// and what to say of the others.
func shortened(rows, ranked []Row) (some []Row, rest string) {
	if len(rows) <= mostRows+1 {
		return rows, ""
	}
	shown := map[string]bool{noneID: true}
	for _, r := range ranked[:mostRows] {
		shown[r.ID] = true
	}
	var p float64
	for _, r := range ranked {
		if !shown[r.ID] {
			p += r.P
		}
	}
	some = slices.DeleteFunc(rows, func(r Row) bool { return !shown[r.ID] })
	return some, "And " + strconv.Itoa(len(ranked)-len(some)) + " more, less probable: " + Percent(min(p, 1)) + " together"
}

func newRow(id, name string, p float64) Row {
	return Row{ID: id, Name: name, Now: strconv.FormatFloat(p, 'f', -1, 64), Text: Percent(p), P: p}
}

// missing says what to do before there is anything to show, or nothing.
func missing(in Input) string {
	switch taught := taughtClasses(in.Classes); {
	case len(in.Classes) == 0:
		return "Add a class and a few pictures of it to begin."
	case taught == 0 && len(in.Classes) == 1:
		return "Add a few pictures to “" + in.Classes[0].Name + "”."
	case taught == 0:
		return "Add a few pictures to each class."
	case !in.Query:
		return "Choose a picture to recognise."
	case in.Waiting:
		return "Getting ready: there are many pictures …"
	}
	return ""
}

func taughtClasses(classes []Class) int {
	n := 0
	for _, c := range classes {
		if c.Examples > 0 {
			n++
		}
	}
	return n
}

// The verdict speaks of one class from probable on, and drops the doubt only
// when almost nothing is left for all other possibilities together. A runner-up
// is named when it is at least half as probable as the best. Words follow the whole percents
// that are shown, so that one number is always called the same.
const (
	probable  = 60
	nearSure  = 97
	alsoNamed = 0.5
)

// verdict puts what the query is taken for, and the most probable of the others, into
// one sentence.
func verdict(in Input, best, next Row) string {
	switch {
	case taughtClasses(in.Classes) == 1 && !in.Open:
		return "Only “" + best.Name + "” has pictures: teach a second class to compare with."
	case best.None && percents(best.P) >= probable:
		return "None of these, most likely: " + best.Text
	case percents(best.P) >= nearSure:
		return "Almost certainly " + best.Name + ": " + best.Text
	case percents(best.P) >= probable:
		return "Probably " + best.Name + ": " + best.Text
	case next.P >= alsoNamed*best.P:
		return "Not sure: " + spoken(best) + " or " + spoken(next)
	}
	return "Not sure, perhaps " + spoken(best)
}

func spoken(r Row) string {
	if r.None {
		return "none of these " + r.Text
	}
	return r.Name + " " + r.Text
}

// Percent rounds p in [0, 1] to whole percents, but calls nothing certain or
// impossible that is not exactly so.
func Percent(p float64) string {
	switch {
	case p > 0 && p < 0.005:
		return "< 1 %"
	case p < 1 && p >= 0.995:
		return "> 99 %"
	}
	return strconv.Itoa(percents(p)) + " %"
}

func percents(p float64) int { return int(p*100 + 0.5) }
