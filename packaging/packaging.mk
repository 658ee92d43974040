# Files for users: man pages, completions, static programs and packages.

PREFIX  ?= /usr/local
DESTDIR ?=
# mount(8) looks for its helpers here, for every PREFIX.
MOUNTDIR ?= /sbin
ZSHDIR   ?= $(PREFIX)/share/zsh/site-functions
BINARY   ?= bin/wkwfs

# All files have the time of the commit, so that every build is identical.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

# The last version with all dependencies from well-known hosts.
NFPM_MODULE := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
NFPM ?= $(GO) run $(NFPM_MODULE)
ARCHES := amd64 arm64

# The modules come from the program itself, and nothing from the network. So the lists of two builds are identical, too. The tool can also find
# licences, but takes that of golang.org/x for another, and leaves out those that it cannot check with the network.
CYCLONEDX_MODULE := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
CYCLONEDX ?= $(GO) run -trimpath $(CYCLONEDX_MODULE)

# deb and rpm demand a digit first, and no dash.
PACKAGE_VERSION ?= $(if $(VERSION),$(subst -,+,$(VERSION:v%=%)),$(shell git log -1 --date=format:%Y%m%d%H%M --format=0.0.0+git%cd.%h 2>/dev/null || echo 0.0.0))

.PHONY: docs install dist release sbom deb rpm release-tools test-packages

## docs: man pages and completions, generated from the commands, in bin/docs
docs:
	@rm -rf bin/docs
	CGO_ENABLED=0 $(GO) run -trimpath -tags docs -ldflags '-X main.releaseVersion=$(VERSION)' ./cmd/wkwfs bin/docs

## install: program, man pages, completions and mount helpers below PREFIX (/usr/local), in DESTDIR
install: $(BINARY) docs
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/wkwfs
	install -d $(DESTDIR)$(MOUNTDIR)
	set -e; for type in fuse.wkwfs wkwfs; do ln -sf $(PREFIX)/bin/wkwfs $(DESTDIR)$(MOUNTDIR)/mount.$$type; done
	set -e; for page in bin/docs/man/*; do \
		dir=$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}; install -d $$dir; \
		gzip -9 -n -c $$page >$$dir/$${page##*/}.gz; chmod 644 $$dir/$${page##*/}.gz; done # for every umask
	ln -sf mount.fuse.wkwfs.8.gz $(DESTDIR)$(PREFIX)/share/man/man8/mount.wkwfs.8.gz
	install -D -m 644 bin/docs/completions/wkwfs $(DESTDIR)$(PREFIX)/share/bash-completion/completions/wkwfs
	install -D -m 644 bin/docs/completions/_wkwfs $(DESTDIR)$(ZSHDIR)/_wkwfs
	install -D -m 644 bin/docs/completions/wkwfs.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/wkwfs.fish
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/wkwfs/copyright
	test ! -f $(VIEWER) || install -m 644 $(dir $(VIEWER))licenses.txt.gz $(DESTDIR)$(PREFIX)/share/doc/wkwfs/viewer-licenses.txt.gz
	install -m 644 *.md $(DESTDIR)$(PREFIX)/share/doc/wkwfs
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/wkwfs/docs docs/*
	set -e; for dir in packaging/container packaging/kubernetes; do \
		install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/wkwfs/$$dir $$dir/*; done
	set -e; for unit in packaging/systemd/*.*; do test ! -f $$unit || \
		install -D -m 644 $$unit $(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}; done

## dist: static programs for linux/amd64 and linux/arm64, with the viewer, in dist
dist: $(ARCHES:%=dist/wkwfs-linux-%)
	cd dist && sha256sum wkwfs-linux-* >SHA256SUMS

dist/wkwfs-linux-%: viewer FORCE
	GOOS=linux GOARCH=$* $(BUILD) -o $@ ./cmd/wkwfs

## sbom: the Go modules in each program, and the packages of npm in the viewer, as CycloneDX, in dist
sbom: $(ARCHES:%=dist/wkwfs-linux-%.cdx.json) dist/wkwfs-viewer.cdx.json

dist/wkwfs-viewer.cdx.json: viewer FORCE
	mkdir -p dist
	cd $(dir $(VIEWER))../npm && node sbom.js >$(CURDIR)/$@

$(ARCHES:%=dist/wkwfs-linux-%.cdx.json): %.cdx.json: %
	$(CYCLONEDX) bin -json -std -noserial -version $(or $(VERSION),v$(PACKAGE_VERSION)) -output $@ $<
	sed -i 's/"timestamp": "[^"]*"/"timestamp": "$(shell date -u -d @$(SOURCE_DATE_EPOCH) +%Y-%m-%dT%H:%M:%SZ)"/' $@

## release: programs and packages for a release, what is in them, and their checksums, in dist
release: dist sbom deb rpm
	cd dist && sha256sum wkwfs* >SHA256SUMS

## deb: packages for Debian and Ubuntu, in dist
deb: $(ARCHES:%=deb-%)

## rpm: packages for Fedora, RHEL and openSUSE, in dist
rpm: $(ARCHES:%=rpm-%)

# Packages contain what "make install" installs.
deb-% rpm-%: kind = $(firstword $(subst -, ,$@))
deb-% rpm-%: root = dist/$@
deb-%: dist/wkwfs-linux-%
	$(call package,ZSHDIR=/usr/share/zsh/vendor-completions,$(debian_files))
rpm-%: dist/wkwfs-linux-%
	$(call package)

# What Debian demands of a package: its own list of changes, and reasons where it differs from others.
define debian_files
	printf 'wkwfs (%s-1) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' '$(PACKAGE_VERSION)' \
		"$$(sed -n 's/^maintainer: //p' packaging/nfpm.yaml)" "$$(date -R -u -d @$(SOURCE_DATE_EPOCH))" | gzip -9 -n >$(root)/usr/share/doc/wkwfs/changelog.Debian.gz
	install -D -m 644 packaging/debian/lintian-overrides $(root)/usr/share/lintian/overrides/wkwfs
endef

define package
	rm -rf $(root)
	$(MAKE) --no-print-directory install BINARY=$< DESTDIR=$(root) PREFIX=/usr MOUNTDIR=/usr/sbin $(1)
	set -e; for helper in $(root)/usr/sbin/*; do ln -sf ../bin/wkwfs $$helper; done
	$(2)
	chmod -R u=rwX,go=rX $(root) # whatever the umask is
	find $(root) -exec touch -h -d @$(SOURCE_DATE_EPOCH) {} +
	PACKAGE_ROOT=$(root) PACKAGE_ARCH=$* PACKAGE_VERSION=$(PACKAGE_VERSION) $(NFPM) package -f packaging/nfpm.yaml -p $(kind) -t dist/
	rm -rf $(root)
endef

# Installs the tools in GOBIN.
release-tools:
	$(GO) install $(NFPM_MODULE)
	$(GO) install -trimpath $(CYCLONEDX_MODULE)

## test-packages: two builds are identical, packages install and run, man pages are valid
test-packages:
	sh packaging/test.sh
