#!/bin/sh
# Installs, from Debian, the programs that the client tests open a mount with. Quick
# when they are there. As root.
set -eu

# numpy, nibabel and tifffile; Octave (45 MB), which stands in for MATLAB; Teem; ParaView
# and its VTK; ImageJ; libtiff; ITK; fio.
packages='python3-numpy python3-nibabel python3-tifffile
octave attr
teem-apps
python3-paraview
imagej openjdk-17-jdk-headless
libtiff-tools
plastimatch
fio'

missing=
for package in $packages; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "clients: not root, and these Debian packages are missing:$missing" >&2
	exit 1
fi
echo "clients: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q=2
# shellcheck disable=SC2086 # one word a package
apt-get install -q=2 --no-install-recommends $missing >/dev/null
