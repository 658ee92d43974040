package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// importTrial imports files whose headers say anything. The import is refused and leaves nothing behind, or the dataset
// that it makes is sound.
var importTrial = torture.New("import", newImportCase, runImport)

type importCase struct {
	File     hostileFile  `json:"file"`
	Journal  *hostileFile `json:"journal,omitempty"`  // of an import before, which did not end
	Position bool         `json:"position,omitempty"` // of the volume, from the header
	Zarr3    bool         `json:"zarr3,omitempty"`    // the layer is to be Zarr 3
	Mags     int          `json:"mags,omitempty"`     // coarser ones that are written too
}

// importSide is the side of the volumes, in voxels.
const importSide = 6

func newImportCase(r *rand.Rand) importCase {
	voxels := make([]byte, importSide*importSide*importSide*4)
	for i := range voxels {
		voxels[i] = byte(r.Uint32())
	}
	makers := []func(*rand.Rand, []byte) hostileFile{hostileNRRD, hostileNPY, hostileNIfTI, hostileTIFF,
		hostileMetaImage, hostileMRC}
	c := importCase{File: randomOf(r, makers)(r, voxels), Position: r.IntN(3) == 0, Zarr3: r.IntN(3) == 0,
		Mags: randomOf(r, []int{0, 0, 1, 2})}
	if r.IntN(3) == 0 {
		c.Journal = &hostileFile{JSON: spoil(r, map[string]any{
			"Input": strings.Repeat("0", 64), "Grid": map[string]any{"Size": []any{6.0, 6.0, 6.0},
				"Block": []any{1.0, 1.0, 1.0}, "Type": 1.0, "Channels": 1.0}, "BigEndian": false,
			"Box": map[string]any{"Min": []any{0.0, 0.0, 0.0}, "Max": []any{6.0, 6.0, 6.0}}, "Block": 32.0,
			"Cube": 64.0, "Compression": "lz4", "Category": "color", "Factors": []any{[]any{1.0, 1.0, 1.0}},
		}, 8), Cut: randomOf(r, []int{0, 0, 1, 100})}
	}
	return c
}

func runImport(t testing.TB, c importCase) {
	base := tempDir(t)
	dataset := filepath.Join(base, "dataset")
	writeHostile(t, base, "", []hostileFile{c.File})
	if c.Journal != nil {
		journal := *c.Journal
		journal.Path = "dataset/labels/.import.json"
		writeHostile(t, base, "", []hostileFile{journal})
	}
	args := []string{"import", "--quiet", filepath.Join(base, c.File.Path), dataset, "--layer", "labels", "--category",
		"color", "--cube", "32", "--voxel-size", "4,4,40"}
	if !c.Position {
		args = append(args, "--offset", "0,0,0")
	}
	if c.Zarr3 {
		args = append(args, "--format", "zarr3")
	}
	if c.Mags < 0 || c.Mags > 3 {
		t.Skip("so many mags take too long")
	}
	args = append(args, "--mags", fmt.Sprint(c.Mags))
	r := runLimited(t, args...)
	switch r.code {
	case 2:
		t.Fatalf("the command line is wrong: %s", r.stderr)
	case 0:
		checked := runLimited(t, "check", dataset)
		if checked.code != 0 {
			t.Fatalf("the import succeeded, and its result is damaged: %s%s", checked.stdout, checked.stderr)
		}
		return
	}
	if _, err := os.Stat(filepath.Join(dataset, propertiesFile)); err == nil {
		t.Fatalf("the import failed (%s), and the dataset has the layer", r.stderr)
	}
	// A file that cannot be read to its end is found to be damaged while it is imported.
	if _, err := os.Stat(dataset); c.Journal == nil && err == nil && !strings.Contains(r.stderr, "is not complete") {
		t.Fatalf("the import was refused (%s), and %s is left behind", r.stderr, dataset)
	}
}
