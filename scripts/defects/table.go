package main

// The tests that several defects are shown to.
var (
	converge = check{"wasm/engine", "TestTwoTabsConverge"}
	twoTabs  = check{"wasm/engine", "TestTwoTabs"}
	local    = check{"wasm/store", "TestDamageStaysLocal"}
	aside    = check{"wasm/engine", "TestDamagedRecordsAreSetAside"}
	forget   = check{"wasm/engine", "TestForgettingIsComplete"}
	labels   = check{"core/model", "TestLabels"}
	mixed    = check{"web/test/unit/sw.test.js", "a tab goes on with its version after another started a new one"}
)

// defects are grouped as in wasm/store/PROMISES.md.
var defects = []defect{
	{"two tabs: what the other stores is not followed", "wasm/engine/follow.go",
		"if !concerned {", "if concerned = false; !concerned {", converge},
	{"two tabs: a picture is kept for a session that was deleted", "wasm/store/changes.go",
		`if n.Session != "" {`, `if false {`, twoTabs},
	{"two tabs: a picture is kept for a class that was removed", "wasm/store/changes.go",
		`if n.Class != "" {`, `if false {`, twoTabs},
	{"two tabs: one name is given twice", "wasm/store/changes.go",
		`if n.Name != "" {`, `if false {`, twoTabs},
	{"two tabs: a class goes with pictures that nobody saw", "wasm/store/changes.go",
		`if n.Whole {`, `if false {`, converge},
	{"two tabs: a refused change stays here", "wasm/engine/persist.go",
		"if len(undone) > 0 {", "if false {", twoTabs},

	{"damage: a session that is a string ends the program", "wasm/store/codec.go",
		"r, ok := v.(Record)\n\tif !ok {\n\t\tr = Record{}\n\t}", "r := v.(Record)", local},
	{"damage: a class without an id is of none", "wasm/store/codec.go",
		"c = Class{ID: key,", `c = Class{ID: text(r, "id"),`, aside},
	{"damage: an embedding cut short refuses all others", "wasm/store/codec.go",
		"if len(c.lengths) > 1 {", "if false {", aside},
	{"damage: two classes of one name", "wasm/engine/sessions.go",
		"names = model.RepairLabels(names)", "", aside},
	{"damage: a number that is none is read", "wasm/store/codec.go",
		"if v-v != 0 {\n\t\t\treturn nil, false", "if v < 0 && v > 0 {\n\t\t\treturn nil, false", aside},

	{"learning: two begins are two runs", "wasm/learn/learner.go",
		"if l.state != idle {\n\t\treturn nil, errBusy\n\t}\n\tr, err := l.prepare(session, t)", "r, err := l.prepare(session, t)",
		check{"wasm/learn", "TestTwoBeginsAtOnceAreOneRun"}},
	{"learning: a pause in a pause", "wasm/learn/learner.go",
		"if l.state != running {\n\t\treturn\n\t}\n\tl.to(paused)", "l.to(paused)", check{"wasm/learn", "TestEveryPairOfCommands"}},

	{"forgetting: what learning could go on from stays", "wasm/engine/persist.go",
		"return learn.Forgotten(e.session.ID)", "return nil", forget},
	{"forgetting: priors that nobody uses stay", "wasm/engine/persist.go",
		"if sweep {", "if false {", check{"wasm/engine", "TestPriorsNobodyUsesAreDeleted"}},

	{"decoders: a prior that gives no numbers", "core/model/prior.go",
		"if v >= smallest && v <= largest {", "if v > 0 {", check{"core/model", "TestDecodeRejectsBadNumbers"}},
	{"decoders: a name that shows nothing", "core/model/labels.go",
		"case !strings.ContainsFunc(name, visible):", "case name == \"\":", labels},
	{"decoders: a name without end", "core/model/labels.go",
		"case utf8.RuneCountInString(name) > MaxLabel:", "case false:", labels},
	{"decoders: any number of classes", "core/model/classifier.go",
		"if len(c.Classes) > MaxClasses {\n\t\treturn 0,", "if len(c.Classes) < 0 {\n\t\treturn 0,", check{"core/model", "TestTooManyAreRefused"}},
	{"decoders: a file that unpacks to gigabytes", "core/dataset/npz.go",
		"8*uint64(a.count) > room {", "room == 0 {", check{"core/dataset", "TestBombsAreRefusedInLittleMemory"}},
	{"decoders: tensors with holes between them", "core/model/safetensors.go",
		"if s.from != end {", "if s.from < 0 {", check{"core/model", "TestHolesAndOverlapsAreRefused"}},
	{"decoders: a changed file of a session", "core/model/classifier.go",
		"if err == nil && metadata[checksumKey] != checksum(tensors, metadata) {", "if false {", check{"core/model", "TestChangedClassifierFilesAreRefused"}},

	{"full storage: removals wait behind what does not fit", "wasm/engine/persist.go",
		"room, rest := makeRoom(changes)", "room, rest := []noted(nil), changes", check{"wasm/engine", "TestRemovalsAreStoredWhileTheStorageIsFull"}},

	{"service worker: a file of another version is kept", "web/offline/sw.js",
		"=== file.sha256;", "!== '';", check{"web/test/unit/sw.test.js", "a site that is being replaced is not installed half"}},
	{"service worker: a tab gets files of two versions", "web/offline/sw.js",
		"if (kept) name = await kept.text();", "", mixed},
	{"service worker: a site caught midway is kept half", "web/offline/sw.js",
		"await caches.delete(cacheName);\n    throw error;", "throw error;", check{"web/test/unit/sw.test.js", "a site that is being replaced is not installed half"}},

	{"server: any name for the loopback address", "scripts/serve/guard.go",
		"if !allowed[host] {", "if false {", check{"scripts/serve", "TestOnlyThisMachinesNamesAreAnsweredOnLoopback"}},

	{"server: a reader that stops is waited for", "scripts/serve/main.go",
		"paced(handler, l.write),\n\t\tReadHeaderTimeout: l.header,\n\t\tReadTimeout:       l.header,\n\t\tWriteTimeout:      l.write,",
		"handler,\n\t\tReadHeaderTimeout: l.header,\n\t\tReadTimeout:       l.header,", check{"scripts/serve", "TestSlowClientsTakeFixedTimeAndMemory"}},

	{"a class of 1,000 pictures: a removal costs as much as all", "core/qda/class.go",
		"case wasLowRank:\n\t\tc.group.Remove(i)", "case wasLowRank:\n\t\tc.group.ResetFrom(prior)\n\t\tc.catchUp()",
		check{"web/test/browser/engine.test.js", "a class of 1,000 pictures nothing keeps the page waiting"}},
	{"durability: what is taught is written as the browser likes", "wasm/store/idb_js.go",
		"Durability: idb.DurabilityStrict}", "Durability: idb.DurabilityRelaxed}", check{"web/test/browser/engine.test.js", "written by strict transactions alone"}},
	{"durability: the browser is not asked to keep it", "wasm/persistence_js.go",
		`p.call("persist", `, `p.call("persisted", `, check{"web/test/browser/engine.test.js", "the browser is asked to keep what is taught"}},
	{"full storage, in IndexedDB: nothing is said", "wasm/engine/persist.go",
		"e.trouble = why.Message", "", check{"web/test/browser/engine.test.js", "when the storage is full that is said"}},
	{"background tab: a timer between pictures", "web/ui/batch.js",
		"      await work(item);\n", "      await new Promise((resolve) => { setTimeout(resolve, 20); });\n      await work(item);\n",
		check{"web/test/browser/hidden.test.js", "a tab behind another one"}},
}
