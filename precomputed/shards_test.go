package precomputed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

var le = binary.LittleEndian

// shardFiles returns the content of shard files by name. chunks has the content of each chunk by ID.
func shardFiles(spec *sharding, chunks map[uint64][]byte) map[string][]byte {
	minishardsOf := map[uint64]map[uint64][]uint64{} // shard → minishard → chunk IDs
	for id := range chunks {
		at := spec.locate(id)
		if minishardsOf[at.shard] == nil {
			minishardsOf[at.shard] = map[uint64][]uint64{}
		}
		minishardsOf[at.shard][at.minishard] = append(minishardsOf[at.shard][at.minishard], id)
	}
	files := map[string][]byte{}
	for shard, minishards := range minishardsOf {
		base := slotBytes << spec.minishardBits
		file := make([]byte, base)
		for minishard, ids := range minishards {
			slices.Sort(ids)
			var index [3][]byte
			last, end := uint64(0), base
			for _, id := range ids {
				data := chunks[id]
				if spec.gzipData {
					data = gzipOf(data)
				}
				index[0] = le.AppendUint64(index[0], id-last)
				index[1] = le.AppendUint64(index[1], uint64(len(file)-end))
				index[2] = le.AppendUint64(index[2], uint64(len(data)))
				file = append(file, data...)
				last, end = id, len(file)
			}
			b := slices.Concat(index[:]...)
			if spec.gzipIndexes {
				b = gzipOf(b)
			}
			le.PutUint64(file[slotBytes*minishard:], uint64(len(file)-base))
			file = append(file, b...)
			le.PutUint64(file[slotBytes*minishard+8:], uint64(len(file)-base))
		}
		files[spec.stem(shard)+shardSuffix] = file
	}
	return files
}

// shardedInfo returns goodInfo with the first scale in shards, and that scale.
func shardedInfo(t testing.TB, spec string) ([]byte, *scaleInfo) {
	return infoFor(t, `"resolution":[8,8,30]`,
		`"resolution":[8,8,30],"sharding":{"@type":"neuroglancer_uint64_sharded_v1",`+spec+`}`)
}

const (
	identitySpec = `"hash":"identity","preshift_bits":1,"minishard_bits":1,"shard_bits":2`
	murmurSpec   = `"hash":"murmurhash3_x86_128","preshift_bits":0,"minishard_bits":3,"shard_bits":1,"minishard_index_encoding":"gzip","data_encoding":"gzip"`
)

// writeShards writes the first scale of goodInfo in shards, without the absent chunks. It returns the directory of
// the volume.
func writeShards(t testing.TB, spec string, absent func(c volume.Vec) bool) (string, *scaleInfo) {
	t.Helper()
	b, s := shardedInfo(t, spec)
	chunks := map[uint64][]byte{}
	for c := range (volume.Box{Max: s.lattice.Size}).All() {
		if !absent(c) {
			chunks[s.lattice.Morton(c)] = voxelsOf(s, c)
		}
	}
	files := map[string][]byte{"info": b}
	for name, file := range shardFiles(s.sharding, chunks) {
		files["8_8_30/"+name] = file
	}
	return writeFiles(t, files), s
}

// none is the absent argument of writeShards for a complete scale.
func none(volume.Vec) bool { return false }

func TestShards(t *testing.T) {
	for _, spec := range []string{
		identitySpec, murmurSpec,
		`"hash":"identity","preshift_bits":0,"minishard_bits":0,"shard_bits":0`,
		`"hash":"identity","preshift_bits":64,"minishard_bits":0,"shard_bits":64`,
		`"hash":"murmurhash3_x86_128","preshift_bits":2,"minishard_bits":4,"shard_bits":5,"data_encoding":"gzip"`,
	} {
		absent := func(c volume.Vec) bool { return (c[0]+c[1]+c[2])%3 == 1 }
		dir, s := writeShards(t, spec, absent)
		mag := openScale(t, dir, "8_8_30")
		var want []volume.Vec
		for c := range (volume.Box{Max: s.lattice.Size}).All() {
			if absent(c) {
				_, err := mag.OpenCube(c)
				wantNotExist(t, err)
				_, err = mag.StatCubes(c[2], c[1], c[0])
				wantNotExist(t, err)
				continue
			}
			want = append(want, c)
			checkVoxels(t, mag, c)
		}
		if got := cubes(t, mag); !slices.Equal(got, want) {
			t.Errorf("%s: listed %v, expected %v", spec, got, want)
		}
	}
}

// TestIndexesOfScales: all scales share the budget of indexes.
func TestIndexesOfScales(t *testing.T) {
	if a, b := newShards(nil, "a", &scaleInfo{sharding: &sharding{}}),
		newShards(nil, "b", &scaleInfo{sharding: &sharding{}}); a.indexes != b.indexes {
		t.Error("two scales have a budget of their own each")
	}
}

// TestChunksOfAShardDiffer: chunks of the same file have different versions, which the cache needs to distinguish them.
func TestChunksOfAShardDiffer(t *testing.T) {
	dir, _ := writeShards(t, `"hash":"identity","preshift_bits":0,"minishard_bits":0,"shard_bits":0`, none)
	mag := openScale(t, dir, "8_8_30")
	versions := map[vfs.Version]volume.Vec{}
	for _, c := range cubes(t, mag) {
		info, err := mag.StatCubes(c[2], c[1], c[0])
		if err != nil {
			t.Fatal(err)
		}
		f, err := mag.OpenCube(c)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if other, taken := versions[f.Version()]; taken || f.Version() != vfs.VersionOf(info) {
			t.Errorf("chunks %v and %v have the same version, or %v has two", other, c, c)
		}
		versions[f.Version()] = c
		want := f.(*chunk).file.Name
		if info.Name() != mag.(*scale).chunkName(c) || vfs.StoredOf(info) != info.Size() ||
			filepath.Base(want) != "0.shard" {
			t.Errorf("chunk %v in %s is %s with %d of %d bytes", c, want, info.Name(), vfs.StoredOf(info), info.Size())
		}
	}
}

// TestBadShards: some bytes of 0.shard, which has minishards 0 and 1, are wrong.
func TestBadShards(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(file []byte) []byte
		spec   string
		want   string
		whole  bool // the whole shard is bad, not only minishard 0
	}{
		"empty": {func(b []byte) []byte { return nil }, identitySpec,
			"shard index at byte 0: expected 32 bytes, found 0", true},
		"half a slot": {func(b []byte) []byte { return b[:31] }, identitySpec,
			"shard index at byte 0: expected 32 bytes, found 31", true},
		"no minishard": {func(b []byte) []byte { return b[:32] }, identitySpec,
			"shard index, minishard 0, at byte 0: expected a range within the 0 bytes that follow", true},
		"end before start": {put(8, 1), identitySpec, "shard index, minishard 0, at byte 0: expected a range within",
			false},
		"end far away":     {put(8, 1<<63), identitySpec, "to 9223372036854775808", false},
		"24 bytes at 2^64": {puts(0, 1<<64-48, 1<<64-24), identitySpec, "expected a range within", false},
		"length 25": {func(b []byte) []byte { le.PutUint64(b[8:], le.Uint64(b)+25); return b }, identitySpec,
			"expected a multiple of 24 bytes, found 25", false},
		"not gzip": {func(b []byte) []byte { b[2*slotBytes+le.Uint64(b)]++; return b },
			identitySpec + `,"minishard_index_encoding":"gzip"`, "decompressing: gzip: invalid header", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := writeShards(t, c.spec, none)
			path := filepath.Join(dir, "8_8_30", "0.shard")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(b), 0o644); err != nil {
				t.Fatal(err)
			}
			mag := openScale(t, dir, "8_8_30")
			if got := len(cubes(t, mag)); got != s.lattice.Size[0]*s.lattice.Size[1]*s.lattice.Size[2] {
				t.Errorf("%d chunks listed: the list must have bad chunks too", got)
			}
			for p := range (volume.Box{Max: s.lattice.Size}).All() {
				at := s.sharding.locate(s.lattice.Morton(p))
				if at == (minishardID{}) || c.whole && at.shard == 0 {
					err := readError(t, mag, p)
					wantError(t, err, "8_8_30/0.shard", s.chunkName(p))
					_, statErr := mag.StatCubes(p[2], p[1], p[0])
					wantError(t, statErr, "8_8_30/0.shard")
					if at == (minishardID{}) {
						wantError(t, err, c.want)
					}
					continue
				}
				checkVoxels(t, mag, p)
			}
		})
	}
}

// TestChunksReachIntoIndex: the chunks of a minishard whose index says that one of them has bytes of the index are
// errors.
func TestChunksReachIntoIndex(t *testing.T) {
	b, s := shardedInfo(t, `"hash":"identity","preshift_bits":0,"minishard_bits":0,"shard_bits":0`)
	voxels := voxelsOf(s, volume.Vec{})
	const index, end = 16 + 300, 16 + 300 + 24 // of the minishard index, which follows 300 bytes
	for _, c := range []struct {
		offset uint64
		sound  bool
	}{{16, true}, {60, true}, {61, false}, {index, false}, {end - 1, false}, {end, true}} {
		file := le.AppendUint64(le.AppendUint64(nil, index-16), end-16)
		file = append(file, make([]byte, 300)...)
		for _, n := range []uint64{0, c.offset - 16, uint64(len(voxels))} {
			file = le.AppendUint64(file, n)
		}
		file = append(file, make([]byte, len(voxels))...)
		if c.sound {
			copy(file[c.offset:], voxels)
		}
		mag := openScale(t, writeFiles(t, map[string][]byte{"info": b, "8_8_30/0.shard": file}), "8_8_30")
		if c.sound {
			checkVoxels(t, mag, volume.Vec{})
			continue
		}
		wantError(t, readError(t, mag, volume.Vec{}),
			"8_8_30/0.shard: index of minishard 0, entry 0, at byte 316: expected chunks outside of this index, which ends at byte 340",
			fmt.Sprintf("found chunk ID 0 with %d bytes at byte %d", len(voxels), c.offset))
	}
}

// put returns a function that writes a number at byte off.
func put(off int, n uint64) func([]byte) []byte { return puts(off, n) }

// puts returns a function that writes numbers, starting at byte off.
func puts(off int, numbers ...uint64) func([]byte) []byte {
	return func(b []byte) []byte {
		for i, n := range numbers {
			le.PutUint64(b[off+8*i:], n)
		}
		return b
	}
}

// TestTruncatedShard: only the missing chunks are bad.
func TestTruncatedShard(t *testing.T) {
	b, s := shardedInfo(t, `"hash":"identity","preshift_bits":0,"minishard_bits":0,"shard_bits":0`)
	index := []uint64{0, 1, 48, 0, 256, 256} // chunks 0 and 1, after the index of 48 bytes
	file := le.AppendUint64(make([]byte, 8), 48)
	for _, n := range index {
		file = le.AppendUint64(file, n)
	}
	file = append(file, voxelsOf(s, volume.Vec{})...)
	file = append(file, voxelsOf(s, volume.Vec{1, 0, 0})[:255]...)
	mag := openScale(t, writeFiles(t, map[string][]byte{"info": b, "8_8_30/0.shard": file}), "8_8_30")
	checkVoxels(t, mag, volume.Vec{})
	for range 2 { // the second time, the index is cached
		want := []string{"8_8_30/0.shard: chunk 5-13_0-8_5-9, ID 1, at byte 320: expected 256 bytes, found the end of the file at byte 575"}
		wantError(t, readError(t, mag, volume.Vec{1, 0, 0}), want...)
		_, err := mag.StatCubes(0, 0, 1)
		wantError(t, err, want...)
	}
	if got := cubes(t, mag); len(got) != 2 {
		t.Errorf("listed %v", got)
	}
}

// TestObsoleteShards: a scale with shards of the obsolete version is omitted, with the file and what to do. Other
// scales of the volume are not. A shard that exists in the current version too is read.
func TestObsoleteShards(t *testing.T) {
	b, _ := shardedInfo(t, identitySpec)
	for _, test := range []struct {
		name  string
		files []string
		want  string // reason; "": none
	}{
		{"obsolete", []string{"0.index", "0.data", "1.index", "1.data"},
			".index: shards in two files are obsolete and not read; make one file of them: cat "},
		{"the data is missing", []string{"1.index"},
			"8_8_30/1.index: shards in two files are obsolete and not read; make one file of them: cat 1.index 1.data > 1.shard"},
		{"both versions", []string{"1.index", "1.data", "1.shard"}, ""},
		{"one of two was converted", []string{"0.index", "0.data", "0.shard", "1.index", "1.data"}, "8_8_30/1.index: "},
		{"not the name of a shard", []string{"all.index", "01.index", "9.index"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := writeFiles(t, map[string][]byte{"info": b})
			for _, name := range test.files {
				writeFile(t, dir, "8_8_30/"+name, nil)
			}
			root, err := Recognise(os.DirFS(dir), ".", Options{})
			if err != nil {
				t.Fatal(err)
			}
			mags, err := root.Layer.Mags()
			omitted := root.Layer.(volume.Omitter).Omitted()
			switch {
			case err != nil || len(mags)+len(omitted) != 2 || len(mags) == 0:
				t.Errorf("got the mags %v and %+v, %v; want two", mags, omitted, err)
			case test.want == "" && len(omitted) > 0, test.want != "" && (len(omitted) != 1 ||
				!strings.Contains(omitted[0].Reason, test.want)):
				t.Errorf("omitted %+v, want the reason %q", omitted, test.want)
			}
		})
	}
}

// TestMissingShards: a dangling link or an obsolete shard is an error, and not an absent shard.
func TestMissingShards(t *testing.T) {
	b, s := shardedInfo(t, identitySpec)
	dir := writeFiles(t, map[string][]byte{"info": b})
	if err := os.Mkdir(filepath.Join(dir, "8_8_30"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "8_8_30", "2.shard")); err != nil {
		t.Fatal(err)
	}
	mag := openScale(t, dir, "8_8_30")
	writeFile(t, dir, "8_8_30/1.index", nil) // a scale that has it when it is opened is omitted
	var want []volume.Vec
	for c := range (volume.Box{Max: s.lattice.Size}).All() {
		err := readError(t, mag, c)
		_, statErr := mag.StatCubes(c[2], c[1], c[0])
		switch shard := s.sharding.locate(s.lattice.Morton(c)).shard; shard {
		case 1:
			wantError(t, err, "8_8_30/1.index: shards in two files are obsolete")
			wantError(t, statErr, "8_8_30/1.index: shards in two files are obsolete")
		case 2:
			wantError(t, err, "8_8_30/2.shard: a symbolic link that leads nowhere")
			wantError(t, statErr, "8_8_30/2.shard: a symbolic link that leads nowhere")
		default:
			wantNotExist(t, err)
			wantNotExist(t, statErr)
			continue
		}
		want = append(want, c)
	}
	if got := cubes(t, mag); !slices.Equal(got, want) {
		t.Errorf("listed %v, expected %v", got, want)
	}
}

// TestShardOfWrongKind: all chunks of a shard that is no regular file are errors, and are listed. FIFOs are not opened.
func TestShardOfWrongKind(t *testing.T) {
	for kind, want := range map[string]string{
		"directory":      "8_8_30/0.shard: expected a regular file, found a directory",
		"FIFO":           "8_8_30/0.shard: expected a regular file, found a FIFO",
		"link to a FIFO": "8_8_30/0.shard: expected a regular file, found a FIFO",
	} {
		b, s := shardedInfo(t, identitySpec)
		dir := writeFiles(t, map[string][]byte{"info": b, "8_8_30/other": {}})
		makeKind(t, filepath.Join(dir, "8_8_30", "0.shard"), kind)
		mag := openScale(t, dir, "8_8_30")
		listed := cubes(t, mag)
		for c := range (volume.Box{Max: s.lattice.Size}).All() {
			_, err := mag.StatCubes(c[2], c[1], c[0])
			if s.sharding.locate(s.lattice.Morton(c)).shard != 0 {
				wantNotExist(t, err)
				continue
			}
			wantError(t, err, want)
			wantError(t, readError(t, mag, c), want)
			if !slices.Contains(listed, c) {
				t.Errorf("%s: %v is not listed", kind, c)
			}
		}
	}
}

// TestUnreadableShardOfLargeScale: a very large scale lists the chunks that it found, and an error.
func TestUnreadableShardOfLargeScale(t *testing.T) {
	b, s := infoFor(t, `"size":[20,17,9],`, `"size":[2000000,2000000,9],`+goodSharding+`,`)
	files := map[string][]byte{"info": b, "8_8_30/1.shard": {1}}
	for name, file := range shardFiles(s.sharding, map[uint64][]byte{0: voxelsOf(s, volume.Vec{})}) {
		files["8_8_30/"+name] = file
	}
	mag := openScale(t, writeFiles(t, files), "8_8_30")
	zs, err := mag.Cubes()
	wantError(t, err, "8_8_30/1.shard: shard index at byte 0: expected 32 bytes, found 1")
	if !slices.Equal(zs, []int{0}) {
		t.Errorf("listed %v", zs)
	}
	checkVoxels(t, mag, volume.Vec{})
}

// TestChangedShard: an open chunk fails after its shard changed. A new listing shows the new version.
func TestChangedShard(t *testing.T) {
	dir, s := writeShards(t, identitySpec, none)
	mag := openScale(t, dir, "8_8_30")
	before := cubes(t, mag)
	f, err := mag.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	writeFile(t, dir, "8_8_30/0.shard", bytes.Repeat([]byte{0}, 32))
	if _, err := readBlock(t.Context(), f, volume.Vec{}); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v, expected %v", err, vfs.ErrChanged)
	}
	_, err = mag.OpenCube(volume.Vec{})
	wantNotExist(t, err)
	gone := 0
	for _, c := range before {
		if s.sharding.locate(s.lattice.Morton(c)).shard == 0 {
			gone++
		}
	}
	if got := len(cubes(t, mag)); got != len(before)-gone {
		t.Errorf("%d of %d chunks listed, expected %d fewer", got, len(before), gone)
	}
}
