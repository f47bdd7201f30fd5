package engine

import (
	"math/rand/v2"
	"testing"

	"metaqda/core/model"
	"metaqda/core/test"
	"metaqda/wasm/log"
)

// sitePrior returns the file of a site's prior that was learned with the given extractor.
func sitePrior(t *testing.T, made model.Extractor) (b []byte, sum string) {
	t.Helper()
	p := plainPrior(dim)
	p.Extractor = made
	b = test.Must(model.EncodePrior(p))(t)
	return b, model.Sum(b)
}

func TestTheSitesPriorServesItsOwnExtractorAlone(t *testing.T) {
	b, sum := sitePrior(t, here)
	other := model.Extractor{ID: "net@1", SHA256: here.SHA256}
	for name, d := range map[string]int{"as many numbers": dim, "fewer": dim / 2, "more": 2 * dim} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			x := func() []float32 {
				x := make([]float32, d)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				return x
			}
			w := newWorld(t, log.NewMemory())
			w.files["prior"] = b
			test.OK(t, w.UsePrior("prior", sum))
			test.OK(t, w.UseExtractor(here, false))
			ids := w.teachAll(t, "cat")
			s := w.State()
			if s.Prior.Sum != sum || !s.Prior.Site || s.Extractor.ID != here.ID {
				t.Fatalf("its own extractor: %+v by %v", s.Prior, s.Extractor)
			}
			first := w.State().SessionID

			test.Must(w.NewSession("a variant of it"))(t)
			variant := model.Extractor{ID: here.ID + "/handedness", SHA256: "22"}
			test.OK(t, w.UseExtractor(variant, false))
			w.teachAll(t, "left")
			s = w.State()
			if s.Prior.Sum != sum || !s.Prior.Site || s.Extractor.ID != variant.ID {
				t.Errorf("a variant: %+v by %v", s.Prior, s.Extractor)
			}
			test.OK(t, w.UseExtractor(here, false))
			if test.Err(w.LearnedPrior()) == nil {
				t.Error("the variant's examples are compared with the extractor's")
			}

			test.Must(w.NewSession("read anew"))(t)
			test.OK(t, w.UseExtractor(other, true))
			id := w.addClass(t, "cat")
			s = w.State()
			if s.Prior.Sum != "" || !s.Prior.Site || s.Dimension != 0 {
				t.Errorf("before a picture: %+v of %d numbers", s.Prior, s.Dimension)
			}
			_, err := w.AddExample(id, x(), nil, "")
			if err != nil {
				t.Fatalf("teaching it: %v", err)
			}
			test.Must(w.Show(x()))(t)
			s = w.State()
			if s.Prior.Sum != "" || !s.Prior.Site || s.Dimension != d || s.Extractor.ID != other.ID {
				t.Errorf("another extractor: %+v of %d numbers by %v", s.Prior, s.Dimension, s.Extractor)
			}
			token := test.Must(w.ResetPrior())(t)
			s = w.State()
			if s.Prior.Sum != "" || s.Dimension != d || token != "" {
				t.Errorf("after going back to what is built in: %+v, a step %q", s.Prior, token)
			}
			query := x()
			want := test.Must(w.Predict(query))(t)
			w.Flush()

			again := newWorld(t, w.store)
			test.OK(t, again.UsePrior("prior", sum))
			test.OK(t, again.UseExtractor(here, false))
			if again.State().Extractor.Foreign == "" {
				t.Error("reopened with its own: nothing is told")
			}
			test.OK(t, again.UseExtractor(other, false))
			got := test.Must(again.Predict(query))(t)
			same(t, "reopened", *got, *want)

			test.OK(t, again.OpenSession(first))
			test.OK(t, again.UseExtractor(here, false))
			s = again.State()
			if s.Prior.Sum != sum || s.Extractor.Foreign != "" {
				t.Errorf("back in the first session: %+v, %q", s.Prior, s.Extractor.Foreign)
			}
			test.Must(again.AddExample(ids[0], picture(r, 1), nil, ""))(t)

			test.Must(again.NewSession("empty"))(t)
			test.OK(t, again.UseExtractor(other, true))
			test.OK(t, again.UseExtractor(here, true))
			s = again.State()
			if s.Prior.Sum != sum {
				t.Errorf("an empty session whose extractor was chosen and taken back: %+v", s.Prior)
			}
		})
	}
}

func TestASessionWithoutPicturesKeepsItsExtractor(t *testing.T) {
	here, other := model.Extractor{ID: "net@1"}, model.Extractor{ID: "net@2", SHA256: "2"}
	w := newWorld(t, log.NewMemory())
	test.OK(t, w.UseExtractor(here, false))
	first := w.State().SessionID
	second := test.Must(w.NewSession("second"))(t)
	test.OK(t, w.UseExtractor(other, true))
	test.OK(t, w.OpenSession(first))
	test.OK(t, w.UseExtractor(here, false))
	for _, again := range []*world{w, newWorld(t, w.store)} {
		test.OK(t, again.UseExtractor(here, false))
		test.OK(t, again.OpenSession(second))
		if x := again.State().Extractor; x.ID != other.ID || x.SHA256 != other.SHA256 || !x.Chosen || x.Foreign != "" {
			t.Errorf("opened again: %+v", x)
		}
		test.OK(t, again.UseExtractor(other, false))
		if x := again.State().Extractor; x.ID != other.ID || x.Chosen {
			t.Errorf("with its own: %+v", x)
		}
	}
	// A picture of another extractor settles it.
	test.OK(t, w.UseExtractor(here, false))
	test.Must(w.AddExample(w.addClass(t, "cat"), []float32{1, 2, 3}, nil, ""))(t)
	if x := w.State().Extractor; x.ID != here.ID || x.Chosen {
		t.Errorf("with a picture: %+v", x)
	}
}
