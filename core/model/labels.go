package model

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A name of a class or session is text that people can see and tell apart. It is in Unicode's
// composed form (NFC) and has at most MaxLabel characters. Something in it is visible; it has no
// control characters, and no space around it.

// MaxLabel is the length of the longest label, in characters (runes).
const MaxLabel = 80

// SetCompose sets the functions that bring text into Unicode's composed forms, NFC and NFKC. NFKC
// also unites characters that look alike. A program for the browser calls it once, before all else,
// with the browser's own functions: the tables would be a twentieth of the program. Elsewhere
// golang.org/x/text is in place.
func SetCompose(nfc, nfkc func(string) string) { compose, compatible = nfc, nfkc }

var (
	compose    = func(s string) string { return s }
	compatible = func(s string) string { return s }
)

// FoldLabel returns a text that is the same for all labels that look the same to people. Such
// labels differ in case, in the width of letters or space, or in how accents are composed. It is
// Unicode's NFKC with simple case folding, and ss for a sharp s.
func FoldLabel(label string) string {
	folded := strings.Join(strings.Fields(compatible(label)), " ")
	folded = strings.ReplaceAll(strings.ToLower(strings.ToUpper(folded)), "\u00df", "ss")
	return compatible(folded)
}

// CleanLabel returns a name in its composed form without the space around it, or an error in the
// form "is empty: ...".
func CleanLabel(name string) (string, error) {
	if len(name) > 64*MaxLabel { // checked first, so that no long text is processed
		return "", fail("is too long: at most ", MaxLabel, " characters")
	}
	if !utf8.ValidString(name) {
		return "", fail("is not text: type it anew")
	}
	name = strings.TrimFunc(strings.Map(seen, compose(name)), blank)
	switch {
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", fail("has control characters in it: type it anew")
	case !strings.ContainsFunc(name, visible):
		return "", fail("is blank: give a name that can be seen")
	case utf8.RuneCountInString(name) > MaxLabel:
		return "", fail("is too long: at most ", MaxLabel, " characters")
	}
	return name, nil
}

// seen drops characters that never show: names that differ only in these cannot be told apart. It
// also drops what begins and ends a direction of text, such as U+202E. Such a direction reaches
// beyond the name, and shows 75 % as 57 %. Joiners and marks of direction stay, since they change
// the look of letters.
func seen(r rune) rune {
	switch {
	case r == 0xad, r == 0x200b, r == 0xfeff, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2069:
		return -1
	}
	return r
}

// FormerLabel returns a label of a file or log in the present form. Former programs kept some of the
// characters that CleanLabel drops. Other faults of a label stay.
func FormerLabel(label string) string {
	if strings.Map(seen, label) == label {
		return label
	}
	if clean, err := CleanLabel(label); err == nil {
		return clean
	}
	return label
}

// blank reports whether a character shows nothing at the beginning or the end of a name. A joiner
// shows nothing there, since it has nothing to join.
func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) && !unicode.Is(emojiTags, r) || unicode.Is(fillers, r)
}

// visible reports whether a character alone shows something.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !blank(r) && !unicode.Is(unicode.M, r) && !unicode.Is(emojiTags, r)
}

// emojiTags end the flags of some countries.
var emojiTags = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0xe0020, Hi: 0xe007f, Stride: 1}}}

// fillers are letters and symbols that show nothing.
var fillers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1}}}

// RepairLabels returns names that obey the rules and are all different. Names that obey them
// already stay as they are; of equal names the first one does.
func RepairLabels(names []string) []string {
	repaired := make([]string, len(names))
	taken := make(map[string]bool, len(names))
	for i, name := range names {
		if clean, err := CleanLabel(name); err == nil && clean == name && !taken[name] {
			repaired[i], taken[name] = name, true
		}
	}
	tried := map[string]int{} // for each name, the last number tried after it
	for i, name := range names {
		if repaired[i] != "" {
			continue
		}
		base := shown(name)
		free := base
		for n := max(2, tried[base]); taken[free]; n++ {
			suffix := " " + strconv.Itoa(n)
			free, tried[base] = CutLabel(base, MaxLabel-len(suffix))+suffix, n
		}
		repaired[i], taken[free] = free, true
	}
	return repaired
}

// shown returns the part of a name that obeys the rules.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cut(name, 2*MaxLabel), ""))
	clean, err := CleanLabel(cut(strings.TrimFunc(compose(name), blank), MaxLabel))
	if err != nil {
		return "Unnamed"
	}
	return clean
}

// CutLabel returns at most the first n characters of a name, without space at the end.
func CutLabel(name string, n int) string { return strings.TrimRightFunc(cut(name, n), blank) }

// cut returns at most the first n characters.
func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
