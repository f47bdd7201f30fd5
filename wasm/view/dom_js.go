package view

import (
	"slices"
	"strconv"
	"syscall/js"

	"honnef.co/go/js/dom/v2"
)

// DOM draws frames into the page's section #prediction, which contains #verdict and #meters. It
// makes nodes once per class and changes them in place. So nothing flickers, transitions run
// and a screen reader keeps its place.
//
// It makes each [dom.BasicElement] itself. The package's own constructors find the type by
// comparing with some seventy globals, which is slow and links all these types into the
// program.
type DOM struct {
	document js.Value
	verdict  *dom.BasicElement
	meters   *dom.BasicElement
	rest     *dom.BasicElement // after the meters, nil while empty
	rows     map[string]*row
	shown    []string // ids in the order of the document
	text     string
}

// row is one meter with the content that it shows: only changes reach the document.
type row struct {
	item, meter, bar, name, value *dom.BasicElement
	last                          Row
}

// NewDOM finds the page's prediction section, or returns nil where there is no
// document or no such section.
func NewDOM() *DOM {
	document := js.Global().Get("document")
	if !document.Truthy() {
		return nil
	}
	verdict, meters := document.Call("getElementById", "verdict"), document.Call("getElementById", "meters")
	if !verdict.Truthy() || !meters.Truthy() {
		return nil
	}
	return &DOM{document: document, verdict: wrap(verdict), meters: wrap(meters), rows: map[string]*row{}}
}

func wrap(v js.Value) *dom.BasicElement {
	return &dom.BasicElement{BasicNode: &dom.BasicNode{Value: v}}
}

// Show shows the frame on the page.
func (d *DOM) Show(f Frame) {
	if f.Verdict != d.text {
		d.verdict.SetTextContent(f.Verdict)
		d.text = f.Verdict
	}
	keep := make(map[string]bool, len(f.Rows))
	for _, r := range f.Rows {
		keep[r.ID] = true
		if d.rows[r.ID] == nil {
			d.rows[r.ID] = d.newRow()
		}
		d.rows[r.ID].draw(r)
	}
	for id, r := range d.rows {
		if !keep[id] {
			r.item.Remove()
			delete(d.rows, id)
		}
	}
	d.arrange(f.Rows)
	text := f.Rest
	if text != "" && f.Hint != "" {
		text += ". "
	}
	d.showRest(text + f.Hint)
}

// showRest shows the note and the hint as a last item.
func (d *DOM) showRest(text string) {
	switch {
	case text == "" && d.rest != nil:
		d.rest.Remove()
		d.rest = nil
	case text != "":
		if d.rest == nil {
			d.rest = d.element("li", "small muted")
		}
		if d.rest.TextContent() != text {
			d.rest.SetTextContent(text)
		}
		if last := d.meters.Underlying().Get("lastElementChild"); !d.rest.Underlying().Equal(last) {
			d.meters.Underlying().Call("append", d.rest.Underlying())
		}
	}
}

// arrange moves the items into the order of the rows. It touches the document only where the
// order differs, and restores the focus if a move took it.
func (d *DOM) arrange(rows []Row) {
	if slices.EqualFunc(rows, d.shown, func(r Row, id string) bool { return r.ID == id }) {
		return
	}
	focused := d.document.Get("activeElement")
	inside := focused.Truthy() && d.meters.Underlying().Call("contains", focused).Bool()
	d.shown = d.shown[:0]
	at := d.meters.Underlying().Get("firstElementChild")
	for _, r := range rows {
		d.shown = append(d.shown, r.ID)
		item := d.rows[r.ID].item.Underlying()
		if item.Equal(at) {
			at = at.Get("nextElementSibling")
			continue
		}
		d.meters.Underlying().Call("insertBefore", item, at)
	}
	if inside && !focused.Equal(d.document.Get("activeElement")) {
		focused.Call("focus", map[string]any{"preventScroll": true})
	}
}

// newRow makes
//
//	<li><div class="meter" role="meter" …>
//	  <span class="meter-bar"></span>
//	  <span class="meter-name">…</span>
//	  <span class="meter-value">…</span>
//	</div></li>
//
// The spans are only visible: assistive technology reads the label and value of the meter.
func (d *DOM) newRow() *row {
	r := &row{item: d.element("li", ""), meter: d.element("div", "meter"), bar: d.element("span", "meter-bar"),
		name: d.element("span", "meter-name"), value: d.element("span", "meter-value")}
	r.meter.SetAttribute("role", "meter")
	r.meter.SetAttribute("aria-valuemin", "0")
	r.meter.SetAttribute("aria-valuemax", "1")
	r.name.SetAttribute("dir", "auto") // a name that is too long is cut at its end
	for _, e := range []*dom.BasicElement{r.bar, r.name, r.value} {
		r.meter.AppendChild(e)
	}
	r.item.AppendChild(r.meter)
	return r
}

func (d *DOM) element(name, class string) *dom.BasicElement {
	e := wrap(d.document.Call("createElement", name))
	if class != "" {
		e.SetAttribute("class", class)
	}
	return e
}

// draw changes what differs from the last row.
func (r *row) draw(to Row) {
	if r.last.Best != to.Best || r.last.None != to.None {
		r.meter.SetAttribute("class", classOf(to))
	}
	if r.last.Name != to.Name {
		r.name.SetTextContent(to.Name)
		r.meter.SetAttribute("aria-label", to.Name)
	}
	if r.last.Text != to.Text {
		r.value.SetTextContent(to.Text)
		r.meter.SetAttribute("aria-valuetext", to.Text)
	}
	if r.last.Now != to.Now {
		r.meter.SetAttribute("aria-valuenow", to.Now)
		r.bar.Underlying().Get("style").Set("width", strconv.FormatFloat(100*to.P, 'f', 2, 64)+"%")
	}
	r.last = to
}

func classOf(r Row) string {
	class := "meter"
	if r.None {
		class += " meter-none"
	}
	if r.Best {
		class += " meter-best"
	}
	return class
}
