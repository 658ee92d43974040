#!/bin/sh
# Installs the servers of the tests of object stores: nginx from Debian, versitygw (S3) and fake-gcs-server (GCS) from the proxy of
# Go modules, into bin/cloud. Needs root, unless nginx is installed. BENCH=1 also installs rclone, which the benchmark
# compares with.
set -eu
cd "$(dirname "$0")/../.."

packages=nginx-light
[ -z "${BENCH:-}" ] || packages="$packages rclone"
missing=
for package in $packages; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed$' || missing="$missing $package"
done
if [ -n "$missing" ]; then
	if [ "$(id -u)" -ne 0 ]; then
		echo "cloud: not root, and these Debian packages are missing:$missing" >&2
		exit 1
	fi
	echo "cloud: installing$missing"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q=2
	# shellcheck disable=SC2086 # one word for each package
	apt-get install -q=2 --no-install-recommends $missing >/dev/null
fi

# server MODULE VERSION PACKAGE: builds a program, unless bin/cloud has it in this version.
server() {
	name=$(basename "$3")
	if ${GO:-go} version -m "bin/cloud/$name" 2>/dev/null | grep -q "mod.$1.$2"; then
		return
	fi
	echo "cloud: building $name $2"
	GOBIN=$PWD/bin/cloud ${GO:-go} install "$3@$2"
}
mkdir -p bin/cloud
server github.com/versity/versitygw v1.8.0 github.com/versity/versitygw/cmd/versitygw
server github.com/fsouza/fake-gcs-server v1.56.1 github.com/fsouza/fake-gcs-server
