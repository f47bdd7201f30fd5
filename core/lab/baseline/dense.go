package baseline

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/metrics"
)

// Dense is the head that Google's Teachable Machine trains on its embeddings:
//
//	h = relu(x A + a),   score = h B,
//
// with 100 hidden units and no offsets in the last layer. It minimises the cross-entropy by Adam, with
// rate 1e-3, in 50 epochs of shuffled batches of 16. Weights start from a normal of variance
// 1/fan-in, cut at two standard deviations. The features must be as the network gave them, since
// Adam's steps depend on the coordinates. Source:
// github.com/googlecreativelab/teachablemachine-community, libraries/image.
//
// The two large products, x A and the gradient of A, are computed as P Qᵀ: gonum is fastest when both
// factors have long rows.
type Dense struct {
	params []float64 // Aᵀ (hidden x d), a (hidden), B (hidden x way)
	d, way int
}

const (
	denseHidden = 100
	denseEpochs = 50
	denseBatch  = 16
)

// Fit trains the head. t.Seed determines the start and the batches.
func (m *Dense) Fit(t Task) error {
	t.check()
	n, d := t.Support.Dims()
	m.d, m.way = d, t.Way
	rng := rand.New(rand.NewPCG(t.Seed, 0x7eac4ab1e))
	m.params = make([]float64, d*denseHidden+denseHidden+denseHidden*t.Way)
	at, _, b := m.layers(m.params)
	a := general(d, denseHidden)
	scaledNormal(rng, a.Data, d)
	transpose(at, a)
	scaledNormal(rng, b.Data, denseHidden)
	grad := make([]float64, len(m.params))
	opt := newAdam(len(m.params))
	for range denseEpochs {
		order := rng.Perm(n)
		for len(order) > 0 {
			k := min(denseBatch, len(order))
			m.loss(grad, t, order[:k])
			opt.step(m.params, grad)
			order = order[k:]
		}
	}
	return nil
}

// layers returns views of p, parameters or their gradient: Aᵀ, a and B.
func (m *Dense) layers(p []float64) (at blas64.General, bias []float64, b blas64.General) {
	h := denseHidden
	at = blas64.General{Rows: h, Cols: m.d, Stride: m.d, Data: p[:m.d*h]}
	bias = p[m.d*h : m.d*h+h]
	b = blas64.General{Rows: h, Cols: m.way, Stride: m.way, Data: p[m.d*h+h:]}
	return at, bias, b
}

// forward returns hidden activations and scores of the rows of x.
func (m *Dense) forward(x blas64.General) (h, scores blas64.General) {
	at, bias, b := m.layers(m.params)
	h, scores = general(x.Rows, denseHidden), general(x.Rows, m.way)
	for i := range x.Rows {
		copy(h.Data[i*h.Stride:], bias)
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, at, 1, h)
	for i, v := range h.Data {
		h.Data[i] = math.Max(v, 0)
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, h, b, 0, scores)
	return h, scores
}

// loss returns the mean cross-entropy of a batch and stores its gradient.
func (m *Dense) loss(grad []float64, t Task, batch []int) float64 {
	x := general(len(batch), m.d)
	for i, r := range batch {
		copy(x.Data[i*x.Stride:], t.Support.RawRowView(r))
	}
	h, g := m.forward(x)
	sum := 0.0
	for i, r := range batch {
		row := g.Data[i*m.way : (i+1)*m.way]
		y := t.Labels[r]
		own := row[y]
		sum += metrics.SoftmaxTo(row, row, 1) - own
		row[y]--
		for c := range row {
			row[c] /= float64(len(batch))
		}
	}
	_, _, b := m.layers(m.params)
	gat, gbias, gb := m.layers(grad)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, h, g, 0, gb)
	back := general(len(batch), denseHidden)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, g, b, 0, back)
	clear(gbias)
	for i, v := range h.Data {
		if v == 0 {
			back.Data[i] = 0
		}
		gbias[i%denseHidden] += back.Data[i]
	}
	xt, backT := general(m.d, len(batch)), general(denseHidden, len(batch))
	transpose(xt, x)
	transpose(backT, back)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, backT, xt, 0, gat)
	return sum / float64(len(batch))
}

// ScoresTo stores the last layer's outputs.
func (m *Dense) ScoresTo(dst, queries *mat.Dense) {
	_, scores := m.forward(queries.RawMatrix())
	dst.Copy(mat.NewDense(scores.Rows, scores.Cols, scores.Data))
}

func general(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
}

func transpose(dst, src blas64.General) {
	for i := range src.Rows {
		for j, v := range src.Data[i*src.Stride : i*src.Stride+src.Cols] {
			dst.Data[j*dst.Stride+i] = v
		}
	}
}

// scaledNormal fills w from a normal of variance 1/fan, cut at two standard
// deviations.
func scaledNormal(rng *rand.Rand, w []float64, fan int) {
	sd := 1 / math.Sqrt(float64(fan))
	for i := range w {
		v := rng.NormFloat64()
		for math.Abs(v) > 2 {
			v = rng.NormFloat64()
		}
		w[i] = v * sd
	}
}

// adam is the optimiser of Kingma and Ba, 2015, with their settings. Only epsilon is 1e-7, as in
// TensorFlow.js.
type adam struct {
	rate float64
	m, v []float64
	t    float64
}

func newAdam(n int) *adam { return &adam{rate: 1e-3, m: make([]float64, n), v: make([]float64, n)} }

func (o *adam) step(params, grad []float64) {
	const beta1, beta2, tiny = 0.9, 0.999, 1e-7
	o.t++
	scale := o.rate * math.Sqrt(1-math.Pow(beta2, o.t)) / (1 - math.Pow(beta1, o.t))
	for i, g := range grad {
		o.m[i] = beta1*o.m[i] + (1-beta1)*g
		o.v[i] = beta2*o.v[i] + (1-beta2)*g*g
		params[i] -= scale * o.m[i] / (math.Sqrt(o.v[i]) + tiny)
	}
}
