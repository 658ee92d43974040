#!/bin/sh
# Installs the programs of the browser tests: Chromium and Node.js from Debian, Playwright and
# zarrita from npm. Needs root, unless they are installed.
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
	# shellcheck disable=SC2086 # one word per package
	apt-get install -q=2 --no-install-recommends $missing >/dev/null
fi

# Install exactly the locked versions.
if ! cmp -s package-lock.json node_modules/installed-lock.json; then
	npm ci --ignore-scripts --no-audit --no-fund
	cp package-lock.json node_modules/installed-lock.json
fi
