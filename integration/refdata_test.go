package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// refdata returns the folder of datasets that other programs have written: the one
// in WKWFS_REFDATA, else shared/refdata beside the checkout. It is not part of the
// project; without it the test is skipped, and says so.
func refdata(t *testing.T) string {
	t.Helper()
	dir, err := findRefdata()
	if err != nil {
		t.Skipf("no reference data: %v (set WKWFS_REFDATA)", err)
	}
	return dir
}

func findRefdata() (string, error) {
	dir := os.Getenv("WKWFS_REFDATA")
	if dir == "" {
		dir = "../../shared/refdata"
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(dir)
	return dir, err
}

// reference is what a manifest says of one mag.
type reference struct {
	Dataset  string `json:"dataset"` // empty where the folder itself is the source
	Layer    string `json:"layer"`
	Mag      string `json:"mag"`
	Dtype    string `json:"dtype"`
	Channels int    `json:"channels"`
	Block    int    `json:"block"` // voxels a side
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

func references(t *testing.T, folder string) []reference {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReferenceData reads every cube that other programs wrote, byte for byte.
func TestReferenceData(t *testing.T) {
	root := refdata(t)
	cubes := 0
	for _, folder := range []string{"wkw", "l4_sample", "annotation"} {
		byDataset := map[string][]reference{}
		for _, r := range references(t, filepath.Join(root, folder)) {
			byDataset[r.Dataset] = append(byDataset[r.Dataset], r)
		}
		for dataset, refs := range byDataset {
			t.Run(folder+"/"+dataset, func(t *testing.T) {
				dir := mount(t, filepath.Join(root, folder, dataset))
				for _, r := range refs {
					for cube, want := range r.Cubes {
						cubes++
						name := filepath.Join(dir, r.Layer, r.Mag, cube+".raw")
						if got, n := hash(t, name); got != want.SHA256 || n != want.Bytes {
							t.Errorf("%s: %d bytes of hash %s, want %d of %s", name, n, got, want.Bytes, want.SHA256)
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

// hash returns the SHA-256 of a file and its length, as read.
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
