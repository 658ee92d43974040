#!/bin/sh
# Installs, from Debian, what the benchmark compares with. Quick when it is there. As
# root. What cannot be had is named in the benchmark's table.
set -eu

packages='squashfs-tools squashfuse erofs-utils python3-numpy'

missing=
for package in $packages; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "bench: not root, and these Debian packages are missing:$missing" >&2
	exit 1
fi
echo "bench: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q=2
# shellcheck disable=SC2086 # one word a package
apt-get install -q=2 --no-install-recommends $missing >/dev/null
