package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestFolderOfDamagedFiles mounts a folder in which one file is cut off before the mount, and another one after it. The
// first is no layer, and info and check name it. The second cannot be read any more. All others keep their voxels.
func TestFolderOfDamagedFiles(t *testing.T) {
	root, all := refdata.Sources(t, "file")
	source, want := tempDir(t), map[string]string{}
	for name, file := range map[string]string{"tiles_edge": "tiles.tif", "npy_rgb": "rgb.npy",
		"nii_uint8": "later.nii"} {
		i := slices.IndexFunc(all, func(s refdata.Source) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no case %s", name)
		}
		b, err := os.ReadFile(filepath.Join(root, all[i].Mount))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(source, file), b)
		want[strings.TrimSuffix(file, filepath.Ext(file))] = all[i].Volumes[0].SHA256
		if name == "npy_rgb" {
			writeFile(t, filepath.Join(source, "cut.npy"), b[:len(b)-1])
		}
	}
	dir := mount(t, source)
	if _, err := os.Stat(filepath.Join(dir, "cut")); !os.IsNotExist(err) {
		t.Errorf("a file that was cut off is a layer: %v", err)
	}
	for _, command := range []string{"info", "check"} {
		if r := wkwfs(t, command, source); !strings.Contains(r.stdout+r.stderr, "cut.npy") {
			t.Errorf("%s does not name the file that was cut off: exit code %d, %s%s", command, r.code, r.stdout,
				r.stderr)
		}
	}
	later := filepath.Join(source, "later.nii")
	info, err := os.Stat(later)
	if err == nil {
		err = os.Truncate(later, info.Size()-1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for layer, hash := range want {
		voxels, err := os.ReadFile(filepath.Join(dir, layer, "1", "volume.raw"))
		if layer == "later" {
			if err == nil {
				t.Errorf("%s: %d bytes of a file that was cut off after the mount, want an error", layer, len(voxels))
			}
			continue
		}
		if err != nil || hashOf(voxels) != hash {
			t.Errorf("%s: %v, %d bytes with hash %s, want %s", layer, err, len(voxels), hashOf(voxels), hash)
		}
	}
}
