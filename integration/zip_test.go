package integration

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestZips reads zip archives with compressed entries, and archives in archives, through mounts, voxel for voxel, from
// a disk and by HTTP.
func TestZips(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	sources := map[string][]string{
		"zip_stored": {"stored.zarr.zip"}, "zip_deflated": {"deflated.zarr.zip", server.URL + "/deflated.zarr.zip"},
		"zip_mixed": {"mixed.zip", server.URL + "/mixed.zip|zip:|zarr3:"}, "zip_folder": {"folder.zip"},
		"zip_streamed": {"streamed.ozx"},
		"zip_nested": {"nested.zip!data/img.zarr.zip",
			server.URL + "/nested.zip|zip:data/img.zarr.zip|zip:|zarr3:"},
		"zip_nested_deflated": {"nested_deflated.zip!img.ozx"},
	}
	for _, s := range all {
		for _, source := range sources[s.Name] {
			if !strings.Contains(source, "://") {
				source = filepath.Join(root, source)
			}
			dir := mount(t, source)
			for _, v := range s.Volumes {
				voxels, err := os.ReadFile(filepath.Join(dir, *v.Mag, "volume.raw"))
				if got := hashOf(voxels); err != nil || got != v.SHA256 {
					t.Errorf("%s: mag %s: %v, %d bytes with hash %s, want %s", source, *v.Mag, err, len(voxels), got,
						v.SHA256)
				}
			}
		}
		delete(sources, s.Name)
	}
	if len(sources) > 0 {
		t.Errorf("no cases %v", sources)
	}
	bomb := mount(t, filepath.Join(root, "zip_bomb.zip"))
	if _, err := os.ReadFile(filepath.Join(bomb, "0", "volume.raw")); !errors.Is(err, syscall.EIO) {
		t.Errorf("zip_bomb: got %v, want EIO", err)
	}
	for source, want := range map[string]string{
		"zip_cut.zip": "zip", "nested.zip": "nested.zip!data/img.zarr.zip", "nested.zip!other.zip": "other.zip",
		"nested.zip!data":               "not a Zarr",
		"nested.zip!../stored.zarr.zip": "a path in the archive", "stored.zarr.zip!0!1": "before !",
		"nested.zip!data/img.zarr.zip!9": "9",
	} {
		if r := wkwfs(t, "info", filepath.Join(root, source)); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %s, want %s in it", source, r.code, r.stderr, want)
		}
	}
}
