package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"metaqda/core/embed"
	"metaqda/core/lda"
	"metaqda/core/session"
)

// Most values of the metadata are JSON texts: an object, or a list. The functions whose names begin
// with code give the names and the order of an object's fields, once for writing and reading.

// codec writes the fields of an object ([writer]), or reads them ([fields]). If always is false, a
// writer leaves out an empty text and a zero.
type codec interface {
	textField(name string, v *string, always bool)
	floatField(name string, v *float64, always bool)
	twoField(name string, v *[2]float64)
	intsField(name string, v *[]int)
	inner(name string, of func(codec))
	refuse() // makes reading fail; does nothing when writing
}

// jsonText returns the text of an object.
func jsonText(of func(codec)) string {
	var w writer
	w.object(func(w *writer) { of(w) })
	return string(w.b)
}

func (w *writer) object(write func(*writer)) {
	w.open('{')
	write(w)
	w.close('}')
}

// strings writes the fields of an object of strings, but one.
func (w *writer) strings(m map[string]string, except string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name != except {
			w.name(name)
			w.text(m[name])
		}
	}
}

// fromMetadata reads the object under key, if there is one.
func fromMetadata(metadata map[string]string, key string, read func(codec)) error {
	text, ok := metadata[key]
	if !ok {
		return nil
	}
	v, ok := parseJSON([]byte(text))
	if f := fieldsOf(v); ok {
		if read(f); !f.failed {
			return nil
		}
	}
	return fail("its metadata ", quoted(key), " are malformed")
}

func (e *Extractor) code(c codec) {
	c.textField("id", &e.ID, true)
	c.textField("sha256", &e.SHA256, false)
}

func (s *Settings) code(c codec) {
	c.floatField("nonePrior", &s.NonePrior, true)
	c.textField("scale", &s.Scale, false)
	c.textField("sort", &s.Sort, false)
	c.textField("actions", &s.Actions, false)
}

// writeClasses returns the classes without their examples.
func writeClasses(classes []Class) string {
	var w writer
	w.open('[')
	for i := range classes {
		w.object(func(w *writer) {
			w.textField("label", &classes[i].Label, true)
			w.textField("actions", &classes[i].Actions, false)
		})
	}
	w.close(']')
	return string(w.b)
}

// readClasses is the inverse of writeClasses. It returns no classes if the key is missing.
func readClasses(metadata map[string]string) (classes []Class, err error) {
	err = readList(metadata, "classes", func(v any) bool {
		f := fieldsOf(v)
		var c Class
		f.textField("label", &c.Label, true)
		f.textField("actions", &c.Actions, false)
		classes = append(classes, c)
		return !f.failed
	})
	return classes, err
}

// writeList returns the JSON text of a list of strings.
func writeList(all []string) string {
	var w writer
	w.open('[')
	for _, s := range all {
		w.text(s)
	}
	w.close(']')
	return string(w.b)
}

// readList reads the list under key, if there is one. It calls read for each value; read reports
// whether it could read it.
func readList(metadata map[string]string, key string, read func(v any) bool) error {
	text, ok := metadata[key]
	if !ok {
		return nil
	}
	v, ok := parseJSON([]byte(text))
	all, list := v.([]any)
	ok = ok && (list || v == nil)
	for _, v := range all {
		ok = ok && read(v)
	}
	if !ok {
		return fail("its metadata ", quoted(key), " are malformed")
	}
	return nil
}

func codeTransform(t *embed.Transform, c codec) {
	c.textField("kind", (*string)(&t.Kind), true)
	c.floatField("power", &t.Power, false)
	c.floatField("shift", &t.Shift, false)
}

func (s *Session) code(c codec) {
	c.floatField("near", &s.Near, false)
	c.floatField("centre", &s.Centre, false)
	c.floatField("spread", &s.Spread, false)
	c.floatField("shared", &s.Shared, false)
	c.floatField("kappa", &s.Kappa, false)
	s.codeParts(c)
	if _, writes := c.(*writer); writes && s.Population == nil || !writes && !(s.Shared > 0) {
		return // there is no population to write, or the prior is for the paper's densities, which use none
	}
	c.inner("fb", func(c codec) {
		if s.Population == nil {
			s.Population = &session.Population{}
		}
		codePopulation(s.Population, c)
	})
}

// codeParts codes the parts as an object of two numbers. A writer leaves it out if there are no
// parts.
func (s *Session) codeParts(c codec) {
	parts, first := lda.Parts{}, 0.0
	if s.Parts != nil {
		parts, first = *s.Parts, float64(s.Parts.First)
	} else if _, writes := c.(*writer); writes {
		return
	}
	codePair(c, "parts", "first", &first, "odds", &parts.Odds)
	if parts.First = int(first); float64(parts.First) != first {
		c.refuse()
	}
	if parts != (lda.Parts{}) {
		s.Parts = &parts
	}
}

// codePopulation codes a population. Some names in files are older than those of the fields.
func codePopulation(p *session.Population, c codec) {
	// Files of older models have a second number, and offsets, for the number of examples. This model
	// has neither, so they must be zero.
	logT, offset := [2]float64{p.LogT}, [2]float64{}
	c.twoField("logT", &logT)
	c.twoField("offset", &offset)
	if p.LogT = logT[0]; logT[1] != 0 || offset != [2]float64{} {
		c.refuse()
	}
	c.inner("leftOut", func(c codec) { c.floatField("own", &p.LeftOut, true) }) // older files also have "class", which is not read: that effect is computed exactly now
	codePair(c, "hardness", "sd", &p.LogTemperature.SD, "weight", &p.LogTemperature.Weight)
	if _, writes := c.(*writer); !writes || p.LogTemperature.Alone != [2]float64{} {
		c.twoField("alone", &p.LogTemperature.Alone)
	}
	c.inner("level", func(c codec) {
		c.twoField("mean", &p.CohortMean.Mean)
		c.floatField("sd", &p.CohortMean.SD, true)
		c.floatField("count", &p.CohortMean.Count, true)
	})
	codePair(c, "spread", "sd", &p.CohortDeviation.SD, "count", &p.CohortDeviation.Count)
	c.inner("known", func(c codec) {
		codePair(c, "threshold", "mean", &p.Known.Threshold.Mean, "sd", &p.Known.Threshold.SD)
		codePair(c, "slope", "mean", &p.Known.Slope.Mean, "sd", &p.Known.Slope.SD)
		c.floatField("weight", &p.Known.Weight, true)
		_, writes := c.(*writer)
		if !writes {
			p.Known.UnknownWeight = p.Known.Weight // in files without it
		}
		if !writes || p.Known.UnknownWeight != p.Known.Weight {
			c.floatField("unknownWeight", &p.Known.UnknownWeight, true)
		}
		c.floatField("byShots", &p.Known.ByShots, false)
	})
}

// codePair codes an object of two numbers.
func codePair(c codec, name, first string, x *float64, second string, y *float64) {
	c.inner(name, func(c codec) {
		c.floatField(first, x, true)
		c.floatField(second, y, true)
	})
}

// writer writes JSON. Commas come by themselves.
type writer struct{ b []byte }

func (w *writer) open(c byte) { w.comma(); w.b = append(w.b, c) }

func (w *writer) close(c byte) { w.b = append(w.b, c) }

// comma separates a value from one before it.
func (w *writer) comma() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ':' {
		w.b = append(w.b, ',')
	}
}

func (w *writer) name(s string) {
	w.text(s)
	w.b = append(w.b, ':')
}

// text writes a string. Characters with a meaning in HTML are escaped.
func (w *writer) text(s string) {
	const hex = "0123456789abcdef"
	w.comma()
	w.b = append(w.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b = append(w.b, '\\', byte(r))
		case r >= '\b' && r <= '\r' && r != '\v':
			w.b = append(w.b, '\\', "btn_fr"[r-'\b'])
		case r < ' ' || r == '<' || r == '>' || r == '&':
			w.b = append(w.b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case r == '\u2028' || r == '\u2029':
			w.b = append(w.b, '\\', 'u', '2', '0', '2', hex[r&15])
		case r == utf8.RuneError:
			w.b = append(w.b, `\ufffd`...)
		default:
			w.b = utf8.AppendRune(w.b, r)
		}
	}
	w.b = append(w.b, '"')
}

// float writes a finite number as JavaScript does.
func (w *writer) float(x float64) {
	w.comma()
	format := byte('f')
	if a := max(x, -x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	w.b = strconv.AppendFloat(w.b, x, format, -1, 64)
	if n := len(w.b); format == 'e' && n >= 4 && w.b[n-4] == 'e' && w.b[n-3] == '-' && w.b[n-2] == '0' {
		w.b[n-2] = w.b[n-1] // e-09 is e-9
		w.b = w.b[:n-1]
	}
}

func (w *writer) ints(v []int) {
	w.open('[')
	for _, i := range v {
		w.comma()
		w.b = strconv.AppendInt(w.b, int64(i), 10)
	}
	w.close(']')
}

func (w *writer) textField(name string, s *string, always bool) {
	if *s != "" || always {
		w.name(name)
		w.text(*s)
	}
}

func (w *writer) floatField(name string, x *float64, always bool) {
	if *x != 0 || always {
		w.name(name)
		w.float(*x)
	}
}

func (w *writer) twoField(name string, x *[2]float64) {
	w.name(name)
	w.open('[')
	w.float(x[0])
	w.float(x[1])
	w.close(']')
}

func (w *writer) intsField(name string, v *[]int) {
	w.name(name)
	w.ints(*v)
}

func (w *writer) inner(name string, of func(codec)) {
	w.name(name)
	w.object(func(w *writer) { of(w) })
}

func (w *writer) refuse() {}

// Extractor names the network whose embeddings a file is about.
type Extractor struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256,omitempty"`
}

// Serves reports whether a prior learned from vectors of x can be used for vectors of y. This holds
// if y is x itself, or a variant of x: then its ID is the ID of x, a slash and a name.
func (x Extractor) Serves(y Extractor) bool {
	return x.ID == y.ID || strings.HasPrefix(y.ID, x.ID+"/")
}
