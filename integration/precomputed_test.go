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

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// precomputedScale is the entry of one scale in the manifest.
type precomputedScale struct {
	Key        string `json:"key"`
	DataType   string `json:"data_type"`
	Channels   int    `json:"num_channels"`
	Size       [3]int `json:"size"`
	Offset     [3]int `json:"voxel_offset"`
	SHA256     string `json:"sha256"`
	Expected   string `json:"expected"` // only of lossy encodings: file of gzipped voxels
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

// dir returns the directory of the scale in a mount.
func (s precomputedScale) dir() string {
	var parts []string
	for part := range strings.SplitSeq(s.Key, "/") {
		if part != "." && part != ".." {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "_")
}

// TestPrecomputedReferenceData reads each scale of each volume that other programs wrote: the whole volume, its
// chunks, and single voxels as boxes.
func TestPrecomputedReferenceData(t *testing.T) {
	parallelHeavy(t)
	root := refdata.Dir(t, "precomputed")
	var manifest struct {
		Volumes []struct {
			Volume   string             `json:"volume"`
			Optional bool               `json:"optional"` // uses an old form of shards that is not supported
			Scales   []precomputedScale `json:"scales"`
		} `json:"volumes"`
	}
	readJSON(t, filepath.Join(root, "manifest.json"), &manifest)
	scales := 0
	for _, v := range manifest.Volumes {
		t.Run(v.Volume, func(t *testing.T) {
			scales += len(v.Scales)
			if v.Optional {
				wantObsolete(t, filepath.Join(root, v.Volume))
				return
			}
			dir := mount(t, filepath.Join(root, v.Volume), "--follow-links")
			for _, s := range v.Scales {
				compareScale(t, filepath.Join(dir, s.dir()), root, s)
			}
		})
	}
	if scales < 70 {
		t.Errorf("%d scales, want at least 70", scales)
	}
}

// obsoleteReason is the start of the reason why a scale with shards in two files is not shown.
const obsoleteReason = ".index: shards in two files are obsolete and not read; make one file of them: cat "

// wantObsolete checks that a volume with nothing but such shards is not mounted, and that the error names a file and
// what to do.
func wantObsolete(t *testing.T, source string) {
	t.Helper()
	dir := tempDir(t)
	if r := wkwfs(t, "mount", source, dir); r.code != 1 || !strings.Contains(r.stderr, obsoleteReason) ||
		isMounted(dir) {
		t.Errorf("mounting %s: exit code %d, stderr %q; want %q", source, r.code, r.stderr, obsoleteReason)
	}
}

// TestObsoleteShards checks that a volume with shards in two files is refused by name when it is mounted, and that a
// dataset with such a layer is mounted without it.
func TestObsoleteShards(t *testing.T) {
	source := sparse.write(t)
	writeFile(t, filepath.Join(source, "labels/info"), []byte(`{"@type":"neuroglancer_multiscale_volume","type":"segmentation","data_type":"uint8",
		"num_channels":1,"scales":[{"key":"8_8_30","size":[20,17,9],"voxel_offset":[0,0,0],"chunk_sizes":[[8,8,4]],"resolution":[8,8,30],"encoding":"raw",
		"sharding":{"@type":"neuroglancer_uint64_sharded_v1","preshift_bits":1,"hash":"identity","minishard_bits":1,"shard_bits":2}}]}`))
	writeFile(t, filepath.Join(source, "labels/8_8_30/0.index"), make([]byte, 32))
	writeFile(t, filepath.Join(source, "labels/8_8_30/0.data"), nil)
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,5,60],"dataLayers":[
		{"name":"color","category":"color","boundingBox":{"topLeft":[5,3,2],"width":50,"height":40,"depth":70}},
		{"name":"labels","category":"segmentation","dataFormat":"neuroglancerPrecomputed"}]}`))
	wantObsolete(t, filepath.Join(source, "labels"))
	if info, want := wkwfs(t, "info", source).stdout,
		"labels/8_8_30/0"+obsoleteReason+"0.index 0.data > 0.shard\n"; !strings.Contains(info, "\nnot shown\n") ||
		!strings.Contains(info, want) {
		t.Errorf("info does not have %q:\n%s", want, info)
	}
	dir := mount(t, source)
	if got, err := os.ReadFile(filepath.Join(dir, "color/1/volume.raw")); err != nil ||
		!bytes.Equal(got, sparse.box(sparse.min, sparse.max())) {
		t.Errorf("the other layer: %v", err)
	}
	if got, want := names(t, dir), "color datasource-properties.json"; got != want {
		t.Errorf("the mount has %s, want %s", got, want)
	}
}

// compareScale compares the files of a scale with the manifest.
func compareScale(t *testing.T, dir, root string, s precomputedScale) {
	t.Helper()
	if s.Expected != "" {
		compareLossy(t, filepath.Join(dir, "volume.raw"), root, s)
	} else if s.SHA256 != "" {
		if got, n := hash(t, filepath.Join(dir, "volume.raw")); got != s.SHA256 {
			t.Errorf("%s/volume.raw: %d bytes with hash %s, want %s", dir, n, got, s.SHA256)
		}
	}
	for _, c := range s.Chunks {
		got, err := os.ReadFile(filepath.Join(dir, "chunks", c.Name+".raw"))
		switch {
		case !c.Present:
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("absent chunk %s: %d bytes, %v; want ENOENT", c.Name, len(got), err)
			}
		case err != nil:
			t.Errorf("chunk %s: %v", c.Name, err)
		case s.Expected == "" && hashOf(got) != c.SHA256:
			t.Errorf("chunk %s: %d bytes with hash %s, want %s", c.Name, len(got), hashOf(got), c.SHA256)
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

// compareLossy compares the volume with the output of one or two other decoders. Its difference from
// one of them must not be larger than the difference between them.
func compareLossy(t *testing.T, name, root string, s precomputedScale) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return
	}
	var differences []int
	for _, expected := range []string{s.Expected, s.OrExpected} {
		if expected != "" {
			differences = append(differences, largestDifference(t, got, gunzipped(t, filepath.Join(root, expected))))
		}
	}
	if slices.Min(differences) > s.MaxDiff {
		t.Errorf("%s: differences of %v, want at most %d", name, differences, s.MaxDiff)
	}
}

// largestDifference returns the largest difference of two bytes at the same offset.
func largestDifference(t *testing.T, a, b []byte) int {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%d bytes, want %d", len(a), len(b))
		return 256
	}
	largest := 0
	for i := range a {
		largest = max(largest, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return largest
}

// TestPrecomputedDamage checks that a damaged chunk is an error and that all other chunks read.
func TestPrecomputedDamage(t *testing.T) {
	root := refdata.Dir(t, "precomputed/damaged")
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
						t.Errorf("%s (%s): got %d bytes with a wrong hash, or error %v", name, c.What, len(got), err)
					}
				}
			}
		})
	}
	if len(manifest.Cases) == 0 {
		t.Error("the manifest has no cases")
	}
}

// TestPrecomputedRoundTrip mounts the directory precomputed of a mount as a source. Both mounts have the same
// voxels in the bounding box.
func TestPrecomputedRoundTrip(t *testing.T) {
	for voxelType := 1; voxelType <= 10; voxelType++ {
		if voxelType == 6 || voxelType == 10 { // Precomputed does not have double and int64
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
				t.Errorf("first mount: %d bytes, second mount: %d bytes; want the model's %d bytes; error %v", len(one),
					len(two), len(want), err)
			}
		})
	}
}

// TestMixedDataset mounts a dataset with a WKW layer and a Precomputed layer.
func TestMixedDataset(t *testing.T) {
	source := sparse.write(t)
	if err := os.CopyFS(filepath.Join(source, "labels"), os.DirFS(refdata.Dir(t, "precomputed/cseg_u32"))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,5,60],"dataLayers":[
		{"name":"color","category":"color","boundingBox":{"topLeft":[5,3,2],"width":50,"height":40,"depth":70}},
		{"name":"labels","category":"segmentation","dataFormat":"neuroglancerPrecomputed"},{"name":"other","dataFormat":"zarr"}]}`))
	dir := mount(t, source)
	if got, err := os.ReadFile(filepath.Join(dir, "color/1/volume.raw")); err != nil ||
		!bytes.Equal(got, sparse.box(sparse.min, sparse.max())) {
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
		t.Errorf("the Precomputed layer has hash %s in the dataset, and %s as a source of its own", a, b)
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
