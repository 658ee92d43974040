package wkwfs_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wkwfs/wkwfs"

// arrows says what each package may import: our packages by their path below the
// module, other modules by theirs. The standard library is free to all. Test files
// may import what they need.
var arrows = map[string][]string{
	"internal/vfs":   {},
	"volume":         {"internal/vfs", "internal/parallel"},
	"internal/store": {"internal/vfs", "golang.org/x/sync", "golang.org/x/sys"},
	"errlog":         {},

	"wkw":         {"internal/vfs", "volume", "wkw/lz4block", "github.com/pierrec/lz4", "golang.org/x/sync"},
	"precomputed": {"internal/vfs", "volume", "precomputed/cseg", "precomputed/compresso", "precomputed/picture"},

	"wkw/lz4block": {"golang.org/x/sys"},

	"precomputed/cseg":             {},
	"precomputed/compresso":        {},
	"precomputed/picture":          {"github.com/tetratelabs/wazero"},
	"precomputed/internal/reftest": {},

	"internal/flat":     {"volume"},
	"internal/prefetch": {"internal/vfs", "volume", "cache", "internal/flat"},
	"internal/mosaic":   {"internal/vfs", "volume", "internal/flat", "internal/parallel"},
	"internal/parallel": {},

	"internal/sample":   {"volume", "wkw"},
	"internal/importer": {"internal/vfs", "volume", "wkw", "golang.org/x/image", "golang.org/x/sync"},

	"internal/web":    {"internal/vfs", "errlog"},
	"internal/check":  {"internal/vfs", "volume", "internal/parallel", "golang.org/x/sync"},
	"cache":           {"internal/vfs", "volume", "internal/parallel", "github.com/dgraph-io/ristretto", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/header": {"volume"},
	"internal/view":   {"internal/vfs", "volume", "internal/header", "cache", "internal/flat", "internal/mosaic", "internal/prefetch"},
	"internal/copier": {"internal/vfs", "internal/parallel"},
	"fsnode":          {"internal/vfs", "errlog", "internal/parallel", "github.com/hanwen/go-fuse", "golang.org/x/sys"},
	"internal/status": {"internal/vfs", "github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common"},

	"cmd/wkwfs":   {"*"},
	"integration": {},

	"integration/bench":      {"volume", "wkw", "internal/sample", "integration/latefs", "github.com/hanwen/go-fuse", "golang.org/x/sync", "golang.org/x/sys"},
	"integration/latefs":     {"github.com/hanwen/go-fuse", "golang.org/x/sys"},
	"integration/cmd/latefs": {"integration/latefs"},
}

func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, ok := arrows[name]
		switch {
		case !ok:
			t.Errorf("package %s is new: draw its arrows in ARCHITECTURE.md and enter them in the table of this test", name)
			continue
		case slices.Contains(allowed, "*"):
			continue
		}
		for _, path := range p.Imports {
			if !standard(path) && !slices.ContainsFunc(allowed, func(a string) bool { return leads(a, path) }) {
				t.Errorf("package %s imports %s: there is no such arrow in ARCHITECTURE.md; the feature may sit in the wrong package", name, path)
			}
		}
	}
}

type listed struct {
	ImportPath string
	Imports    []string // of the files that are not tests
}

// packages returns our packages, those without a single file but tests included.
func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %v\n%s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != module { // the root holds this test alone
			all = append(all, p)
		}
	}
}

// leads reports whether an import of path is along the arrow: the package of ours, or
// any package of the other module, in any major version.
func leads(arrow, path string) bool {
	return path == module+"/"+arrow || path == arrow || strings.Contains(arrow, ".") && strings.HasPrefix(path, arrow+"/")
}

// standard reports whether the path is of the standard library: the first element of
// other paths is a domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
