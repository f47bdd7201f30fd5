// Package nfc makes package model normalise Unicode by JavaScript, so that the program needs no
// tables for it. It is for programs that JavaScript runs.
package nfc

import (
	"syscall/js"
	"unicode/utf8"

	"metaqda/core/model"
)

var normalize = js.Global().Get("String").Get("prototype").Get("normalize")

// Install makes package model use String.prototype.normalize.
func Install() { model.SetCompose(form("NFC"), form("NFKC")) }

func form(name string) func(string) string {
	return func(s string) string {
		for i := range len(s) {
			if s[i] >= utf8.RuneSelf {
				return normalize.Call("call", s, name).String()
			}
		}
		return s // ASCII is normalised already
	}
}
