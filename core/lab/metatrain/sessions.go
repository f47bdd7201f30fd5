package metatrain

import (
	"context"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metaqda/core/lab/episode"
	"metaqda/core/lda"
	"metaqda/core/niw"
	"metaqda/core/session"
)

// Sessions returns the first n episodes of each sampler over a domain as the classifier sees them,
// under a prior of the same coordinates. Populations are fitted on them. So the fit runs the code
// that will use the population. [session.Sample.Domain] is the caller's to set. It returns the
// error of ctx once that has ended. Cost that of whitening the domain, and of each episode's inner
// products.
func Sessions(ctx context.Context, p *niw.Prior, o lda.Options, dom *Domain, samplers []episode.Sampler, n, workers int) ([]session.Sample, error) {
	white := whitened(p, dom, workers)
	samples := make([]session.Sample, n*len(samplers))
	parallel(len(samples), workers, func(i int) {
		if ctx.Err() == nil {
			e := samplers[i%len(samplers)].Episode(i / len(samplers))
			samples[i] = sampleOf(p.Whitened(), o, white, &e)
		}
	})
	return samples, ctx.Err()
}

// whitened returns the rows of a domain whitened by p.
func whitened(p *niw.Prior, dom *Domain, workers int) *mat.Dense {
	rows := len(dom.X) / dom.Dim
	white := mat.NewDense(rows, dom.Dim, nil)
	parallel((rows+rowBlock-1)/rowBlock, workers, func(b int) {
		lo, hi := b*rowBlock, min((b+1)*rowBlock, rows)
		part := white.Slice(lo, hi, 0, dom.Dim).(*mat.Dense)
		for i := lo; i < hi; i++ {
			row := part.RawRowView(i - lo)
			for c, v := range dom.row(i) {
				row[c] = float64(v)
			}
		}
		p.WhitenRowsTo(part, part)
	})
	return white
}

// sampleOf enrols the support of an episode and scores its queries.
func sampleOf(p *niw.Prior, o lda.Options, white *mat.Dense, e *episode.Episode) session.Sample {
	c, err := lda.New(p, o)
	must(err)
	for j, rows := range e.Support {
		label := strconv.Itoa(j)
		must(c.AddClass(label))
		for _, r := range rows {
			must(c.Add(label, white.RawRowView(r)))
		}
	}
	s := c.Support()
	sample := session.Sample{Answer: append([]int(nil), e.QueryLabel...), Query: make([]float64, len(e.Query)*s.Way())}
	sample.Shots, sample.Bursts = append(sample.Shots, s.Shots...), append(sample.Bursts, s.Bursts...)
	sample.Class = append(sample.Class, s.Class...)
	sample.Scores, sample.Unknown = append(sample.Scores, s.Scores...), append(sample.Unknown, s.Unknown...)
	for i, r := range e.Query {
		must(c.ScoresTo(sample.Query[i*s.Way():(i+1)*s.Way()], white.RawRowView(r)))
	}
	return sample
}

// must is for errors that checked rows cannot cause.
func must(err error) {
	if err != nil {
		panic("metatrain: rows of a domain out of range: " + err.Error())
	}
}

// ClassDistance returns the mean squared distance between two examples of one class in coordinates
// whitened by p, as a mean over domains. It is the unit of the distance between frames of a burst.
// Cost that of whitening.
func ClassDistance(p *niw.Prior, domains []Labelled, workers int) float64 {
	var sum, n float64
	for _, dom := range domains {
		white := whitened(p, dom.Domain, workers)
		var total, pairs float64
		for _, rows := range dom.Classes {
			if k := float64(len(rows)); k > 1 {
				total += 2 * k * scatter(white, rows)
				pairs += k * (k - 1)
			}
		}
		if pairs > 0 {
			sum += total / pairs
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// scatter returns Σ |w_i - w̄|² of some rows.
func scatter(white *mat.Dense, rows []int) (s float64) {
	_, d := white.Dims()
	mean := make([]float64, d)
	for _, r := range rows {
		floats.AddScaled(mean, 1/float64(len(rows)), white.RawRowView(r))
	}
	diff := make([]float64, d)
	for _, r := range rows {
		floats.SubTo(diff, white.RawRowView(r), mean)
		v := blas64.Vector{N: d, Data: diff, Inc: 1}
		s += blas64.Dot(v, v)
	}
	return s
}
