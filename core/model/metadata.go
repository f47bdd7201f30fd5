package model

import (
	"strconv"
	"unicode/utf8"

	"metaqda/core/embed"
	"metaqda/core/session"
)

// What the metadata hold as JSON: an object each, fields in the order of their
// structs, under the names that their tags say.

// jsonText returns the text that write writes, an object.
func jsonText(write func(*writer)) string {
	var w writer
	w.object(write)
	return string(w.b)
}

func (w *writer) object(write func(*writer)) {
	w.open('{')
	write(w)
	w.close('}')
}

// fromMetadata reads the object under key, if there is one.
func fromMetadata(metadata map[string]string, key string, read func(*fields)) error {
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

func (e *Extractor) write(w *writer) {
	w.textField("id", e.ID, true)
	w.textField("sha256", e.SHA256, false)
}

func (e *Extractor) read(f *fields) {
	f.text("id", &e.ID)
	f.text("sha256", &e.SHA256)
}

func (s *Settings) write(w *writer) {
	w.floatField("nonePrior", s.NonePrior, true)
	w.textField("scale", s.Scale, false)
	w.textField("sort", s.Sort, false)
}

func (s *Settings) read(f *fields) {
	f.float("nonePrior", &s.NonePrior)
	f.text("scale", &s.Scale)
	f.text("sort", &s.Sort)
}

// writeClasses returns the classes without their examples.
func writeClasses(classes []Class) string {
	var w writer
	w.open('[')
	for i := range classes {
		w.object(func(w *writer) {
			w.textField("label", classes[i].Label, true)
		})
	}
	w.close(']')
	return string(w.b)
}

// readClasses is the inverse of writeClasses; without the key there are none.
func readClasses(metadata map[string]string) (classes []Class, err error) {
	text, ok := metadata["classes"]
	if !ok {
		return nil, nil
	}
	v, ok := parseJSON([]byte(text))
	all, list := v.([]any)
	ok = ok && (list || v == nil)
	for _, v := range all {
		var c Class
		f := fieldsOf(v)
		f.text("label", &c.Label)
		ok = ok && !f.failed
		classes = append(classes, c)
	}
	if !ok {
		return nil, fail("its metadata ", quoted("classes"), " are malformed")
	}
	return classes, nil
}

// writeList returns a list of strings.
func writeList(all []string) string {
	var w writer
	w.open('[')
	for _, s := range all {
		w.text(s)
	}
	w.close(']')
	return string(w.b)
}

// readList is the inverse of writeList.
func readList(metadata map[string]string, key string) ([]string, error) {
	v, ok := parseJSON([]byte(metadata[key]))
	all, list := v.([]any)
	texts := make([]string, len(all))
	for i, v := range all {
		s, text := asText(v)
		texts[i], ok = s, ok && text
	}
	if !ok || !list {
		return nil, fail("its metadata ", quoted(key), " are not a list of strings")
	}
	return texts, nil
}

func writeTransform(t *embed.Transform, w *writer) {
	w.textField("kind", string(t.Kind), true)
	w.floatField("power", t.Power, false)
	w.floatField("shift", t.Shift, false)
}

func readTransform(t *embed.Transform, f *fields) {
	f.text("kind", (*string)(&t.Kind))
	f.float("power", &t.Power)
	f.float("shift", &t.Shift)
}

func (s *Session) write(w *writer) {
	w.floatField("near", s.Near, false)
	w.floatField("centre", s.Centre, false)
	w.floatField("shared", s.Shared, false)
	w.floatField("kappa", s.Kappa, false)
	writePopulation("fb", s.Population, w)
}

func (s *Session) read(f *fields) {
	f.float("near", &s.Near)
	f.float("centre", &s.Centre)
	f.float("shared", &s.Shared)
	f.float("kappa", &s.Kappa)
	if s.Shared > 0 { // what a prior for other densities says of sessions is of no use
		readPopulation("fb", &s.Population, f)
	}
}

func writePopulation(name string, p *session.Population, w *writer) {
	if p == nil {
		return
	}
	w.name(name)
	w.object(func(w *writer) {
		w.twoField("logT", [2]float64{p.LogT}) // the second, and the offsets, were by the number of examples
		w.twoField("offset", [2]float64{})
		w.name("leftOut")
		w.object(func(w *writer) { w.floatField("own", p.LeftOut, true) })
		w.named("hardness", "sd", p.LogTemperature.SD, "weight", p.LogTemperature.Weight)
		w.name("level")
		w.object(func(w *writer) {
			w.twoField("mean", p.CohortMean.Mean)
			w.floatField("sd", p.CohortMean.SD, true)
			w.floatField("count", p.CohortMean.Count, true)
		})
		w.named("spread", "sd", p.CohortDeviation.SD, "count", p.CohortDeviation.Count)
		w.name("known")
		w.object(func(w *writer) {
			w.named("threshold", "mean", p.Known.Threshold.Mean, "sd", p.Known.Threshold.SD)
			w.named("slope", "mean", p.Known.Slope.Mean, "sd", p.Known.Slope.SD)
			w.floatField("weight", p.Known.Weight, true)
		})
	})
}

// named writes an object of two numbers.
func (w *writer) named(name, first string, x float64, second string, y float64) {
	w.name(name)
	w.object(func(w *writer) {
		w.floatField(first, x, true)
		w.floatField(second, y, true)
	})
}

func readPopulation(name string, dst **session.Population, f *fields) {
	f.inner(name, func(f *fields) {
		p := &session.Population{}
		*dst = p
		var logT, offset [2]float64
		f.two("logT", &logT)
		f.two("offset", &offset)
		p.LogT = logT[0]
		f.failed = f.failed || logT[1] != 0 || offset != [2]float64{}
		f.inner("leftOut", func(f *fields) { f.float("own", &p.LeftOut) }) // "class" stood for what is left out exactly now
		f.named("hardness", "sd", &p.LogTemperature.SD, "weight", &p.LogTemperature.Weight)
		f.inner("level", func(f *fields) {
			f.two("mean", &p.CohortMean.Mean)
			f.float("sd", &p.CohortMean.SD)
			f.float("count", &p.CohortMean.Count)
		})
		f.named("spread", "sd", &p.CohortDeviation.SD, "count", &p.CohortDeviation.Count)
		f.inner("known", func(f *fields) {
			f.named("threshold", "mean", &p.Known.Threshold.Mean, "sd", &p.Known.Threshold.SD)
			f.named("slope", "mean", &p.Known.Slope.Mean, "sd", &p.Known.Slope.SD)
			f.float("weight", &p.Known.Weight)
		})
	})
}

func (f *fields) named(name, first string, x *float64, second string, y *float64) {
	f.inner(name, func(f *fields) {
		f.float(first, x)
		f.float(second, y)
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

// text writes a string, with what has a meaning in HTML escaped.
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

// Fields that may be left out are where they have no value.

func (w *writer) textField(name, s string, always bool) {
	if s != "" || always {
		w.name(name)
		w.text(s)
	}
}

func (w *writer) floatField(name string, x float64, always bool) {
	if x != 0 || always {
		w.name(name)
		w.float(x)
	}
}

func (w *writer) twoField(name string, x [2]float64) {
	w.name(name)
	w.open('[')
	w.float(x[0])
	w.float(x[1])
	w.close(']')
}
