#!/bin/sh
# gotest.sh ARGUMENTS: go test -v ARGUMENTS, told in short: the packages, and each test that was skipped with its reason. If a
# test fails, all of the output.
mkdir -p bin
echo "go test $*"
if ! "${GO:-go}" test -v "$@" >bin/test.log 2>&1; then
	cat bin/test.log
	exit 1
fi
grep '^ok' bin/test.log
awk '
/^=== (RUN|NAME|CONT)/ { test = $3 }
/^ +[a-z0-9_]+_test\.go:[0-9]+: / { said[test] = $0 }
/^ *--- SKIP: / { skipped++; print "skipped: " $3 ":" substr(said[$3], index(said[$3], ": ") + 1) }
END { if (!skipped) print "nothing was skipped" }
' bin/test.log
