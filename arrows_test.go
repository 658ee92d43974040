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
	"internal/small/guard":   {},
	"internal/vfs":           {"internal/small/access", "internal/small/guard", "internal/small/span"},
	"internal/tests/vfstest": {"internal/vfs"},
	"volume":                 {"internal/vfs", "internal/small/parallel"},
	"internal/stores/store": {"internal/small/guard", "internal/small/access", "internal/vfs", "golang.org/x/sync",
		"golang.org/x/sys", "internal/small/ttl"},
	"internal/stores/object": {"internal/small/guard", "internal/small/lru", "internal/small/parallel",
		"internal/vfs", "internal/small/ttl"},
	"internal/stores/remote": {"internal/small/guard", "internal/small/hint", "internal/stores/object",
		"internal/vfs", "github.com/cenkalti/backoff", "github.com/minio/minio-go", "golang.org/x/net",
		"golang.org/x/oauth2", "gopkg.in/ini.v1"},
	"internal/stores/diskcache": {"internal/small/guard", "internal/small/hint", "internal/small/lru",
		"internal/stores/object", "internal/vfs", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/small/log": {"internal/small/guard", "internal/small/hint", "github.com/coreos/go-systemd",
		"golang.org/x/sys"},
	"internal/small/hint":  {},
	"internal/small/link":  {"internal/small/hint", "internal/small/jsonlimit"},
	"internal/small/paths": {},
	"internal/names/tree":  {"volume"},

	"internal/small/atomicfile": {},
	"internal/small/lockfile":   {"github.com/moby/sys/mountinfo", "golang.org/x/sys"},

	"webknossos": {"internal/small/ttl", "internal/small/jsonlimit", "internal/vfs", "volume", "wkw"},
	"wkw": {"internal/small/scratch", "internal/small/lru", "internal/small/atomicfile", "internal/vfs",
		"volume", "wkw/lz4block", "github.com/pierrec/lz4", "golang.org/x/sync", "internal/small/ttl"},
	"precomputed": {"internal/arrays/chunked", "internal/arrays/codec", "internal/small/scratch",
		"internal/arrays/lattice", "internal/small/jsonlimit", "internal/vfs", "volume",
		"precomputed/cseg", "precomputed/compresso", "precomputed/picture", "github.com/andybalholm/brotli",
		"internal/small/ttl"},

	"dataset": {"cache", "internal/stores/diskcache", "internal/files/filesource", "internal/small/guard",
		"internal/files/hdfsource", "internal/files/knossos", "internal/small/hint", "internal/read/mosaic",
		"internal/stores/object", "internal/small/parallel", "internal/small/paths", "internal/stores/remote",
		"internal/stores/store", "internal/vfs", "internal/stores/zipfs", "n5", "precomputed", "volume", "webknossos",
		"zarr", "github.com/moby/sys/mountinfo", "golang.org/x/sys", "internal/files/annotation",
		"internal/compose/overlay", "internal/compose/relabel", "internal/small/jsonlimit", "internal/small/link"},

	"zarr": {"internal/arrays/chunked", "internal/arrays/codec", "internal/small/jsonlimit",
		"internal/small/lru", "internal/small/parallel", "internal/vfs", "volume"},
	"n5": {"internal/arrays/chunked", "internal/arrays/codec", "internal/small/jsonlimit",
		"volume"},
	"internal/arrays/chunked": {"internal/small/access", "internal/arrays/codec", "internal/small/jsonlimit",
		"internal/arrays/lattice", "internal/small/parallel", "internal/small/scratch",
		"internal/vfs", "volume", "golang.org/x/sync", "internal/small/ttl"},

	"wkw/lz4block": {"golang.org/x/sys"},
	"hdf5": {"internal/arrays/codec", "internal/small/lru", "internal/small/parallel", "internal/small/scratch",
		"wkw/lz4block"},

	"precomputed/cseg":             {"volume"},
	"precomputed/compresso":        {"volume"},
	"precomputed/picture":          {"volume", "github.com/tetratelabs/wazero"},
	"precomputed/internal/reftest": {"internal/tests/refdata"},

	"internal/stores/zipfs": {"internal/arrays/codec", "internal/small/scratch", "internal/vfs", "volume",
		"github.com/klauspost/compress"},

	"internal/small/scratch": {"golang.org/x/sys"},
	"internal/arrays/codec": {"internal/small/scratch", "volume", "wkw/lz4block", "github.com/klauspost/compress",
		"github.com/ulikunitz/xz"},
	"internal/read/flat": {"volume"},
	"internal/read/prefetch": {"internal/small/guard", "internal/vfs", "volume", "cache", "internal/read/flat",
		"internal/small/span", "internal/small/parallel", "internal/small/scratch"},
	"internal/read/mosaic": {"internal/small/guard", "internal/small/access", "internal/small/lru", "internal/vfs",
		"volume", "internal/read/flat", "internal/small/parallel", "internal/small/ttl"},
	"internal/small/span":      {},
	"internal/small/parallel":  {"internal/small/guard"},
	"internal/small/jsonlimit": {},
	"internal/arrays/lattice":  {"internal/small/lru", "internal/vfs", "volume"},
	"internal/small/lru":       {},
	"internal/small/access":    {},
	"internal/tests/refdata":   {},

	"internal/write/downsample": {"volume"},
	"internal/serve/preview":    {"internal/serve/render", "internal/small/scratch", "volume", "golang.org/x/sync"},
	"internal/host/terminal":    {"golang.org/x/sys", "golang.org/x/term"},

	"internal/names/omezarr": {"volume"},
	"internal/serve/render":  {"volume"},

	"internal/tests/voxeltest": {"internal/names/header", "volume"},

	"internal/fileformat/nifti": {"volume"},
	"internal/fileformat/nrrd":  {"volume"},
	"internal/fileformat/tiff":  {"volume"},

	"internal/jobs/sample": {"internal/small/atomicfile", "volume", "webknossos", "wkw"},
	"internal/files/arrayfile": {"internal/fileformat/nifti", "internal/fileformat/nrrd", "internal/fileformat/tiff",
		"internal/vfs", "volume", "github.com/klauspost/compress", "golang.org/x/image", "internal/arrays/codec"},
	"internal/files/knossos": {"internal/arrays/chunked", "internal/arrays/codec", "internal/small/jsonlimit",
		"internal/vfs", "precomputed/picture", "volume", "github.com/BurntSushi/toml", "github.com/klauspost/compress"},
	"internal/files/hdfsource": {"hdf5", "internal/small/lru", "internal/small/parallel", "internal/small/scratch",
		"internal/vfs", "volume"},
	"internal/files/filesource": {"internal/small/access", "internal/small/hint", "internal/files/arrayfile",
		"internal/vfs", "volume"},
	"internal/write/pyramid": {"internal/small/atomicfile", "internal/write/downsample", "volume",
		"internal/read/flat", "wkw", "github.com/klauspost/compress", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/write/importer": {"internal/files/arrayfile", "internal/small/atomicfile", "internal/jobs/batch",
		"internal/write/downsample", "internal/small/jsonlimit", "internal/small/paths", "internal/small/lockfile",
		"internal/write/pyramid", "volume", "webknossos", "wkw", "internal/arrays/lattice", "internal/compose/overlay",
		"golang.org/x/sync"},

	"internal/serve/web": {"internal/small/guard", "internal/small/hint", "internal/small/lru", "internal/vfs",
		"internal/small/log", "internal/serve/render", "internal/names/tree", "volume"},
	"internal/serve/viewer":   {},
	"internal/jobs/gaps":      {"internal/vfs", "volume", "internal/small/parallel"},
	"internal/compose/subset": {"internal/small/hint", "volume"},
	"internal/compose/shown":  {"internal/small/jsonlimit", "internal/names/tree", "volume"},
	"internal/jobs/batch":     {"internal/small/hint"},
	"internal/jobs/check": {"internal/jobs/batch", "internal/jobs/gaps", "internal/small/hint",
		"internal/small/scratch", "internal/vfs", "volume", "internal/small/parallel", "golang.org/x/sync"},
	"cache": {"internal/small/guard", "internal/vfs", "volume", "internal/small/parallel",
		"github.com/dgraph-io/ristretto", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/names/header": {"internal/fileformat/nifti", "internal/fileformat/nrrd", "internal/fileformat/tiff",
		"volume"},
	"internal/names/view": {"internal/small/lru", "internal/vfs", "internal/names/tree", "volume",
		"internal/names/header", "internal/names/omezarr", "cache", "internal/read/flat", "internal/read/mosaic",
		"internal/read/prefetch", "internal/small/span", "internal/small/ttl", "internal/small/guard",
		"internal/small/parallel", "internal/read/writable"},
	"internal/jobs/copier": {"internal/jobs/batch", "internal/small/hint", "internal/small/lockfile",
		"internal/small/parallel", "internal/small/paths", "internal/names/tree", "internal/vfs", "internal/small/span",
		"volume"},
	"fsnode": {"internal/small/guard", "internal/small/lru", "internal/vfs", "internal/small/log",
		"internal/small/parallel", "github.com/hanwen/go-fuse", "golang.org/x/sys"},
	"internal/serve/status": {"internal/stores/diskcache", "internal/small/guard", "internal/small/hint",
		"internal/vfs", "golang.org/x/sys", "internal/names/tree", "github.com/prometheus/client_golang",
		"github.com/prometheus/client_model", "github.com/prometheus/common"},
	"internal/compose/relabel": {"hdf5", "internal/small/jsonlimit", "internal/vfs", "volume", "zarr",
		"internal/small/ttl", "internal/small/scratch"},
	"internal/files/annotation": {"internal/files/nml", "internal/vfs", "internal/stores/zipfs", "volume", "webknossos",
		"zarr", "internal/small/atomicfile"},
	"internal/files/nml": {"internal/arrays/chunked", "internal/vfs", "volume"},
	"internal/compose/overlay": {"internal/small/access", "internal/small/scratch", "internal/vfs", "volume",
		"internal/small/ttl"},

	"internal/serve/nfs": {"internal/small/guard", "internal/serve/nfs/xdr", "internal/small/log",
		"internal/small/lru", "internal/small/parallel", "internal/serve/peer", "internal/names/tree", "internal/vfs"},
	"internal/serve/nfs/xdr": {},
	"internal/serve/peer":    {},

	"internal/host/daemon": {"internal/small/guard", "github.com/coreos/go-systemd", "golang.org/x/sys",
		"kernel.org/pub/linux/libs/security/libcap/psx"},
	"internal/host/mounts": {"internal/small/guard", "fsnode", "internal/small/hint", "internal/small/paths",
		"github.com/moby/sys/mountinfo", "golang.org/x/sys"},

	"internal/host/settings": {"internal/small/hint", "internal/small/paths", "github.com/dustin/go-humanize",
		"github.com/spf13/pflag", "go.yaml.in/yaml"},
	"internal/jobs/inspect": {"internal/small/hint", "internal/small/parallel", "internal/names/tree",
		"internal/names/view", "volume", "wkw", "internal/jobs/gaps"},

	"cmd/wkwfs":   {"*"},
	"integration": {},

	"integration/torture":    {},
	"integration/cloudproxy": {},

	"integration/bench": {"volume", "wkw", "internal/jobs/sample", "integration/cloudproxy",
		"integration/latefs", "golang.org/x/sync", "golang.org/x/sys"},
	"integration/latefs":     {"github.com/hanwen/go-fuse", "golang.org/x/sys"},
	"integration/cmd/latefs": {"integration/latefs"},
	"integration/cmd/mapped": {},
	"internal/small/ttl":     {},
	"internal/read/writable": {"volume"},
	"internal/write/edit": {"cache", "internal/compose/overlay", "internal/files/annotation",
		"internal/files/nml", "internal/read/mosaic", "internal/read/writable", "internal/small/atomicfile",
		"internal/small/guard", "internal/small/lockfile", "internal/small/parallel", "internal/stores/store",
		"internal/vfs", "volume", "webknossos", "wkw", "golang.org/x/sys"},
	"internal/write/save": {"internal/files/arrayfile", "internal/names/tree", "internal/read/writable",
		"internal/vfs", "volume", "golang.org/x/sys"},
	"internal/jobs/diff": {"cache", "internal/arrays/lattice", "internal/compose/overlay",
		"internal/read/mosaic", "internal/small/hint", "internal/small/parallel", "internal/small/scratch", "volume"},
	"internal/write/annotations": {"internal/arrays/lattice", "internal/files/annotation", "internal/files/nml",
		"internal/small/atomicfile", "internal/small/lockfile", "volume", "webknossos", "wkw"},
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
				t.Errorf(
					"package %s imports %s: the table of this test has no such arrow; the code may be in the wrong package", name, imported)
			}
		}
	}
}

// public are the packages that other programs may import: those that are neither internal nor programs.
var public = []string{
	"cache", "dataset", "fsnode", "hdf5", "n5", "precomputed", "precomputed/compresso", "precomputed/cseg",
	"precomputed/picture", "volume", "webknossos", "wkw", "wkw/lz4block", "zarr",
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
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "integration") ||
			slices.Contains(strings.Split(name, "/"), "internal") {
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

// TestTreeIsDrawn checks that the tree at the top of ARCHITECTURE.md has every package, and that the Go files that the
// document names exist.
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
	return path == module+"/"+arrow || path == arrow ||
		strings.Contains(arrow, ".") && strings.HasPrefix(path, arrow+"/")
}

// standard reports whether the path is of the standard library: the first element of
// other paths is a domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
