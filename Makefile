# `make` alone lists what there is. Needed: Go, make, a shell. What the tests
# need besides is installed by scripts/install-tools where it can be.
.DEFAULT_GOAL := help

GO       ?= go
BIN      := bin
TOOLS    := $(BIN)/tools
FUZZTIME ?= 60s

LINT_VERSION          := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0
LINT          := $(TOOLS)/golangci-lint-$(LINT_VERSION)
WORKFLOWCHECK := $(TOOLS)/workflowcheck-$(WORKFLOWCHECK_VERSION)

# The dev server is built again only when its module changes. One on the PATH is
# used instead.
TEMPORAL_STAMP := $(BIN)/.temporal-$(shell cat devserver/go.mod devserver/go.sum | cksum | cut -d' ' -f1)
TEMPORAL       := $(if $(shell command -v temporal 2>/dev/null),,$(TEMPORAL_STAMP))

# Set by `make check`: -race.
RACE :=
GOTEST := $(GO) test $(RACE) -count=1 -timeout 30m

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

.PHONY: run
run: build ## start everything on this machine: http://127.0.0.1:8080 (Ctrl-C ends it)
	@exec $(BIN)/worker --dev

.PHONY: build
build: $(TEMPORAL) ## bin/worker, bin/starter and, unless one is on the PATH, bin/temporal
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/ ./worker ./starter

$(TEMPORAL_STAMP):
	@mkdir -p $(BIN)
	@echo "Building Temporal's dev server once, about 3 minutes; a temporal on the PATH would be used instead."
	@$(GO) build -C devserver -ldflags '-s -w' -o ../$(BIN)/temporal.new github.com/temporalio/cli/cmd/temporal
	@mv $(BIN)/temporal.new $(BIN)/temporal
	@rm -f $(BIN)/.temporal-*
	@touch $@

.PHONY: test
test: build test-tools ## every test, on real servers that the tests start
	$(GOTEST) ./...

.PHONY: check
check: format vet lint workflowcheck imports ## what CI does: format, vet, lint, determinism, import table, tests with -race
	@$(MAKE) --no-print-directory test RACE=-race

.PHONY: format
format:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint: $(LINT)
	$(LINT) run ./...

.PHONY: workflowcheck
workflowcheck: $(WORKFLOWCHECK)
	$(WORKFLOWCHECK) -config workflowcheck.config.yaml ./workflows/...

.PHONY: imports
imports:
	$(GO) test -count=1 ./internal/archtest

.PHONY: bench
bench: build ## measurements of docs/performance.md; ARGS="…" for the load generator
	$(GO) run -C bench . $(ARGS)

.PHONY: histories
histories: build test-tools ## record the histories that the replay tests use
	COUNTERSIGN_RECORD_HISTORIES=1 $(GOTEST) -run Histor ./e2e/...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (60s)
	@GO="$(GO)" scripts/fuzz $(FUZZTIME)

# What the tests start besides our own programs.
.PHONY: test-tools
test-tools: e2e/telegram/node_modules/.package-lock.json e2e/page/node_modules/.package-lock.json
	@scripts/install-tools

e2e/%/node_modules/.package-lock.json: e2e/%/package-lock.json
	@scripts/install-tools
	npm ci --prefix e2e/$* --ignore-scripts --no-audit --no-fund
	@touch $@

$(LINT):
	$(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION))

$(WORKFLOWCHECK):
	$(call install,go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION))

# install puts a Go program under a name that holds its version, so that a new
# version is another file.
define install
@mkdir -p $(TOOLS)
GOBIN=$(CURDIR)/$@.new $(GO) install $(1)
@mv $@.new/* $@ && rmdir $@.new
endef
