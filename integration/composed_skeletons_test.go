package integration

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestComposedSkeletons: trees of an annotation are files in a mount, in a copy and over HTTP, in micrometers by the
// size of a voxel that the dataset has: 11.24 × 11.24 × 28 nm. The NML file is shown as it is.
func TestComposedSkeletons(t *testing.T) {
	annotation := filepath.Join(tempDir(t), "annotation")
	if err := os.CopyFS(annotation, os.DirFS(filepath.Join(refdata.Dir(t, "annotations"),
		"unpacked_both"))); err != nil {
		t.Fatal(err)
	}
	nml := filepath.Join(annotation, "ann.nml")
	stored, err := os.ReadFile(nml)
	if err != nil {
		t.Fatal(err)
	}
	stored = bytes.Replace(stored, []byte(`</things>`),
		[]byte(`<thing id="5" name="axon 1/2"><nodes><node id="3" radius="20" x="100" y="10" z="1"/>`+
			`<node id="4" radius="30" x="200" y="0" z="2"/></nodes><edges><edge source="3" target="4"/></edges></thing></things>`), 1)
	if err := os.Remove(nml); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nml, stored, 0o644); err != nil {
		t.Fatal(err)
	}
	over := "--over=" + filepath.Join(refdata.Dir(t, "annotations"), "base_wkw")
	dir := mount(t, annotation, over)
	const name = "skeletons/axon 1_2.swc"
	const want = "# tree \"axon 1/2\" of an annotation of WEBKNOSSOS\n# unit: micrometers\n# id type x y z radius parent\n" +
		"3 0 1.124 0.1124 0.028 0.02 -1\n4 0 2.248 0 0.056 0.03 3\n"
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
		t.Errorf("in a mount: got %q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() != int64(len(want)) ||
		info.Mode() != 0o444 {
		t.Errorf("got %v, %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "skeletons")); err != nil || len(entries) != 2 ||
		entries[1].Name() != "tree.swc" {
		t.Errorf("got %v, %v", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "ann.nml")); err != nil || !bytes.Equal(got, stored) {
		t.Errorf("the NML file has other bytes: %v", err)
	}
	copied := filepath.Join(tempDir(t), "copy")
	mustRun(t, "cp", "-q", over, annotation, "skeletons", copied)
	if got, err := os.ReadFile(filepath.Join(copied, filepath.Base(name))); err != nil || string(got) != want {
		t.Errorf("in a copy: got %q, %v", got, err)
	}
	server := startWeb(t, nil, over, "--listen", "127.0.0.1:0", annotation)
	if response, got := server.get(t, "skeletons/axon%201_2.swc"); response.StatusCode != http.StatusOK ||
		string(got) != want {
		t.Errorf("over HTTP: %s, %q", response.Status, got)
	}
	if r := wkwfs(t, "check", over, annotation); r.code != 0 {
		t.Errorf("check: exit code %d: %s", r.code, r.stdout)
	}
	if err := os.WriteFile(nml, bytes.Replace(stored, []byte(`target="4"`), []byte(`target="9"`), 1),
		0o644); err != nil {
		t.Fatal(err)
	}
	if r := wkwfs(t, "check", over, annotation); r.code != 1 ||
		!strings.Contains(r.stdout, `ann.nml: tree "axon 1/2": edge from 3 to 9`) {
		t.Errorf("check of an edge to no node: exit code %d: %s", r.code, r.stdout)
	}
}
