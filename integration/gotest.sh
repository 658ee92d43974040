#!/bin/sh
# gotest.sh ARGUMENTS runs go test ARGUMENTS. It prints a line for each package when it is done, with its time; then each test
# that was skipped, with its reason, each test that failed, with its output, and totals. bin/test.json, or
# the file that TESTLOG names, has what all tests print.
mkdir -p bin
go=${GO:-go}
echo "${WKWFS_RACE:+WKWFS_RACE=$WKWFS_RACE }${GOMAXPROCS:+GOMAXPROCS=$GOMAXPROCS }go test $*" | sed 's,github.com/wkwfs/wkwfs/,./,g'
exec "$go" tool gotestsum --format pkgname --format-icons text --format-hide-empty-pkg --jsonfile "${TESTLOG:-bin/test.json}" \
	--raw-command -- "$go" test -json "$@"
