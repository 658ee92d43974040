package refdata

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Source is a file or a directory that is mounted as it is. The README.md beside its manifest.json explains the fields.
type Source struct {
	Name, Group, Mount string
	Expect             string // ok, refused or error
	Flags              []string
	Optional           bool
	NoTime             bool `json:"no_time"`
	Volumes            []SourceVolume
}

// SourceVolume is a volume that a source has.
type SourceVolume struct {
	Layer    string
	Mag      *string // nil: whatever its name is
	Time     *int    // index; nil: there is only one
	DType    string
	Channels int
	Size     [3]int
	Offset   [3]int                    // of the first voxel
	SHA256   string                    // of the flat volume
	Or       []struct{ SHA256 string } `json:"or_"` // other volumes that are right

	VoxelSize   *[3]float64  `json:"voxel_size"` // in nm; nil: not known
	VoxelSizeOr [][3]float64 `json:"voxel_size_or"`
	AnyOffset   bool         `json:"any_offset"`
	Optional    bool
	Voxels      []struct {
		At  [3]int
		Hex string
	}
}

// Sources returns the sources of a group, and the directory that their paths are in. Without these data, the test is
// skipped.
func Sources(t testing.TB, group string) (root string, found []Source) {
	t.Helper()
	root, ok := Path("sources")
	if !ok {
		t.Skipf("no reference data: %s does not exist", root)
	}
	var m struct{ Cases []Source }
	b, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Cases {
		if s.Group == group {
			found = append(found, s)
		}
	}
	return root, found
}
