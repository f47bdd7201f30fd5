package metatrain

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"metaqda/core/niw"
)

// Objective is the loss of a task and its settings.
type Objective struct {
	Inference niw.Inference
	Loss      Loss
	// NonePrior is π of [Head], in [0, 1); only OpenSet uses it. 0 stands for the share of unknown
	// queries in each task, at most mostNone. Then the learned offset Head.None need not correct π.
	NonePrior float64
	// PerWay divides the loss of a task by the loss of a uniform guess, ln C (ln(C+1) for OpenSet).
	// Then tasks of many classes do not outweigh the others. It does nothing for NLL.
	PerWay bool
}

// pi returns the prior probability of none of the classes in a task, 0 unless the loss is OpenSet.
func (o *Objective) pi(labels []int) float64 {
	if o.Loss != OpenSet {
		return 0
	}
	if o.NonePrior > 0 {
		return o.NonePrior
	}
	none := 0
	for _, y := range labels {
		if y == Unknown {
			none++
		}
	}
	return math.Min(float64(none)/float64(len(labels)), mostNone)
}

// mostNone is below 1, so that classes keep some probability if all queries of a task are unknown.
const mostNone = 0.99

// scale returns the factor that makes a sum over n queries the task's loss.
func (o *Objective) scale(way int, n float64) float64 {
	s := 1 / math.Max(n, 1)
	if !o.PerWay || o.Loss == NLL {
		return s
	}
	if o.Loss == OpenSet {
		way++
	}
	return s / math.Log(math.Max(float64(way), 2))
}

// Params has everything that meta-training learns.
type Params struct {
	Prior *niw.Prior
	Head  Head
}

// Gradient has the shape of Params.
type Gradient struct {
	M         []float64 // d
	L         []float64 // d×d row-major, lower triangle, zeros above
	Kappa, Nu float64
	Head      Head
}

// NewGradient returns a zero gradient for dimension d.
func NewGradient(d int) *Gradient { return &Gradient{M: make([]float64, d), L: make([]float64, d*d)} }

func (g *Gradient) reset() {
	clear(g.M)
	clear(g.L)
	g.Kappa, g.Nu, g.Head = 0, 0, Head{}
}

// Engine computes losses and gradients for one set of parameters.
type Engine struct {
	objective Objective
	factor    *factor
	m         []float64
	prior     niw.Posterior
	norm      norm // of the prior predictive
	head      Head
}

// NewEngine returns an engine for dimension d; [Engine.Set] gives it values.
func NewEngine(d int, o Objective) *Engine {
	return &Engine{objective: o, factor: newFactor(d), m: make([]float64, d)}
}

// Set copies the parameters. Cost O(d²), O(d³) for a spiked prior.
func (e *Engine) Set(p *Params) {
	raw := p.Prior.Dense().L.RawTriangular()
	for i := range raw.N {
		copy(e.factor.lower[i*raw.N:i*raw.N+i+1], raw.Data[i*raw.Stride:])
	}
	copy(e.m, p.Prior.M)
	e.prior = niw.Posterior{Dim: raw.N, Kappa: p.Prior.Kappa, Nu: p.Prior.Nu}
	e.head = p.Head
	e.update()
}

// update computes the quantities that depend on L.
func (e *Engine) update() {
	e.factor.transpose()
	e.prior.LogDetS = 0
	for i := range e.factor.d {
		e.prior.LogDetS += 2 * math.Log(e.factor.lower[i*e.factor.d+i])
	}
	e.norm = newNorm(e.objective.Inference, &e.prior)
}

// Workspace is the memory of one task's forward and reverse pass. It grows to the
// largest task and is reused.
type Workspace struct {
	rows   []float64 // n×d: whitened support, then queries
	grad   []float64 // n×d: gradient with respect to the whitened rows, then V
	rowsT  []float64 // d×n, transposes of both
	gradT  []float64
	cross  []float64 // queries×support
	dcross []float64 // queries×support
	crossT []float64 // its transpose
	r2     []float64 // |z|² of each query
	dr2    []float64
	logp   []float64 // queries×C log densities
	logp0  []float64 // of the prior predictive
	dl     []float64 // C×queries
	logits []float64
	class  []class
	head   headTerms
	dHead  Head
	pg     priorGrad
	d, n   int
	ns     int // support rows
	score  score
}

// forward whitens the task and computes the log densities of its queries under
// each class. Cost n d²/2 for n rows.
func (e *Engine) forward(w *Workspace, t *Task) {
	d := e.factor.d
	if t.Dim != d {
		panic("metatrain: task of wrong dimension")
	}
	w.d, w.n, w.ns = d, t.rows(), t.support()
	w.rows = grown(w.rows, w.n*d)
	for i := range w.n {
		dst, src := w.rows[i*d:(i+1)*d], t.X[i*d:(i+1)*d]
		for k, m := range e.m {
			dst[k] = src[k] - m
		}
	}
	e.factor.whiten(w.matrix(w.rows, 0, w.n))
	e.densities(w, t)
}

// densities fills the Gram matrices, cross products and log densities.
func (e *Engine) densities(w *Workspace, t *Task) {
	nq, way := w.n-w.ns, len(t.Shots)
	w.inner(nq)
	w.class = grownClasses(w.class, way)
	w.logp, w.logp0 = grown(w.logp, nq*way), grown(w.logp0, nq)
	off := 0
	for j := range w.class {
		c := &w.class[j]
		c.k, c.off = t.Shots[j], off
		off += c.k
		w.fitGram(c)
		c.fit(e.objective.Inference, e.prior)
		c.score(w.general(w.cross, nq, w.ns), w.r2)
		for i, q := range c.q {
			w.logp[i*way+j] = c.norm.logNorm + c.post.LogKernel(e.objective.Inference, q)
		}
	}
	for i, r2 := range w.r2 {
		w.logp0[i] = e.norm.logNorm + e.prior.LogKernel(e.objective.Inference, r2)
	}
}

// inner computes all inner products of the nq queries.
func (w *Workspace) inner(nq int) {
	w.cross, w.r2 = grown(w.cross, nq*w.ns), grown(w.r2, nq)
	clear(w.cross)
	if w.ns > 0 {
		gemm(blas.Trans, w.matrix(w.rows, w.ns, nq), w.matrix(w.rows, 0, w.ns), w.general(w.cross, nq, w.ns))
	}
	for i := range w.r2 {
		z := blas64.Vector{N: w.d, Data: w.rows[(w.ns+i)*w.d:], Inc: 1}
		w.r2[i] = blas64.Dot(z, z)
	}
}

// fitGram stores the Gram matrix of the class's support.
func (w *Workspace) fitGram(c *class) {
	c.gram = grown(c.gram, c.k*c.k)
	clear(c.gram)
	if c.k == 0 {
		return
	}
	x := w.matrix(w.rows, c.off, c.k)
	gemm(blas.Trans, x, x, w.general(c.gram, c.k, c.k))
}

// matrix returns n rows of an n×d matrix beginning at r.
func (w *Workspace) matrix(data []float64, r, n int) blas64.General {
	return blas64.General{Rows: n, Cols: w.d, Stride: w.d, Data: data[r*w.d : (r+n)*w.d]}
}

func (w *Workspace) general(data []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(c, 1), Data: data[:r*c]}
}

func grownClasses(s []class, n int) []class {
	for len(s) < n {
		s = append(s, class{})
	}
	return s[:n]
}

// backward runs the reverse pass of the last forward and returns the task's loss. It leaves V and
// the whitened rows in w for accumulate. Cost n d²/2.
func (e *Engine) backward(w *Workspace, t *Task) float64 {
	loss := e.lossGradient(w, t)
	nq := w.n - w.ns
	w.grad = grown(w.grad, w.n*w.d)
	clear(w.grad)
	e.reverseClasses(w, nq)
	e.reverseRows(w, nq)
	n := w.n
	v, rows := w.matrix(w.grad, 0, n), w.matrix(w.rows, 0, n)
	e.factor.unwhiten(v)
	w.gradT, w.rowsT = grown(w.gradT, n*w.d), grown(w.rowsT, n*w.d)
	transposeTo(w.general(w.gradT, w.d, n), v)
	transposeTo(w.general(w.rowsT, w.d, n), rows)
	return loss
}

// lossGradient computes the task's loss and the gradient with respect to the log densities.
func (e *Engine) lossGradient(w *Workspace, t *Task) float64 {
	nq, way, o := w.n-w.ns, len(t.Shots), &e.objective
	e.head.prepare(&w.head, way, o.pi(t.Labels))
	w.dl, w.dr2 = grown(w.dl, way*nq), grown(w.dr2, nq)
	w.logits = grown(w.logits, way+1)
	w.dHead, w.pg, w.score = Head{}, priorGrad{}, score{}
	n := countQueries(t.Labels, o.Loss)
	scale := o.scale(way, n)
	for i, y := range t.Labels {
		w.queryGradient(o.Loss, i, y, way, scale, e)
	}
	return w.score.loss * scale
}

// queryGradient stores the gradient with respect to the log densities of query i in column i of dl.
// It propagates the gradient with respect to the prior predictive at once.
func (w *Workspace) queryGradient(loss Loss, i, y, way int, scale float64, e *Engine) {
	l, l0 := w.logp[i*way:(i+1)*way], w.logp0[i]
	logits := w.logits[:way]
	if w.head.openWorld {
		logits = w.logits[:way+1]
	}
	w.head.logits(logits, l, l0)
	w.score.add(loss.query(logits, l, y))
	for j := range logits {
		logits[j] *= scale
	}
	var dl0 float64
	if loss != NLL {
		dl0 = w.head.reverse(logits[:way], logits, l, l0, &w.dHead)
	}
	nq := w.n - w.ns
	for j := range l {
		w.dl[j*nq+i] = logits[j]
	}
	w.reversePrior(i, dl0, e)
}

// reversePrior propagates the gradient with respect to query i's density under the prior predictive
// to the squared length of the query and the prior's scalars.
func (w *Workspace) reversePrior(i int, dl0 float64, e *Engine) {
	w.dr2[i] = 0
	if dl0 == 0 {
		return
	}
	p := e.norm.at(e.objective.Inference, &e.prior, w.r2[i])
	w.dr2[i] = dl0 * p.q
	w.pg.kappa += dl0 * p.kappa
	w.pg.nu += dl0 * p.nu
	w.pg.logDet += dl0 * p.logDet
}

func countQueries(labels []int, loss Loss) float64 {
	var n float64
	for _, y := range labels {
		if y != Unknown || loss == OpenSet {
			n++
		}
	}
	return n
}

// reverseClasses propagates the gradient through every class to the inner products, and from the
// Gram matrices to the support.
func (e *Engine) reverseClasses(w *Workspace, nq int) {
	w.dcross = grown(w.dcross, nq*w.ns)
	dcross := w.general(w.dcross, nq, w.ns)
	for j := range w.class {
		c := &w.class[j]
		c.reverse(e.objective.Inference, w.dl[j*nq:(j+1)*nq], dcross, w.dr2, &w.pg)
		if c.k > 0 {
			gemm(blas.NoTrans, w.general(c.dG, c.k, c.k), w.matrix(w.rows, c.off, c.k), w.matrix(w.grad, c.off, c.k))
		}
	}
}

// reverseRows propagates the gradient with respect to inner products to the whitened rows:
// dZ = dcross S + 2 diag(dr2) Z and dS += dcrossᵀ Z.
func (e *Engine) reverseRows(w *Workspace, nq int) {
	z, dz := w.matrix(w.rows, w.ns, nq), w.matrix(w.grad, w.ns, nq)
	for i, g := range w.dr2 {
		blas64.Axpy(2*g, blas64.Vector{N: w.d, Data: z.Data[i*w.d:], Inc: 1}, blas64.Vector{N: w.d, Data: dz.Data[i*w.d:], Inc: 1})
	}
	if w.ns == 0 {
		return
	}
	dcross := w.general(w.dcross, nq, w.ns)
	gemm(blas.NoTrans, dcross, w.matrix(w.rows, 0, w.ns), dz)
	w.crossT = grown(w.crossT, w.ns*nq)
	dcrossT := w.general(w.crossT, w.ns, nq)
	transposeTo(dcrossT, dcross)
	gemm(blas.NoTrans, dcrossT, z, w.matrix(w.grad, 0, w.ns))
}

// accumulate adds the gradient of the last task of w: dm = -Σv, the scalars, the head and the
// log-determinant's diagonal terms 2/L_ii. accumulateBlock adds the rest of dL, -tril(VᵀW).
func (e *Engine) accumulate(g *Gradient, w *Workspace) {
	d := w.d
	for i := range w.n {
		for k, v := range w.grad[i*d : (i+1)*d] {
			g.M[k] -= v
		}
	}
	for i := range d {
		g.L[i*d+i] += 2 * w.pg.logDet / e.factor.lower[i*d+i]
	}
	g.Kappa += w.pg.kappa
	g.Nu += w.pg.nu
	g.Head.LogT += w.dHead.LogT
	g.Head.None += w.dHead.None
}

// accumulateBlock subtracts tril(VᵀW) in block row b of dL.
func (e *Engine) accumulateBlock(g *Gradient, w *Workspace, b int) {
	subOuter(g.L, w.d, b, w.general(w.gradT, w.d, w.n), w.general(w.rowsT, w.d, w.n))
}

// blockRows returns the number of block rows of dL.
func blockRows(d int) int { return (d + gradBlock - 1) / gradBlock }

// Gradient stores the loss of one task and its gradient in g. Cost 3 n d²/2
// multiply-adds for n rows, no allocation once w has grown.
func (e *Engine) Gradient(g *Gradient, w *Workspace, t *Task) float64 {
	g.reset()
	e.forward(w, t)
	loss := e.backward(w, t)
	for b := range blockRows(w.d) {
		e.accumulateBlock(g, w, b)
	}
	e.accumulate(g, w)
	return loss
}
