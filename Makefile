SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

GO       ?= go
TOOL      = $(GO) tool -modfile=tools/go.mod
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 30s
BENCH    ?= .
# The tests that write the files with which they compare (internal/golden), by folder. What other
# files are made from comes first: keywords.txt and words.txt are parts of the program.
GOLDEN = \
	internal/dialect:TestKeywords,TestWriteText \
	internal/redact:TestWords \
	internal/engine:TestFixCases,TestFixLayouts,TestFixtures,TestWithoutMarks \
	internal/report:TestFormats,TestOneEntryForATurn,TestPreview \
	cmd/toolguard:TestFailedFilesInReports,TestScripts,TestThreads \
	proxy/internal/cli:TestPrintEnv \
	sqlite/internal/layout:TestTexts \
	sqlite/internal/cli:TestCommands
DOCS = \
	internal/agents:TestDamagesPage,TestObservedPage \
	internal/config:TestKeysPages,TestSchema \
	internal/redact:TestLossesPage \
	internal/rules:TestDocs,TestProfilesPage \
	cmd/toolguard:TestFormatsPage,TestJSONPage,TestMan,TestPages,TestReadme \
	proxy/internal/cli:TestMan,TestPage \
	sqlite/internal/cli:TestMan,TestPage \
	proxy/internal/endpoint:TestScript \
	parquet/internal/cli:TestMan,TestPage \
	scripts/picture:TestPicture
SUMS = git ls-files -co --exclude-standard -z | xargs -0 cksum 2>/dev/null | LC_ALL=C sort
# $(call rewrite,$(GOLDEN)) runs all tests of a list, even after one has failed, and lists the
# files that changed.
rewrite = was=$$($(SUMS) || true); failed=0; \
	for entry in $(1); do tests=$${entry\#*:}; $(GO) -C "$${entry%%:*}" test . -run "^($${tests//,/|})$$" -update || failed=1; done; \
	comm -13 <(echo "$$was") <($(SUMS)) | cut -d' ' -f3- | LC_ALL=C sort | awk '{ print "rewritten: " $$0; n = 1 } END { if (!n) print "no file has changed" }'; \
	exit $$failed

# Packages that start goroutines, or whose tests do. The command reads and repairs
# files side by side, with all that lies below it.
RACE ?= . ./cmd/toolguard ./internal/serve ./internal/write
# Tests of what one goroutine writes, after all work is done.
RACE_SKIP ?= Width|Wards|NotObeyed|IsObeyed|ObeysNothing|ReportSchema|NoExcerpt|TestAction|TestReadme|TestExplain|TestLinesInPipe

.PHONY: all build test race lint lint-actions fmt fuzz fuzz-seeds cover bench bench-compare bench-proxy proxy sqlite npm parquet python golden docs new-rule notices image snapshot release packages clean help

all: build test lint ## build, test and lint

build: ## build bin/toolguard and the programs beside it, and check that the package compiles for WebAssembly
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/toolguard
	CGO_ENABLED=0 $(GO) -C proxy build -trimpath -ldflags '-X main.version=$(VERSION)' -o ../bin/ ./cmd/toolguard-proxy
	CGO_ENABLED=0 $(GO) -C sqlite build -trimpath -ldflags '-X main.version=$(VERSION)' -o ../bin/ ./cmd/toolguard-sqlite
	CGO_ENABLED=0 $(GO) -C parquet build -trimpath -ldflags '-X main.version=$(VERSION)' -o ../bin/ ./cmd/toolguard-parquet
	GOOS=js GOARCH=wasm $(GO) vet .
	GOOS=wasip1 GOARCH=wasm $(GO) vet .

test: ## run all tests
	$(GO) test ./...
	$(GO) test -tags purego ./internal/source

proxy: ## check all of toolguard-proxy: lint, tests, race detector, and real clients if they are installed
	proxy/test.sh

sqlite: ## check all of toolguard-sqlite: lint and tests
	sqlite/test.sh

npm: ## check the npm package: types, tests, SDKs, and the same bytes as the command
	npm/test.sh

python: ## check the Python module: types, tests, and wheels
	python/test.sh

parquet: ## check all of toolguard-parquet: lint, tests, and the programs of others that read and write Parquet
	parquet/test.sh

bench-proxy: ## measure the time to the first event through the proxy; ARGS=-h shows the flags
	@$(GO) -C proxy run ./bench $(ARGS)

race: ## run the tests of what does several things at a time with the race detector
	$(GO) test -race -timeout 20m -skip '$(RACE_SKIP)' $(RACE)

lint: ## check formatting, go vet, golangci-lint
	files=$$($(TOOL) gofumpt -l .); [ -z "$$files" ] || { printf 'not formatted (make fmt):\n%s\n' "$$files"; exit 1; }
	$(GO) vet ./...
	$(TOOL) golangci-lint run

lint-actions: ## check the workflows with actionlint
	$(GO) tool -modfile=tools/actions/go.mod actionlint -shellcheck= -pyflakes= .github/workflows/*.yml

fmt: ## format all Go files
	$(TOOL) gofumpt -w .

# The modules with fuzz targets. FUZZ_TARGETS lists "module package target" for all of these.
FUZZ_MODULES = . proxy parquet
FUZZ_TARGETS = for module in $(FUZZ_MODULES); do $(GO) -C $$module test -list '^Fuzz' ./... | \
	awk -v module=$$module '/^Fuzz/ { t[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print module, $$2, t[i]; n = 0 }' || exit 1; done

fuzz: ## run every fuzz target for FUZZTIME (30s)
	($(FUZZ_TARGETS)) | while read -r module pkg target; do \
		echo "$$pkg $$target"; \
		TOOLGUARD_LONG=1 $(GO) -C $$module test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null || exit 1; \
	done

fuzz-seeds: ## run the seeds of every fuzz target once
	($(FUZZ_TARGETS)) | cut -d' ' -f1,2 | sort -u | while read -r module pkg; do $(GO) -C $$module test -run '^Fuzz' "$$pkg" </dev/null || exit 1; done

cover: ## write cover.out and print the total
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -1

bench: ## run the benchmarks that match BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

bench-compare: ## measure toolguard beside wc, cp, jq and node; ARGS=-h shows the flags
	@$(GO) run ./internal/bench/compare $(ARGS)

golden: ## rewrite the golden files from what the code does now, and list those that changed
	@$(call rewrite,$(GOLDEN))

docs: ## rewrite the pages, man pages, schema and pictures from the program, and list those that changed
	@$(call rewrite,$(DOCS))

# $(VAR) is missingToolResult for the rule missing-tool-result.
define RULE
package rules

// Fill in the other fields as the rules beside it do.
var $(VAR) = &Rule{
	Name:    "$(NAME)",
	Summary: "",
	What:    ``,
	Why:     ``,
	Repair:  ``,
}
endef
export RULE

new-rule: VAR = $(shell awk -F- '{ r = $$1; for (i = 2; i <= NF; i++) r = r toupper(substr($$i, 1, 1)) substr($$i, 2); print r }' <<<'$(NAME)')
new-rule: FILE = internal/rules/$(subst -,_,$(NAME)).go
new-rule: ## start a rule: make new-rule NAME=missing-tool-result
	@[[ '$(NAME)' =~ ^[a-z0-9]+(-[a-z0-9]+)*$$ ]] || { echo 'usage: make new-rule NAME=missing-tool-result'; exit 2; }
	@[ ! -e $(FILE) ] || { echo '$(FILE) exists'; exit 1; }
	@printf '%s\n' "$$RULE" >$(FILE)
	@echo 'wrote $(FILE); now fill it in, add it to All in internal/rules/rules.go, and run make golden docs'

notices: build ## write THIRD_PARTY_NOTICES and compare it with bin/toolguard
	$(GO) run ./scripts/notices THIRD_PARTY_NOTICES
	for name in toolguard toolguard-proxy toolguard-sqlite toolguard-parquet; do $(GO) run ./scripts/notices -check bin/$$name$$($(GO) env GOEXE) THIRD_PARTY_NOTICES; done

image: IMAGE = bin/image/linux/$(shell $(GO) env GOARCH)
image: notices ca-certificates.crt ## build the Docker image toolguard for the processor of this machine
	rm -rf bin/image
	CGO_ENABLED=0 GOOS=linux $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(IMAGE)/ ./cmd/toolguard
	CGO_ENABLED=0 GOOS=linux $(GO) -C proxy build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o ../$(IMAGE)/ ./cmd/toolguard-proxy
	CGO_ENABLED=0 GOOS=linux $(GO) -C sqlite build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o ../$(IMAGE)/ ./cmd/toolguard-sqlite
	CGO_ENABLED=0 GOOS=linux $(GO) -C parquet build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o ../$(IMAGE)/ ./cmd/toolguard-parquet
	cp Dockerfile LICENSE THIRD_PARTY_NOTICES ca-certificates.crt bin/image
	docker build -t toolguard bin/image

# The image has those of the machine that builds it.
ca-certificates.crt:
	@for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do \
		if [ -f "$$f" ]; then exec cp "$$f" $@; fi; \
	done; echo 'no CA certificates on this machine' >&2; exit 1

# GoReleaser has a module of its own: it is large, and only releases need it.
# What this machine has no tools for is left out.
snapshot release: RELEASER = $(GO) tool -modfile=tools/release/go.mod goreleaser
snapshot: ## check .goreleaser.yaml and build a release in dist, without publishing it
	$(RELEASER) check
	@skip=publish; \
	command -v cosign >/dev/null || { skip+=,sign; echo 'no cosign here: without signatures'; }; \
	command -v syft >/dev/null || { skip+=,sbom; echo 'no syft here: without SBOMs'; }; \
	docker info >/dev/null 2>&1 || { skip+=,docker; echo 'no Docker daemon here: without images'; }; \
	$(RELEASER) release --snapshot --clean --skip="$$skip"

release: ## build the release of the tag that is checked out, and upload it as a draft
	$(RELEASER) release --clean

packages: ## make the npm packages and the wheels of the release in dist
	npm/release.sh dist dist/npm
	python3 python/build_wheels.py --version "$$(sed -n 's/.*  toolguard_\(.*\)_linux_amd64.tar.gz/\1/p' dist/checksums.txt)" --out dist/wheels \
		$(foreach p,linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64,$(p)=$$(echo dist/toolguard_$(p)_*))

clean: ## remove what the other targets made
	rm -rf bin dist completions cover.out THIRD_PARTY_NOTICES ca-certificates.crt

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
