package adapt

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/episode"
	"metaqda/core/lab/metatrain"
	"metaqda/core/lab/metrics"
	"metaqda/core/model"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// Measured says how well a prior works for classes that it has not seen, with one and two examples
// each. Known queries are of these classes, unknown ones of others. Each kind is half of Loss.
type Measured struct {
	Accuracy float64 // share of the known queries whose class is the most probable class
	Unknown  float64 // geometric mean over unknown queries of the probability of none of these
	Loss     float64 // mean of -ln of the right answer's probability, among all classes and none
}

const (
	divisions   = 6   // of each session's classes
	tasks       = 12  // of each division and shot
	mostMeasure = 400 // examples, which span at most as many dimensions
	mostWay     = 5
	leastAsked  = 3 // classes with queries: two to tell apart and one that is unknown
)

// measurement holds the examples in coordinates of the space that they span. There the prior is (0,
// I), and all inner products stay the same.
type measurement struct {
	prior    *model.Prior
	dim      int
	sessions [][]*mat.Dense
	rng      *rand.Rand
}

// enough returns the number of classes with MinExamples. Only these can have queries.
func enough(classes []*mat.Dense) (n int) {
	for _, c := range classes {
		if k, _ := c.Dims(); k >= MinExamples {
			n++
		}
	}
	return n
}

// newMeasurement takes first the classes with enough examples, from the sessions with most such
// classes.
func newMeasurement(p *model.Prior, taught [][]*mat.Dense, rng *rand.Rand) *measurement {
	m := &measurement{prior: p, rng: rng}
	var chosen []*mat.Dense
	n := 0
	sessions := make([]int, len(taught))
	for s := range sessions {
		sessions[s] = s
	}
	slices.SortStableFunc(sessions, func(i, j int) int { return enough(taught[j]) - enough(taught[i]) })
	for _, s := range sessions {
		session := taught[s]
		var classes []*mat.Dense
		order := rng.Perm(len(session))
		slices.SortStableFunc(order, func(i, j int) int { return enough(session[j:j+1]) - enough(session[i:i+1]) })
		for _, i := range order {
			if k, _ := session[i].Dims(); n+k <= mostMeasure {
				n += k
				classes, chosen = append(classes, session[i]), append(chosen, session[i])
			}
		}
		m.sessions = append(m.sessions, classes)
	}
	m.dim = p.NIW.Dim()
	if n >= m.dim {
		return m
	}
	all := mat.NewDense(n, m.dim, nil)
	at := 0
	for _, c := range chosen {
		k, _ := c.Dims()
		all.Slice(at, at+k, 0, m.dim).(*mat.Dense).Copy(c)
		at += k
	}
	// A Cholesky factor of the inner products has rows with these inner products. Examples that
	// depend on each other make the matrix singular, so its diagonal is a little larger.
	gram := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: make([]float64, n*n)}
	blas64.Syrk(blas.NoTrans, 1, all.RawMatrix(), 0, gram)
	for i := range n {
		gram.Data[i*n+i] += 1e-9
	}
	niw.Factorise(gram)
	for i := range n { // what it left above the diagonal
		clear(gram.Data[i*n+i+1 : (i+1)*n])
	}
	x := mat.NewDense(n, n, gram.Data)
	m.dim, at = n, 0
	for _, session := range m.sessions {
		for j, c := range session {
			k, _ := c.Dims()
			session[j] = x.Slice(at, at+k, 0, n).(*mat.Dense)
			at += k
		}
	}
	return m
}

// division splits the classes of a session into classes to learn from and classes to test on. The
// classes of all other sessions join the former.
type division struct{ learn, ask []*mat.Dense }

func (m *measurement) divisions() (all []division) {
	for s, classes := range m.sessions {
		for range divisions {
			var d division
			order := m.rng.Perm(len(classes))
			for _, i := range order {
				if k, _ := classes[i].Dims(); k >= MinExamples && len(d.ask) < max(leastAsked, len(order)/2) {
					d.ask = append(d.ask, classes[i])
				} else {
					d.learn = append(d.learn, classes[i])
				}
			}
			if len(d.ask) < leastAsked {
				continue
			}
			for o, others := range m.sessions {
				if o != s {
					d.learn = append(d.learn, others...)
				}
			}
			all = append(all, d)
		}
	}
	return all
}

// run tests the prior, and the prior learned from the other classes, on the left-out classes.
func (m *measurement) run(ctx context.Context) (before, after Measured, s settled, err error) {
	all := m.divisions()
	plain := niw.HandCrafted(m.dim, 1)
	learned := make([]*niw.Prior, len(all))
	for i, d := range all {
		if err := ctx.Err(); err != nil {
			return before, after, s, err
		}
		learned[i] = update(m.prior, m.dim, d.learn, 1)
		s.scale += distance(learned[i], d.ask) / distance(plain, d.ask) / float64(len(all))
	}
	var old, fresh []session.Sample
	for i, d := range all {
		floats.Scale(math.Sqrt(s.scale), learned[i].L.RawTriangular().Data)
		for _, c := range []struct {
			prior *niw.Prior
			to    *[]session.Sample
		}{{plain, &old}, {learned[i], &fresh}} {
			samples, err := m.ask(ctx, c.prior, d.ask, uint64(i))
			if err != nil {
				return before, after, s, err
			}
			*c.to = append(*c.to, samples...)
		}
	}
	_, before = temperature(m.prior.Session.Population, old)
	s.logT, after = temperature(m.prior.Session.Population, fresh)
	return before, after, s, nil
}

// distance returns the mean squared distance between two examples of a class, whitened by p.
func distance(p *niw.Prior, classes []*mat.Dense) (sum float64) {
	for _, c := range classes {
		r, _ := residuals(c)
		k, _ := r.Dims()
		for i := range k {
			row := r.RawRowView(i)
			floats.Add(row, p.M)
			p.WhitenTo(row, row)
			sum += 2 * floats.Dot(row, row) / float64(k-1) / float64(len(classes))
		}
	}
	return sum
}

// ask draws tasks of the classes and scores them under a prior.
func (m *measurement) ask(ctx context.Context, p *niw.Prior, classes []*mat.Dense, seed uint64) ([]session.Sample, error) {
	dom, pool := &metatrain.Domain{Name: "left out", Dim: m.dim}, episode.Pool{Name: "left out"}
	smallest := math.MaxInt
	for _, c := range classes {
		k, _ := c.Dims()
		smallest = min(smallest, k)
		var rows []int
		for i := range k {
			rows = append(rows, len(dom.X)/m.dim)
			for _, v := range c.RawRowView(i) {
				dom.X = append(dom.X, float32(v))
			}
		}
		pool.Rows = append(pool.Rows, rows)
	}
	way := min(mostWay, len(classes)-1)
	var samplers []episode.Sampler
	for shot := 1; shot <= min(2, smallest-2); shot++ {
		c := episode.Fixed(way, shot, min(5, smallest-shot))
		c.UnknownClasses = min(way, len(classes)-way)
		s, err := episode.NewUniform(pool, c, seed)
		if err != nil {
			return nil, err
		}
		samplers = append(samplers, s)
	}
	o := m.prior.Session.Options()
	o.Parts = nil // they are of embeddings, not of these coordinates
	return metatrain.Sessions(ctx, p, o, dom, samplers, tasks, 1)
}

// temperature returns the δ with which ln T + δ makes the right answers most probable, and the measure
// under it. A ridge keeps δ near 0.
func temperature(p *session.Population, samples []session.Sample) (best float64, at Measured) {
	const most, step, ridge = 1.0, 0.1, 0.02
	least := math.Inf(1)
	for d := -most; d <= most+step/2; d += step {
		m := judge(p, samples, d)
		if loss := m.Loss + ridge*d*d; loss < least {
			best, least, at = d, loss, m
		}
	}
	return best, at
}

// judge measures the answers to samples with logT added to ln T.
func judge(p *session.Population, samples []session.Sample, logT float64) (m Measured) {
	q := *p
	q.LogT += logT
	var known, unknown float64 // sums of logarithms
	var asked, total float64   // known queries, and all
	logOf := func(p float64) float64 { return math.Log(math.Max(p, 1e-9)) }
	for i := range samples {
		s := &samples[i]
		c := s.Way()
		posterior := q.Infer(&s.Support)
		even := slices.Repeat([]float64{-math.Log(float64(c))}, c)
		u, dst, scratch := make([]float64, c), make([]float64, c), make([]float64, c)
		total += float64(len(s.Answer))
		for k, y := range s.Answer {
			floats.ScaleTo(u, 1/q.Temperature(), s.Query[k*c:(k+1)*c])
			none := posterior.ProbabilitiesTo(dst, u, even, 0.5, scratch)
			if y == session.Unknown {
				unknown += logOf(none)
				continue
			}
			asked++
			known += logOf(dst[y])
			if metrics.Best(dst) == y {
				m.Accuracy++
			}
		}
	}
	known, unknown = known/asked, unknown/(total-asked)
	return Measured{m.Accuracy / asked, math.Exp(unknown), -(known + unknown) / 2}
}
