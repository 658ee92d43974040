package precomputed

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// refScale is a scale of the manifest of the reference data.
type refScale struct {
	Key        string
	Name       string
	DataType   string     `json:"data_type"`
	Channels   int        `json:"num_channels"`
	Size       volume.Vec `json:"size"`
	Offset     volume.Vec `json:"voxel_offset"`
	Chunk      volume.Vec `json:"chunk_size"`
	Lattice    volume.Vec `json:"grid"`
	Encoding   string
	Sharding   *struct{}
	Present    int `json:"chunks_present"`
	Bytes      int64
	SHA256     string
	Chunks     []refChunk
	Expected   string
	OrExpected string `json:"or_expected"`
	MaxAbsDiff int    `json:"max_abs_diff"`
	Voxels     []struct {
		At  volume.Vec
		Hex string
	}
}

type refChunk struct {
	Name      string
	Grid      volume.Vec
	Size      volume.Vec
	Present   bool
	SHA256    string
	ID        uint64
	Hash      string
	Shard     string
	Minishard uint64
}

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// openVolume opens a volume. It follows keys that point outside.
func openVolume(t *testing.T, dir string) volume.Layer {
	t.Helper()
	root, err := Recognise(openDir(t, dir), ".", Options{Outside: func(key string) (fs.FS, error) {
		return store.Open(filepath.Join(dir, key))
	}})
	if err != nil {
		t.Fatal(err)
	}
	return root.Layer
}

func openDir(t testing.TB, dir string) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func openScale(t *testing.T, dir, key string) volume.Mag {
	t.Helper()
	mag, err := openVolume(t, dir).Mag(directoryName(key))
	if err != nil {
		t.Fatal(err)
	}
	return mag
}

func TestReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	root := refdata.Dir(t, "precomputed")
	var manifest struct {
		Volumes []struct {
			Volume   string
			Type     string
			Optional bool
			Scales   []refScale
		}
	}
	readJSON(t, filepath.Join(root, "manifest.json"), &manifest)
	count := 0
	for _, v := range manifest.Volumes {
		for _, s := range v.Scales {
			if count++; testing.Short() && count%3 > 0 {
				continue // goroutines do the same with all
			}
			t.Run(path.Join(v.Volume, directoryName(s.Key)), func(t *testing.T) {
				t.Parallel()
				if v.Optional {
					checkObsolete(t, filepath.Join(root, v.Volume), s)
					return
				}
				mag := openScale(t, filepath.Join(root, v.Volume), s.Key)
				category := map[string]string{"image": "color", "segmentation": "segmentation"}[v.Type]
				if about := mag.About(); about.Category != category || about.Compression != s.Encoding {
					t.Errorf("got %+v, expected %s, %s", about, category, s.Encoding)
				}
				checkScale(t, root, mag, s)
			})
		}
	}
	if count != 70 {
		t.Errorf("%d scales, expected 70", count)
	}
}

// checkObsolete checks that a volume of the obsolete version is refused, and that its voxels are right after the
// commands that the error names.
func checkObsolete(t *testing.T, dir string, s refScale) {
	_, err := Recognise(os.DirFS(dir), ".", Options{})
	wantError(t, err, s.Key+"/", ".index: shards in two files are obsolete and not read")
	converted := t.TempDir()
	if err := os.CopyFS(converted, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	indexes, err := filepath.Glob(filepath.Join(converted, s.Key, "*.index"))
	if err != nil || len(indexes) == 0 {
		t.Fatal(indexes, err)
	}
	for _, index := range indexes {
		stem := strings.TrimSuffix(index, ".index")
		output, err := exec.Command("sh", "-c", `cat "$0.index" "$0.data" > "$0.shard"`, stem).CombinedOutput()
		if err != nil {
			t.Fatal(err, string(output))
		}
	}
	checkScale(t, filepath.Dir(dir), openScale(t, converted, s.Key), s)
}

func checkScale(t *testing.T, root string, mag volume.Mag, s refScale) {
	dataType, err := volume.ParseType(s.DataType)
	if err != nil {
		t.Fatal(err)
	}
	g, err := mag.CubeGrid()
	if err != nil || g.Size != s.Chunk || g.Block != s.Chunk || g.Origin != s.Offset || g.Type != dataType ||
		g.Channels != s.Channels {
		t.Fatalf("got the grid %+v, %v, expected that of %+v", g, err, s)
	}
	if b, err := mag.Bounds(); err != nil || b.Min != s.Offset || b.Size() != s.Size {
		t.Errorf("got the bounds %v, %v, expected %v from %v", b, err, s.Size, s.Offset)
	}
	listed := cubes(t, mag)
	if len(listed) != s.Present {
		t.Errorf("%d chunks listed, expected %d", len(listed), s.Present)
	}
	for _, c := range s.Chunks {
		checkChunk(t, mag, s, c)
	}
	for _, v := range s.Voxels {
		checkVoxel(t, mag, s, v.At, v.Hex)
	}
	if s.Bytes == 0 {
		return
	}
	flat := make([]byte, s.Bytes)
	for _, c := range listed {
		paste(flat, s, c, chunkVoxels(t, mag, s, c))
	}
	if s.Expected != "" {
		checkLossy(t, root, flat, s)
	} else if sum(flat) != s.SHA256 {
		t.Errorf("got voxels with the checksum %s, expected %s", sum(flat), s.SHA256)
	}
}

func checkChunk(t *testing.T, mag volume.Mag, s refScale, want refChunk) {
	t.Helper()
	c := want.Grid
	info := mag.(*scale).scaleInfo
	if got := info.chunkName(c); got != want.Name {
		t.Errorf("chunk %v has the name %s, expected %s", c, got, want.Name)
	}
	if got, ok := info.parseChunkName(want.Name); !ok || got != c {
		t.Errorf("%s: got chunk %v, %v, expected %v", want.Name, got, ok, c)
	}
	if s.Sharding != nil {
		checkSharding(t, info, want)
	}
	if !want.Present {
		_, err := mag.OpenCube(c)
		wantNotExist(t, err)
		_, err = mag.StatCubes(c[2], c[1], c[0])
		wantNotExist(t, err)
		return
	}
	if got := sum(chunkVoxels(t, mag, s, c)); s.Expected == "" && got != want.SHA256 {
		t.Errorf("chunk %s: got voxels with the checksum %s, expected %s", want.Name, got, want.SHA256)
	}
}

// checkSharding checks the ID, hash, shard and minishard of a chunk.
func checkSharding(t *testing.T, info *scaleInfo, want refChunk) {
	t.Helper()
	id := info.lattice.Morton(want.Grid)
	at := info.sharding.locate(id)
	if shard := info.sharding.stem(at.shard) + shardSuffix; id != want.ID || shard != want.Shard ||
		at.minishard != want.Minishard {
		t.Errorf("chunk %s: got ID %d, %s, minishard %d, expected %d, %s, %d", want.Name, id, shard, at.minishard,
			want.ID, want.Shard, want.Minishard)
	}
	if hash := fmt.Sprintf("%x", murmur(id>>info.sharding.preshift)); info.sharding.murmur &&
		hash != strings.TrimLeft(strings.TrimPrefix(want.Hash, "0x"), "0") {
		t.Errorf("ID %d: got the hash %s, expected %s", id, hash, want.Hash)
	}
	if c, ok := info.lattice.Unmorton(id); !ok || c != want.Grid {
		t.Errorf("ID %d: got chunk %v, %v, expected %v", id, c, ok, want.Grid)
	}
}

func checkVoxel(t *testing.T, mag volume.Mag, s refScale, at volume.Vec, want string) {
	t.Helper()
	c := at.Sub(s.Offset).Div(s.Chunk)
	block := make([]byte, len(want)/2*s.Chunk[0]*s.Chunk[1]*s.Chunk[2])
	if f, err := mag.OpenCube(c); err == nil {
		defer f.Close()
		if block, err = readBlock(t.Context(), f, volume.Vec{}); err != nil {
			t.Fatal(err)
		}
	} else {
		wantNotExist(t, err)
	}
	i := at.Sub(s.Offset).Sub(c.Mul(s.Chunk)).Index(s.Chunk) * len(want) / 2
	if got := hex.EncodeToString(block[i : i+len(want)/2]); s.Expected == "" && got != want {
		t.Errorf("voxel %v: got %s, expected %s", at, got, want)
	}
}

// chunkVoxels returns the voxels of a chunk without padding. It also checks grid, size, version and name.
func chunkVoxels(t *testing.T, mag volume.Mag, s refScale, c volume.Vec) []byte {
	t.Helper()
	f, err := mag.OpenCube(c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g := f.Grid()
	if g.Origin != s.Offset.Add(c.Mul(s.Chunk)) {
		t.Errorf("chunk %v has its origin at %v", c, g.Origin)
	}
	block, err := readBlock(t.Context(), f, volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	if len(block) != g.BlockBytes() {
		t.Fatalf("chunk %v: %d bytes, expected %d", c, len(block), g.BlockBytes())
	}
	info, err := mag.StatCubes(c[2], c[1], c[0])
	if err != nil {
		t.Fatal(err)
	}
	if f.Info().Size() != info.Size() || versionOf(info) != f.Version() || info.Name() != f.Info().Name() {
		t.Errorf("chunk %v: opened as %+v, stat returned %+v", c, f.Info(), info)
	}
	return clip(t, block, g, f.(*chunk).box().Size())
}

// TestDamagedReferenceData: a damaged chunk is an error with its offset. All other chunks still read.
func TestDamagedReferenceData(t *testing.T) {
	root := refdata.Dir(t, "precomputed/damaged")
	var manifest struct {
		Cases []struct {
			refScale
			Case, File string
			Bad        []refChunk `json:"bad_chunks"`
			Good       []refChunk `json:"good_chunks"`
		}
	}
	readJSON(t, filepath.Join(root, "damaged.json"), &manifest)
	for _, c := range manifest.Cases {
		t.Run(c.Case, func(t *testing.T) {
			mag := openScale(t, filepath.Join(root, c.Case), "8_8_30")
			if got, want := len(cubes(t, mag)), len(c.Good)+len(c.Bad); got != want {
				t.Errorf("%d chunks listed, expected %d: the list must have bad chunks too", got, want)
			}
			for _, bad := range c.Bad {
				err := readError(t, mag, bad.Grid)
				wantError(t, err, strings.TrimPrefix(c.File, c.Case+"/"), bad.Name, "at byte")
				t.Log(err)
			}
			for _, good := range c.Good {
				if got := sum(chunkVoxels(t, mag, c.refScale, good.Grid)); got != good.SHA256 {
					t.Errorf("chunk %s: got voxels with the checksum %s, expected %s", good.Name, got, good.SHA256)
				}
			}
		})
	}
}

// clip returns the first voxels of a block, up to size. The rest must be zeros.
func clip(t *testing.T, block []byte, g volume.Grid, size volume.Vec) []byte {
	t.Helper()
	if size == g.Block {
		return block
	}
	voxel := g.VoxelBytes()
	var out []byte
	zeros := true
	for p := range (volume.Box{Max: g.Block}).All() {
		v := block[p.Index(g.Block)*voxel:][:voxel]
		if p.In(size) {
			out = append(out, v...)
			continue
		}
		for _, b := range v {
			zeros = zeros && b == 0
		}
	}
	if !zeros {
		t.Error("a clipped block is not padded with zeros")
	}
	return out
}

// paste copies the voxels of chunk c into the flat volume.
func paste(flat []byte, s refScale, c volume.Vec, voxels []byte) {
	offset := c.Mul(s.Chunk)
	size := s.Chunk.Min(s.Size.Sub(offset))
	voxel := len(voxels) / (size[0] * size[1] * size[2])
	for z := range size[2] {
		for y := range size[1] {
			at := offset.Add(volume.Vec{0, y, z}).Index(s.Size) * voxel
			row := size[0] * voxel
			copy(flat[at:], voxels[:row])
			voxels = voxels[row:]
		}
	}
}

// checkLossy compares with the output of other decoders for the same pictures. One of them must be close.
func checkLossy(t *testing.T, root string, flat []byte, s refScale) {
	smallest := 256
	for _, name := range []string{s.Expected, s.OrExpected} {
		if name == "" {
			continue
		}
		f, err := os.Open(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r)
		if err != nil || len(want) != len(flat) {
			t.Fatalf("%s: %d bytes, %v, expected %d", name, len(want), err, len(flat))
		}
		worst := 0
		for i, b := range want {
			worst = max(worst, int(b)-int(flat[i]), int(flat[i])-int(b))
		}
		smallest = min(smallest, worst)
	}
	if smallest > s.MaxAbsDiff {
		t.Errorf("values are up to %d off, expected %d", smallest, s.MaxAbsDiff)
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
