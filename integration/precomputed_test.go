package integration

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// precomputedScale is what the manifest says of one scale.
type precomputedScale struct {
	Key        string `json:"key"`
	DataType   string `json:"data_type"`
	Channels   int    `json:"num_channels"`
	Size       [3]int `json:"size"`
	Offset     [3]int `json:"voxel_offset"`
	SHA256     string `json:"sha256"`
	Expected   string `json:"expected"` // of a lossy encoding: the voxels, gzipped
	OrExpected string `json:"or_expected"`
	MaxDiff    int    `json:"max_abs_diff"`
	Chunks     []struct {
		Name    string `json:"name"`
		Present bool   `json:"present"`
		SHA256  string `json:"sha256"`
	} `json:"chunks"`
	Voxels []struct {
		At  [3]int `json:"at"`
		Hex string `json:"hex"`
	} `json:"voxels"`
}

// dir is the directory of the scale in a mount.
func (s precomputedScale) dir() string {
	var parts []string
	for part := range strings.SplitSeq(s.Key, "/") {
		if part != "." && part != ".." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "_")
}

// TestPrecomputedReferenceData reads every scale of every volume that other programs
// wrote: the whole volume, chunks by name, and voxels as boxes.
func TestPrecomputedReferenceData(t *testing.T) {
	root := filepath.Join(refdata(t), "precomputed")
	var manifest struct {
		Volumes []struct {
			Volume   string             `json:"volume"`
			Optional bool               `json:"optional"` // may be refused
			Scales   []precomputedScale `json:"scales"`
		} `json:"volumes"`
	}
	readJSON(t, filepath.Join(root, "manifest.json"), &manifest)
	scales := 0
	for _, v := range manifest.Volumes {
		t.Run(v.Volume, func(t *testing.T) {
			dir := mount(t, filepath.Join(root, v.Volume), "--follow-links")
			for _, s := range v.Scales {
				scales++
				if v.Optional {
					mustRefuse(t, filepath.Join(dir, s.dir(), "volume.raw"))
					continue
				}
				compareScale(t, filepath.Join(dir, s.dir()), root, s)
			}
		})
	}
	if scales < 70 {
		t.Errorf("%d scales, want 70", scales)
	}
}

// mustRefuse holds that what we do not read, an older form of shards, is an error.
func mustRefuse(t *testing.T, name string) {
	t.Helper()
	if got, err := os.ReadFile(name); !errors.Is(err, syscall.EIO) {
		t.Errorf("%s: %d bytes, %v; want EIO", name, len(got), err)
	}
}

func compareScale(t *testing.T, dir, root string, s precomputedScale) {
	t.Helper()
	if s.Expected != "" {
		compareLossy(t, filepath.Join(dir, "volume.raw"), root, s)
	} else if s.SHA256 != "" {
		if got, n := hash(t, filepath.Join(dir, "volume.raw")); got != s.SHA256 {
			t.Errorf("%s/volume.raw: %d bytes of hash %s, want %s", dir, n, got, s.SHA256)
		}
	}
	for _, c := range s.Chunks {
		got, err := os.ReadFile(filepath.Join(dir, "chunks", c.Name+".raw"))
		switch {
		case !c.Present:
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("chunk %s, which is absent: %d bytes, %v", c.Name, len(got), err)
			}
		case err != nil:
			t.Errorf("chunk %s: %v", c.Name, err)
		case s.Expected == "" && hashOf(got) != c.SHA256:
			t.Errorf("chunk %s: %d bytes of hash %s, want %s", c.Name, len(got), hashOf(got), c.SHA256)
		}
	}
	for _, v := range s.Voxels {
		if s.Expected != "" {
			continue
		}
		name := fmt.Sprintf("box/%d-%d_%d-%d_%d-%d.raw", v.At[0], v.At[0]+1, v.At[1], v.At[1]+1, v.At[2], v.At[2]+1)
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || hex.EncodeToString(got) != v.Hex {
			t.Errorf("voxel %v: %x, want %s; %v", v.At, got, v.Hex, err)
		}
	}
}

// compareLossy holds the volume to be as near to one of two decoders as these are to
// each other.
func compareLossy(t *testing.T, name, root string, s precomputedScale) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return
	}
	var off []int
	for _, expected := range []string{s.Expected, s.OrExpected} {
		if expected != "" {
			off = append(off, largestDifference(t, got, gunzipped(t, filepath.Join(root, expected))))
		}
	}
	if slices.Min(off) > s.MaxDiff {
		t.Errorf("%s: off by %v, want at most %d", name, off, s.MaxDiff)
	}
}

func largestDifference(t *testing.T, a, b []byte) int {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%d bytes, want %d", len(a), len(b))
		return 256
	}
	most := 0
	for i := range a {
		most = max(most, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return most
}

// TestPrecomputedDamage holds that a damaged chunk is an error and costs no other one.
func TestPrecomputedDamage(t *testing.T) {
	root := filepath.Join(refdata(t), "precomputed/damaged")
	var manifest struct {
		Cases []struct {
			Case string `json:"case"`
			What string `json:"what"`
			Bad  []struct {
				Name string `json:"name"`
			} `json:"bad_chunks"`
			Good []struct {
				Name   string `json:"name"`
				SHA256 string `json:"sha256"`
			} `json:"good_chunks"`
		} `json:"cases"`
	}
	readJSON(t, filepath.Join(root, "damaged.json"), &manifest)
	for _, c := range manifest.Cases {
		t.Run(c.Case, func(t *testing.T) {
			scales, err := filepath.Glob(filepath.Join(mount(t, filepath.Join(root, c.Case)), "*"))
			if err != nil {
				t.Fatal(err)
			}
			dir := slices.DeleteFunc(scales, func(s string) bool { return filepath.Base(s) == "precomputed" })[0]
			for _, bad := range c.Bad {
				for _, name := range []string{"chunks/" + bad.Name + ".raw", "box/" + bad.Name + ".raw"} {
					if got, err := os.ReadFile(filepath.Join(dir, name)); !errors.Is(err, syscall.EIO) {
						t.Errorf("%s (%s): %d bytes, %v; want EIO", name, c.What, len(got), err)
					}
				}
			}
			for _, good := range c.Good {
				for _, name := range []string{"chunks/" + good.Name + ".raw", "box/" + good.Name + ".raw"} {
					if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || hashOf(got) != good.SHA256 {
						t.Errorf("%s (%s): %d bytes, not those expected; %v", name, c.What, len(got), err)
					}
				}
			}
		})
	}
	if len(manifest.Cases) == 0 {
		t.Error("no cases")
	}
}

// TestPrecomputedRoundTrip mounts the Precomputed view of a mount as a source: its
// voxels over the bounding box are those of the first mount.
func TestPrecomputedRoundTrip(t *testing.T) {
	for voxelType := 1; voxelType <= 10; voxelType++ {
		if voxelType == 6 || voxelType == 10 { // double and int64, which Precomputed lacks
			continue
		}
		l := sparse
		l.voxelType, l.channels = voxelType, 1+voxelType%2
		t.Run(l.model.String(), func(t *testing.T) {
			first := mount(t, l.write(t))
			second := mount(t, filepath.Join(first, "color/precomputed"))
			hi := l.max()
			box := fmt.Sprintf("1/box/%d-%d_%d-%d_%d-%d.raw", l.min[0], hi[0], l.min[1], hi[1], l.min[2], hi[2])
			want := l.box(l.min, hi)
			one, err := os.ReadFile(filepath.Join(first, "color/1/volume.raw"))
			two, err2 := os.ReadFile(filepath.Join(second, box))
			if err := errors.Join(err, err2); err != nil || !bytes.Equal(one, want) || !bytes.Equal(two, want) {
				t.Errorf("%d bytes, then %d, not the model's %d; %v", len(one), len(two), len(want), err)
			}
		})
	}
}

// TestMixedDataset shows WKW and Precomputed layers of one dataset side by side.
func TestMixedDataset(t *testing.T) {
	source := sparse.write(t)
	if err := os.CopyFS(filepath.Join(source, "labels"), os.DirFS(filepath.Join(refdata(t), "precomputed/cseg_u32"))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,5,60],"dataLayers":[
		{"name":"color","category":"color","boundingBox":{"topLeft":[5,3,2],"width":50,"height":40,"depth":70}},
		{"name":"labels","category":"segmentation","dataFormat":"neuroglancerPrecomputed"},{"name":"other","dataFormat":"zarr"}]}`))
	dir := mount(t, source)
	if got, err := os.ReadFile(filepath.Join(dir, "color/1/volume.raw")); err != nil || !bytes.Equal(got, sparse.box(sparse.min, sparse.max())) {
		t.Errorf("the WKW layer: %v", err)
	}
	volumes, err := filepath.Glob(filepath.Join(dir, "labels/*/volume.raw"))
	if err != nil || len(volumes) != 1 {
		t.Fatalf("the Precomputed layer: %v, %v", volumes, err)
	}
	own := mount(t, filepath.Join(source, "labels"))
	scale := filepath.Base(filepath.Dir(volumes[0]))
	a, _ := hash(t, volumes[0])
	if b, n := hash(t, filepath.Join(own, scale, "volume.raw")); a != b || n == 0 {
		t.Errorf("the Precomputed layer: %s in the dataset, %s by itself", a, b)
	}
}

func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func gunzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err := errors.Join(err, json.Unmarshal(b, v)); err != nil {
		t.Fatal(err)
	}
}
