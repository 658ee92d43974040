#!/bin/sh
# Builds the viewer in ../dist from the locked versions of its packages. Needs npm. As root, it
# installs npm from Debian if it is missing.
set -eu
cd "$(dirname "$0")"

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
		echo "viewer: npm is missing: apt install npm" >&2
		exit 1
	fi
	echo "viewer: installing npm"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q=2
	apt-get install -q=2 --no-install-recommends nodejs npm >/dev/null
fi

if ! cmp -s package-lock.json node_modules/installed-lock.json; then
	npm ci --ignore-scripts --no-audit --no-fund
	cp package-lock.json node_modules/installed-lock.json
fi
node build.js
du -cb ../dist/*.gz | awk 'END { printf "viewer: %.1f MiB in the program\n", $1 / 1048576 }'
