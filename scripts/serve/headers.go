package main

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// identity is the content coding that changes nothing.
const identity = "identity"

// contentPolicy lets the page load only from its own origin, compile
// WebAssembly, and show pictures it made itself (blob:, data:). Nothing may be
// sent anywhere else: this is what "nothing leaves the device" rests on.
var contentPolicy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self' 'wasm-unsafe-eval'",
	"connect-src 'self'",
	"img-src 'self' blob: data:",
	"style-src 'self'",
	"media-src 'self' blob:",
	"worker-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
}, "; ")

// secure sets the headers that every answer carries, refusals included.
func (s *Site) secure(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "camera=(self), microphone=(), geolocation=(), payment=(), usb=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Accept-Ranges", "none")
	if s.Isolate {
		h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	}
}

// cacheControl lets a client keep for ever what is named by its own hash, either
// in the name (app.0123abcd.js) or in the query (app.js?v=0123abcd), and makes
// it ask again for everything else. The hash is compared with the real one, so a
// file that lies about it is never kept.
func cacheControl(name, version, sum string) string {
	if hashed(version, sum) {
		return "public, max-age=31536000, immutable"
	}
	for part := range strings.SplitSeq(path.Base(name), ".") {
		if hashed(part, sum) {
			return "public, max-age=31536000, immutable"
		}
	}
	return "no-cache"
}

// hashed reports whether s is a prefix of the hash that is long enough (32 bits)
// not to be one by accident.
func hashed(s, sum string) bool { return len(s) >= 8 && strings.HasPrefix(sum, s) }

// matches reports whether an If-None-Match header names the tag. The comparison
// is weak, as RFC 9110 section 13.1.2 asks.
func matches(header []string, tag string) bool {
	for _, line := range header {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// negotiate chooses a content coding by an Accept-Encoding header (RFC 9110
// section 12.5.3): the greatest weight wins; among equals br before gzip before
// identity. A coding that is neither named nor covered by "*" is not used, but
// identity is, as the last resort, unless it is refused with weight 0; ok is
// false when nothing is left.
func negotiate(header string, has func(coding string) bool) (coding string, ok bool) {
	weights := parseWeights(header)
	best := 0.0
	for _, c := range codings {
		if w := weightOf(weights, c.name, 0); has(c.name) && w > best {
			coding, best = c.name, w
		}
	}
	// Identity counts only as far as the client named it: a silent client
	// prefers whatever coding it did name.
	if w := weightOf(weights, identity, -1); w > best || coding == "" && w != 0 {
		return identity, true
	}
	return coding, coding != ""
}

// weightOf returns the weight of a coding: its own, that of "*", or missing.
func weightOf(weights map[string]float64, coding string, missing float64) float64 {
	if w, ok := weights[coding]; ok {
		return w
	}
	if w, ok := weights["*"]; ok {
		return w
	}
	return missing
}

// parseWeights reads an Accept-Encoding header. An element that is malformed is
// left out: the client then gets a coding it surely takes.
func parseWeights(header string) map[string]float64 {
	weights := map[string]float64{}
	for element := range strings.SplitSeq(header, ",") {
		coding, parameter, weighted := strings.Cut(element, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		if coding == "x-gzip" {
			coding = "gzip"
		}
		weight := 1.0
		if weighted {
			var ok bool
			if weight, ok = parseQuality(parameter); !ok {
				continue
			}
		}
		if coding != "" {
			weights[coding] = weight
		}
	}
	return weights
}

// parseQuality reads "q=0.5"; only numbers in [0,1] are qualities.
func parseQuality(s string) (float64, bool) {
	name, value, _ := strings.Cut(strings.TrimSpace(s), "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0, false
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return q, err == nil && q >= 0 && q <= 1
}
