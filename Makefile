# wkwfs: what can be made. `make demo` and `make test` need Go and nothing else.

GO      ?= go
# Where there is no tag, Go makes a version of the commit.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
LDFLAGS := -s -w -X main.releaseVersion=$(VERSION)
# The commit is told by "wkwfs version", where git can tell it.
BUILDVCS := $(shell git status >/dev/null 2>&1 && echo auto || echo false)
BUILD := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=$(BUILDVCS) -ldflags '$(LDFLAGS)'
FUZZTIME ?= 10s
TORTURETIME ?= 1h

.PHONY: all build viewer demo test test-all test-clients test-browser screenshot torture bench fuzz vuln check systems clean help

all: build

## build: the program, as bin/wkwfs
build: bin/wkwfs

bin/wkwfs: FORCE
	@$(BUILD) -o $@ ./cmd/wkwfs
FORCE:

# Go embeds what is in this directory: see internal/serve/viewer.
VIEWER := internal/serve/viewer/dist/index.html.gz

## viewer: a Neuroglancer for "wkwfs view" and "wkwfs serve", from npm; programs that are built later have it
viewer: $(VIEWER)

$(VIEWER): $(wildcard internal/serve/viewer/npm/*.* internal/serve/viewer/npm/icons/* internal/serve/viewer/npm/none/*)
	sh internal/serve/viewer/npm/build.sh

## demo: write a sample dataset, mount it and read voxels with dd and numpy
demo: build
	@sh integration/demo.sh bin/wkwfs

# gotest.sh prints each package with its time, the tests that were skipped, with the reasons, and totals.
GOTEST = GO=$(GO) sh integration/gotest.sh
# All packages but the one at the top, whose tests are about the others: that the tests named by SEMANTICS.md passed, for one.
# Packages that take long start first.
PACKAGES = ./integration ./internal/read/prefetch ./cmd/wkwfs $$($(GO) list ./... | grep wkwfs/wkwfs/ | \
	grep -vE 'wkwfs/(integration|internal/read/prefetch|cmd/wkwfs)$$')
CHECK_TOP = WKWFS_TEST_LOG=$(CURDIR)/bin/test.json $(GO) test -count=1 .

# The packages in which goroutines share memory: those that start some, or have locks. Pools and values that are made once
# need no test of ours. The lock of codec guards no memory: it bounds how much is in use. The tests of cmd start other programs.
CONCURRENT = $$(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=integration --exclude-dir=cmd --exclude-dir=codec \
	'sync\.(Mutex|RWMutex|WaitGroup|Cond|Map)|atomic\.|errgroup|parallel\.|^	*go [a-z]' . | xargs -n 1 dirname | sort -u)
# Tests that only wait run at once, so that they do not add up. "make check" has called go vet.
ONCE = -count=1 -vet=off -parallel 8 -timeout 40m

## test: all tests, real mounts included; beside them those of concurrent packages with the race detector, in short form
test: check
	@$(MAKE) --no-print-directory -j 2 test-once test-race

.PHONY: test-once test-race
test-once:
	@$(GOTEST) $(ONCE) $(PACKAGES)
	@$(CHECK_TOP)

# The tests that skip in short form start no goroutine, or take long and use the goroutines of other tests. By default, the
# detector delays the end of every process by a second.
test-race:
	@GORACE=atexit_sleep_ms=10 TESTLOG=bin/test-race.json $(GOTEST) -race -short $(ONCE) $(CONCURRENT)

## test-all: all tests; then concurrent packages with the race detector, with mounts of a program that has it, under longer load, in long form, with all damages, with all jobs of the benchmark, and on one processor
test-all: check test-once
	$(GO) mod verify
	@$(MAKE) --no-print-directory test-race
	@WKWFS_RACE=1 $(GOTEST) -short $(ONCE) ./integration -load.duration 20s
	@$(GOTEST) $(ONCE) ./integration -run '^(TestEveryByteDamaged|TestImportKilled|TestImportFinishKilled|TestManyMounts|TestMemoryOfSmallBlocks|TestMetadataBombs|TestListingOfManyCubes|TestOpenWhileCubesAreReplaced|TestRandom|TestRandomLate)$$' \
		-long -damage.all -import.kills 100 -random.steps 10000
	@$(GOTEST) $(ONCE) ./integration -run '^TestLoad$$' -load.duration 20s
	@$(GOTEST) $(ONCE) ./internal/read/prefetch -run '^(TestAllReaders|TestAllSizes)$$' -every 31
	@$(GOTEST) $(ONCE) ./integration/bench -run '^TestTiny$$' -bench.all
	@GOMAXPROCS=1 $(GOTEST) $(ONCE) ./cache ./internal/read/prefetch ./internal/names/view ./wkw

## test-clients: programs that others wrote open the mount, and write what is decoded (installs them from Debian)
test-clients:
	sh integration/clients/install.sh
	sh integration/cloud/install.sh
	@WKWFS_REQUIRE_FUSE=1 $(GOTEST) -tags clients ./integration ./internal/arrays/codec ./hdf5 -run Client -count=1 -timeout 40m
	@WKWFS_REQUIRE_FUSE=1 $(CHECK_TOP)
	cd integration/kubernetes && $(GO) vet . && $(GO) test -count=1 .

## test-browser: the built-in Neuroglancer shows in Chromium what wkwfs serves (installs both)
test-browser: viewer
	sh integration/browser/install.sh
	$(GO) test ./internal/serve/viewer -count=1
	@WKWFS_REQUIRE_FUSE=1 $(GOTEST) -tags browser ./integration -run Browser -count=1 -timeout 40m
	@WKWFS_REQUIRE_FUSE=1 $(CHECK_TOP)

## screenshot: docs/screenshot.png, the first picture of README.md, in the built-in Neuroglancer (installs what test-browser needs)
screenshot: viewer
	sh integration/browser/install.sh
	WKWFS_REQUIRE_FUSE=1 $(GO) test -tags browser ./integration -run '^TestBrowserPicture$$' -count=1 -browser.picture $(CURDIR)/docs/screenshot.png

## bench: how fast, beside squashfs, EROFS, rclone, h5py, zarr-python and tifffile, and docs/*.svg from that; as root (installs them from Debian; 40 minutes, 15 GiB in BENCH_DIR); BENCHFLAGS='-before PROGRAM' adds another wkwfs
bench: build
	sh integration/bench/install.sh
	BENCH=1 sh integration/cloud/install.sh
	@mkdir -p bin; $(GO) build -o bin/bench ./integration/bench
	bin/bench -json bin/bench.json -pictures docs $(BENCHFLAGS)

## torture: random cases of all trials for TORTURETIME (1h), as root; TORTUREFLAGS='-torture.seed=N' repeats a run
torture:
	WKWFS_REQUIRE_FUSE=1 $(GO) test ./integration -run '^TestTorture' -count=1 -timeout 0 -v -torture.time $(TORTURETIME) $(TORTUREFLAGS)

# Go sometimes takes the end of the time for a failure, without an input that fails: once more then. Without a limit, it
# spends the time on making inputs small that use other code each time, because memory is pooled.
## fuzz: every fuzz test for FUZZTIME
fuzz:
	@mkdir -p bin; grep -ro --include='*_test.go' 'func Fuzz[A-Za-z0-9]*(' . | sort -u | tr -d '(' | while IFS=': ' read -r file _ name; do \
		dir=$$(dirname $$file); \
		fuzz="$(GO) test $$dir -run ^$$ -fuzz ^$$name$$ -fuzztime $(FUZZTIME) -fuzzminimizetime 100x"; \
		$$fuzz >bin/fuzz.log 2>&1 || { grep -q '^    context deadline exceeded' bin/fuzz.log && $$fuzz >bin/fuzz.log 2>&1; } || { cat bin/fuzz.log; exit 1; }; \
		echo "$$dir $$name: $$(grep elapsed bin/fuzz.log | tail -n 1)"; done

## vuln: known vulnerabilities in what we depend on, where the database can be reached
vuln:
	@mkdir -p bin; GOBIN=$(CURDIR)/bin $(GO) install golang.org/x/vuln/cmd/govulncheck@latest >bin/govulncheck.log 2>&1 || { echo 'vuln: skipped: govulncheck cannot be had here'; exit 0; }; \
	bin/govulncheck ./... >bin/govulncheck.log 2>&1; case $$? in \
		0) echo 'vuln: none known';; \
		3) cat bin/govulncheck.log; exit 1;; \
		*) echo "vuln: skipped: $$(tail -n 1 bin/govulncheck.log)";; esac

## check: gofmt, go vet and staticcheck
check:
	@test -z "$$(gofmt -s -l .)" || { gofmt -s -l .; echo 'gofmt -s would change these'; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags clients,browser ./integration ./internal/arrays/codec ./hdf5
	$(GO) vet -tags docs ./cmd/wkwfs
	$(GO) vet -tags panics ./cmd/wkwfs
	$(GO) tool staticcheck ./...
	$(GO) tool staticcheck -tags clients,browser ./integration ./internal/arrays/codec ./hdf5

## systems: go vet for macOS and FreeBSD, tests included. The tests with mounts are for Linux
systems:
	@for system in darwin/arm64 darwin/amd64 freebsd/amd64; do \
		export GOOS=$${system%/*} GOARCH=$${system#*/}; echo "$(GO) vet for $$system"; \
		$(GO) vet $$($(GO) list ./... | grep -v wkwfs/wkwfs/integration) || exit 1; done

include packaging/packaging.mk

## clean: remove what was made
clean:
	rm -rf bin dist internal/serve/viewer/dist/*.gz internal/serve/viewer/npm/node_modules

## help: this list
help:
	@sed -n 's/^## /  /p' $(MAKEFILE_LIST)
