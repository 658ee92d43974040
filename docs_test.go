package wkwfs_test

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSemanticsNameTheirTests checks that each promise in SEMANTICS.md names a test, and that each test that is named
// exists.
func TestSemanticsNameTheirTests(t *testing.T) {
	tagOf := declaredTests(t)
	for promise, tests := range promises(t) {
		if len(tests) == 0 {
			t.Errorf("a promise without a test: %s", promise)
		}
		for _, test := range tests {
			if _, exists := tagOf[test]; !exists {
				t.Errorf("%s does not exist, but holds: %s", test, promise)
			}
		}
	}
}

// TestSemanticsHold checks that each test that SEMANTICS.md names ran and passed. It reads the output of `go test
// -json`, which WKWFS_TEST_LOG names: integration/gotest.sh writes it, and make runs this test after the others. The
// tests of other programs and those of the browser run apart from the rest, and each of both has an output of its own.
//
// A test may be skipped only where mounts need not work, which WKWFS_REQUIRE_FUSE=1 forbids.
func TestSemanticsHold(t *testing.T) {
	log := os.Getenv("WKWFS_TEST_LOG")
	if log == "" {
		t.Skip("no output of tests to look at: make test sets WKWFS_TEST_LOG")
	}
	results := testResults(t, log)
	tagOf := declaredTests(t)
	var tag string // of the output
	for test := range results {
		tag = cmp.Or(tag, tagOf[test])
	}
	for promise, tests := range promises(t) {
		for _, test := range tests {
			switch result := results[test]; {
			case tagOf[test] != tag, result == "pass":
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

// promises returns the rows of the tables of SEMANTICS.md, and the items below the heading Promises in comments of
// packages, each with the names of its tests.
func promises(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	row := regexp.MustCompile(`(?m)^\| .*\|$`)
	for _, promise := range row.FindAllString(readText(t, "SEMANTICS.md"), -1) {
		if promise != "| what | promise | tests |" {
			all[promise] = namedTests(promise)
		}
	}
	if len(all) == 0 {
		t.Fatal("SEMANTICS.md has no promises")
	}
	inTables := len(all)
	item := regexp.MustCompile(`(?m)^//   - .*\n(//     .*\n)*`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		_, list, found := strings.Cut(readText(t, path), "// # Promises\n")
		if !found {
			return nil
		}
		list, _, _ = strings.Cut(list, "\npackage ")
		for _, promise := range item.FindAllString(list+"\n", -1) {
			promise = strings.Join(strings.Fields(strings.ReplaceAll(promise, "//", "")), " ")
			all[path+": "+promise] = namedTests(promise)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == inTables {
		t.Fatal("no comment of a package has promises")
	}
	return all
}

// namedTests returns the names of tests in a promise.
func namedTests(promise string) []string {
	var tests []string
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(promise, -1) {
		tests = append(tests, m[1])
	}
	return tests
}

// here is the tag of tests in the package at the top. They run together with TestSemanticsHold, and the output does not
// have them.
const here = "here"

// declaredTests returns the names of all tests in the module, with the build tags that they need: clients or browser,
// or "". The tests of this package have the tag here.
func declaredTests(t *testing.T) map[string]string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	tag := regexp.MustCompile(`^//go:build (clients|browser)\n`)
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var needs string
		if m := tag.FindSubmatch(b); m != nil {
			needs = string(m[1])
		} else if filepath.Dir(path) == "." {
			needs = here
		}
		for _, m := range declared.FindAllSubmatch(b, -1) {
			all[string(m[1])] = needs
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
