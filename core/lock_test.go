package metaqda

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"metaqda/core/test"
)

// A server with one classifier gets 200 requests at once, some of which change it.
func TestOneClassifierServesManyAtOnce(t *testing.T) {
	c := new(Classifier)
	labels, examples := many(30)
	test.Must(c.AddAll(labels, examples))(t)
	c.ForgetUndo() // undo must not remove these
	ask := func(i int) (a Answer, err error) {
		x := examples[i%30].Vector
		switch i % 20 {
		case 3:
			_, err = c.Add(labels[i%30], "", x)
		case 5:
			_, err = c.AddAll([]string{"new", "a"}, []Example{{Vector: x}, {Vector: x}})
		case 7:
			_, err = c.Undo()
		case 9:
			_, err = c.LeaveOneOut(nil, nil)
		case 11:
			_, err = c.Classify(nil, [][]float32{x, x}, nil)
		case 13:
			_, err = c.Save()
		case 15:
			err = c.RenameClass(c.Labels()[0], fmt.Sprint("a", i))
		case 17:
			_, err = c.Nearest(x, 1)
		}
		if err != nil && Code(err) != "label" { // the class may be renamed by now
			return a, err
		}
		return c.Predict(x)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		_, err := fmt.Fscan(r.Body, &i)
		a, failed := ask(i)
		if err != nil || failed != nil {
			http.Error(w, fmt.Sprint(err, failed), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(a)
	}))
	defer server.Close()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			r, err := http.Post(server.URL, "text/plain", strings.NewReader(fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			var a Answer
			body, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(body, &a); err != nil {
				t.Errorf("%d: %s", i, body)
				return
			}
			sum := a.None
			for _, p := range a.Probabilities {
				sum += p
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%d: probabilities sum to %v", i, sum)
			}
		})
	}
	all.Wait()
}

func BenchmarkPredict(b *testing.B) {
	c := new(Classifier)
	labels, examples := many(30)
	test.Must(c.AddAll(labels, examples))(b)
	x, p := examples[7].Vector, make([]float64, 3)
	b.Run("one after the other", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			test.Must(c.ProbabilitiesTo(p, x))(b)
		}
	})
	b.Run("at once", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			p := make([]float64, 3)
			for pb.Next() {
				if _, err := c.ProbabilitiesTo(p, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
