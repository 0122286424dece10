# Everything that CI does is a target here: `make lint test` is what must pass.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# Tools are pinned. scripts/tool finds the exact version (./bin, GOBIN, PATH) or installs it into ./bin.
SQLC          = $$(scripts/tool sqlc github.com/sqlc-dev/sqlc/cmd/sqlc v1.31.1)
GOLANGCI_LINT = $$(scripts/tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint v2.15.0)

# All Go files, those of bench/peers (a module of its own) included.
SOURCES = $$(find . -name '*.go' -not -path '*/testdata/*' -not -path '*/node_modules/*' -not -path './bin/*' -not -path './.git/*')

# Test binaries at once: each with SQL in it runs a PostgreSQL server of its own.
P       ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n > 4 ? 4 : n)))
# More arguments for go test, such as TEST='-run Finish -count=1'.
TEST    ?=
PKG     ?= ./...
# More arguments for every benchmark, and where the databases are if not embedded (AX_DATABASE_URL).
BENCH   ?=
# Scenarios of a soak, and the first one's seed.
SEEDS   ?= 300
BASE    ?= $(shell date +%Y%m%d)000
# Arguments for the mutants, such as MUTANTS="-only fence".
MUTANTS ?=

.PHONY: help
help: ## Say what the targets do
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

.PHONY: demo
demo: ## Run the examples to their end, on an embedded PostgreSQL
	go run ./examples/gosource -once
	go run ./examples/reconcile -once
	go run ./examples/billing -once

.PHONY: test
test: ## Run all tests, Go's with the race detector
	go test -race -timeout=15m -p=$(P) $(TEST) $(PKG)
	scripts/page test

.PHONY: journeys
journeys: ## Drive the page in a browser, against the real program
	scripts/page journeys

.PHONY: lint
lint: ## Check format, linters (vet among them), generated files, go.mod and the page
	@stale=$$(gofmt -l $(SOURCES)); \
	  if [ -n "$$stale" ]; then echo "not formatted (run make fmt):"; echo "$$stale"; exit 1; fi
	"$(GOLANGCI_LINT)" run ./...
	"$(SQLC)" diff
	scripts/generate-api -diff
	go mod tidy -diff
	scripts/page lint

.PHONY: fmt
fmt: ## Format, and repair what the linters can repair
	gofmt -w $(SOURCES)
	"$(GOLANGCI_LINT)" run --fix ./...

.PHONY: generate
generate: ## Write the generated files anew (sql/db, api/gen, the page's types)
	"$(SQLC)" generate
	go generate ./...
	scripts/page install && cd web && npm run types

.PHONY: web
web: ## Build the page into web/dist, which the program embeds
	scripts/page build

.PHONY: bench
bench: ## Run the benchmark programs; bench/peers, a module of its own, is run by hand
	for b in shards policies chain singles timers backlog; do echo "== $$b"; go run ./bench/$$b $(BENCH); done

.PHONY: vuln
vuln: ## Look for known faults in what AX is built of; asks the public database of them
	"$$(scripts/tool govulncheck golang.org/x/vuln/cmd/govulncheck v1.9.0)" ./...

.PHONY: bench-api
bench-api: ## Measure the HTTP API beside a million runs (8 GB on disk, kept for the next time)
	go build -o bin/bench-api ./bench/api && bin/bench-api $(BENCH)

.PHONY: bench-web
bench-web: ## Measure the page in a browser at 500 stages and 100,000 shards; BENCH="--minutes 1" for a short one
	scripts/page run bench/main.ts $(BENCH)

.PHONY: screenshots
screenshots: ## Take the pictures of docs/img
	scripts/page run e2e/screenshots.ts

.PHONY: mutants
mutants: ## Break the code on purpose, one line at a time: the tests must notice
	SQLC="$(SQLC)" go run ./scripts/mutants $(MUTANTS)

.PHONY: soak
soak: ## Play 300 random scenarios and more (SEEDS), from another seed each day (BASE)
	AX_METAMORPH_SEEDS=$(SEEDS) AX_METAMORPH_BASE=$(BASE) go test -race -count=1 -timeout=3h -v -run 'TestMetamorphic$$' ./internal/metamorph

.PHONY: clean
clean: ## Remove the tools in ./bin
	rm -rf bin
