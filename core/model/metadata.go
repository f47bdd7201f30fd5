package model

import (
	"strings"

	"metaqda/core/embed"
	"metaqda/core/json"
	"metaqda/core/lda"
	"metaqda/core/session"
)

// Most values of the metadata are JSON texts: an object, or a list. The functions whose names begin
// with code give the names and the order of an object's fields, once for writing and reading.

// fromMetadata reads the object under key, if there is one.
func fromMetadata(metadata map[string]string, key string, read func(json.Codec)) error {
	text, ok := metadata[key]
	if !ok {
		return nil
	}
	if !json.Read([]byte(text), read) {
		return fail("its metadata ", quoted(key), " are malformed")
	}
	return nil
}

// Code codes the fields of an extractor, for reading and writing.
func (e *Extractor) Code(c json.Codec) {
	c.Text("id", &e.ID, true)
	c.Text("sha256", &e.SHA256, false)
}

func (s *Settings) code(c json.Codec) {
	c.Float("nonePrior", &s.NonePrior, true)
	c.Text("scale", &s.Scale, false)
	c.Text("sort", &s.Sort, false)
	c.Text("actions", &s.Actions, false)
}

// writeClasses returns the classes without their examples.
func writeClasses(classes []Class) string {
	var w json.Writer
	w.Open('[')
	for i := range classes {
		w.Object(func(c json.Codec) {
			c.Text("label", &classes[i].Label, true)
			c.Text("actions", &classes[i].Actions, false)
		})
	}
	w.Close(']')
	return string(w.B)
}

// readClasses is the inverse of writeClasses. It returns no classes if the key is missing.
func readClasses(metadata map[string]string) (classes []Class, err error) {
	err = readList(metadata, "classes", func(v any) bool {
		f := json.FieldsOf(v)
		var c Class
		f.Text("label", &c.Label, true)
		f.Text("actions", &c.Actions, false)
		c.Label = FormerLabel(c.Label)
		classes = append(classes, c)
		return !f.Failed
	})
	return classes, err
}

// writeList returns the JSON text of a list of strings.
func writeList(all []string) string {
	var w json.Writer
	w.Open('[')
	for _, s := range all {
		w.String(s)
	}
	w.Close(']')
	return string(w.B)
}

// readList reads the list under key, if there is one. It calls read for each value; read reports
// whether it could read it.
func readList(metadata map[string]string, key string, read func(v any) bool) error {
	text, ok := metadata[key]
	if !ok {
		return nil
	}
	v, ok := json.Parse([]byte(text))
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

func codeTransform(t *embed.Transform, c json.Codec) {
	c.Text("kind", (*string)(&t.Kind), true)
	c.Float("power", &t.Power, false)
	c.Float("shift", &t.Shift, false)
}

func (s *Session) code(c json.Codec) {
	c.Float("near", &s.Near, false)
	c.Float("centre", &s.Centre, false)
	c.Float("spread", &s.Spread, false)
	c.Float("shared", &s.Shared, false)
	c.Float("kappa", &s.Kappa, false)
	s.codeParts(c)
	if _, writes := c.(*json.Writer); writes && s.Population == nil || !writes && !(s.Shared > 0) {
		return // there is no population to write, or the prior is for the paper's densities, which use none
	}
	c.Inner("fb", func(c json.Codec) {
		if s.Population == nil {
			s.Population = &session.Population{}
		}
		codePopulation(s.Population, c)
	})
}

// codeParts codes the parts as an object of two numbers. A writer leaves it out if there are no
// parts.
func (s *Session) codeParts(c json.Codec) {
	parts, first := lda.Parts{}, 0.0
	if s.Parts != nil {
		parts, first = *s.Parts, float64(s.Parts.First)
	} else if _, writes := c.(*json.Writer); writes {
		return
	}
	codePair(c, "parts", "first", &first, "odds", &parts.Odds)
	if parts.First = int(first); float64(parts.First) != first {
		c.Refuse()
	}
	if parts != (lda.Parts{}) {
		s.Parts = &parts
	}
}

// codePopulation codes a population. Some names in files are older than those of the fields.
func codePopulation(p *session.Population, c json.Codec) {
	// Files of older models have a second number, and offsets, for the number of examples. This model
	// has neither, so they must be zero.
	logT, offset := [2]float64{p.LogT}, [2]float64{}
	c.Two("logT", &logT)
	c.Two("offset", &offset)
	if p.LogT = logT[0]; logT[1] != 0 || offset != [2]float64{} {
		c.Refuse()
	}
	c.Inner("leftOut", func(c json.Codec) { c.Float("own", &p.LeftOut, true) }) // older files also have "class", which is not read: that effect is computed exactly now
	codePair(c, "hardness", "sd", &p.LogTemperature.SD, "weight", &p.LogTemperature.Weight)
	if _, writes := c.(*json.Writer); !writes || p.LogTemperature.Alone != [2]float64{} {
		c.Two("alone", &p.LogTemperature.Alone)
	}
	c.Inner("level", func(c json.Codec) {
		c.Two("mean", &p.CohortMean.Mean)
		c.Float("sd", &p.CohortMean.SD, true)
		c.Float("count", &p.CohortMean.Count, true)
	})
	codePair(c, "spread", "sd", &p.CohortDeviation.SD, "count", &p.CohortDeviation.Count)
	c.Inner("known", func(c json.Codec) {
		codePair(c, "threshold", "mean", &p.Known.Threshold.Mean, "sd", &p.Known.Threshold.SD)
		codePair(c, "slope", "mean", &p.Known.Slope.Mean, "sd", &p.Known.Slope.SD)
		c.Float("weight", &p.Known.Weight, true)
		_, writes := c.(*json.Writer)
		if !writes {
			p.Known.UnknownWeight = p.Known.Weight // in files without it
		}
		if !writes || p.Known.UnknownWeight != p.Known.Weight {
			c.Float("unknownWeight", &p.Known.UnknownWeight, true)
		}
		c.Float("byShots", &p.Known.ByShots, false)
	})
}

// codePair codes an object of two numbers.
func codePair(c json.Codec, name, first string, x *float64, second string, y *float64) {
	c.Inner(name, func(c json.Codec) {
		c.Float(first, x, true)
		c.Float(second, y, true)
	})
}

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
