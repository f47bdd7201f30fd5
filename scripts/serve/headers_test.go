package main

import (
	"testing"
)

func TestNegotiateChoosesTheBestStoredCoding(t *testing.T) {
	stored := func(names ...string) func(string) bool {
		return func(c string) bool {
			for _, n := range names {
				if n == c {
					return true
				}
			}
			return false
		}
	}
	both, none := stored("br", "gzip"), stored()
	for _, c := range []struct {
		header string
		has    func(string) bool
		want   string // "" means: nothing is acceptable
	}{
		{"", both, "identity"},
		{"gzip, deflate, br, zstd", both, "br"}, // what Chromium sends
		{"gzip, deflate, br, zstd", none, "identity"},
		{"gzip, deflate", both, "gzip"},
		{"br, gzip", stored("gzip"), "gzip"},
		{"br;q=0.5, gzip;q=0.8", both, "gzip"},
		{"br;q=0.5, gzip;q=0.5", both, "br"},
		{"br;q=0, gzip", both, "gzip"},
		{"br;q=0", both, "identity"},
		{"gzip;q=0.1", both, "gzip"},
		{"gzip;q=0.1, identity;q=0.5", both, "identity"},
		{"identity", both, "identity"},
		{"identity, br", both, "br"},
		{"*", both, "br"},
		{"*;q=0", both, ""},
		{"identity;q=0", both, ""},
		{"identity;q=0, br", none, ""},
		{"identity;q=0, gzip", both, "gzip"},
		{"*;q=0, gzip", both, "gzip"},
		{"br;q=0, *;q=0.3", both, "gzip"},
		{"BR", both, "br"},
		{"x-gzip", both, "gzip"},
		{" br ; q=0.2 ,gzip ;q=0.1", both, "br"},
		{"br;q=2, gzip", both, "gzip"},   // no such weight: the element is left out
		{"br;q=NaN, gzip", both, "gzip"}, // likewise
		{"br;level=3", both, "identity"}, // likewise
		{",,;q=1,", both, "identity"},
	} {
		got, ok := negotiate(c.header, c.has)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("negotiate(%q) = %q, %v, want %q", c.header, got, ok, c.want)
		}
	}
}

func TestMatchesComparesWeakly(t *testing.T) {
	const tag = `"abc-br"`
	for header, want := range map[string]bool{
		`"abc-br"`:            true,
		`W/"abc-br"`:          true,
		`"x", "abc-br"`:       true,
		`*`:                   true,
		`"abc-gzip"`:          false,
		`abc-br`:              false,
		``:                    false,
		`"abc-br-and-longer"`: false,
	} {
		if got := matches([]string{header}, tag); got != want {
			t.Errorf("matches(%q) = %v, want %v", header, got, want)
		}
	}
}

func TestCacheControlKeepsOnlyWhatItsOwnHashNames(t *testing.T) {
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	const forever = "public, max-age=31536000, immutable"
	for _, c := range []struct{ name, version, want string }{
		{"web/app.js", "", "no-cache"},
		{"web/app.js", "01234567", forever},
		{"web/app.js", sum, forever},
		{"web/app.js", "0123456", "no-cache"},  // too short to trust
		{"web/app.js", "fedcba98", "no-cache"}, // another build's hash
		{"web/app.01234567.js", "", forever},
		{"web/app.deadbeef.js", "", "no-cache"}, // the name lies
		{"01234567/app.js", "", "no-cache"},
	} {
		if got := cacheControl(c.name, c.version, sum); got != c.want {
			t.Errorf("cacheControl(%q, %q) = %q, want %q", c.name, c.version, got, c.want)
		}
	}
}

func FuzzNegotiate(f *testing.F) {
	f.Add("gzip, deflate, br;q=0.9, *;q=0", true, false)
	f.Add("identity;q=0", false, true)
	f.Fuzz(func(t *testing.T, header string, br, gzip bool) {
		has := func(c string) bool { return c == "br" && br || c == "gzip" && gzip }
		got, ok := negotiate(header, has)
		if ok && got != identity && !has(got) {
			t.Fatalf("negotiate(%q) chose %q, which is not stored", header, got)
		}
	})
}
