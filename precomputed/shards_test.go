package precomputed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

var le = binary.LittleEndian

// shardFiles lays out chunks, given by their numbers, in shard files by their names.
func shardFiles(spec *sharding, chunks map[uint64][]byte) map[string][]byte {
	places := map[uint64]map[uint64][]uint64{} // shard → minishard → numbers of chunks
	for id := range chunks {
		at := spec.locate(id)
		if places[at.shard] == nil {
			places[at.shard] = map[uint64][]uint64{}
		}
		places[at.shard][at.minishard] = append(places[at.shard][at.minishard], id)
	}
	files := map[string][]byte{}
	for shard, minishards := range places {
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

// shardedInfo is goodInfo with its first scale in shards.
func shardedInfo(t testing.TB, spec string) ([]byte, *scaleInfo) {
	return infoFor(t, `"resolution":[8,8,30]`, `"resolution":[8,8,30],"sharding":{"@type":"neuroglancer_uint64_sharded_v1",`+spec+`}`)
}

const (
	identitySpec = `"hash":"identity","preshift_bits":1,"minishard_bits":1,"shard_bits":2`
	murmurSpec   = `"hash":"murmurhash3_x86_128","preshift_bits":0,"minishard_bits":3,"shard_bits":1,"minishard_index_encoding":"gzip","data_encoding":"gzip"`
)

// writeShards writes the first scale of goodInfo in shards, without the chunks where
// leave says so, and returns the directory of the volume.
func writeShards(t testing.TB, spec string, leave func(c volume.Vec) bool) (string, *scaleInfo) {
	t.Helper()
	b, s := shardedInfo(t, spec)
	chunks := map[uint64][]byte{}
	for c := range (volume.Box{Max: s.lattice.size}).All() {
		if !leave(c) {
			chunks[s.lattice.morton(c)] = voxelsOf(s, c)
		}
	}
	files := map[string][]byte{"info": b}
	for name, file := range shardFiles(s.sharding, chunks) {
		files["8_8_30/"+name] = file
	}
	return writeFiles(t, files), s
}

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
		for c := range (volume.Box{Max: s.lattice.size}).All() {
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

// TestChunksOfAShardDiffer: chunks of one file have versions of their own, by which a
// cache tells them apart.
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
		if want := f.(*chunk).name; info.Name() != mag.(*scale).chunkName(c) || vfs.StoredOf(info) != info.Size() || filepath.Base(want) != "0.shard" {
			t.Errorf("chunk %v in %s is %s with %d of %d bytes", c, want, info.Name(), vfs.StoredOf(info), info.Size())
		}
	}
}

// TestBadShards: one byte or a few are wrong in 0.shard, which has minishards 0 and 1.
func TestBadShards(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(file []byte) []byte
		spec   string
		want   string
		whole  bool // it is all of the shard that is bad, else minishard 0
	}{
		"empty":            {func(b []byte) []byte { return nil }, identitySpec, "shard index at byte 0: expected 32 bytes, found 0", true},
		"half a slot":      {func(b []byte) []byte { return b[:31] }, identitySpec, "shard index at byte 0: expected 32 bytes, found 31", true},
		"no minishard":     {func(b []byte) []byte { return b[:32] }, identitySpec, "shard index, minishard 0, at byte 0: expected a range within the 0 bytes that follow", true},
		"end before begin": {put(8, 1), identitySpec, "shard index, minishard 0, at byte 0: expected a range within", false},
		"end far away":     {put(8, 1<<63), identitySpec, "to 9223372036854775808", false},
		"24 bytes at 2^64": {puts(0, 1<<64-48, 1<<64-24), identitySpec, "expected a range within", false},
		"length 25":        {func(b []byte) []byte { le.PutUint64(b[8:], le.Uint64(b)+25); return b }, identitySpec, "expected a multiple of 24 bytes, found 25", false},
		"not gzip":         {func(b []byte) []byte { b[2*slotBytes+le.Uint64(b)]++; return b }, identitySpec + `,"minishard_index_encoding":"gzip"`, "decompressing: gzip: invalid header", false},
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
			if got := len(cubes(t, mag)); got != s.lattice.size[0]*s.lattice.size[1]*s.lattice.size[2] {
				t.Errorf("%d chunks listed: bad ones must be", got)
			}
			for p := range (volume.Box{Max: s.lattice.size}).All() {
				at := s.sharding.locate(s.lattice.morton(p))
				if at == (place{}) || c.whole && at.shard == 0 {
					err := readError(t, mag, p)
					wantError(t, err, "8_8_30/0.shard", s.chunkName(p))
					_, statErr := mag.StatCubes(p[2], p[1], p[0])
					wantError(t, statErr, "8_8_30/0.shard")
					if at == (place{}) {
						wantError(t, err, c.want)
					}
					continue
				}
				checkVoxels(t, mag, p)
			}
		})
	}
}

// put returns a damage that writes a number at byte off.
func put(off int, n uint64) func([]byte) []byte { return puts(off, n) }

func puts(off int, numbers ...uint64) func([]byte) []byte {
	return func(b []byte) []byte {
		for i, n := range numbers {
			le.PutUint64(b[off+8*i:], n)
		}
		return b
	}
}

// TestCutShard: only the chunks that are not there any more are bad.
func TestCutShard(t *testing.T) {
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
	for range 2 { // the second time with the index in memory
		want := []string{"8_8_30/0.shard: chunk 5-13_0-8_5-9, number 1, at byte 320: expected 256 bytes, found the end of the file at byte 575"}
		wantError(t, readError(t, mag, volume.Vec{1, 0, 0}), want...)
		_, err := mag.StatCubes(0, 0, 1)
		wantError(t, err, want...)
	}
	if got := cubes(t, mag); len(got) != 2 {
		t.Errorf("listed %v", got)
	}
}

func TestParseMinishard(t *testing.T) {
	words := func(n ...uint64) (b []byte) {
		for _, n := range n {
			b = le.AppendUint64(b, n)
		}
		return b
	}
	const top = 1 << 63
	for _, c := range []struct {
		b    []byte
		want string // index or fault
	}{
		{nil, "[]"},
		{words(5, 0, 0), "[{5 16 0}]"},
		{words(5, 2, 10, 3, 100, 4), "[{5 26 100} {7 129 4}]"},
		{words(1<<64-1, top-17, 0), fmt.Sprintf("[{%d %d 0}]", uint64(1<<64-1), uint64(top-1))},
		{make([]byte, 23), "0: a multiple of 24 bytes: 23"},
		{words(5, 0, 0, 0, 1, 1), "8: rising numbers of chunks: a step of 0"},
		{words(5, 1<<64-5, 0, 0, 1, 1), "8: rising numbers of chunks: a step of 18446744073709551611"},
		{words(5, top-16, 0), "8: a begin below 2^63: 9223372036854775792 after byte 16"},
		{words(5, 1<<64-1, 0), "8: a begin below 2^63: 18446744073709551615 after byte 16"},
		{words(5, 0, top-16), "16: an end below 2^63: 9223372036854775792 bytes from byte 16"},
		{words(5, 1, 0, top-17, 17, 1), "24: a begin below 2^63: 9223372036854775791 after byte 33"},
	} {
		index, fault := parseMinishard(c.b, 16)
		got := fmt.Sprint([]entry(index))
		if fault != nil {
			got = fmt.Sprintf("%d: %s: %s", fault.offset, fault.expected, fault.found)
		}
		if got != c.want {
			t.Errorf("%v: got %s, expected %s", c.b, got, c.want)
		}
	}
}

// TestMissingShards: what stands for a shard and cannot be read is no absent shard.
func TestMissingShards(t *testing.T) {
	b, s := shardedInfo(t, identitySpec)
	dir := writeFiles(t, map[string][]byte{"info": b, "8_8_30/1.index": {}, "8_8_30/1.data": {}})
	if err := os.Symlink("nowhere", filepath.Join(dir, "8_8_30", "2.shard")); err != nil {
		t.Fatal(err)
	}
	mag := openScale(t, dir, "8_8_30")
	var want []volume.Vec
	for c := range (volume.Box{Max: s.lattice.size}).All() {
		err := readError(t, mag, c)
		_, statErr := mag.StatCubes(c[2], c[1], c[0])
		switch shard := s.sharding.locate(s.lattice.morton(c)).shard; shard {
		case 1:
			wantError(t, err, "8_8_30/1.index: the obsolete form")
			wantError(t, statErr, "8_8_30/1.index: the obsolete form")
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

// TestTooManySuspects: in a very large scale, what was found is listed, with an error.
func TestTooManySuspects(t *testing.T) {
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

// TestChangedShard: an open chunk is of one version of its shard, and a listing shows
// the new one.
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
		if s.sharding.locate(s.lattice.morton(c)).shard == 0 {
			gone++
		}
	}
	if got := len(cubes(t, mag)); got != len(before)-gone {
		t.Errorf("%d of %d chunks listed, expected %d fewer", got, len(before), gone)
	}
}

func TestStems(t *testing.T) {
	for _, c := range []struct {
		bits  int
		shard uint64
		want  string
	}{{0, 0, "0"}, {1, 1, "1"}, {4, 15, "f"}, {5, 1, "01"}, {11, 0x456, "456"}, {64, 1<<64 - 1, "ffffffffffffffff"}} {
		s := &sharding{shardBits: c.bits}
		if got := s.stem(c.shard); got != c.want {
			t.Errorf("got %s, expected %s", got, c.want)
		}
		if n, ok := s.parseStem(c.want); !ok || n != c.shard {
			t.Errorf("%s: got %d, %v", c.want, n, ok)
		}
	}
	s := &sharding{shardBits: 5}
	for _, stem := range []string{"", "0", "20", "001", "0F", "0g", "-1", "ffffffffffffffffff"} {
		if n, ok := s.parseStem(stem); ok {
			t.Errorf("%s: got %d", stem, n)
		}
	}
}

func TestIndexes(t *testing.T) {
	key := func(n int) indexKey { return indexKey{place: place{minishard: uint64(n)}} }
	one := keptIndex{index: make(minishardIndex, 10)}.bytes()
	x := newIndexes(3 * one)
	for n := range 3 {
		x.add(key(n), make(minishardIndex, 10))
	}
	x.get(key(0))
	x.add(key(0), make(minishardIndex, 10))
	x.add(key(3), make(minishardIndex, 10))
	for n, want := range []bool{true, false, true, true} {
		if _, kept := x.get(key(n)); kept != want {
			t.Errorf("index %d: kept %v, expected %v", n, kept, want)
		}
	}
	x.add(key(4), make(minishardIndex, 1000))
	if _, kept := x.get(key(4)); !kept || x.used.Len() != 1 || len(x.byKey) != 1 {
		t.Errorf("%d indexes beside one beyond the budget", x.used.Len())
	}
	x.add(key(5), nil)
	if x.used.Len() != 1 || x.bytes != (keptIndex{}).bytes() {
		t.Errorf("%d indexes of %d bytes", x.used.Len(), x.bytes)
	}
}
