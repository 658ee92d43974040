package integration

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes the volume into a directory.
func (c memoryCase) write(t testing.TB, dir string) {
	t.Helper()
	switch c.family() {
	case "zarr":
		c.writeZarr(t, dir)
	case "n5":
		writeFile(t, filepath.Join(dir, "attributes.json"), marshal(t, map[string]any{
			"dimensions": []int{c.Plane[0], c.Plane[1], c.Planes}, "blockSize": []int{c.Plane[0], c.Plane[1], c.Depth},
			"dataType": c.Type,
			"compression": map[string]any{"type": strings.Replace(c.Codecs[0], "zlib", "gzip", 1),
				"useZlib": c.Codecs[0] == "zlib"},
		}))
		chunk := c.chunk(t, c.Depth)
		for i := range c.chunks() {
			head := []byte{0, 0, 0, 3}
			for _, n := range []int{c.Plane[0], c.Plane[1], c.Depth} {
				head = binary.BigEndian.AppendUint32(head, uint32(n))
			}
			writeFile(t, filepath.Join(dir, fmt.Sprintf("0/0/%d", i)), append(head, chunk...))
		}
	case "precomputed":
		c.writePrecomputed(t, dir)
	case "wkw":
		log := 0
		for c.Plane[0]>>log > 1 {
			log++
		}
		m := model{blockLog: log, cubeLog: 0, blockType: 1, voxelType: 1, channels: 1}
		start := 16
		if c.Codecs[0] == "lz4" {
			m.blockType, start = 2, 24
		}
		m.writeHeader(t, dir)
		block := c.chunk(t, c.Depth)
		for z := range c.chunks() {
			file := m.header(start)
			if start == 24 {
				file = binary.LittleEndian.AppendUint64(file, uint64(start+len(block)))
			}
			writeFile(t, filepath.Join(dir, fmt.Sprintf("z%d/y0/x0.wkw", z)), append(file, block...))
		}
	}
}

func (c memoryCase) writeZarr(t testing.TB, dir string) {
	t.Helper()
	endian := "little"
	if c.Big {
		endian = "big"
	}
	codecs := []any{map[string]any{"name": "bytes", "configuration": map[string]any{"endian": endian}}}
	chunk := []int{c.Depth, c.Plane[1], c.Plane[0]}
	if c.Turned {
		codecs = slices.Insert(codecs, 0, any(map[string]any{"name": "transpose",
			"configuration": map[string]any{"order": []int{2, 1, 0}}}))
	}
	for _, name := range c.Codecs {
		config := map[string]any{}
		switch name {
		case "":
			continue
		case "numcodecs.lzma":
			config["format"] = 2
		case "numcodecs.xz":
			name = "numcodecs.lzma"
		case "blosc":
			config = map[string]any{"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": c.valueBytes(),
				"blocksize": 256 << 10}
		}
		codecs = append(codecs, map[string]any{"name": name, "configuration": config})
	}
	outer := slices.Clone(chunk)
	if c.Format == "zarr-shards" {
		outer[0] *= 2
		codecs = []any{map[string]any{"name": "sharding_indexed", "configuration": map[string]any{
			"chunk_shape": chunk, "codecs": codecs, "index_location": "end",
			"index_codecs": []any{map[string]any{"name": "bytes", "configuration": map[string]any{"endian": "little"}}},
		}}}
	}
	writeFile(t, filepath.Join(dir, "zarr.json"), marshal(t, map[string]any{
		"zarr_format": 3, "node_type": "array", "shape": []int{c.Planes, c.Plane[1], c.Plane[0]}, "data_type": c.Type,
		"fill_value": 0, "codecs": codecs,
		"chunk_grid":         map[string]any{"name": "regular", "configuration": map[string]any{"chunk_shape": outer}},
		"chunk_key_encoding": map[string]any{"name": "default", "configuration": map[string]any{"separator": "/"}},
	}))
	b := c.chunk(t, c.Depth)
	for i := range (c.Planes + outer[0] - 1) / outer[0] {
		file := b
		if c.Format == "zarr-shards" {
			file = slices.Concat(b, b)
			for j := range 2 {
				file = binary.LittleEndian.AppendUint64(file, uint64(j*len(b)))
				file = binary.LittleEndian.AppendUint64(file, uint64(len(b)))
			}
		}
		writeFile(t, filepath.Join(dir, fmt.Sprintf("c/%d/0/0", i)), file)
	}
}

func (c memoryCase) writePrecomputed(t testing.TB, dir string) {
	t.Helper()
	scale := map[string]any{
		"key": "1", "size": []int{c.Plane[0], c.Plane[1], c.Planes}, "voxel_offset": []int{0, 0, 0},
		"resolution":  []int{1, 1, 1},
		"chunk_sizes": [][]int{{c.Plane[0], c.Plane[1], c.Depth}}, "encoding": c.Codecs[0],
	}
	if c.Codecs[0] == "compressed_segmentation" {
		scale["compressed_segmentation_block_size"] = []int{8, 8, 8}
	}
	zipped := len(c.Codecs) > 1
	if c.Format == "precomputed-shards" {
		encoding := "raw"
		if zipped {
			encoding = "gzip"
		}
		scale["sharding"] = map[string]any{
			"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 0, "minishard_bits": 0,
			"shard_bits":               0,
			"minishard_index_encoding": "raw", "data_encoding": encoding,
		}
	}
	writeFile(t, filepath.Join(dir, "info"), marshal(t, map[string]any{
		"@type": "neuroglancer_multiscale_volume", "type": "segmentation", "data_type": c.Type, "num_channels": 1,
		"scales": []any{scale},
	}))
	var data []byte
	var ids, offsets, sizes []uint64
	chunks := map[int][]byte{} // by the number of planes
	for i := range c.chunks() {
		from, to := i*c.Depth, min((i+1)*c.Depth, c.Planes)
		if chunks[to-from] == nil {
			chunks[to-from] = c.chunk(t, to-from)
		}
		b := chunks[to-from]
		if c.Format == "precomputed" {
			name := fmt.Sprintf("1/0-%d_0-%d_%d-%d", c.Plane[0], c.Plane[1], from, to)
			if zipped {
				name += ".gz"
			}
			writeFile(t, filepath.Join(dir, name), b)
			continue
		}
		ids, offsets, sizes = append(ids, min(uint64(i), 1)), append(offsets, 0), append(sizes, uint64(len(b)))
		data = append(data, b...)
	}
	if c.Format == "precomputed" {
		return
	}
	index := slices.Concat(ids, offsets, sizes)
	shard := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	shard = binary.LittleEndian.AppendUint64(shard, uint64(len(data)+8*len(index)))
	shard = append(shard, data...)
	for _, n := range index {
		shard = binary.LittleEndian.AppendUint64(shard, n)
	}
	writeFile(t, filepath.Join(dir, "1/0.shard"), shard)
}
