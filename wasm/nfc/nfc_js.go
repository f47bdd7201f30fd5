// Package nfc lets package model compose Unicode by the browser, in place of tables
// of its own. It is for the programs that JavaScript runs.
package nfc

import (
	"syscall/js"
	"unicode/utf8"

	"metaqda/core/model"
)

var normalize = js.Global().Get("String").Get("prototype").Get("normalize")

// Install makes package model compose by String.prototype.normalize.
func Install() { model.SetCompose(form("NFC"), form("NFKC")) }

func form(name string) func(string) string {
	return func(s string) string {
		for i := range len(s) {
			if s[i] >= utf8.RuneSelf {
				return normalize.Call("call", s, name).String()
			}
		}
		return s // ASCII is composed already
	}
}
