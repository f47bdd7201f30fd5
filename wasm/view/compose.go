// Package view shows a prediction: one meter per class, one for none of these, and a sentence that
// claims no more than the numbers. JavaScript shows the rest of the page.
//
// Plain Go decides what to show. Only dom_js.go touches the DOM.
package view

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	metaqda "metaqda/core"
)

// Sort is the order of the meters.
type Sort string

const (
	ByProbability Sort = "probability" // most probable first, none of these among them
	AsTaught      Sort = "taught"      // in the order the classes were added, none of these last
)

// Class is one class of the session with its probability for the query.
type Class struct {
	ID, Name    string
	Examples    int
	Views       int     // number of examples, near-copies counted as one; 0 if not known
	Probability float64 // in [0, 1]
}

// Input determines the frame of a prediction.
type Input struct {
	Classes []Class // in the order of the session
	None    float64 // probability of none of these
	Query   bool    // there is something to recognise
	Live    bool    // a live view runs
	Waiting bool    // the classifier is not ready yet
	Sort    Sort

	Decision metaqda.Decision // by these probabilities
	Set      *metaqda.Set     // the labels among which the right one is nine times in ten; nil if not known
}

// Row is one meter.
type Row struct {
	ID   string  // of the class, empty for none of these
	Name string  // label of the meter
	Now  string  // probability as the shortest decimal that reads back the same
	Text string  // probability in percent, or why there is none
	P    float64 // probability, for the length of the bar
	Best bool    // named first by the headline
	None bool
}

// Frame is the content to show.
type Frame struct {
	Verdict string
	Rows    []Row  // none without a query
	Rest    string // note about rows left out, or empty
	Hint    string // hint that evidence is thin and what would help, or empty
}

// little returns a hint if the evidence of an answer is thin, else nothing. A single class is compared
// only with the prior, so more queries are taken for it than with a second class.
func little(in Input, best Row) string {
	const help = ": two or three others make it surer"
	alone := taughtClasses(in.Classes) == 1
	for _, c := range in.Classes {
		n := c.Examples
		rests := "rests on " + strconv.Itoa(n) + " examples"
		switch {
		case n == 1:
			rests = "rests on a single example"
		case c.Views == 1:
			n, rests = 1, "rests on examples that are nearly the same"
		}
		few := n < metaqda.FewExamples
		switch {
		case c.Examples == 0:
		case alone && few:
			return "This " + rests + ". " + only(c.Name)
		case alone:
			return only(c.Name)
		case c.ID == best.ID && n == 1:
			return "“" + c.Name + "” " + rests + help + "."
		}
	}
	return ""
}

// only says how the page answers with a single class, and two ways to improve that.
func only(name string) string {
	return "With one class it can only say “" + name + "” or not. More examples, or a second class, make this surer."
}

// mostRows is how many classes are shown at once, the most probable ones.
const mostRows = 60

// Compose makes the frame.
func Compose(in Input) Frame {
	if text := missing(in); text != "" {
		return Frame{Verdict: text}
	}
	rows := make([]Row, 0, len(in.Classes)+1)
	for _, c := range in.Classes {
		r := newRow(c.ID, c.Name, c.Probability)
		if c.Examples == 0 {
			r.Text = "no examples yet"
		}
		rows = append(rows, r)
	}
	none := newRow("", metaqda.NoneName, in.None)
	none.None = true
	rows = append(rows, none)
	best := none
	if in.Decision.First >= 0 {
		best = rows[in.Decision.First]
	}
	all := slices.Clone(rows)
	ranked := make([]*Row, len(all)) // the program has code to sort pointers anyway
	for i := range all {
		ranked[i] = &all[i]
	}
	slices.SortStableFunc(ranked, func(a, b *Row) int {
		if a.Text == b.Text && a.ID != b.ID && (a.ID == best.ID || b.ID == best.ID) {
			if a.ID == best.ID { // as in the headline
				return -1
			}
			return 1
		}
		return cmp.Compare(b.P, a.P)
	})
	if in.Sort != AsTaught {
		for i, r := range ranked {
			rows[i] = *r
		}
	}
	rows, rest := shortened(rows, ranked)
	for i := range rows {
		rows[i].Best = rows[i].ID == best.ID
	}
	return Frame{Verdict: together(apart(in.Decision.Headline, rows)), Rows: rows, Rest: rest, Hint: strings.TrimSpace(oneOf(in) + " " + little(in, best))}
}

// NotSure reports whether the headline says so.
func NotSure(d metaqda.Decision) bool { return strings.HasPrefix(d.Headline, "Not sure") }

// mostOfSet is the largest number of labels that a sentence lists.
const mostOfSet = 3

// oneOf lists the few labels among which the right one is, if the headline is not sure. A set of
// all labels is not shown, since it says nothing. A set may rest on the left-out examples more than on
// the probabilities of this query. If its meters sum to less than the sentence says, it is not shown.
func oneOf(in Input) string {
	if in.Set == nil || !NotSure(in.Decision) {
		return ""
	}
	if n := len(in.Set.Labels); n < 2 || n > min(mostOfSet, taughtClasses(in.Classes)) {
		return ""
	}
	var names []string
	var sum float64
	for _, i := range in.Set.Labels {
		if i < 0 {
			sum += in.None
			names = append(names, "none of these")
		} else {
			sum += in.Classes[i].Probability
			names = append(names, "“"+in.Classes[i].Name+"”")
		}
	}
	if math.Round(100*sum) < 90 {
		return ""
	}
	last := len(names) - 1
	some := strings.Join(names[:last], ", ") + " or " + names[last]
	if in.Set.Borrowed {
		return "Nine times in ten it is " + some + ". There are too few examples yet to check that number."
	}
	return "Nine times in ten it is " + some + "."
}

// apart ends each name of right-to-left letters with a mark. Without it the number would stand on
// the other side of the name.
func apart(headline string, rows []Row) string {
	leftwards := func(c rune) bool { return unicode.In(c, unicode.Hebrew, unicode.Arabic) }
	if !strings.ContainsFunc(headline, leftwards) {
		return headline
	}
	marked := ""
	for n := 0; headline != ""; headline = headline[n:] {
		_, n = utf8.DecodeRuneInString(headline)
		mark := ""
		for _, r := range rows { // the longest name counts: one name may be the beginning of another
			if strings.HasPrefix(headline, r.Name) && len(r.Name) >= n && strings.ContainsFunc(r.Name, leftwards) {
				n, mark = len(r.Name), "\u200e"
			}
		}
		marked += headline[:n] + mark
	}
	return marked
}

// together keeps a number and its sign on one line.
func together(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, " %", "\u00a0%"), "> 99", ">\u00a099")
}

// shortened returns the most probable rows and the row of none of these, in the order of rows. rest is a
// note on the others.
func shortened(rows []Row, ranked []*Row) (some []Row, rest string) {
	if len(rows) <= mostRows+1 {
		return rows, ""
	}
	shown := map[string]bool{"": true} // none of these
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
	return some, "And " + strconv.Itoa(len(ranked)-len(some)) + " more, less probable: " + metaqda.Percent(min(p, 1)) + " together"
}

func newRow(id, name string, p float64) Row {
	return Row{ID: id, Name: name, Now: strconv.FormatFloat(p, 'f', -1, 64), Text: metaqda.Percent(p), P: p}
}

// missing says what to do if there is no answer to show yet; otherwise it is empty.
func missing(in Input) string {
	switch taught := taughtClasses(in.Classes); {
	case len(in.Classes) == 0:
		return "Add a class and a few examples of it to begin."
	case taught == 0 && len(in.Classes) == 1:
		return "Add a few examples to “" + in.Classes[0].Name + "”."
	case taught == 0:
		return "Add a few examples to each class."
	case !in.Query && in.Live:
		return "There is nothing to recognise at the moment."
	case !in.Query:
		return "Choose something to recognise."
	case in.Waiting:
		return "Getting ready: there are many examples …"
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
