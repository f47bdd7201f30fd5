package metaqda

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
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

// Each method that programs call takes the lock, or only calls others that do.
func TestEachMethodTakesTheLock(t *testing.T) {
	methods := 0
	for _, name := range test.Must(filepath.Glob("*.go"))(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := test.Must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil || !m.Name.IsExported() || m.Name.Name == "Watch" { // which takes it with each answer
				continue
			}
			of, ok := m.Recv.List[0].Type.(*ast.StarExpr)
			if !ok || of.X.(*ast.Ident).Name != "Classifier" {
				continue
			}
			methods++
			locks := false
			ast.Inspect(m.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok {
					name := call.Sel.Name
					on, _ := call.X.(*ast.Ident)
					locks = locks || on != nil && on.Name == m.Recv.List[0].Names[0].Name &&
						(slices.Contains([]string{"reading", "writing", "hold", "holdAny", "ask"}, name) || exported(name))
				}
				return true
			})
			if !locks {
				t.Errorf("%s: %s takes no lock", name, m.Name.Name)
			}
		}
	}
	if methods < 50 {
		t.Errorf("only %d methods", methods)
	}
}

// exported reports whether the classifier has an exported method of the name.
func exported(name string) bool {
	_, ok := reflect.TypeFor[*Classifier]().MethodByName(name)
	return ok
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
