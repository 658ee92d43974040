// Package refdata finds the reference data: datasets that other programs wrote, with the hashes of their voxels. It
// is for tests. testdata/refdata of the module has the data that may be shipped. Data of real microscopes are not part
// of the module.
package refdata

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Path returns the path of a file or directory of the reference data, and whether it exists. It looks in the directory
// that the environment variable WKWFS_REFDATA names, or else in shared/refdata beside the module, and then in
// testdata/refdata of the module.
func Path(elem ...string) (string, bool) {
	var path string
	for _, root := range roots() {
		path = filepath.Join(append([]string{root}, elem...)...)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return path, false
}

// Outside is Path for data that are not part of the module. Without them the test is skipped, unless the environment
// variable asks for them.
func Outside(t testing.TB, elem ...string) string {
	t.Helper()
	path, ok := Path(elem...)
	switch {
	case ok:
	case os.Getenv("WKWFS_REFDATA") != "":
		t.Fatalf("WKWFS_REFDATA is set, but there is no %s", path)
	default:
		t.Skipf("%s is not part of this repository", filepath.Join(elem...))
	}
	return path
}

// Dir is Path for data that are part of the module: without them, the test fails.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	path, ok := Path(elem...)
	if !ok {
		t.Fatalf("no reference data: %s does not exist", path)
	}
	return path
}

// WKW returns the names of the directories that have WKW datasets and a manifest.json: those of the module, and those
// of real microscopes that exist on this machine.
func WKW() []string {
	return slices.DeleteFunc([]string{"wkw", "forms", "l4_sample", "annotation"}, func(name string) bool {
		_, ok := Path(name)
		return !ok
	})
}

// roots returns the absolute paths of the directories that may have reference data, in the order in which Path looks.
func roots() []string {
	module := module()
	outside := cmp.Or(os.Getenv("WKWFS_REFDATA"), filepath.Join(module, "..", "shared", "refdata"))
	if abs, err := filepath.Abs(outside); err == nil {
		outside = abs
	} else {
		panic(fmt.Errorf("%s: %w", outside, err)) // the working directory was removed
	}
	return []string{outside, filepath.Join(module, "testdata", "refdata")}
}

// module returns the directory of go.mod. Tests run in the directory of their package, which is below it.
func module() string {
	dir, _ := os.Getwd()
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil || d == filepath.Dir(d) {
			return d
		}
	}
}
