package wkwfs_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wkwfs/wkwfs"

// arrows says what each package may import: our packages by their path below the
// module, other modules by theirs. The standard library is free to all. Test files
// may import what they need.
var arrows = map[string][]string{
	"internal/guard":     {},
	"internal/vfs":       {"internal/guard", "internal/span"},
	"internal/vfstest":   {"internal/vfs"},
	"volume":             {"internal/vfs", "internal/parallel"},
	"internal/store":     {"internal/guard", "internal/access", "internal/vfs", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/object":    {"internal/guard", "internal/lru", "internal/parallel", "internal/vfs"},
	"internal/remote":    {"internal/guard", "internal/hint", "internal/object", "internal/vfs", "github.com/cenkalti/backoff", "github.com/minio/minio-go", "golang.org/x/net", "golang.org/x/oauth2", "gopkg.in/ini.v1"},
	"internal/diskcache": {"internal/guard", "internal/hint", "internal/lru", "internal/object", "internal/vfs", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/log":       {"internal/guard", "internal/hint", "github.com/coreos/go-systemd", "golang.org/x/sys"},
	"internal/hint":      {},
	"internal/link":      {"internal/hint", "internal/jsonlimit"},
	"internal/paths":     {},
	"internal/tree":      {"volume"},

	"internal/atomicfile": {},
	"internal/lockfile":   {"github.com/moby/sys/mountinfo", "golang.org/x/sys"},

	"wkw":         {"internal/scratch", "internal/lru", "internal/atomicfile", "internal/jsonlimit", "internal/vfs", "volume", "wkw/lz4block", "github.com/pierrec/lz4", "golang.org/x/sync"},
	"precomputed": {"internal/codec", "internal/scratch", "internal/lattice", "internal/lru", "internal/jsonlimit", "internal/vfs", "volume", "precomputed/cseg", "precomputed/compresso", "precomputed/picture", "github.com/andybalholm/brotli"},

	"dataset": {"cache", "internal/diskcache", "internal/filesource", "internal/guard", "internal/hdfsource", "internal/hint", "internal/mosaic", "internal/object", "internal/parallel", "internal/paths", "internal/remote", "internal/store", "internal/vfs", "internal/zipfs", "n5", "precomputed", "volume", "wkw", "zarr", "github.com/moby/sys/mountinfo", "golang.org/x/sys", "internal/annotation", "internal/compose/overlay", "internal/compose/relabel"},

	"zarr":             {"internal/chunked", "internal/codec", "internal/jsonlimit", "internal/vfs", "volume"},
	"n5":               {"internal/chunked", "internal/codec", "internal/jsonlimit", "volume"},
	"internal/chunked": {"internal/access", "internal/codec", "internal/jsonlimit", "internal/lattice", "internal/lru", "internal/parallel", "internal/scratch", "internal/vfs", "volume", "golang.org/x/sync"},

	"wkw/lz4block": {"golang.org/x/sys"},
	"hdf5":         {"internal/codec", "internal/lru", "internal/parallel", "internal/scratch", "wkw/lz4block"},

	"precomputed/cseg":             {"volume"},
	"precomputed/compresso":        {"volume"},
	"precomputed/picture":          {"volume", "github.com/tetratelabs/wazero"},
	"precomputed/internal/reftest": {"internal/refdata"},

	"internal/zipfs": {"internal/vfs", "volume"},

	"internal/scratch":   {"golang.org/x/sys"},
	"internal/codec":     {"internal/scratch", "volume", "wkw/lz4block", "github.com/klauspost/compress", "github.com/ulikunitz/xz"},
	"internal/flat":      {"volume"},
	"internal/prefetch":  {"internal/guard", "internal/vfs", "volume", "cache", "internal/flat", "internal/span"},
	"internal/mosaic":    {"internal/guard", "internal/access", "internal/lru", "internal/vfs", "volume", "internal/flat", "internal/parallel"},
	"internal/span":      {},
	"internal/parallel":  {"internal/guard"},
	"internal/jsonlimit": {},
	"internal/lattice":   {"volume"},
	"internal/lru":       {},
	"internal/access":    {},
	"internal/refdata":   {},

	"internal/downsample": {"volume"},
	"internal/preview":    {"internal/render", "internal/scratch", "volume", "golang.org/x/sync"},
	"internal/terminal":   {"golang.org/x/sys", "golang.org/x/term"},

	"internal/omezarr": {"volume"},
	"internal/render":  {"volume"},

	"internal/voxeltest": {"internal/header", "volume"},

	"internal/fileformat/nifti": {"volume"},
	"internal/fileformat/nrrd":  {"volume"},
	"internal/fileformat/tiff":  {"volume"},

	"internal/sample":     {"internal/atomicfile", "volume", "wkw"},
	"internal/arrayfile":  {"internal/fileformat/nifti", "internal/fileformat/nrrd", "internal/fileformat/tiff", "internal/vfs", "volume", "github.com/klauspost/compress", "golang.org/x/image"},
	"internal/hdfsource":  {"hdf5", "internal/vfs", "volume"},
	"internal/filesource": {"internal/access", "internal/arrayfile", "internal/vfs", "volume"},
	"internal/pyramid":    {"internal/atomicfile", "internal/downsample", "volume", "internal/flat", "wkw", "github.com/klauspost/compress", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/importer":   {"internal/arrayfile", "internal/atomicfile", "internal/batch", "internal/downsample", "internal/jsonlimit", "internal/paths", "internal/lockfile", "internal/pyramid", "volume", "wkw"},

	"internal/web":             {"internal/guard", "internal/hint", "internal/lru", "internal/vfs", "internal/log", "internal/render", "internal/tree", "volume"},
	"internal/viewer":          {},
	"internal/gaps":            {"internal/vfs", "volume", "internal/parallel"},
	"internal/subset":          {"internal/hint", "volume"},
	"internal/shown":           {"internal/jsonlimit", "internal/tree", "volume"},
	"internal/batch":           {"internal/hint"},
	"internal/check":           {"internal/batch", "internal/gaps", "internal/scratch", "internal/vfs", "volume", "internal/parallel", "golang.org/x/sync"},
	"cache":                    {"internal/guard", "internal/vfs", "volume", "internal/parallel", "github.com/dgraph-io/ristretto", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/header":          {"internal/fileformat/nifti", "internal/fileformat/nrrd", "internal/fileformat/tiff", "volume"},
	"internal/view":            {"internal/lru", "internal/vfs", "internal/tree", "volume", "internal/header", "internal/omezarr", "cache", "internal/flat", "internal/mosaic", "internal/prefetch", "internal/span"},
	"internal/copier":          {"internal/batch", "internal/hint", "internal/lockfile", "internal/parallel", "internal/paths", "internal/tree", "internal/vfs", "internal/span"},
	"fsnode":                   {"internal/guard", "internal/lru", "internal/vfs", "internal/log", "internal/parallel", "github.com/hanwen/go-fuse", "golang.org/x/sys"},
	"internal/status":          {"internal/diskcache", "internal/guard", "internal/hint", "internal/vfs", "golang.org/x/sys", "internal/tree", "github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common"},
	"internal/compose/relabel": {"internal/jsonlimit", "internal/vfs", "volume", "zarr"},
	"internal/annotation":      {"internal/nml", "internal/vfs", "internal/zipfs", "volume", "wkw", "zarr"},
	"internal/nml":             {"internal/chunked", "internal/vfs", "volume"},
	"internal/compose/overlay": {"internal/access", "internal/scratch", "internal/vfs", "volume"},

	"internal/nfs":     {"internal/guard", "internal/nfs/xdr", "internal/log", "internal/lru", "internal/parallel", "internal/peer", "internal/tree", "internal/vfs"},
	"internal/nfs/xdr": {},
	"internal/peer":    {},

	"internal/daemon": {"internal/guard", "github.com/coreos/go-systemd", "golang.org/x/sys", "kernel.org/pub/linux/libs/security/libcap/psx"},
	"internal/mounts": {"internal/guard", "fsnode", "internal/hint", "internal/paths", "github.com/moby/sys/mountinfo", "golang.org/x/sys"},

	"internal/settings": {"internal/hint", "internal/paths", "github.com/dustin/go-humanize", "github.com/spf13/pflag", "go.yaml.in/yaml"},
	"internal/inspect":  {"internal/hint", "internal/parallel", "internal/tree", "internal/view", "volume", "wkw", "internal/gaps"},

	"cmd/wkwfs":   {"*"},
	"integration": {},

	"integration/torture":    {},
	"integration/cloudproxy": {},

	"integration/bench":      {"internal/batch", "internal/codec", "internal/nfs/xdr", "volume", "wkw", "internal/sample", "integration/cloudproxy", "integration/latefs", "github.com/hanwen/go-fuse", "golang.org/x/sync", "golang.org/x/sys"},
	"integration/latefs":     {"github.com/hanwen/go-fuse", "golang.org/x/sys"},
	"integration/cmd/latefs": {"integration/latefs"},
	"integration/cmd/mapped": {},
}

func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, ok := arrows[name]
		switch {
		case !ok:
			t.Errorf("package %s is new: enter what it may import in the table of this test", name)
			continue
		case slices.Contains(allowed, "*"):
			continue
		}
		for _, imported := range p.Imports {
			if !standard(imported) && !slices.ContainsFunc(allowed, func(a string) bool { return leads(a, imported) }) {
				t.Errorf("package %s imports %s: the table of this test has no such arrow; the code may be in the wrong package", name, imported)
			}
		}
	}
}

// public are the packages that other programs may import: those that are neither internal nor programs.
var public = []string{
	"cache", "dataset", "fsnode", "hdf5", "n5", "precomputed", "precomputed/compresso", "precomputed/cseg", "precomputed/picture", "volume", "wkw", "wkw/lz4block", "zarr",
}

// TestPublicPackages checks that a package becomes public on purpose, and that docs/go.md lists it.
func TestPublicPackages(t *testing.T) {
	b, err := os.ReadFile("docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "integration") || slices.Contains(strings.Split(name, "/"), "internal") {
			continue
		}
		found = append(found, name)
		if !strings.Contains(string(b), "`"+name+"`") {
			t.Errorf("docs/go.md lacks %s", name)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, public) {
		t.Errorf("the public packages are %q, expected %q", found, public)
	}
}

// TestTreeIsDrawn checks that the tree at the top of ARCHITECTURE.md has every package, and that the Go files that the document
// names exist.
func TestTreeIsDrawn(t *testing.T) {
	b, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	tree, _, _ := strings.Cut(string(b), "\n## ")
	for _, p := range packages(t) {
		name := path.Base(p.ImportPath)
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(tree) {
			t.Errorf("the tree in ARCHITECTURE.md lacks %s", strings.TrimPrefix(p.ImportPath, module+"/"))
		}
	}
	for _, m := range regexp.MustCompile("`([a-z0-9/]+/[a-z0-9_]+\\.go)`").FindAllStringSubmatch(string(b), -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("ARCHITECTURE.md names a file that does not exist: %v", err)
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

// leads reports whether an import of path is along the arrow: a package of this module, or
// any package of another module, in any major version.
func leads(arrow, path string) bool {
	return path == module+"/"+arrow || path == arrow || strings.Contains(arrow, ".") && strings.HasPrefix(path, arrow+"/")
}

// standard reports whether the path is of the standard library: the first element of
// other paths is a domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
