package integration

import (
	"bytes"
	"compress/gzip"
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

// TestMemoryOfIndexes: the limit of memory holds while readers at random read shards of Zarr that have millions of
// inner chunks: sound ones with checksums, and ones that claim indexes of the largest size and have holes there.
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

// TestMemoryOfShards: the limit of memory holds while programs list all chunks of a volume of Precomputed whose scales
// have more chunks than the server keeps positions and indexes of. Each scale is a shard with one index, in gzip.
func TestMemoryOfShards(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	const scales, chunks, budget = 12, 128 * 64 * 32, 64 << 20
	source := tempDir(t)
	shard := oneVoxelShard(t, chunks)
	var info struct {
		Kind     string `json:"@type"`
		Type     string `json:"type"`
		DataType string `json:"data_type"`
		Channels int    `json:"num_channels"`
		Scales   []any  `json:"scales"`
	}
	info.Kind, info.Type, info.DataType, info.Channels = "neuroglancer_multiscale_volume", "image", "uint8", 1
	for i := range scales {
		info.Scales = append(info.Scales, map[string]any{
			"key": fmt.Sprint(i), "size": []int{128, 64, 32}, "resolution": []int{1 << i, 1 << i, 1 << i},
			"voxel_offset": []int{0, 0, 0},
			"chunk_sizes":  [][]int{{1, 1, 1}}, "encoding": "raw", "sharding": map[string]any{
				"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity", "minishard_bits": 0,
				"shard_bits":               0,
				"minishard_index_encoding": "gzip", "data_encoding": "raw",
			},
		})
		writeFile(t, filepath.Join(source, fmt.Sprint(i), "0.shard"), shard)
	}
	writeFile(t, filepath.Join(source, "info"), marshal(t, info))
	s := mountServer(t, source, "--cache-size", fmt.Sprint(budget), "--log-file", os.DevNull)
	var group sync.WaitGroup
	for worker := range 3 {
		group.Go(func() {
			for i := worker; i < scales; i += 3 {
				// The names of the chunks, and the attributes of the files that have all of them.
				names, err := os.ReadDir(filepath.Join(s.dir, fmt.Sprint(i), "chunks"))
				if err != nil || len(names) != chunks {
					t.Errorf("scale %d: %d chunks, error %v", i, len(names), err)
				}
				if info, err := os.Stat(filepath.Join(s.dir, fmt.Sprint(i), "volume.raw")); err != nil ||
					info.Size() != chunks {
					t.Errorf("scale %d: volume.raw: %v, error %v", i, info, err)
				}
			}
		})
	}
	group.Wait()
	checkPeak(t, s, budget)
}

// oneVoxelShard returns a shard of Precomputed with one minishard, whose chunks have a byte each.
func oneVoxelShard(t *testing.T, chunks int) []byte {
	t.Helper()
	var index bytes.Buffer
	w := gzip.NewWriter(&index)
	for i, word := range []uint64{1, 0, 1} { // steps of the IDs, gaps between the chunks, sizes
		row := slices.Repeat(binary.LittleEndian.AppendUint64(nil, word), chunks)
		if i == 0 {
			clear(row[:8]) // the first ID is 0
		}
		if _, err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	shard := binary.LittleEndian.AppendUint64(nil, uint64(chunks))
	shard = binary.LittleEndian.AppendUint64(shard, uint64(chunks+index.Len()))
	return slices.Concat(shard, make([]byte, chunks), index.Bytes())
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

// writeLargeShards writes shards that lie one after the other on z. All inner chunks are stored once, at the start of
// the shard. If the shards are not sound, a hole takes the place of the index.
func writeLargeShards(t *testing.T, dir string, shards int, side [3]int, chunk []byte, sound bool) {
	t.Helper()
	little := map[string]any{"name": "bytes", "configuration": map[string]any{"endian": "little"}}
	codecs, entries := []any{little}, side[0]*side[1]*side[2]/len(chunk)
	if sound {
		codecs = append(codecs, map[string]any{"name": "crc32c"})
	}
	writeFile(t, filepath.Join(dir, "zarr.json"), marshal(t, map[string]any{
		"zarr_format": 3, "node_type": "array", "shape": []int{shards * side[0], side[1], side[2]},
		"data_type": "uint8", "fill_value": 0,
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
		shard = append(append(shard, index...), binary.LittleEndian.AppendUint32(nil,
			crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)))...)
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
