package integration

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMemoryOfIndexes: the limit of memory holds while readers at random read shards of Zarr that have millions of inner chunks: sound ones with
// checksums, and ones that claim indexes of the largest size and have holes there.
func TestMemoryOfIndexes(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	for _, c := range []struct {
		name   string
		shards int
		side   [3]int // voxels of a shard on z, y, x
		sound  bool
	}{
		{"sound", 3, [3]int{1024, 1024, 1024}, true},
		{"holes", 8, [3]int{1024, 1024, 2048}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			const inner, budget = 8, 64 << 20
			chunk := make([]byte, inner*inner*inner)
			for i := range chunk {
				chunk[i] = byte(i*7 + i>>8 + 1)
			}
			source := tempDir(t)
			writeLargeShards(t, source, c.shards, c.side, chunk, c.sound)
			s := mountServer(t, source, "--cache-size", fmt.Sprint(budget), "--log-file", os.DevNull)
			f, err := os.Open(filepath.Join(s.dir, "volume.raw"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			size := int64(c.shards) * int64(c.side[0]*c.side[1]*c.side[2])
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					r, p := rand.New(rand.NewPCG(3, uint64(i))), make([]byte, 4096)
					for range 24 {
						off := r.Int64N(size - int64(len(p)))
						n, err := f.ReadAt(p, off)
						if !c.sound {
							if !errors.Is(err, unix.EIO) {
								t.Errorf("offset %d: got %v, expected EIO", off, err)
							}
							continue
						}
						if err != nil || !slices.Equal(p[:n], wantInner(chunk, inner, c.side, off, n)) {
							t.Errorf("offset %d: wrong bytes, or error %v", off, err)
						}
					}
				})
			}
			group.Wait()
			checkPeak(t, s, budget)
		})
	}
}

// wantInner returns n bytes of a volume whose inner chunks are all equal.
func wantInner(chunk []byte, inner int, side [3]int, off int64, n int) []byte {
	want := make([]byte, n)
	for i := range want {
		at := int(off) + i
		x, y, z := at%side[2], at/side[2]%side[1], at/side[2]/side[1]
		want[i] = chunk[(z%inner*inner+y%inner)*inner+x%inner]
	}
	return want
}

// writeLargeShards writes shards that lie one after the other on z. All inner chunks are stored once, at the start of the shard. If the shards
// are not sound, a hole takes the place of the index.
func writeLargeShards(t *testing.T, dir string, shards int, side [3]int, chunk []byte, sound bool) {
	t.Helper()
	little := map[string]any{"name": "bytes", "configuration": map[string]any{"endian": "little"}}
	codecs, entries := []any{little}, side[0]*side[1]*side[2]/len(chunk)
	if sound {
		codecs = append(codecs, map[string]any{"name": "crc32c"})
	}
	writeFile(t, filepath.Join(dir, "zarr.json"), marshal(t, map[string]any{
		"zarr_format": 3, "node_type": "array", "shape": []int{shards * side[0], side[1], side[2]}, "data_type": "uint8", "fill_value": 0,
		"chunk_grid":         map[string]any{"name": "regular", "configuration": map[string]any{"chunk_shape": side}},
		"chunk_key_encoding": map[string]any{"name": "default", "configuration": map[string]any{"separator": "/"}},
		"codecs": []any{map[string]any{"name": "sharding_indexed", "configuration": map[string]any{
			"chunk_shape": []int{8, 8, 8}, "codecs": []any{little}, "index_location": "end", "index_codecs": codecs,
		}}},
	}))
	shard := slices.Clone(chunk)
	if sound {
		entry := binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(len(chunk)))
		index := slices.Repeat(entry, entries)
		shard = append(append(shard, index...), binary.LittleEndian.AppendUint32(nil, crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)))...)
	}
	for z := range shards {
		name := filepath.Join(dir, fmt.Sprintf("c/%d/0/0", z))
		writeFile(t, name, shard)
		if !sound {
			if err := os.Truncate(name, int64(len(chunk)+16*entries)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
