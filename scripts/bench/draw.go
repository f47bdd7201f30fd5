package main

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"metaqda/scripts/bench/measure"
)

// drawn is the dimension of the picture, that of the largest extractor.
const drawn = 1280

// styles give each place its name and colour (the palette of Okabe and Ito).
var styles = map[string]struct {
	name  string
	color color.Color
}{
	"native":         {"native Go", color.RGBA{0, 114, 178, 255}},
	"browser":        {"browser, SIMD kernels", color.RGBA{213, 94, 0, 255}},
	"browser-nosimd": {"browser, without SIMD", color.RGBA{230, 159, 0, 255}},
	"knn-classifier": {"knn-classifier (TensorFlow.js)", color.RGBA{120, 120, 120, 255}},
}

// drawTimes plots the time of a prediction against the number of examples.
func drawTimes(rows []measure.Row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "One prediction, d = " + strconv.Itoa(drawn)
	p.X.Label.Text, p.Y.Label.Text = "examples taught (5 a class)", "milliseconds, median"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 25, Label: "25"}, {Value: 500, Label: "500"}, {Value: 5000, Label: "5,000"}}
	p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for _, place := range places {
		points := times(rows, place)
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = styles[place].color, vg.Points(2)
		dots.Color, dots.Shape = styles[place].color, draw.CircleGlyph{}
		p.Add(line, dots)
		p.Legend.Add(styles[place].name, line, dots)
	}
	return p, nil
}

// times picks the predictions of one place.
func times(rows []measure.Row, place string) (points plotter.XYs) {
	for _, r := range rows {
		if r.Name == "predict" && r.Where == place && r.Dimension == drawn {
			points = append(points, plotter.XY{X: float64(r.Classes * r.Shots), Y: r.MedianMS})
		}
	}
	return points
}

// picture writes the plot as SVG.
func picture(name string, rows []measure.Row) error {
	p, err := drawTimes(rows)
	if err != nil {
		return err
	}
	return p.Save(16*vg.Centimeter, 11*vg.Centimeter, name)
}
