package tables

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"metaqda/core/lab/metatrain"
)

// Curve returns the picture of a training curve as SVG: losses on the left, validation
// accuracy on the right.
func Curve(history []metatrain.Point) ([]byte, error) {
	var train, loss, accuracy plotter.XYs
	for _, p := range history {
		x := float64(p.Step)
		if p.Step > 0 {
			train = append(train, plotter.XY{X: x, Y: p.Loss})
		}
		if v := p.Validation; v != nil {
			loss = append(loss, plotter.XY{X: x, Y: v.Loss})
			accuracy = append(accuracy, plotter.XY{X: x, Y: 100 * v.Accuracy})
		}
	}
	left, err := panel("loss", map[string]plotter.XYs{"training": train, "validation": loss})
	if err != nil {
		return nil, err
	}
	right, err := panel("validation accuracy, %", map[string]plotter.XYs{"": accuracy})
	if err != nil {
		return nil, err
	}
	const edge = 3 * vg.Millimeter
	return sideBySide(24*vg.Centimeter, 9*vg.Centimeter, draw.Tiles{PadX: vg.Centimeter, PadTop: edge, PadBottom: edge, PadLeft: edge, PadRight: edge}, left, right)
}

// panel plots lines over the step.
func panel(title string, lines map[string]plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "step", title
	p.X.Min = 0
	p.Add(plotter.NewGrid())
	for _, name := range []string{"training", "validation", ""} {
		if len(lines[name]) == 0 {
			continue
		}
		l, err := plotter.NewLine(lines[name])
		if err != nil {
			return nil, fmt.Errorf("the training curve cannot be drawn: %w", err)
		}
		l.Width = vg.Points(1.5)
		l.Color = color.NRGBA{R: 0x1f, G: 0x4e, B: 0x9c, A: 0xff}
		if name == "training" {
			l.Color = color.NRGBA{R: 0xc0, G: 0x6a, B: 0x12, A: 0xff}
		}
		p.Add(l)
		if name != "" {
			p.Legend.Add(name, l)
		}
	}
	p.Legend.Top = true
	return p, nil
}

// sideBySide draws plots in a row, as SVG.
func sideBySide(width, height vg.Length, tiles draw.Tiles, plots ...*plot.Plot) ([]byte, error) {
	canvas := vgsvg.New(width, height)
	tiles.Rows, tiles.Cols = 1, len(plots)
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, draw.New(canvas))[0] {
		plots[i].Draw(c)
	}
	var out bytes.Buffer
	_, err := canvas.WriteTo(&out)
	return out.Bytes(), err
}
