package tables

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"metaqda/core/lab/experiment"
	"metaqda/core/lab/metrics"
)

// Picture is the content of a picture with the name of its file.
type Picture struct {
	Name string
	SVG  []byte
}

// Pictures returns one reliability diagram for each row of the results: the
// accuracy of the predictions against their confidence, before and after the
// temperature.
func Pictures(r *experiment.Report) ([]Picture, error) {
	var pictures []Picture
	for _, x := range r.Results {
		name := []string{"reliability", x.Data}
		switch {
		case x.Session != nil:
			name = append(name, fmt.Sprintf("session%d", *x.Session))
		case x.Way != nil && x.Shot != nil:
			name = append(name, fmt.Sprintf("%dway-%dshot", *x.Way, *x.Shot))
		case x.Way != nil:
			name = append(name, fmt.Sprintf("%dway", *x.Way))
		}
		svg, err := reliabilityDiagram(x)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, Picture{fileName(strings.Join(append(name, x.Method), "-")) + ".svg", svg})
	}
	return pictures, nil
}

// fileName keeps the characters that every file system accepts.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, s)
}

const diagramSize = 9 * vg.Centimeter

// reliabilityDiagram returns an SVG with a panel for the probabilities as they
// are and, where a temperature was fitted, one for those after it.
func reliabilityDiagram(x *experiment.Result) ([]byte, error) {
	panels := []*plot.Plot{reliabilityPanel(fmt.Sprintf("%s on %s: ECE %.1f %%", x.Method, x.Data, 100*x.ECE), x.Bins)}
	if x.BinsTS != nil {
		panels = append(panels, reliabilityPanel(fmt.Sprintf("at temperature %.3g: ECE %.1f %%", *x.Temperature, 100**x.ECETS), x.BinsTS))
	}
	const edge = 2 * vg.Millimeter
	return sideBySide(vg.Length(len(panels))*diagramSize, diagramSize, draw.Tiles{PadX: 2 * edge, PadY: edge, PadTop: edge, PadBottom: edge, PadLeft: edge, PadRight: 2 * edge}, panels...)
}

func reliabilityPanel(title string, bins metrics.Reliability) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = 9
	p.X.Label.Text, p.Y.Label.Text = "confidence", "accuracy"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	width := 1 / float64(len(bins))
	for i, b := range bins {
		if b.Count == 0 {
			continue
		}
		left := float64(i) * width
		p.Add(bar(left, width, float64(b.Correct)/float64(b.Count), b.Confidence/float64(b.Count), float64(b.Count)/float64(bins.Total())))
	}
	diagonal := plotter.NewFunction(func(x float64) float64 { return x })
	diagonal.Dashes = []vg.Length{3, 3}
	p.Add(diagonal)
	return p
}

// bar is the accuracy of one bin, the darker the more predictions it holds,
// with a red mark at its mean confidence.
func bar(left, width, accuracy, confidence, share float64) plot.Plotter {
	body, _ := plotter.NewPolygon(plotter.XYs{{X: left, Y: 0}, {X: left + width, Y: 0}, {X: left + width, Y: accuracy}, {X: left, Y: accuracy}})
	shade := uint8(200 - 150*min(1, 4*share))
	body.Color = color.NRGBA{R: shade, G: shade, B: 230, A: 255}
	body.LineStyle.Width = vg.Points(0.3)
	mark, _ := plotter.NewLine(plotter.XYs{{X: left, Y: confidence}, {X: left + width, Y: confidence}})
	mark.Color = color.NRGBA{R: 200, A: 255}
	mark.Width = vg.Points(1)
	return plotterPair{body, mark}
}

// plotterPair draws one after the other.
type plotterPair [2]plot.Plotter

// Plot implements plot.Plotter.
func (d plotterPair) Plot(c draw.Canvas, p *plot.Plot) {
	d[0].Plot(c, p)
	d[1].Plot(c, p)
}
