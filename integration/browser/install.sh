#!/bin/sh
# Installs what the browser tests need: Chromium and Node.js from Debian, Neuroglancer
# from npm; then builds the page. Quick when they are there. As root.
set -eu
cd "$(dirname "$0")"

missing=
[ -x /usr/bin/chromium ] || missing="$missing chromium"
command -v node >/dev/null || missing="$missing nodejs"
command -v npm >/dev/null || missing="$missing npm"
if [ -n "$missing" ]; then
	if [ "$(id -u)" -ne 0 ]; then
		echo "browser: not root, and these Debian packages are missing:$missing" >&2
		exit 1
	fi
	echo "browser: installing$missing"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q=2
	# shellcheck disable=SC2086 # one word a package
	apt-get install -q=2 --no-install-recommends $missing >/dev/null
fi

# What is installed is what is locked.
if ! cmp -s package-lock.json node_modules/installed-lock.json; then
	npm ci
	cp package-lock.json node_modules/installed-lock.json
fi
node build.js
