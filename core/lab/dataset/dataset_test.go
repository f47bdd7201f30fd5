package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"metaqda/core/test"
)

const fixtures = "../../../testdata/dataset/"

// The fixtures were written by numpy: 12 rows of 5 numbers, entry (i, j) is
// (5i + j - 20) / 8, three rows for each of four classes.
func checkCounted(t *testing.T, s *Set) {
	t.Helper()
	if s.Len() != 12 || s.Dim != 5 {
		t.Fatalf("got %d x %d, want 12 x 5", s.Len(), s.Dim)
	}
	row := make([]float64, 5)
	for i := range 12 {
		for j, v := range s.RowTo(row, i) {
			want := float64(5*i+j-20) / 8
			if v != want {
				t.Errorf("row %d column %d: got %v, want %v", i, j, v, want)
			}
		}
		if s.Labels[i] != i/3 {
			t.Errorf("label of row %d: got %d, want %d", i, s.Labels[i], i/3)
		}
	}
	got := s.ClassRows(2)
	if len(got) != 3 || got[0] != 6 || got[2] != 8 {
		t.Errorf("rows of class 2: got %v, want [6 7 8]", got)
	}
}

func TestLoadReadsWhatNumpyWrote(t *testing.T) {
	for _, name := range []string{"float32.npz", "float64-fortran.npz", "float16-bigendian.npz", "plain.npy"} {
		t.Run(name, func(t *testing.T) {
			s := test.Must(Load(fixtures + name))(t)
			checkCounted(t, s)
		})
	}
}

func TestLoadJoinsTheDescription(t *testing.T) {
	s := test.Must(Load(fixtures + "plain.npy"))(t)
	if s.Name != "plain" || s.Extractor != "numbers counted in eighths" {
		t.Errorf("got name %q and extractor %q", s.Name, s.Extractor)
	}
	for split, want := range map[string]string{"train": "[0 2]", "val": "[1]", "test": "[3]", "all": "[0 1 2 3]", "val,test": "[1 3]", "all,test": "[0 1 2 3]", "test,all,test": "[3 0 1 2]"} {
		got, err := s.Split(split)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("split %q: got %v, %v, want %v", split, got, err, want)
		}
	}
	got := s.Mean(s.ClassRows(0))
	if got[0] != (-20.0-15-10)/8/3 {
		t.Errorf("mean of class 0 starts with %v", got[0])
	}
	if got := s.Rows([]int{3, 0}); fmt.Sprint(got) != "[9 10 11 0 1 2]" {
		t.Errorf("rows of classes 3 and 0: %v", got)
	}
}

func TestDecodeCSV(t *testing.T) {
	for name, text := range map[string]string{
		"heading in the middle": "a,label,b\n1,cat,2\n3,dog,4\n5,cat,6\n",
		"no heading":            "1,2,cat\n3,4,dog\n5,6,cat\n",
		"label beside y":        "a,y,label\n1,2,cat\n3,4,dog\n5,6,cat\n",
		"byte order mark":       "\ufefflabel,a,b\ncat,1,2\ndog,3,4\ncat,5,6\n",
	} {
		s, err := DecodeCSV("x.csv", strings.NewReader(text), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if fmt.Sprint(s.X, s.Labels, s.Classes) != "[1 2 3 4 5 6] [0 1 0] [cat dog]" {
			t.Errorf("%s: got %v %v %v", name, s.X, s.Labels, s.Classes)
		}
		s, err = DecodeCSV("x.csv", strings.NewReader(text), &Meta{Classes: []string{"dog", "cat"}})
		if err != nil || fmt.Sprint(s.Labels) != "[1 0 1]" {
			t.Errorf("%s: got %v, %v in the order of the description", name, s, err)
		}
	}
}

// An empty list of classes in the .json is as none.
func TestAnEmptyListOfClassesNamesNone(t *testing.T) {
	meta, err := DecodeMeta("x.json", []byte(`{"classes":[]}`))
	test.OK(t, err)
	if s, err := DecodeCSV("x.csv", strings.NewReader("a,label\n1,cat\n3,dog\n"), meta); err != nil || fmt.Sprint(s.Classes) != "[cat dog]" {
		t.Errorf("names: %v, %v", s, err)
	}
	if s, err := New("x", 1, []float32{1, 2}, []int{0, 1}, nil, meta); err != nil || fmt.Sprint(s.Classes) != "[0 1]" {
		t.Errorf("numbers: %v, %v", s, err)
	}
}

// Groups may be any whole numbers of 32 bits, in a .npz or beside a .npy, and any texts in a .csv.
func TestGroups(t *testing.T) {
	x, labels := []float32{1, 2, 3, 4, 5, 6}, []int32{0, 1, 1}
	s, err := DecodeNPZ("x.npz", writeNPZ(t, x, 2, labels), nil)
	if err != nil || s.Groups != nil {
		t.Errorf("without groups: %v, %v", s, err)
	}
	want := fmt.Sprint([]int32{7, -1, math.MaxInt32})
	for _, groups := range []any{[]int32{7, -1, math.MaxInt32}, []int64{7, -1, math.MaxInt32}} {
		s, err = DecodeNPZ("x.npz", writeNPZ(t, x, 2, labels, groups), nil)
		if err != nil || fmt.Sprint(s.Groups) != want {
			t.Errorf("%T: %v, %v", groups, s, err)
		}
	}
	s, err = DecodeCSV("x.csv", strings.NewReader("a,Group,label,b\n1,7,cat,2\n3,,dog,4\n5,7,cat,6\n7,,cat,8\n"), nil)
	if err != nil || fmt.Sprint(s.X, s.Labels, s.Groups) != "[1 2 3 4 5 6 7 8] [0 1 0 0] [1 2 1 3]" {
		t.Errorf("a column of groups: %v, %v", s, err)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	write := func(groups any) {
		for name, data := range map[string][]byte{"x.npy": npyBytes("<f4", "(3, 2)", x), "x.labels.npy": npyBytes("<i4", "(3,)", labels), "x.groups.npy": npyOf(groups)} {
			test.OK(t, os.WriteFile(filepath.Join(filepath.Dir(path), name), data, 0o644))
		}
	}
	write([]int32{7, -1, math.MaxInt32})
	s, err = Load(path)
	if err != nil || fmt.Sprint(s.Groups) != want {
		t.Errorf("beside a .npy: %v, %v", s, err)
	}
	for _, bad := range []any{[]int32{1, 2}, []float32{1, 2, 3}} {
		write(bad)
		var f *FileError
		_, err = Load(path)
		if !errors.As(err, &f) || !strings.Contains(f.File, "x.groups.npy") || f.Remedy == "" {
			t.Errorf("groups %v beside a .npy: %v", bad, err)
		}
	}
}

// Each bad input must give an error that names the file, the row where there
// is one, and a remedy.
func TestBadInputIsNamed(t *testing.T) {
	good := []float32{1, 2, 3, 4}
	nan := []float32{1, 2, float32(math.NaN()), 4}
	inf := []float32{1, 2, 3, float32(math.Inf(1))}
	meta := func(text string) *Meta {
		return test.Must(DecodeMeta("x.json", []byte(text)))(t)
	}
	npz := func(x []float32, labels []int32, m *Meta) func() error {
		return func() error { _, err := DecodeNPZ("x.npz", writeNPZ(t, x, 2, labels), m); return err }
	}
	grouped := func(groups any) func() error {
		return func() error {
			_, err := DecodeNPZ("x.npz", writeNPZ(t, good, 2, []int32{0, 1}, groups), nil)
			return err
		}
	}
	csv := func(text string, m *Meta) func() error {
		return func() error { _, err := DecodeCSV("x.csv", strings.NewReader(text), m); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
		row  int
		want string
	}{
		{"NaN", npz(nan, []int32{0, 1}, nil), 1, "column 0 is NaN"},
		{"infinity", npz(inf, []int32{0, 1}, nil), 1, "column 1 is +Inf"},
		{"too few labels", npz(good, []int32{0}, nil), -1, "has different numbers of embeddings and labels, 2 and 1"},
		{"splits of neither", func() error { _, err := DecodeMeta("x.json", []byte(`{"splits":{"train":[true]}}`)); return err }, -1, "not a name or number"},
		{"extractor that is no name", func() error { _, err := DecodeMeta("x.json", []byte(`{"extractor":{"id":"a"}}`)); return err }, -1, `its "extractor" is of the wrong kind (object)`},
		{"UTF-16", csv("\xff\xfel\x00", nil), -1, "save it as CSV in UTF-8"},
		{"semicolons", csv("label;a;b\nx;1,5;2\n", nil), -1, "write commas there, and decimal points"},
		{"decimal commas", csv("x;1,5;2,5\n", nil), -1, "write commas there, and decimal points"},
		{"two classes of one name", func() error { _, err := DecodeMeta("x.json", []byte(`{"classes":["a","a"]}`)); return err }, -1, "both called"},
		{"negative label", npz(good, []int32{0, -1}, nil), 1, "label -1 is outside 0..0; whole numbers count the classes from 0: save names in their place"},
		{"label without class", npz(good, []int32{0, 2}, meta(`{"classes":["a","b"]}`)), 1, "label 2 is outside 0..1"},
		{"absurd label", npz(good, []int32{0, 2000000000}, nil), 1, "label 2000000000"},
		{"dimension", npz(good, []int32{0, 1}, meta(`{"dimension":3}`)), -1, "rows of length 2 but x.json says 3"},
		{"too few groups", grouped([]int32{1}), -1, "has different numbers of groups and embeddings, 1 and 2"},
		{"too many groups", grouped([]int32{1, 2, 3}), -1, "has different numbers of groups and embeddings, 3 and 2"},
		{"no groups", grouped([]int32{}), -1, "has different numbers of groups and embeddings, 0 and 2"},
		{"groups that are not whole", grouped([]float32{1, 2}), -1, `array "groups" does not hold whole numbers; convert it with numpy's astype`},
		{"labels of True and False", func() error {
			_, err := DecodeNPZ("x.npz", packNPZ(t, []packed{{"embeddings", npyBytes("<f4", "(2, 2)", good), nil, 0}, {"labels", npyBytes("|b1", "(2,)", []byte{0, 1}), nil, 0}}), nil)
			return err
		}, -1, `"|b1", not real numbers; convert it with numpy's astype`},
		{"groups beyond 32 bits", grouped([]int64{1, 1 << 31}), -1, `array "groups" holds 2147483648 in row 1`},
		{"empty", npz(nil, nil, nil), -1, "no embeddings"},
		{"unknown class in split", npz(good, []int32{0, 1}, meta(`{"classes":["a","b"],"splits":{"test":["c"]}}`)), -1, `split "test" names the class "c"`},
		{"class in two splits", npz(good, []int32{0, 1}, meta(`{"classes":["a","b"],"splits":{"test":["a"],"train":["a"]}}`)), -1, "keep every class in one split"},
		{"not a zip", func() error { _, err := DecodeNPZ("x.npz", []byte("hello"), nil); return err }, -1, "no .npz"},
		{"csv without label", csv("1,2\n3,4\n", nil), -1, "first line of headings"},
		{"csv with a word", csv("label,a\nx,1\ny,oops\n", nil), 1, `"oops"`},
		{"csv without a label", csv("label,a\nx,1\n ,2\ny,3\n", nil), 1, "has no label"},
		{"csv with NaN", csv("label,a\nx,NaN\n", nil), 0, `"NaN"`},
		{"csv of pandas with row numbers", csv(",a,label\n0,1,x\n1,2,y\n", nil), -1, "leave out a column of row numbers"},
		{"csv of pandas with groups and no labels", csv("0,1,2,group\n1,2,3,7\n4,5,6,7\n", nil), -1, "first line of headings"},
		{"csv without a line", csv("", nil), -1, "holds no embeddings"},
		{"csv ragged", csv("label,a\nx,1\ny,1,2\n", nil), -1, "wrong number of fields"},
		{"csv foreign class", csv("label,a\nx,1\ny,2\n", meta(`{"classes":["x"]}`)), 1, `class "y"`},
		{"no such file", func() error { _, err := Load("nowhere.npz"); return err }, -1, "does not exist"},
		{"other kind", func() error { _, err := Load("dataset_test.go"); return err }, -1, ".npz, .npy or .csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.do()
			var f *FileError
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want a *FileError", err)
			}
			if f.File == "" || f.Remedy == "" || f.Row != c.row || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got row %d, %q; want row %d and %q", f.Row, err, c.row, c.want)
			}
		})
	}
}

// As numpy.array(["b", "é", "b"]) is saved, and as numpy.array([b"b", ...]) is.
func TestLabelsMayBeNamesAndSplitsNumbers(t *testing.T) {
	wide := []rune{'b', 0, 'é', 'c', 'b', 0}
	for what, labels := range map[string][]byte{
		"<U2": npyBytes("<U2", "(3,)", wide),
		"|S3": npyBytes("|S3", "(3,)", []byte("b\x00\x00\xc3\xa9cb\x00\x00")),
	} {
		for _, json := range []string{`{"splits":{"train":[1],"test":["b"]}}`, `{"classes":["b","éc","d"],"splits":{"train":["éc"],"test":[0]}}`} {
			m := test.Must(DecodeMeta("x.json", []byte(json)))(t)
			s, err := DecodeNPY("x.npy", npyBytes("<f4", "(3, 1)", []float32{1, 2, 3}), labels, m)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got := fmt.Sprint(s.Classes[:2], s.Labels, s.Splits)
			if got != "[b éc] [0 1 0] map[test:[0] train:[1]]" {
				t.Errorf("%s, %s: %s", what, json, got)
			}
		}
	}
	m := test.Must(DecodeMeta("x.json", []byte(`{"classes":["a"]}`)))(t)
	_, err := DecodeNPY("x.npy", npyBytes("<f4", "(3, 1)", []float32{1, 2, 3}), npyBytes("<U2", "(3,)", wide), m)
	if err == nil || !strings.Contains(err.Error(), `class "b"`) {
		t.Errorf("a name that the .json does not have: %v", err)
	}
	_, err = DecodeNPY("x.npy", npyBytes("<U2", "(3, 1)", wide), npyOf([]int32{0, 0, 0}), nil)
	if err == nil || !strings.Contains(err.Error(), "text, not real numbers") {
		t.Errorf("embeddings of text: %v", err)
	}
}

func TestReadSplits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		test.OK(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	file := write("s.json", `{"test": ["b", "c"]}`)
	write("train.txt", "a\nd\n")
	write("test.csv", "filename,label\n1.jpg,c\n2.jpg,c\n3.jpg,b\n")
	for path, want := range map[string]string{file: "map[test:[1 2]]", dir: "map[test:[1 2] train:[0 3]]"} {
		s := test.Must(Load(fixtures + "plain.npy"))(t)
		err := s.ReadSplits(path)
		if err != nil || fmt.Sprint(s.Splits) != want {
			t.Errorf("%s: got %v, %v, want %s", path, s.Splits, err, want)
		}
	}
}

// A shape without numbers is refused at once, however long its other axis is.
func TestAShapeWithoutNumbersIsRefused(t *testing.T) {
	for _, shape := range []string{"(0, 1000000000000000)", "(1000000000000000, 0)"} {
		b := bytes.Replace(npyBytes("<f4", shape, []float32{}), []byte("'fortran_order': False"), []byte("'fortran_order':  True"), 1)
		for _, embeddings := range [][]byte{b, npyBytes("<f4", shape, []float32{})} {
			_, err := DecodeNPY("x.npy", embeddings, npyOf([]int32{0}), nil)
			if err == nil {
				t.Errorf("shape %s was read", shape)
			}
		}
	}
}

// A file of a few hundred kilobytes must not decide how much memory is taken, tell
// the truth or lie as it may.
func TestBombsAreRefusedInLittleMemory(t *testing.T) {
	const size = 64 << 20
	zeros := make([]byte, size)
	head := func(descr, shape string) []byte { return npyBytes(descr, shape, []byte{}) }
	matrix, labels := head("<f4", fmt.Sprintf("(%d, 1024)", size/4096)), head("|i1", fmt.Sprintf("(%d,)", size))
	small := npyBytes("<f4", "(2, 2)", []float32{1, 2, 3, 4})
	two := npyOf([]int32{0, 1})
	sparse := make([]int32, 200_000)
	sparse[7] = 190_000_000
	for _, c := range []struct {
		name  string
		files []packed
		want  string
	}{
		{"embeddings", []packed{{"embeddings", matrix, zeros, 0}, {"labels", two, nil, 0}}, "at most are taken; save it without packing"},
		{"labels", []packed{{"embeddings", small, nil, 0}, {"labels", labels, zeros, 0}}, "at most are taken; save it without packing"},
		{"a list that says less", []packed{{"embeddings", matrix, zeros, len(small)}, {"labels", two, nil, 0}}, fmt.Sprintf("and %d by the list of the zip", len(small))},
		{"list and shape that say less", []packed{{"embeddings", small, zeros, len(small)}, {"labels", two, nil, 0}}, "not a valid zip file"},
		{"a list that says more", []packed{{"embeddings", small, nil, size}, {"labels", two, nil, 0}}, fmt.Sprintf("and %d by the list of the zip", size)},
		{"list and shape that say more", []packed{{"embeddings", head("<f4", "(2000, 2000)"), zeros[:1000], len(head("<f4", "(2000, 2000)")) + 16_000_000}, {"labels", two, nil, 0}}, "ends before all of its numbers (4000000)"},
		{"classes without rows", []packed{{"embeddings", npyBytes("|i1", "(200000, 1)", zeros[:200_000]), nil, 0}, {"labels", npyOf(sparse), nil, 0}}, "label 190000000 is outside 0..0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := packNPZ(t, c.files)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := DecodeNPZ("x.npz", file, nil)
			runtime.ReadMemStats(&after)
			var f *FileError
			if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			took := after.TotalAlloc - before.TotalAlloc
			if len(file) > 1<<20 || took > 24<<20 {
				t.Errorf("%d bytes of file took %d bytes of memory", len(file), took)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"float32.npz", "float64-fortran.npz", "float16-bigendian.npz", "plain.npy"} {
		f.Add(test.Must(os.ReadFile(fixtures + name))(f))
	}
	f.Add([]byte("label,a\nx,1\n"))
	f.Add([]byte("a,label\n1,x\n2e3,\n"))
	f.Add(npyBytes("|i1", "(1000000000000, 0)", []byte{}))
	f.Add(unlabelledNPZ(f, "<f4", "(3, 2)", []float32{1, 2, 3, 4, 5, 6}))
	f.Add(unlabelledNPZ(f, "<f4", "(4000000, 4000)", []float32{1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		check := func(s *Set, err error) {
			if err != nil {
				if s != nil {
					t.Error("a set and an error")
				}
				return
			}
			if s.Groups != nil && len(s.Groups) != s.Len() {
				t.Errorf("%d groups of %d rows", len(s.Groups), s.Len())
			}
			if len(s.X) != s.Len()*s.Dim {
				t.Errorf("%d numbers for %d x %d", len(s.X), s.Len(), s.Dim)
			}
			for c := range s.Classes {
				for _, i := range s.ClassRows(c) {
					if s.Labels[i] != c || math.IsNaN(float64(s.Row(i)[0])) {
						t.Errorf("row %d of class %d", i, c)
					}
				}
			}
		}
		check(DecodeNPZ("f.npz", data, nil))
		check(DecodeNPY("f.npy", data, data, nil))
		check(DecodeCSV("f.csv", bytes.NewReader(data), nil))
		_, _ = DecodeMeta("f.json", data)
		for _, file := range []string{"f.npz", "f.npy", "f.csv"} {
			for _, m := range []*Meta{nil, {Dimension: 2, Files: []string{"a", "b", "c"}}} {
				r, err := DecodeRows(file, data, m, 0)
				if err != nil {
					if r != nil {
						t.Error("rows and an error")
					}
					continue
				}
				if r.Len() < 1 || len(r.X) != r.Len()*r.Dim || m != nil && (r.Dim != 2 || len(r.Files) != r.Len()) {
					t.Errorf("%d numbers for %d x %d, %d files", len(r.X), r.Len(), r.Dim, len(r.Files))
				}
				for _, v := range r.Row(r.Len() - 1) {
					if v-v != 0 {
						t.Errorf("a row holds %v", v)
					}
				}
			}
		}
	})
}
