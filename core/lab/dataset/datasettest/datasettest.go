// Package datasettest makes small data sets whose truth is known, for tests and
// examples: rows of Gaussian classes, in memory or as the bytes of the files that
// core/lab/dataset reads. It is no benchmark: real embeddings are heavier in the tails
// and correlated.
package datasettest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"metaqda/core/lab/dataset"
)

// Gaussians describes a data set of classes N(mu_c, 1.5^2 I) with mu_c ~ N(3, I).
// The first half of the classes is the split "train". The first third of the rest is "val", the
// others are "test". The rows depend on the name of the set.
type Gaussians struct {
	Classes, Rows, Dim int // Rows of each class
	Burst              int // rows of a group, 0 for no groups
	Bare               bool
	Spoil              func(x []float32, labels []int) // changes the rows before they are used
}

// Set returns the data set.
func (g Gaussians) Set(name string) *dataset.Set {
	x, labels, groups := g.draw(name)
	var meta *dataset.Meta
	if !g.Bare {
		meta = g.meta(name)
	}
	s, err := dataset.New(name, g.Dim, x, labels, groups, meta)
	if err != nil {
		panic("datasettest: " + err.Error()) // spoilt rows are for files
	}
	return s
}

// Files returns the bytes of NAME.npz and of NAME.json.
func (g Gaussians) Files(name string) (npz, meta []byte) {
	x, labels, groups := g.draw(name)
	narrow := make([]int32, len(labels))
	for i, c := range labels {
		narrow[i] = int32(c)
	}
	arrays := []array{{"embeddings", "<f4", fmt.Sprintf("(%d, %d)", len(labels), g.Dim), x}, {"labels", "<i4", fmt.Sprintf("(%d,)", len(labels)), narrow}}
	if groups != nil {
		arrays = append(arrays, array{"groups", "<i4", fmt.Sprintf("(%d,)", len(groups)), groups})
	}
	meta, err := json.Marshal(g.meta(name))
	if err != nil {
		panic("datasettest: " + err.Error())
	}
	return encodeNPZ(arrays), meta
}

func (g Gaussians) draw(name string) (x []float32, labels []int, groups []int32) {
	rng := rand.New(rand.NewPCG(uint64(len(name)), uint64(name[0])))
	mean := make([]float64, g.Dim)
	for c := range g.Classes {
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range g.Rows {
			for _, m := range mean {
				x = append(x, float32(3+m+1.5*rng.NormFloat64()))
			}
			if g.Burst > 0 {
				groups = append(groups, int32(len(labels)/g.Burst))
			}
			labels = append(labels, c)
		}
	}
	if g.Spoil != nil {
		g.Spoil(x, labels)
	}
	return x, labels, groups
}

func (g Gaussians) meta(name string) *dataset.Meta {
	m := &dataset.Meta{Name: name, Dimension: g.Dim, Splits: map[string]dataset.ClassNames{}}
	for c := range g.Classes {
		class, split := fmt.Sprintf("class%02d", c), "train"
		switch {
		case c >= g.Classes*2/3:
			split = "test"
		case c >= g.Classes/2:
			split = "val"
		}
		m.Classes, m.Splits[split] = append(m.Classes, class), append(m.Splits[split], class)
	}
	return m
}

type array struct {
	name, descr, shape string
	data               any
}

// encodeNPZ returns a zip of arrays in the format of numpy.
func encodeNPZ(arrays []array) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, a := range arrays {
		w, err := z.Create(a.name + ".npy")
		if err != nil {
			panic("datasettest: " + err.Error()) // writing to memory does not fail
		}
		w.Write(Array(a.descr, a.shape, a.data))
	}
	if err := z.Close(); err != nil {
		panic("datasettest: " + err.Error())
	}
	return buf.Bytes()
}

// Array returns an array in the format of numpy: descr as "<f4", shape as "(3, 2)".
func Array(descr, shape string, data any) []byte {
	var b bytes.Buffer
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(head)))
	b.WriteString(head)
	binary.Write(&b, binary.LittleEndian, data)
	return b.Bytes()
}
