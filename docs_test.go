package wkwfs_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSemanticsNameTheirTests checks that each promise in SEMANTICS.md names a test, and that each test that is named exists.
func TestSemanticsNameTheirTests(t *testing.T) {
	exists := declaredTests(t)
	for promise, tests := range promises(t) {
		if len(tests) == 0 {
			t.Errorf("a promise without a test: %s", promise)
		}
		for _, test := range tests {
			if !exists[test] {
				t.Errorf("%s does not exist, but holds: %s", test, promise)
			}
		}
	}
}

// TestSemanticsHold checks that each test that SEMANTICS.md names ran and passed. It reads the output of `go test -json`, which
// WKWFS_TEST_LOG names: integration/gotest.sh writes it, and make runs this test after the others. The tests of other programs run
// apart from the rest and have an output of their own.
//
// A test may be skipped only where mounts need not work, which WKWFS_REQUIRE_FUSE=1 forbids.
func TestSemanticsHold(t *testing.T) {
	log := os.Getenv("WKWFS_TEST_LOG")
	if log == "" {
		t.Skip("no output of tests to look at: make test sets WKWFS_TEST_LOG")
	}
	results := testResults(t, log)
	isClientTest := clientTests(t)
	clients := slices.ContainsFunc(slices.Collect(maps.Keys(results)), func(test string) bool { return isClientTest[test] })
	for promise, tests := range promises(t) {
		for _, test := range tests {
			switch result := results[test]; {
			case isClientTest[test] != clients, result == "pass":
			case result == "skip" && os.Getenv("WKWFS_REQUIRE_FUSE") == "":
				t.Logf("%s was skipped: not held here: %s", test, promise)
			default:
				t.Errorf("%s: got %q, expected pass: %s", test, result, promise)
			}
		}
	}
}

// testResults returns how each test in an output of `go test -json` ended: pass, skip or fail.
func testResults(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	results := map[string]string{}
	for events := json.NewDecoder(f); events.More(); {
		var event struct{ Action, Test string }
		if err := events.Decode(&event); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if event.Test != "" && (event.Action == "pass" || event.Action == "skip" || event.Action == "fail") {
			results[event.Test] = event.Action
		}
	}
	return results
}

// promises returns the sentences of SEMANTICS.md, each with the names of its tests.
func promises(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("SEMANTICS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`")
	all := map[string][]string{}
	for _, promise := range regexp.MustCompile(`(?m)^\* .*\n(  .*\n)*`).FindAllString(string(b), -1) {
		tests := []string{}
		for _, m := range named.FindAllStringSubmatch(promise, -1) {
			tests = append(tests, m[1])
		}
		all[strings.Join(strings.Fields(promise), " ")] = tests
	}
	if len(all) == 0 {
		t.Fatal("SEMANTICS.md has no promises")
	}
	return all
}

// declaredTests returns the names of all tests in the module, with any build tags.
func declaredTests(t *testing.T) map[string]bool {
	return testsWhere(t, func(string) bool { return true })
}

// clientTests returns the names of the tests of other programs: those that are built with the tag clients.
func clientTests(t *testing.T) map[string]bool {
	return testsWhere(t, func(source string) bool { return strings.HasPrefix(source, "//go:build clients\n") })
}

// testsWhere returns the names of all tests in the files whose source chosen accepts.
func testsWhere(t *testing.T, chosen func(source string) bool) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	all := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !chosen(string(b)) {
			return err
		}
		for _, m := range declared.FindAllSubmatch(b, -1) {
			all[string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
