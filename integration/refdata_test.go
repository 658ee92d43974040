package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// reference is the entry of one mag in a manifest.
type reference struct {
	Dataset  string `json:"dataset"` // empty if the folder itself is the source
	Layer    string `json:"layer"`
	Mag      string `json:"mag"`
	Dtype    string `json:"dtype"`
	Channels int    `json:"channels"`
	Block    int    `json:"block"` // side in voxels
	Cube     int    `json:"cube"`
	TopLeft  [3]int `json:"top_left"`
	Size     [3]int `json:"size"`
	Cubes    map[string]struct {
		SHA256 string `json:"sha256"`
		Bytes  int64  `json:"bytes"`
	} `json:"cubes"`
	Volume struct {
		SHA256 string `json:"sha256"`
		Bytes  int64  `json:"bytes"`
		Voxels []struct {
			At    [3]int        `json:"at"`
			Value []json.Number `json:"value"`
		} `json:"voxels"`
	} `json:"volume"`
}

// references reads the manifest of a folder.
func references(t *testing.T, folder string) []reference {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []reference
	if err := json.Unmarshal(b, &entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestReferenceData compares every cube that other programs wrote, by hash.
func TestReferenceData(t *testing.T) {
	parallelHeavy(t)
	cubes := 0
	for _, folder := range refdata.WKW() {
		root := refdata.Dir(t, folder)
		byDataset := map[string][]reference{}
		for _, r := range references(t, root) {
			byDataset[r.Dataset] = append(byDataset[r.Dataset], r)
		}
		for dataset, refs := range byDataset {
			t.Run(folder+"/"+dataset, func(t *testing.T) {
				dir := mount(t, filepath.Join(root, dataset))
				for _, r := range refs {
					for cube, want := range r.Cubes {
						cubes++
						name := filepath.Join(dir, r.Layer, r.Mag, cube+".raw")
						if got, n := hash(t, name); got != want.SHA256 || n != want.Bytes {
							t.Errorf("%s: %d bytes with hash %s, want %d with %s", name, n, got, want.Bytes,
								want.SHA256)
						}
					}
				}
			})
		}
	}
	if cubes == 0 {
		t.Error("no cubes in the reference data")
	}
}

// hash reads a file and returns its SHA-256 and its length in bytes.
func hash(t *testing.T, name string) (sum string, n int64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return "", 0
	}
	defer f.Close()
	h := sha256.New()
	n, err = io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 1<<20))
	if err != nil {
		t.Error(err)
	}
	return hex.EncodeToString(h.Sum(nil)), n
}
