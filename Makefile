# The front door: what people type. The build itself is meson's (meson.build); this file installs
# what is missing (tools/deps), sets up the build folders and names the common jobs.
#
#   build/release  what `make` builds          build/asan  the same under ASan and UBSan
#   build/tsan     under TSan                  build/coverage, build/fuzz  as they say

PREFIX ?= /usr/local
DESTDIR ?=
# Compiler warnings stop `make test`; WERROR=false lets a newer compiler complain in peace.
WERROR ?= true
# DEPS=no: never install anything.
DEPS ?= yes
FUZZ_SECONDS ?= 60
# Tests of which `make test` runs a part: PAWL_TEST_ALL has them whole.
SWEEPS = unit/store_damage unit/jq unit/divergence unit/engine engine/space engine/subscriptions serve/faults serve/events serve/routes
COVERAGE_BAR ?= 90

BUILD := build
NINJA := ninja --quiet -C
C_FILES = $(shell find src include tests fuzz bench examples -name node_modules -prune -o -name '*.[ch]' -print)
BENCHES = compile eval json update diff growth callback tasks workers spawn engine_growth debug watch turn slices

# Link-time optimisation with gcc only: clang's needs a linker that Debian does not install.
LTO = $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),false,true)

OPTIONS_release = --buildtype=release -Doptimization=2 -Db_ndebug=true -Db_lto=$(LTO) \
	--prefix=$(PREFIX)
OPTIONS_asan = --buildtype=debug -Doptimization=1 -Db_sanitize=address,undefined \
	-Db_lundef=false -Dwerror=$(WERROR) -Dtests=enabled -Dfaults=true \
	-Db_pie=false -Db_staticpic=false -Dc_args='-fno-pie -g1' -Dc_link_args=-no-pie
OPTIONS_tsan = --buildtype=debug -Doptimization=1 -Db_sanitize=thread -Db_lundef=false \
	-Dwerror=$(WERROR) -Dtests=enabled
OPTIONS_coverage = --buildtype=debug -Db_coverage=true -Dtests=enabled
OPTIONS_fuzz = --buildtype=debug -Doptimization=2 -Db_sanitize=address,undefined \
	-Db_lundef=false -Dfuzz=true -Dtests=enabled
$(BUILD)/fuzz/build.ninja: export CC = clang

.PHONY: all run tour web-dev check-web screenshots dist test test-release test-asan test-tsan test-container crash vscode test-vscode test-emacs bench bench-engine bench-instructions bench-logs bench-dap bench-server fuzz coverage format check-format \
	install clean deps help
.DEFAULT_GOAL := all
.SECONDARY:

all: $(BUILD)/release/build.ninja ## build build/pawl (release)
	@$(NINJA) $(BUILD)/release
	@ln -sfn release/pawl $(BUILD)/pawl

run: all ## a server with the examples and a paused run, at http://127.0.0.1:7295
	@examples/serve.sh $(BUILD)/pawl $(BUILD)/run

tour: all ## a short tour: a workflow that stops and goes on
	@examples/workflows/tour.sh $(BUILD)/pawl

web-dev: $(BUILD)/.deps-web ## the page from web/src as it is changed, at http://127.0.0.1:5173; asks the server at PAWL_URL (that of `make run`)
	@tools/web-dev

check-web: all $(BUILD)/.deps-web ## the types of the page, against the API of the server
	@tools/web-check $(BUILD)/release/pawl

screenshots: all $(BUILD)/.deps-clients $(BUILD)/.deps-docs ## the pictures in docs/page.md, anew
	@tests/clients/run screenshots.mjs $(BUILD)/release/pawl docs/page

dist: $(BUILD)/release/build.ninja $(BUILD)/.deps-web ## a release: a tarball with the page built, which needs no npm
	@meson dist -C $(BUILD)/release --no-tests --formats gztar
	@ls $(BUILD)/release/meson-dist/*.tar.gz

test: $(BUILD)/.deps-clients test-release test-asan ## all tests, in release and under ASan and UBSan
	@tests/run $(BUILD)/release $(BUILD)/asan

test-release: $(BUILD)/release/.werror ## build what the tests in release need
	@$(NINJA) $(BUILD)/release all test-programs
	@ln -sfn release/pawl $(BUILD)/pawl

test-asan: $(BUILD)/asan/build.ninja ## the same under ASan and UBSan
	@$(NINJA) $(BUILD)/asan test-programs

test-tsan: $(BUILD)/tsan/build.ninja ## the tests under TSan
	@$(NINJA) $(BUILD)/tsan test-programs
	@tests/run $(BUILD)/tsan

crash: test-asan ## kill pawl, and fail its disk, at every single write; long sweeps whole (half an hour)
	@tests/faults/sweep.py --pawl $(BUILD)/asan/pawl
	@for name in $(SWEEPS); do PAWL_TEST_ALL=1 tests/run -k $$name $(BUILD)/asan || exit 1; done

vscode: ## the extension for VS Code: build/pawl.vsix (the first time npm fetches what packs it)
	@mkdir -p $(BUILD)
	@editors/vscode/package $(BUILD)/pawl.vsix
	@echo "$(BUILD)/pawl.vsix"

test-vscode: all vscode $(BUILD)/.deps-editors ## the extension in a real VS Code (code-server from npm), in Chromium; PICTURES=docs/images: with new pictures
	@tests/editors/install
	@tests/editors/run vscode.mjs $(BUILD)/release/pawl $(BUILD)/pawl.vsix $(if $(PICTURES),--pictures $(PICTURES))

test-emacs: all $(BUILD)/.deps-editors ## dap-mode in a real Emacs: 50 sessions of 200 steps
	@tests/editors/run emacs.el $(BUILD)/release/pawl 50 200

test-container: ## build the image of packaging/Containerfile and use it, with podman (needs root)
	@tools/container-test

bench: $(BUILD)/release/.bench ## all benchmarks; make bench-NAME runs one
	@$(NINJA) $(BUILD)/release bench-programs
	@bench/run $(BUILD)/release $(BENCHES)

bench-%: $(BUILD)/release/.bench
	@$(NINJA) $(BUILD)/release bench-programs
	@bench/run $(BUILD)/release $*

bench-engine: $(BUILD)/.deps-peers $(BUILD)/release/.bench ## the engine beside LangGraph.js (from npm)
	@$(NINJA) $(BUILD)/release all bench-programs
	@bench/engine $(BUILD)/release

bench-logs: all ## what it costs to keep what nodes print
	@bench/logs $(BUILD)/release

bench-dap: all $(BUILD)/.deps-peers ## the debug adapter beside debugpy and lldb-vscode
	@bench/dap $(BUILD)/release

bench-server: all $(BUILD)/.deps-bench $(BUILD)/.deps-peers ## the server beside LangGraph's and a bare one of node (from npm)
	@bench/server $(BUILD)/release

bench-instructions: $(BUILD)/release/.bench ## instructions instead of time (needs valgrind)
	@$(NINJA) $(BUILD)/release bench-programs
	@bench/instructions $(BUILD)/release compile eval update

fuzz: $(BUILD)/.deps-fuzz $(BUILD)/fuzz/build.ninja ## each fuzz target for FUZZ_SECONDS (60)
	@$(NINJA) $(BUILD)/fuzz fuzz-programs
	@tools/fuzz $(BUILD)/fuzz $(FUZZ_SECONDS)

coverage: $(BUILD)/.deps-coverage $(BUILD)/coverage/build.ninja ## line coverage, with a report in HTML
	@$(NINJA) $(BUILD)/coverage test-programs
	@tools/coverage $(BUILD)/coverage $(COVERAGE_BAR)

format: $(BUILD)/.deps-format ## lay out the C code
	@clang-format -i $(C_FILES)

check-format: $(BUILD)/.deps-format ## say which files `make format` would change
	@clang-format --dry-run -Werror $(C_FILES)

install: all ## install to PREFIX (/usr/local), below DESTDIR if given
	@meson configure $(BUILD)/release --prefix=$(PREFIX)
	@DESTDIR="$(if $(DESTDIR),$(abspath $(DESTDIR)))" meson install -C $(BUILD)/release
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

clean: ## remove build/
	@rm -rf $(BUILD)

deps: ## install the Debian packages that building and testing need
	@tools/deps

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | \
		while IFS="$$(printf '\t')" read -r name text; do printf '  make %-19s %s\n' "$$name" "$$text"; done

# A stamp for each set of packages: looking is cheap, not looking is cheaper.
$(BUILD)/.deps-%: tools/deps
	@mkdir -p $(BUILD)
	@if [ "$(DEPS)" != no ]; then tools/deps $*; fi
	@touch $@

$(BUILD)/%/build.ninja: | $(BUILD)/.deps-build
	@meson setup $(OPTIONS_$*) $(BUILD)/$*

$(BUILD)/release/.werror: $(BUILD)/release/build.ninja
	@[ -e $@ ] || meson configure $(BUILD)/release -Dwerror=$(WERROR) -Dtests=enabled
	@touch $@

# The peer of the benchmarks may have been installed after the folder was set up: look again.
$(BUILD)/release/.bench: $(BUILD)/.deps-bench $(BUILD)/release/build.ninja
	@[ -e $@ ] || meson configure $(BUILD)/release -Dbench=enabled
	@touch $@
