# Everything CI does is a target here. `make help` lists them.

GO          ?= go
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
SEEDS       ?= 300
LONG_SEEDS  ?= 20000
CRASH        = $(GO) test ./core/coretest/... -run Crash -count=1
CI_STEPS     = fmt-check vet lint build race crash e2e

.DEFAULT_GOAL := help
.PHONY: help build test race vet lint fmt fmt-check crash crash-long e2e bench cover ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile every package and program
	$(GO) build ./...

test: ## all tests that need nothing installed
	$(GO) test ./...

race: ## the same tests under the race detector (needs a C compiler)
	$(GO) test -race -timeout 15m ./...

vet: ## go vet, end-to-end tests included
	$(GO) vet -tags e2e ./...

lint: ## staticcheck, settings in staticcheck.conf
	$(STATICCHECK) -tags e2e ./...

fmt: ## format every Go file
	gofmt -s -w .

fmt-check: ## fail if a Go file is not formatted
	@files=$$(gofmt -s -l .); test -z "$$files" || { printf 'run make fmt:\n%s\n' "$$files"; exit 1; }

crash: ## the seeded crash suite; SEEDS=n (300)
	$(CRASH) -timeout 15m -seeds=$(SEEDS)

crash-long: ## the same for a night; LONG_SEEDS=n (20000)
	$(CRASH) -timeout 12h -seeds=$(LONG_SEEDS)

e2e: ## end-to-end tests on in-process brokers, kill -9 included
	$(GO) test -tags e2e -count=1 -timeout 15m ./e2e/...

bench: ## the comparisons, with their baselines in the same run
	cd bench && $(GO) run .

cover: ## test coverage by function, in cover.out
	$(GO) test -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out

ci: ## what CI runs, in its order: CI_STEPS
	@for step in $(CI_STEPS); do \
	  printf '\n== make %s\n' $$step; date +%T; \
	  $(MAKE) --no-print-directory $$step || exit; \
	done
