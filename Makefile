# All commands of the repository. 'make' lists the targets; begin with 'make run'.
#
# Needed: Go, Node.js 20.11 or newer with npm, make, git. Everything else is
# fetched by 'make deps', which the other targets call themselves. All output
# goes to build/; the site that is served is build/site.
#
# Go steps run every time: Go itself finds what it must compile again, and takes under a second if
# there is nothing. Node steps run when a file that they depend on is newer than their result.

PORT    ?= 8080
DATA    ?= ../shared/data
GO      ?= go
NODE    ?= node
NPM     ?= npm
PYTHON  ?= python3

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:

SITE := build/site
BIN  := build/bin
WASM := GOOS=js GOARCH=wasm

MODULES  := build/.modules
PACKAGES := web/node_modules/.package-lock.json

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- dependencies -----------------------------------------------------------

.PHONY: deps
deps: $(MODULES) $(PACKAGES) ## fetch what the build needs (Go modules, npm packages)

build/.needed:
	@command -v $(GO) >/dev/null || { echo "make: Go is missing: install it (go.dev/dl) and try again" >&2; exit 1; }
	@command -v $(NODE) >/dev/null && command -v $(NPM) >/dev/null || { echo "make: Node.js or npm is missing: install Node.js 20.11 or newer (nodejs.org) and try again" >&2; exit 1; }
	@$(NODE) -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || major == 20 && minor >= 11 ? 0 : 1)' \
		|| { echo "make: Node.js $$($(NODE) --version) is too old: install 20.11 or newer (nodejs.org) and try again" >&2; exit 1; }
	@mkdir -p build && touch $@

$(MODULES): go.mod go.sum | build/.needed
	$(GO) mod download
	@touch $@

$(PACKAGES): web/package.json web/package-lock.json | build/.needed
	cd web && $(NPM) ci --no-audit --no-fund
	@touch $@

# ---- the site ---------------------------------------------------------------

.PHONY: build
build: site $(BIN)/serve build/tests/modules.js ## build everything into build/

.PHONY: run
run: try-ears ## build and serve the page on http://localhost:8080 (PORT=8081 for another port)
	@$(MAKE) build
	@exec $(BIN)/serve -dir $(SITE) -addr localhost:$(PORT)

.PHONY: $(BIN)/serve $(BIN)/metaqda $(BIN)/oracle
$(BIN)/serve $(BIN)/metaqda: $(MODULES)
	@$(GO) build -trimpath -o $@ ./scripts/$(@F)

$(BIN)/oracle: $(MODULES)
	@$(GO) build -trimpath -o $@ ./scripts/python/tests/oracle

# Functions are inlined only in packages that compute numbers or call JavaScript; elsewhere inlining
# only makes the download larger. The last matching flag counts.
INLINED := $(addprefix metaqda/,core/lda core/niw core/anomaly core/lab/metatrain wasm/simd) \
	$(addprefix gonum.org/v1/gonum/,blas/... internal/asm/...) math math/bits syscall/js internal/runtime/...
GO_BUILD_SMALL := $(GO) build -trimpath -buildvcs=false -ldflags='-s -w' -gcflags=all=-l $(INLINED:%=-gcflags=%=)
WASM_BUILD := $(WASM) $(GO_BUILD_SMALL)

.PHONY: build/page.wasm
build/page.wasm: $(MODULES)
	$(WASM_BUILD) -o $@ ./wasm

# Go gives a program a new time even if nothing in it changed. A copy with a new time would be compressed again.
.PHONY: $(SITE)/metaqda.wasm
$(SITE)/metaqda.wasm: build/page.wasm
	@mkdir -p $(@D)
	@cmp -s $< $@ || cp $< $@

$(SITE)/metaqda-simd.wasm: web/build/simd.mjs $(shell find wasm/simd/kernels -name '*.ts') $(PACKAGES)
	$(NODE) web/build/simd.mjs

# The network of pictures is in the repository, as `make eye` made it from the original. If EYE
# names another network, it is used instead.
EYE    ?= efficientnet-lite0
NETWORK := $(if $(filter efficientnet-lite0,$(EYE)),web/extractor,build/eye)/$(EYE)

.PHONY: eye
eye: ## convert the network EYE (efficientnet-lite0, mobilenet-v2) from its published file (downloaded, or FROM=FILE), and build the site with it
	$(PYTHON) -B scripts/networks $(EYE) --out $(NETWORK) $(if $(FROM),--from '$(FROM)')
	@$(MAKE) site EYE=$(EYE)

build/.eye: $(if $(filter $(EYE),$(shell cat build/.eye 2>/dev/null)),,always)
	@mkdir -p $(@D) && echo $(EYE) > $@

.PHONY: always
always:

# YAMNet, the network of everyday sounds, is not in the repository. A site without it recognises spoken words only.
EARS := build/ears
CONVERT_YAMNET = $(PYTHON) -B scripts/networks yamnet --out $(EARS)/yamnet $(if $(YAMNET),--from '$(YAMNET)')

.PHONY: ears
ears: ## make YAMNet, the network of everyday sounds (downloaded, or YAMNET=FILE), and build the site with it
	$(CONVERT_YAMNET)
	@$(MAKE) site

# 'make run' does this once. Without Python or a network it continues without YAMNet.
.PHONY: try-ears
try-ears:
	@test -f $(EARS)/yamnet/manifest.json || if $(CONVERT_YAMNET) >/dev/null 2>&1; \
		then echo "make: YAMNet was added: this site recognises sounds of every kind"; \
		else echo "make: YAMNet could not be added ('make ears' says why): this site recognises spoken words only" >&2; fi

$(SITE)/kinds/sounds/extractor.json: $(SITE)/extractor/extractor.json $(wildcard build/ears/*/* web/extractor/*/manifest.json web/build/kinds.mjs web/base/*.js web/extractor/*.js web/extractor/kinds/* web/extractor/sounds/* web/extractor/hands/*) $(PACKAGES)
	$(NODE) web/build/kinds.mjs
	@touch $@

$(SITE)/extractor/extractor.json: build/.eye $(wildcard $(NETWORK)/* web/build/extractor.mjs web/build/slim-tfjs.mjs web/base/*.js web/extractor/*.js web/extractor/*.mjs) $(PACKAGES)
	@test -f $(NETWORK)/manifest.json || { echo "make: there is no $(NETWORK): make eye EYE=$(EYE) first" >&2; exit 1; }
	$(NODE) web/build/extractor.mjs $(@D) $(NETWORK)
	@touch $@

$(SITE)/networks/networks.json: $(wildcard web/build/networks.mjs web/build/slim-tfjs.mjs web/base/*.js web/extractor/*.js web/extractor/*.mjs web/extractor/own/*) $(PACKAGES)
	$(NODE) web/build/networks.mjs
	@touch $@

$(SITE)/samples/samples.json: $(wildcard web/build/samples.mjs web/samples/*.mjs) $(PACKAGES)
	$(NODE) web/build/samples.mjs
	@touch $@

# The parts of a shared file. Those for other networks go into networks/, which a build of
# the networks empties.
$(SITE)/share/page.html: $(SITE)/networks/networks.json $(SITE)/kinds/sounds/extractor.json THIRD_PARTY.md LICENSE index.html $(wildcard web/build/share.mjs web/build/slim-tfjs.mjs web/library/*.js web/library/*/* web/share/*.js web/share/page/* web/share/page/kinds/* web/base/*.js web/extractor/*.js web/extractor/*.mjs web/extractor/*/* web/ui/*.js web/ui/*.css web/ui/*/*.js web/ui/*/*/*.js) $(PACKAGES)
	$(NODE) web/build/share.mjs

DEFAULT_PRIOR := web/prior/default.safetensors

# The parts of the folders that "Use it" makes, beside those that the site has already.
$(SITE)/use/use.json: $(SITE)/extractor/extractor.json $(SITE)/kinds/sounds/extractor.json $(DEFAULT_PRIOR) $(wildcard web/build/use.mjs web/build/entries.mjs web/library/*.js web/library/*/*.js web/base/*.js web/engine/*.js web/extractor/*.js web/extractor/*/*.js web/share/use/*/* web/share/node/*.js web/share/scratch/*.js web/share/scratch/*/*.js web/share/page/extractor.js web/share/assemble.js web/extractor/*.mjs web/build/slim-tfjs.mjs scripts/python/metaqda/exported.py) $(PACKAGES)
	$(NODE) web/build/use.mjs
	@touch $@

.PHONY: $(SITE)/share/engine.wasm
$(SITE)/share/engine.wasm: build/library.wasm
	@mkdir -p $(@D)
	@cmp -s $< $@ || cp $< $@

$(SITE)/prior.safetensors: $(DEFAULT_PRIOR)
	@mkdir -p $(@D)
	cp $< $@

KIND_PRIORS := web/prior

$(SITE)/kinds/%/prior.safetensors: $(KIND_PRIORS)/%.safetensors $(SITE)/kinds/sounds/extractor.json
	cp $< $@

.PHONY: site
site: $(SITE)/metaqda.wasm $(SITE)/metaqda-simd.wasm $(SITE)/extractor/extractor.json $(SITE)/networks/networks.json $(SITE)/kinds/sounds/prior.safetensors $(SITE)/kinds/hands/prior.safetensors $(SITE)/samples/samples.json $(SITE)/share/page.html $(SITE)/use/use.json $(SITE)/share/engine.wasm $(SITE)/prior.safetensors
	@$(NODE) web/build/site.mjs

# The page's modules that browser tests call directly.
build/tests/modules.js: web/test/browser/modules.js $(wildcard web/base/*.js web/engine/*.js web/extractor/*.js web/library/*.js web/library/classifier/*.js web/ui/*/*.js) $(PACKAGES)
	@web/node_modules/.bin/esbuild $< web/engine/thread.js --bundle --format=esm '--entry-names=[name]' '--external:./storage/*' --outdir=$(@D) --log-level=warning

# ---- the npm package ----------------------------------------------------------

.PHONY: build/library.wasm
build/library.wasm: $(MODULES)
	$(WASM_BUILD) -o $@ ./wasm/library

.PHONY: package
package: build/library.wasm $(SITE)/metaqda.wasm $(SITE)/extractor/extractor.json $(PACKAGES) ## pack the npm package: build/metaqda-VERSION.tgz
	@$(NODE) web/build/package.mjs

# ---- the Python package --------------------------------------------------------

.PHONY: build/metaqda.wasi.wasm
build/metaqda.wasi.wasm: $(MODULES)
	@mkdir -p $(@D)
	GOOS=wasip1 GOARCH=wasm $(GO_BUILD_SMALL) -buildmode=c-shared -o $@ ./wasm/library

# The package, the engine and the network of pictures come together in build/wheel. The engine is compressed by xz: with
# deflate, which wheels use, it would be 0.4 MB larger.
PYTHON_REQUIREMENTS := scripts/python/tests/requirements.txt
VENV := build/venv

$(VENV)/bin/pip: $(PYTHON_REQUIREMENTS)
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) && $(VENV)/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

.PHONY: wheel
wheel: build/metaqda.wasi.wasm $(VENV)/bin/pip ## build the Python package: build/metaqda-VERSION-py3-none-any.whl
	@rm -rf build/wheel && mkdir -p build/wheel && cp -R scripts/python/metaqda scripts/python/pyproject.toml scripts/python/README.md LICENSE THIRD_PARTY.md build/wheel/ && \
	cp web/prior/*.safetensors build/wheel/metaqda/ && \
	$(VENV)/bin/python -c 'import lzma, sys; open(sys.argv[2], "wb").write(lzma.compress(open(sys.argv[1], "rb").read(), preset=9))' build/metaqda.wasi.wasm build/wheel/metaqda/engine.wasm.xz && \
	$(VENV)/bin/python -B scripts/networks/onnx_graph.py web/extractor/efficientnet-lite0 build/wheel/metaqda/efficientnet-lite0.onnx && \
	$(VENV)/bin/pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build build/wheel && ls -l build/metaqda-*-py3-none-any.whl

# ---- the reference ------------------------------------------------------------

DOCS := web/build/docs/node_modules/.package-lock.json
$(DOCS): web/build/docs/package.json web/build/docs/package-lock.json | build/.needed
	cd web/build/docs && $(NPM) ci --no-audit --no-fund
	@touch $@

.PHONY: docs
docs: package $(DOCS) ## build the reference into build/docs: documents, npm package, Go packages
	@$(NODE) web/build/docs/docs.mjs

# ---- the laboratory: data, priors, tables ----------------------------------------

include scripts/lab.mk

# ---- tests ------------------------------------------------------------------
# A stage leaves half of two processors idle. So with GNU parallel two run at a time, the longest
# first, and the output of each comes when it ends. Without it one follows the other.

# The limits of time are for tests that hang: a machine may be ten times slower.
STAGES := browser go wasm python js package firefox webkit
TWO := parallel --will-cite --jobs 2 --halt soon,fail=1 --joblog build/stages.tsv

# 'make test-all' uses the Chromium that people use.
CHROMIUM_KIND := $(if $(METAQDA_LONG),chromium,headless)

.PHONY: test
test: build browsers ## run the tests: Go, Go as WebAssembly, Python, JavaScript, npm package, browsers
	@if parallel --version 2>/dev/null | grep -q '^GNU'; then \
		$(TWO) $(MAKE) test-{} ::: $(STAGES); failed=$$?; \
		awk 'NR > 1 { printf "make test: %s, %.0f s\n", $$NF, $$4 }' build/stages.tsv; test $$failed -eq 0; \
	else \
		for stage in $(STAGES); do $(MAKE) test-$$stage || exit 1; done; \
	fi && echo "make test: every stage passed"

# Debian installs one package at a time, so the stages find their browsers installed.
.PHONY: browsers
browsers:
	@for kind in $(CHROMIUM_KIND) firefox webkit; do scripts/browser.sh $$kind >/dev/null || true; done

# web/test/long.js marks long tests. Shorter tests cover most of the same code.
.PHONY: test-all
test-all: ## run every test, also what 'make test' leaves out because it takes long: an hour
	METAQDA_LONG=1 $(MAKE) test
	$(MAKE) test-targets
	@$(NODE) web/test/package/environments/table.js

# Every other target is run in its shortest form, to find broken ones. The targets of the laboratory
# run on three sets of emoji, eight classes of twelve each, and on made-up numbers.
TINY := build/tiny
ORIGINALS ?= ../shared/extractors
TINY_LAB := $(MAKE) LAB=$(TINY) PICTURES=$(TINY)/pictures SOUNDS=$(TINY)/sounds HANDS= DATA=$(TINY)/numbers DEFAULT_PRIOR=$(TINY)/prior.safetensors TASKS=2 \
	BURST_SETS='aerial_aid asl_signs' BURST_TASKS=1 \
	PRIOR_RECIPE='--preset shipped --steps 20 --n-way 3-5 --n-shot 1-3 --n-query 3 --calibrate 1 --quiet' REPRODUCE='--steps .01 --n-tasks 2' \
	ANY_FIT=$(TINY)/data/asl_signs.npz ANY_CHECK=$(TINY)/data/aerial_aid.npz ANY_WORDS= ANY_FITTED=$(TINY)/data/asl_signs.npz@64 ANY_CHECKED=$(TINY)/data/aerial_aid.npz@64 ANY='-sessions 3 -tasks 3'

.PHONY: test-targets
test-targets: build build/emoji.npz numpy
	@echo "== every other target, in its shortest form"
	@rm -rf $(TINY) && mkdir -p $(TINY)/pictures $(TINY)/numbers && i=0; \
	for concept in $$(ls build/samples-all | head -48); do \
		set=$$(echo aerial_aid asl_signs scenes_sun16 | cut -d' ' -f$$((i % 3 + 1))) class=$$((i / 3 % 8)) && i=$$((i + 1)) && \
		mkdir -p $(TINY)/pictures/$$set/$$class && for picture in build/samples-all/$$concept/*; do cp $$picture $(TINY)/pictures/$$set/$$class/$$concept-$${picture##*/}; done; \
	done; for set in aerial_aid asl_signs scenes_sun16; do tar cf $(TINY)/pictures/$$set.tar -C $(TINY)/pictures $$set || exit 1; done
	@$(NODE) web/test/numbers.mjs $(TINY)/numbers miniimagenet-conv4
	$(TINY_LAB) embed prior lodo any-prior reproduce bursts
	@if test -f $(ORIGINALS)/yamnet_spectra_in.tflite && test -f ../shared/sounds/digits.tar; then \
		kept=$$(ls -d build/ears 2>/dev/null); mkdir -p $(TINY)/recordings && cp ../shared/sounds/animals.tar ../shared/sounds/digits.tar $(TINY)/recordings && \
		$(MAKE) eye EYE=mobilenet-v2 FROM=$(ORIGINALS)/tf2_mobilenet_v2_1.0_224_ptq.tflite && $(MAKE) ears YAMNET=$(ORIGINALS)/yamnet_spectra_in.tflite && \
		$(TINY_LAB) SOUNDS=$(TINY)/recordings KIND_PRIORS=$(TINY) sounds-prior lodo-sounds; failed=$$?; \
		test "$$kept" || rm -rf build/ears $(SITE)/kinds; $(MAKE) site && exit $$failed; \
	else echo "make: eye, ears, sounds-prior and lodo-sounds are not run: there is no original of a network, or no recording, beside the clone" >&2; fi
	@echo "make: the tests ran the steps of soak-scale, but not its times: run make soak-scale alone" >&2
	$(MAKE) emoji EMOJI_TASKS=3
	$(MAKE) bench BENCH=--quick
	METAQDA_SORTED=100 $(MAKE) bench-sort PICTURES=$(TINY)/pictures
	METAQDA_SECONDS=3 $(MAKE) bench-live
	$(MAKE) bench-blocks BLOCKS='8 3 64'
	$(MAKE) bench-rate RATE=64
	$(MAKE) soak-fuzz FUZZ_SECONDS=1 KEEP=
	$(MAKE) soak-kills KILLS=10
	$(MAKE) docs
	$(MAKE) reproducible
	@if curl -fsSo /dev/null --max-time 20 https://vuln.go.dev/index/db.json; then $(MAKE) vulnerabilities; else echo "make: the list of known faults does not answer: they are not looked for" >&2; fi
	@timeout -s INT 60 $(MAKE) run PORT=0 PYTHON=false; test $$? = 124 # it still ran

# Reading classifiers in Python is tested if numpy is there or can be installed.
.PHONY: numpy
numpy:
	@for python in $(PYTHON) /usr/bin/python3; do "$$python" -c 'import numpy' 2>/dev/null && exit 0; done; \
	{ test "$$(id -u)" = 0 && apt-get update -q && apt-get install -q -y --no-install-recommends python3-numpy; } >/dev/null 2>&1 || \
		echo "make: there is no numpy, and it cannot be installed: what reads classifiers in Python is not tested" >&2

# 'make check' vets.
.PHONY: test-go
test-go: $(MODULES) numpy
	@echo "== Go, native"
	$(GO) test -vet=off -p 2 -timeout 20m ./...
	@python=$(PYTHON); for p in $(PYTHON) /usr/bin/python3; do "$$p" -c 'import numpy, torch, PIL' 2>/dev/null && python=$$p; done; \
	"$$python" scripts/backbone/test_backbone.py

# The tests run in Node.js, with the SIMD kernels. Results are not cached, since they depend on
# files that Go does not know. Without the kernels gonum computes, as it does natively.
.PHONY: test-wasm
test-wasm: $(SITE)/metaqda-simd.wasm
	@echo "== Go as WebAssembly, in Node.js"
	$(GO_WASM_TEST) ./core/niw ./core/lda ./core/session ./core/model ./wasm/...
	METAQDA_SIMD=0 $(GO_WASM_TEST) ./wasm/simd

# 'make test' runs these tests natively only. They take long, and depend little on WebAssembly.
WASM_LONG := FitFindsWhatSessionsHaveInCommon|PiecesOfWorkAreSmall|NothingIsLostIfCompactionIsKilled|ACloneStaysAsItsOriginalWas|ALogIsItsSession|TabsConverge|HundredThousandClasses|AnotherCorrelationLengthChangesFewExamples|BurstsOfLongStreamsAreAReplay
GO_WASM_TEST := $(WASM) $(GO) test -vet=off -p 2 -timeout 20m -count=1 -exec "$(NODE) --stack-size=8192 '$(CURDIR)/wasm/simd/exec.mjs'" \
	$(if $(METAQDA_LONG),,-skip '^Test($(WASM_LONG))$$')

# Without Python 3.11, pip or a network, the tests are skipped, and the output says so.
.PHONY: test-python
test-python: $(BIN)/metaqda $(BIN)/oracle $(SITE)/extractor/extractor.json
	@echo "== Python package, the wheel in a virtual environment"
	@if $(MAKE) $(VENV)/bin/pip >/dev/null 2>&1; then \
		$(MAKE) wheel && $(VENV)/bin/pip install -q --disable-pip-version-check --no-deps --no-index --force-reinstall build/metaqda-*-py3-none-any.whl && \
		$(VENV)/bin/python -B -m unittest discover -v -s scripts/python/tests; \
	else echo "make: Python 3.11, pip or a network is missing: the Python package is not tested" >&2; fi

# Networks that other extractors are tested with.
NETWORKS := web/test/extractors/node_modules/.package-lock.json
$(NETWORKS): web/test/extractors/package.json web/test/extractors/package-lock.json | build/.needed
	cd web/test/extractors && $(NPM) ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: test-js
test-js: site $(NETWORKS)
	@echo "== JavaScript, in Node.js"
	@files=$$(find web/test/unit -name '*.test.*js' | sort) && test -n "$$files" && \
	$(NODE) --test --test-concurrency=2 --test-timeout=1200000 --test-reporter=spec $$files

# The bundler that the package is tested with; for 'make test-all' also other bundlers and runtimes. Those that cannot be
# installed are left out.
BUNDLERS := web/test/package/node_modules/.package-lock.json
$(BUNDLERS): web/test/package/package.json web/test/package/package-lock.json | build/.needed
	cd web/test/package && $(NPM) ci --no-audit --no-fund
	@touch $@

.PHONY: environments
environments:
	@test -z "$(METAQDA_LONG)" || { cd web/test/package/environments && { cmp -s package-lock.json node_modules/.installed || { ONNXRUNTIME_NODE_INSTALL=skip $(NPM) ci --no-audit --no-fund --loglevel=error && cp package-lock.json node_modules/.installed; }; }; } || \
		echo "make: bundlers and runtimes cannot be installed: the npm package is not tested with them" >&2

# A test file that needs a browser is run once more if it fails. The output says so.
TEST := NODE="$(NODE)" scripts/again.sh

.PHONY: test-package
test-package: package $(BUNDLERS) environments
	@echo "== npm package, packed, in throw-away projects"; rm -f build/environments.jsonl
	@chromium=$$(scripts/browser.sh $(CHROMIUM_KIND)) && \
	CHROMIUM="$$chromium" $(TEST) --test-concurrency=1 --test-timeout=1200000 $$(find web/test/package -path '*/node_modules' -prune -o -name '*.test.js' -print | sort)

# Scratch, which runs the extension that "Use it" makes.
SCRATCH := web/test/scratch/node_modules/.package-lock.json
$(SCRATCH): web/test/scratch/package.json web/test/scratch/package-lock.json | build/.needed
	cd web/test/scratch && $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Two files at a time: one by itself leaves much of two processors idle.
.PHONY: test-browser
test-browser: build $(NETWORKS) $(SCRATCH)
	@echo "== Browser, in headless Chromium"
	@chromium=$$(scripts/browser.sh $(CHROMIUM_KIND)) && \
	files=$$(find web/test/browser -name '*.test.js' | sort) && test -n "$$files" && \
	CHROMIUM="$$chromium" $(TEST) --test-concurrency=2 --test-timeout=1200000 $$files

# Firefox is a second browser to test in. If there is none and none can be installed, the output
# says so and the other tests count.
.PHONY: test-firefox
test-firefox: build $(NETWORKS)
	@echo "== Browser, in headless Firefox"
	@firefox=$$(scripts/browser.sh firefox) || { echo "make: nothing is tested in Firefox" >&2; exit 0; }; \
	METAQDA_BROWSER=firefox FIREFOX="$$firefox" $(TEST) --test-concurrency=1 --test-timeout=1200000 --test-force-exit $$(find web/test/firefox -name '*.test.js' | sort) && \
	FIREFOX="$$firefox" $(NODE) web/test/firefox/all.mjs path.test.js sessions.test.js kept.test.js tabs.test.js trouble.test.js -- \
		--test-name-pattern='/^(five classes of three|what one tab changes|a database of the first version|two tabs that change|records that are damaged)/'

.PHONY: test-firefox-all
test-firefox-all: build $(NETWORKS)
	@firefox=$$(scripts/browser.sh firefox) && METAQDA_LONG=1 FIREFOX="$$firefox" $(NODE) web/test/firefox/all.mjs

.PHONY: test-webkit
test-webkit: build
	@echo "== Browser, WebKitGTK"
	@webkit=$$(scripts/browser.sh webkit) || { echo "make: nothing is tested in WebKit" >&2; exit 0; }; \
	WEBKIT="$$webkit" $(TEST) --test-concurrency=1 --test-timeout=1200000 --test-force-exit $$(find web/test/webkit -name '*.test.js')

# ---- the long forms -----------------------------------------------------------
# These targets take too long for every change. Each fuzz target runs for FUZZ_SECONDS. Minimising an
# interesting input takes longer than finding it, hence the bound.
FUZZ_SECONDS ?= 600
KEEP ?= yes

# Kills of the browser; another SEED kills at other moments.
KILLS ?= 200
SEED  ?= 1

.PHONY: soak
soak: build test-all soak-fuzz soak-kills soak-scale test-firefox-all reproducible ## run everything that takes long: all tests, also in Firefox, fuzzing, kills of the browser, a session at full size, two builds: five hours

# Sixteen of the inputs that reached new code, small and large ones, are kept beside the tests,
# which try them from then on.
.PHONY: soak-fuzz
soak-fuzz: $(MODULES)
	@for file in $$(git ls-files 'core/**_test.go' 'scripts/**_test.go' 'wasm/**_test.go'); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
			dir=$$(dirname $$file); echo "== $$target, $$dir"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_SECONDS)s -fuzzminimizetime 10x -parallel 2 -timeout 0 ./$$dir || exit 1; \
			test -z "$(KEEP)" || $(MAKE) keep-fuzz DIR=$$dir TARGET=$$target || exit 1; \
		done; \
	done
	@echo "== changed manifests, JavaScript"
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(NODE) --test --test-reporter=spec --test-name-pattern='changed manifest' web/test/unit/sw.test.js

.PHONY: keep-fuzz
keep-fuzz:
	@found=$$($(GO) env GOCACHE)/fuzz/metaqda/$(DIR)/$(TARGET) kept=$(DIR)/testdata/fuzz/$(TARGET); mkdir -p $$kept && \
	find $$found -type f -size -4 -printf '%s %p\n' | sort -n | awk '{ f[NR] = $$2 } END { for (i = 0; NR && i < 16; i++) print f[1 + int(i * (NR - 1) / 15)] }' | \
		sort -u | xargs -r cp -t $$kept

.PHONY: soak-kills
soak-kills: build
	@chromium=$$(scripts/browser.sh chromium) && METAQDA_KILLS=$(KILLS) METAQDA_SEED=$(SEED) CHROMIUM="$$chromium" $(NODE) --test --test-force-exit --test-reporter=spec web/test/browser/engine/kills.test.js
	@firefox=$$(scripts/browser.sh firefox) && METAQDA_KILLS_FIREFOX=$$(( $(KILLS) / 10 )) FIREFOX="$$firefox" $(NODE) --test --test-force-exit --test-reporter=spec web/test/firefox/kills.test.js

.PHONY: soak-scale
soak-scale: build package $(BUNDLERS) ## check the promised times at 2,000 classes and 20,000 pictures; run nothing else beside it
	@chromium=$$(scripts/browser.sh chromium) && export METAQDA_SOAK=1 METAQDA_LONG=1 CHROMIUM="$$chromium" && \
	$(NODE) --test --test-force-exit --test-reporter=spec --test-name-pattern='keeps the page waiting' web/test/browser/engine/engine.test.js && \
	$(NODE) --test --test-force-exit --test-reporter=spec web/test/browser/engine/scale.test.js web/test/browser/sort.test.js && \
	$(NODE) --test --test-force-exit --test-reporter=spec web/test/package/first.test.js

# The second build is of a copy of the tree under another path, with its own cache.
.PHONY: reproducible
reproducible: site ## build the site a second time elsewhere, and compare every byte
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && \
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$$copy" && \
	cp -R web/node_modules "$$copy/web/" && mkdir -p "$$copy/build" && touch "$$copy/build/.needed" "$$copy/build/.modules" && \
	$(MAKE) -C "$$copy" site && diff -r $(SITE) "$$copy/$(SITE)" && \
	echo "make reproducible: $$(find $(SITE) -type f | wc -l) files, every byte the same in two builds"

# The list of known faults comes from the network.
.PHONY: vulnerabilities
vulnerabilities: $(MODULES) ## look for known faults in linked modules (govulncheck, which asks vuln.go.dev)
	@GOBIN='$(CURDIR)/$(BIN)' $(GO) install golang.org/x/vuln/cmd/govulncheck@v1.1.4
	$(BIN)/govulncheck ./...
	$(WASM) $(BIN)/govulncheck ./wasm

# ---- speed ------------------------------------------------------------------

.PHONY: bench
bench: $(PACKAGES) $(SITE)/metaqda-simd.wasm ## time the core natively and in headless Chromium (BENCH=--quick for one case): a table and build/bench.json
	@chromium=$$(scripts/browser.sh chromium) && CHROMIUM="$$chromium" $(NODE) web/test/bench/run.mjs $(BENCH) --compile="-gcflags=all=-l $(INLINED:%=-gcflags=%=)"

.PHONY: bench-sort
bench-sort: build ## sort a thousand photographs of PICTURES in the page: time, longest task, right answers, memory
	@chromium=$$(scripts/browser.sh chromium) && CHROMIUM="$$chromium" METAQDA_PICTURES='$(abspath $(PICTURES))' \
		$(NODE) --test --test-reporter=spec web/test/bench/sort.test.js

.PHONY: bench-live
bench-live: build ## measure the processor time of live recognition of sounds, over a minute
	@chromium=$$(scripts/browser.sh chromium) && CHROMIUM="$$chromium" $(NODE) --test --test-reporter=spec web/test/bench/live.test.js

.PHONY: bench-blocks
bench-blocks: package ## measure how long calls of the npm package block the thread at a thousand classes
	@$(NODE) web/test/bench/blocks.mjs $(BLOCKS)

.PHONY: bench-rate
bench-rate: package ## measure the predictions per second of the npm package, and of the nearest mean in plain JavaScript
	@$(NODE) web/test/bench/rate.mjs $(RATE)

# ---- checks -----------------------------------------------------------------

.PHONY: check
check: $(PACKAGES) $(BUNDLERS) ## modules, format, vet, staticcheck (native and wasm), tsc, biome, imports, folders
	@echo "== modules"
	@$(GO) mod verify >/dev/null
	@$(GO) mod tidy -diff
	@echo "== gofmt"
	@bad=$$("$$($(GO) env GOROOT)/bin/gofmt" -l core scripts wasm) && test -z "$$bad" || { echo "run gofmt -w on: $$bad" >&2; exit 1; }
	@echo "== vet"
	@$(GO) vet ./...
	@$(WASM) $(GO) vet ./...
	@GOOS=wasip1 GOARCH=wasm $(GO) vet ./wasm/library
	@echo "== staticcheck"
	@$(GO) build -o $(BIN)/staticcheck honnef.co/go/tools/cmd/staticcheck
	@$(BIN)/staticcheck ./...
	@$(WASM) $(BIN)/staticcheck ./...
	@GOOS=wasip1 GOARCH=wasm $(BIN)/staticcheck ./wasm/library
	@echo "== tsc"
	@cd web && $(NPM) run --silent check
	@echo "== biome"
	@cd web && $(NPM) run --silent lint
	@echo "== imports and tree"
	@$(GO) test -count=1 ./scripts/checks ./scripts/wasi
	@echo "make check: every check passed"

.PHONY: clean
clean: ## remove build/ (web/node_modules stays)
	rm -rf build
