package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestComposedTrees mounts an annotation with a tree and no volume: alone, it is the NML file and the tree. Over a
// dataset, the dataset is as it was, and the tree has the size of its voxels: 11.24 × 11.24 × 28 nm.
func TestComposedTrees(t *testing.T) {
	const nml = `<things><parameters><experiment name="base_wkw"/><scale x="10" y="10" z="20" unit="nanometer"/></parameters>` +
		`<thing id="1" name="axon"><nodes><node id="1" radius="20" x="100" y="10" z="1"/></nodes></thing></things>`
	source, base := filepath.Join(tempDir(t), "trees.nml"), filepath.Join(refdata.Dir(t, "annotations"), "base_wkw")
	writeFile(t, source, []byte(nml))
	tree := func(dir, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, "skeletons", "axon.swc")); err != nil ||
			!strings.HasSuffix(string(got), want) {
			t.Errorf("the tree: %q, %v", got, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "trees.nml")); err != nil || string(got) != nml {
			t.Errorf("the NML file: %v", err)
		}
	}
	alone := mount(t, source)
	tree(alone, "\n1 0 1 0.1 0.02 0.02 -1\n")
	entries, err := os.ReadDir(alone)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Contains(names, "skeletons") || !slices.Contains(names, "trees.nml") ||
		slices.Contains(names, "ome.zarr") {
		t.Errorf("alone: %v, %v", names, err)
	}
	over := mount(t, source, "--over="+base)
	tree(over, "\n1 0 1.124 0.1124 0.028 0.02 -1\n")
	want := wholeFiles(t, mount(t, base))
	got := wholeFiles(t, over)
	if len(want) < 4 {
		t.Errorf("%d files of the dataset", len(want))
	}
	for name, sum := range want {
		if got[name] != sum {
			t.Errorf("%s is not that of the dataset", name)
		}
	}
	if r := wkwfs(t, "info", "--over="+base, source); r.code != 0 || !strings.Contains(r.stdout, "segmentation") {
		t.Errorf("info: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}
