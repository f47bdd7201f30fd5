// Command wasm is the engine of the page: the classifier of package core with
// storage, view and training, compiled to WebAssembly. It is started with
//
//	metaqda ROLE HANDOVER DATABASE
//
// and passes an object with its methods to the global function HANDOVER. Two properties of that
// function are for the program: marks and changed, see web/engine/program.js.
//
// ROLE is one of three. page is the classifier of a window. storage is the same without a view, and
// does not ask the browser to keep the data. batch has no session: it is for a worker that learns
// priors, and predicts many pictures by the functions of metaqda/wasm/exports.
//
// This package holds the tables of methods, and the form of their results for JavaScript. The
// packages below do the work. All but bridge and the files that end in _js.go are plain Go. The
// program needs a JavaScript host.
package main

import (
	"os"
	"strconv"
	"syscall/js"

	"metaqda/wasm/nfc"
	"metaqda/wasm/simd"
)

func main() {
	if len(os.Args) != 4 {
		fail("want a role and the names of a function and a database, have " + strconv.Itoa(len(os.Args)-1) + " arguments")
	}
	database := os.Args[3]
	simd.Install()
	nfc.Install()
	var api js.Value
	switch role := os.Args[1]; role {
	case "page", "storage":
		api = startPage(database, js.Global().Get(os.Args[2]), role == "page")
	case "batch":
		api = startBatch()
	default:
		fail("unknown role " + strconv.Quote(role) + ": want page, storage or batch")
	}
	js.Global().Call(os.Args[2], api)
	select {} // the functions handed over keep working
}

func fail(reason string) {
	println("metaqda: " + reason)
	os.Exit(2)
}
