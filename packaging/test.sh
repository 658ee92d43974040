#!/bin/sh
# Tests programs and packages: builds from two clones are identical, packages install and
# run, the man pages are valid, and the lists of modules are complete.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'exit 1' HUP INT TERM
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

for tool in dpkg rpm; do
	command -v $tool >/dev/null || { echo "test-packages: $tool is missing: apt install rpm" >&2; exit 1; }
done
host=$(dpkg --print-architecture)

say() { echo "test-packages: $*"; }
fail() { say "$*" >&2; exit 1; }
only() { # PATTERN: prints the only file that matches
	set -- $1
	[ $# -eq 1 ] && [ -f "$1" ] || fail "expected one file, found: $*"
	echo "$1"
}

# Build twice. The second time is later, in another directory, on a machine of another name, by another user with other settings, from files
# with other times, and without a cache of what was compiled.
GOBIN=$work make -s release-tools
build_in() { # CLONE COMMAND...: the command runs make
	clone=$1 && shift
	"$@" make -C "$clone" -s release NFPM="$work/nfpm" CYCLONEDX="$work/cyclonedx-gomod" >"$clone.log" 2>&1 || { cat "$clone.log"; exit 1; }
}
git clone -q . "$work/one"
build_in "$work/one"
mkdir "$work/home"
elsewhere() { # COMMAND...: runs it on a machine of another name, as a user who is another one only to the command
	unshare --uts sh -c 'hostname other-machine && exec unshare --user --map-user=1234 --map-group=1234 "$@"' sh "$@"
}
[ "$(elsewhere id -u) $(elsewhere uname -n)" = '1234 other-machine' ] || fail 'no other user can be made here: run it as root'
(
	GOMODCACHE=$(go env GOMODCACHE) npm_config_cache=$(npm config get cache) GOCACHE="$work/cache" HOME="$work/home" USER=other LOGNAME=other
	TZ=Pacific/Auckland LC_ALL=C.UTF-8 LANG=C.UTF-8
	export GOMODCACHE npm_config_cache GOCACHE HOME USER LOGNAME TZ LC_ALL LANG
	umask 077
	git clone -q . "$work/another-place"
	find "$work/another-place" -path '*/.git' -prune -o -exec touch -h -d '2001-02-03 04:05:06' {} +
	build_in "$work/another-place" elsewhere
)
sums() { (cd "$1/dist" && sha256sum wkwfs* SHA256SUMS); }
[ "$(sums "$work/one")" = "$(sums "$work/another-place")" ] || {
	sums "$work/one"; sums "$work/another-place"; fail 'the two builds differ'; }
# In the workflow of releases, RELEASE is the directory with the files to publish.
[ -z "${RELEASE:-}" ] || [ "$(sums "$work/one")" = "$(cd "$RELEASE" && sha256sum wkwfs* SHA256SUMS)" ] || fail "the files in $RELEASE differ from those of other builds"
sums "$work/one"
say 'programs, packages and lists of modules are reproducible'

commit=$(git rev-parse HEAD)
check() { # ROOT: checks that the installation is complete and works
	"$1/usr/bin/wkwfs" version | grep -qx "revision $commit" || fail "$1: version does not print commit $commit"
	"$1/usr/bin/wkwfs" sample "$1/cortex" >/dev/null
	"$1/usr/bin/wkwfs" cp -q "$1/cortex" color/1/volume.npy "$1/"
	for helper in mount.fuse.wkwfs mount.wkwfs; do
		[ "$1/usr/sbin/$helper" -ef "$1/usr/bin/wkwfs" ] || fail "$1: no $helper"
		[ -f "$1/usr/share/man/man8/$helper.8.gz" ] || fail "$1: no man page of $helper"
	done
	for command in $("$1/usr/bin/wkwfs" __complete '' 2>/dev/null | cut -f1 | grep -v -e '^:' -e help -e completion); do
		[ -f "$1/usr/share/man/man1/wkwfs-$command.1.gz" ] || fail "$1: no man page of $command"
	done
	parses bash "$1/usr/share/bash-completion/completions/wkwfs"
	parses zsh "$1"/usr/share/zsh/*/_wkwfs
	parses fish "$1/usr/share/fish/vendor_completions.d/wkwfs.fish"
	zgrep -q '^neuroglancer .*Apache' "$1/usr/share/doc/wkwfs/viewer-licenses.txt.gz" || fail "$1: the licences of the viewer are missing"
	grep -q 'dist/main.bundle.js.gz' "$1/usr/bin/wkwfs" || fail "$1: the program has no viewer"
	[ -f "$1/usr/share/doc/wkwfs/docs/trouble.md" ] || fail "$1: the pages that README.md links are missing"
	for page in "$1"/usr/share/man/man?/*.gz; do
		complaints=$(lint "$page")
		[ -z "$complaints" ] || fail "$page: $complaints"
	done
}
parses() { # SHELL FILE: checks the syntax, if the shell is installed
	[ -f "$2" ] || fail "$2 is missing"
	! command -v "$1" >/dev/null || "$1" -n "$2" || fail "$2: no $1"
}
lint() { # PAGE: runs the checkers that are installed
	if command -v mandoc >/dev/null; then zcat "$1" | mandoc -T lint -W warning 2>&1 || true; fi
	if command -v groff >/dev/null; then zcat "$1" | groff -man -Tutf8 -ww -z 2>&1; fi
}

deb=$(only "$work/one/dist/wkwfs_*_$host.deb")
root="$work/deb" && mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" && : >"$root/var/lib/dpkg/status"
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null -i "$deb" >/dev/null
check "$root"
[ -d "$root/etc/wkwfs" ] || fail 'the deb does not make /etc/wkwfs'
! command -v lintian >/dev/null || lintian --allow-root --fail-on error,warning "$deb" || fail 'lintian has complaints'
mkdir -p "$root/var/log/wkwfs" && : >"$root/var/log/wkwfs/wkwfs.log"
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --purge wkwfs >/dev/null
[ ! -e "$root/var/log/wkwfs" ] || fail 'the deb leaves its log when it is purged'
say "$(basename "$deb") installs, works and can be purged"

package=$(only "$work/one/dist/wkwfs-*.$(uname -m).rpm")
root="$work/rpm" && mkdir -p "$root"
rpm --root "$root" --dbpath /var/lib/rpm --nodeps -i "$package"
check "$root"
say "$(basename "$package") installs and works"

(cd "$work/one/dist" && sha256sum --quiet -c SHA256SUMS)
dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/share/doc/wkwfs/viewer-licenses.txt.gz | gunzip | sed -n 's/^\(@*[a-z0-9/-]*\) \([0-9.]*\) (.*)$/\1@\2/p' >"$work/packages"
grep -q '^neuroglancer@' "$work/packages" || fail 'the licences of the viewer do not name its packages'
while read -r listed; do
	grep -qF "\"purl\": \"pkg:npm/$(echo "$listed" | sed 's/^@/%40/')\"" "$work/one/dist/wkwfs-viewer.cdx.json" || fail "the list of packages in the viewer lacks $listed"
done <"$work/packages"
for arch in amd64 arm64; do
	go version -m "$work/one/dist/wkwfs-linux-$arch" >"$work/about"
	awk '$1 == "dep" { print $2 "@" $3 }' "$work/about" >"$work/modules"
	[ "$(wc -l <"$work/modules")" -gt 20 ] || fail "$arch: the program does not name its modules"
	while read -r listed; do
		grep -qF "\"pkg:golang/$listed?type=module" "$work/one/dist/wkwfs-linux-$arch.cdx.json" || fail "$arch: the list of modules lacks $listed"
	done <"$work/modules"
	grep -q "GOARCH=$arch" "$work/about" && grep -q 'CGO_ENABLED=0' "$work/about" || fail "$arch: not static, or for another architecture"
done
