# wkwfs: what can be made. `make demo` and `make test` need Go and nothing else.

GO      ?= go
# Where there is no tag, Go makes a version of the commit.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
LDFLAGS := -s -w -X main.releaseVersion=$(VERSION)
# The commit is told by "wkwfs version", where git can tell it.
BUILDVCS := $(shell git status >/dev/null 2>&1 && echo auto || echo false)
BUILD := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=$(BUILDVCS) -ldflags '$(LDFLAGS)'
FUZZTIME ?= 10s

.PHONY: all build demo test test-clients test-browser bench fuzz vuln check clean help

all: build

## build: the program, as bin/wkwfs
build: bin/wkwfs

bin/wkwfs: FORCE
	@$(BUILD) -o $@ ./cmd/wkwfs
FORCE:

## demo: write a sample dataset, mount it and read voxels with dd and numpy
demo: build
	@sh integration/demo.sh bin/wkwfs

# Each run tells which tests it skipped, and why.
TELL = GO=$(GO) sh integration/gotest.sh

## test: all tests, real mounts included; then again with the race detector
test: check
	@$(TELL) ./...
	@$(TELL) -race $$($(GO) list ./... | grep -v /integration)
	@WKWFS_RACE=1 $(TELL) -count=1 ./integration
	@GOMAXPROCS=1 $(TELL) -count=1 ./cache ./internal/prefetch ./internal/view ./wkw

## test-clients: programs that others wrote open the mount (installs them from Debian)
test-clients:
	sh integration/clients/install.sh
	WKWFS_REQUIRE_FUSE=1 $(GO) test -tags clients ./integration -run Client -count=1

## test-browser: Neuroglancer in Chromium shows what wkwfs serves (installs both)
test-browser:
	sh integration/browser/install.sh
	WKWFS_REQUIRE_FUSE=1 $(GO) test -tags browser ./integration -run Browser -count=1 -v

## bench: how fast, beside squashfs and EROFS; as root (installs them from Debian; 30 minutes, 13 GiB in BENCH_DIR); BENCHFLAGS='-before PROGRAM' adds another wkwfs
bench: build
	sh integration/bench/install.sh
	@mkdir -p bin; $(GO) build -o bin/bench ./integration/bench
	bin/bench -json bin/bench.json $(BENCHFLAGS)

# Go sometimes takes the end of the time for a failure, without an input that fails: once more then.
## fuzz: every fuzz test for FUZZTIME
fuzz:
	@mkdir -p bin; grep -ro --include='*_test.go' 'func Fuzz[A-Za-z]*(' . | sort -u | tr -d '(' | while IFS=': ' read -r file _ name; do \
		dir=$$(dirname $$file); \
		fuzz="$(GO) test $$dir -run ^$$ -fuzz ^$$name$$ -fuzztime $(FUZZTIME)"; \
		$$fuzz >bin/fuzz.log 2>&1 || { grep -q '^    context deadline exceeded' bin/fuzz.log && $$fuzz >bin/fuzz.log 2>&1; } || { cat bin/fuzz.log; exit 1; }; \
		echo "$$dir $$name: $$(grep elapsed bin/fuzz.log | tail -n 1)"; done

## vuln: known vulnerabilities in what we depend on, where the database can be reached
vuln:
	@mkdir -p bin; GOBIN=$(CURDIR)/bin $(GO) install golang.org/x/vuln/cmd/govulncheck@latest >bin/govulncheck.log 2>&1 || { echo 'vuln: skipped: govulncheck cannot be had here'; exit 0; }; \
	bin/govulncheck ./... >bin/govulncheck.log 2>&1; case $$? in \
		0) echo 'vuln: none known';; \
		3) cat bin/govulncheck.log; exit 1;; \
		*) echo "vuln: skipped: $$(tail -n 1 bin/govulncheck.log)";; esac

## check: what the compiler and formatter say
check:
	@test -z "$$(gofmt -s -l .)" || { gofmt -s -l .; echo 'gofmt -s would change these'; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags clients ./integration
	$(GO) vet -tags browser ./integration
	$(GO) vet -tags docs ./cmd/wkwfs
	$(GO) mod verify

include packaging/packaging.mk

## clean: remove what was made
clean:
	rm -rf bin dist

## help: this list
help:
	@sed -n 's/^## /  /p' $(MAKEFILE_LIST)
