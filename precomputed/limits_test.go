package precomputed

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// TestLimitsOfInfo: an info file of more values than any real volume has is an error that names the limit and the file.
// It takes little memory.
func TestLimitsOfInfo(t *testing.T) {
	scale := func(i int) string {
		return fmt.Sprintf(
			`{"key":"k%d","size":[1,1,1],"chunk_sizes":[[1,1,1]],"resolution":[%d,1,1],"encoding":"raw"}`, i, i+1)
	}
	scales := func(n int, scale func(int) string) string {
		var all []string
		for i := range n {
			all = append(all, scale(i))
		}
		return `{"data_type":"uint8","num_channels":1,"scales":[` + strings.Join(all, ",") + `]}`
	}
	sized := func(sizes string) string {
		return scales(1, func(int) string {
			return `{"key":"k","size":[1,1,1],"resolution":[1,1,1],"encoding":"raw","chunk_sizes":[` + sizes + `]}`
		})
	}
	for _, c := range []struct{ name, json, want string }{
		{"as many scales as allowed", scales(1000, scale), ""},
		{"a scale more", scales(1001, scale), "info: scales: expected at most 1000 scales, found more"},
		{"as many bytes of scales as allowed", scales(1,
			func(int) string { return strings.Repeat("{},", 5_000_000) + "{}" }),
			"info: scales: expected at most 1000 scales, found more"},
		{"many chunk sizes", sized(strings.Repeat("[0,0,0],", 1000) + "[1,1,1]"),
			"info: no scale can be read; k: chunk_sizes: expected at most 1000 sizes, found more"},
		{"as many bytes of chunk sizes as allowed", sized(strings.Repeat("[],", 5_000_000) + "[1,1,1]"),
			"info: no scale can be read; k: chunk_sizes: expected 3 numbers, found []"},
		{"as many bytes of members as allowed", `{"scales":[],` + strings.Repeat(`"a":1,`, 2_500_000) + `"b":1}`,
			"info: not a Precomputed volume"},
		{"many numbers", sized("[" + strings.Repeat("1,", 7_000_000) + "1]"),
			"info: no scale can be read; k: chunk_sizes: expected 3 numbers, found [1,1"},
		{"a long file", "{" + strings.Repeat(" ", 16<<20) + "}", "info: not a Precomputed volume"},
	} {
		if voxeltest.Race && len(c.json) > 1<<20 {
			continue
		}
		dir := writeFiles(t, map[string][]byte{"info": []byte(c.json)})
		start := time.Now()
		var root volume.Root
		var err error
		peak := voxeltest.PeakHeap(func() { root, err = Recognise(os.DirFS(dir), ".", Options{}) })
		if c.want == "" && err != nil || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), strings.TrimSuffix(c.want, "not a Precomputed volume")) ||
			len(err.Error()) > 400) {
			t.Errorf("%s: got %.400v, want %q", c.name, err, c.want)
		}
		if took := time.Since(start); peak > 256<<20 || took > 2*time.Minute {
			t.Errorf("%s: %d MiB, %v", c.name, peak>>20, took)
		}
		if c.want == "" {
			names, _ := root.Layer.Mags()
			for _, name := range names {
				if _, err := root.Layer.Mag(name); err != nil || len(names) != 1000 {
					t.Errorf("%d scales, %v", len(names), err)
				}
			}
		}
	}
}

// limited opens a scale that keeps the positions of up to limit chunks.
func limited(t *testing.T, dir string, limit int) volume.Mag {
	t.Helper()
	mag := openScale(t, dir, "8_8_30")
	switch store := mag.(*scale).chunks.(type) {
	case *files:
		store.limit = limit
	case *shards:
		store.limit = limit
	}
	return mag
}

// TestMoreChunksThanListed: in a scale of more chunks than are kept in memory, all chunks are found and read. Absent
// chunks are absent, and chunks in an unsupported compression are errors.
func TestMoreChunksThanListed(t *testing.T) {
	absent := volume.Vec{1, 1, 1}
	sharded, s := writeShards(t, identitySpec, func(c volume.Vec) bool { return c == absent })
	unsharded := writeFiles(t, map[string][]byte{"info": []byte(goodInfo)})
	unsupported := volume.Vec{2, 0, 1}
	for c := range (volume.Box{Max: s.lattice.Size}).All() {
		name := "8_8_30/" + s.chunkName(c)
		switch {
		case c == absent:
		case c == unsupported:
			writeFile(t, unsharded, name+".br", []byte("x"))
		default:
			writeFile(t, unsharded, name, voxelsOf(s, c))
		}
	}
	// in both forms
	writeFile(t, unsharded, "8_8_30/"+s.chunkName(volume.Vec{})+gzipSuffix, gzipOf(voxelsOf(s, volume.Vec{})))
	for what, dir := range map[string]string{"files": unsharded, "shards": sharded} {
		want := cubes(t, openScale(t, dir, "8_8_30"))
		mag := limited(t, dir, 3)
		got := cubes(t, mag)
		slices.SortFunc(got, func(a, b volume.Vec) int {
			return int(int64(s.lattice.Raster(a)) - int64(s.lattice.Raster(b)))
		})
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: walked %v, expected %v", what, got, want)
		}
		if list, err := mag.Cubes(); len(list) > 0 || err == nil || err.Error() != "more than 3 chunks" {
			t.Errorf("%s: listed %v, %v", what, list, err)
		}
		for _, c := range want {
			if what == "files" && c == unsupported {
				wantError(t, readError(t, mag, c), "unexpected EOF")
				continue
			}
			checkVoxels(t, mag, c)
		}
		_, err := mag.OpenCube(absent)
		wantNotExist(t, err)
		_, err = mag.StatCubes(absent[2], absent[1], absent[0])
		wantNotExist(t, err)
	}
}

// TestManyChunks: a directory of many chunks takes little memory.
func TestManyChunks(t *testing.T) {
	const limit = 100 << 20
	n := voxeltest.Large(1_000_000)
	info := fmt.Sprintf(
		`{"data_type":"uint8","num_channels":1,"scales":[{"key":"k","size":[%d,1,1],"chunk_sizes":[[1,1,1]],"resolution":[1,1,1],"encoding":"raw"}]}`, n)
	name := func(i int) string { return fmt.Sprintf("%d-%d_0-1_0-1", i, i+1) }
	source := &voxeltest.Many{
		Dir: "k", N: n, Content: []byte{1}, Others: map[string][]byte{"info": []byte(info)}, Name: name,
		Number: func(s string) int {
			i := -1
			if _, err := fmt.Sscanf(s, "%d-", &i); err != nil || name(i) != s {
				return -1
			}
			return i
		},
	}
	root, err := Recognise(source, ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	mag, err := root.Layer.Mag("k")
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []int{lattice.MaxPositions, 1000} {
		mag.(*scale).chunks.(*files).limit = kept
		found := 0
		peak := voxeltest.PeakHeap(func() {
			for _, err := range volume.AllCubes(mag) {
				if found++; err != nil {
					t.Fatal(err)
				}
			}
		})
		if found != n || peak > limit {
			t.Errorf("%d chunks with %d MiB, want %d with at most %d", found, peak>>20, n, limit>>20)
		}
	}
}

// TestRepeatedMinishards: a shard whose minishards share one index is damaged. Reading all of them could take hours.
func TestRepeatedMinishards(t *testing.T) {
	dir, _ := writeShards(t, `"hash":"identity","preshift_bits":0,"minishard_bits":4,"shard_bits":0`, none)
	name := filepath.Join(dir, "8_8_30/0.shard")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	end := uint64(len(b) - 16*slotBytes)
	for n := range 16 {
		binary.LittleEndian.PutUint64(b[n*slotBytes:], end-end%entryBytes)
		binary.LittleEndian.PutUint64(b[n*slotBytes:], 0)
		binary.LittleEndian.PutUint64(b[n*slotBytes+8:], end-end%entryBytes)
	}
	clear(b[16*slotBytes:]) // one index of all bytes: its IDs do not rise
	for i := range (len(b) - 16*slotBytes) / entryBytes {
		binary.LittleEndian.PutUint64(b[16*slotBytes+8*i:], 1)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	mag := openScale(t, dir, "8_8_30").(*scale)
	err = mag.chunks.(*shards).listShard(0, func(minishardID, minishardIndex, error) bool { return true })
	wantError(t, err, "0.shard: shard index at byte 16: expected indexes of minishards that do not overlap")
	if _, err := fs.Stat(os.DirFS(dir), "8_8_30/0.shard"); err != nil {
		t.Error(err)
	}
}
