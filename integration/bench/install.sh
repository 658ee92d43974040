#!/bin/sh
# Installs the Debian packages of the programs that the benchmark compares with. Needs root, unless they are installed.
# The table of the benchmark names the programs that are missing.
set -eu

packages='squashfs-tools squashfuse erofs-utils python3-numpy python3-zarr python3-h5py python3-tifffile libnfs-utils'

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
# shellcheck disable=SC2086 # one word for each package
apt-get install -q=2 --no-install-recommends $missing >/dev/null
