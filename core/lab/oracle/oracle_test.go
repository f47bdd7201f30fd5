package oracle

import (
	"os"
	"strings"
	"testing"

	"metaqda/core/test"
)

func TestVectors(t *testing.T) {
	for file, cases := range map[string]int{"predictive": 11, "gradient": 5, "calibration": 1} {
		data := test.Must(os.ReadFile("../../../testdata/" + file + ".json"))(t)
		r, err := Check(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r.Kind != file || r.Cases != cases {
			t.Errorf("%s: recognised as %s with %d cases, want %d", file, r.Kind, r.Cases, cases)
		}
		for _, row := range r.Rows {
			if row.MaxError > Tolerance {
				t.Errorf("%s: %s off by %.3g (relative %.3g)", file, row.Quantity, row.MaxAbs, row.MaxError)
			}
		}
		if !r.OK() {
			t.Errorf("%s: not OK", file)
		}
	}
}

// A check that cannot fail is no check: each vector file is spoilt in one number.
func TestSpoiltVectorsFail(t *testing.T) {
	for file, spoil := range map[string][2]string{
		"predictive":  {`"fb_log_density": [[-1.18`, `"fb_log_density": [[-1.19`},
		"gradient":    {`"loss": 0.10626889`, `"loss": 0.10626899`},
		"calibration": {`"brier": 0.66060099`, `"brier": 0.66060199`},
	} {
		data := test.Must(os.ReadFile("../../../testdata/" + file + ".json"))(t)
		text := strings.Replace(string(data), spoil[0], spoil[1], 1)
		if text == string(data) {
			t.Fatalf("%s: nothing to spoil", file)
		}
		r, err := Check([]byte(text))
		if err != nil || r.OK() {
			t.Errorf("%s: spoilt vectors pass (%v)", file, err)
		}
	}
}

func TestCheckRejects(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", "[{}]", `[{"fb_log_density":[[1]]}]`, `[{"grad":{}}]`, `{"logits":[[1]],"label":[2],"bins":3}`, "3"} {
		_, err := Check([]byte(text))
		if err == nil {
			t.Errorf("%q passed", text)
		}
	}
}
