package integration

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// metadataTrial mounts sources whose metadata says anything: the properties of a dataset, headers of mags and cubes,
// and info files with and without shards. The mount is refused, or every file of it can be looked at. Nothing beside
// the source is shown.
var metadataTrial = torture.New("metadata", newMetadataCase, runMetadata)

type metadataCase struct {
	Files []hostileFile `json:"files"`
}

func newMetadataCase(r *rand.Rand) metadataCase {
	if r.IntN(2) == 0 {
		return metadataCase{hostileDataset(r)}
	}
	return metadataCase{hostilePrecomputed(r)}
}

func runMetadata(t testing.TB, c metadataCase) {
	base := tempDir(t)
	source, outside := filepath.Join(base, "source"), filepath.Join(base, "outside")
	writeOutside(t, outside)
	writeHostile(t, source, outside, c.Files)
	runLimited(t, "info", source)
	runLimited(t, "info", "--json", source)
	runLimited(t, "check", source)
	if _, err := os.Stat(source); err != nil || runLimited(t, "info", source).code != 0 {
		return // refused
	}
	w := mountWatched(t, source, 1<<20)
	e := explorer{t: t, w: w, r: rand.New(rand.NewPCG(1, 2)), left: 250}
	e.walk(w.dir, 0)
}

// foreign is what the files beside the source are full of.
var foreign = bytes.Repeat([]byte{0xa5, 0x5a, 0xc3}, 40)

// writeOutside writes a mag, a dataset and chunks that no source may reach.
func writeOutside(t testing.TB, dir string) {
	t.Helper()
	m := model{blockLog: 3, blockType: 1, voxelType: 1, channels: 1}
	cube := append(m.header(16), bytes.Repeat(foreign, 512/len(foreign)+1)[:512]...)
	for _, name := range []string{"z0/y0/x0.wkw", "1/z0/y0/x0.wkw", "layer0/1/z0/y0/x0.wkw"} {
		writeFile(t, filepath.Join(dir, name), cube)
	}
	for _, name := range []string{"0-8_0-8_0-8", "1/0-8_0-8_0-8", "0.shard", "1/0.shard"} {
		writeFile(t, filepath.Join(dir, name), bytes.Repeat(foreign, 512/len(foreign)+1)[:512])
	}
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// hostileDataset is a WKW dataset of one or two layers.
func hostileDataset(r *rand.Rand) []hostileFile {
	var files []hostileFile
	var layers []any
	m := model{blockLog: 1 + r.IntN(3), cubeLog: r.IntN(3), blockType: 1 + r.IntN(3), voxelType: 1 + r.IntN(10),
		channels: 1 + r.IntN(3), seed: r.Uint32()}
	for n := range 1 + r.IntN(2) {
		name := fmt.Sprintf("layer%d", n)
		layers = append(layers, describedLayer(r, name, m))
		for _, mag := range []string{"1", "2-2-1"} {
			files = append(files, hostileBytes(r, name+"/"+mag+"/header.wkw", m.header(0), 3))
			for x := range 1 + r.IntN(2) {
				files = append(files, hostileBytes(r, fmt.Sprintf("%s/%s/z0/y%d/x%d.wkw", name, mag, r.IntN(2), x),
					m.file(panicking{}), 3))
			}
		}
	}
	properties := map[string]any{"id": map[string]any{"name": "x", "team": ""}, "dataLayers": layers,
		"scale": randomOf(r, []any{
			[]any{11.24, 11.24, 28.0}, map[string]any{"factor": []any{4.0, 4.0, 40.0}, "unit": "nanometer"},
		})}
	switch r.IntN(8) {
	case 0: // none
	case 1: // not even JSON
		text := string(marshalled(properties))
		at := r.IntN(len(text))
		files = append(files, hostileFile{Path: propertiesFile,
			Text: text[:at] + randomOf(r, hostileStrings) + text[at+r.IntN(len(text)-at):]})
	default:
		files = append(files, hostileFile{Path: propertiesFile, JSON: spoil(r, properties, 12)})
	}
	return files
}

func describedLayer(r *rand.Rand, name string, m model) map[string]any {
	return map[string]any{
		"name": name, "category": randomOf(r, []any{"color", "segmentation"}), "dataFormat": "wkw",
		"elementClass": "uint8", "numChannels": float64(m.channels),
		"boundingBox": map[string]any{"topLeft": []any{0.0, 0.0, 0.0}, "width": float64(m.side()),
			"height": float64(2 * m.side()), "depth": 5.0},
		"mags": []any{
			map[string]any{"mag": []any{1.0, 1.0, 1.0}, "path": "./" + name + "/1", "cubeLength": float64(m.side())},
			map[string]any{"mag": []any{2.0, 2.0, 1.0}, "path": name + "/2-2-1"},
		},
		"wkwResolutions": []any{map[string]any{"resolution": 1.0}, map[string]any{"resolution": []any{2.0, 2.0, 1.0}}},
	}
}

// hostileBytes is a file that is sound mostly: one of oneIn is edited or cut.
func hostileBytes(r *rand.Rand, name string, b []byte, oneIn int) hostileFile {
	f := hostileFile{Path: name, Bytes: b}
	if r.IntN(oneIn) == 0 {
		f.Edits, f.Cut = hostileEdits(r, len(b)), hostileCut(r, len(b))
	}
	return f
}

// hostilePrecomputed is a volume of chunks of 8³ voxels, in files of their own or in shards.
func hostilePrecomputed(r *rand.Rand) []hostileFile {
	chunk := bytes.Repeat([]byte{1, 2, 3, 4}, 128)
	scale := func(key string, size float64) map[string]any {
		s := map[string]any{
			"key": key, "size": []any{size, size, size}, "voxel_offset": []any{0.0, 0.0, 0.0},
			"chunk_sizes": []any{[]any{8.0, 8.0, 8.0}},
			"resolution":  []any{64 / size, 64 / size, 64 / size},
			"encoding": randomOf(r, []any{"raw", "raw", "raw", "compressed_segmentation",
				"png", "jpeg", "jxl", "compresso"}),
			"compressed_segmentation_block_size": []any{8.0, 8.0, 8.0},
		}
		return s
	}
	var files []hostileFile
	var scales []any
	for n, key := range []string{"1", "2"}[:1+r.IntN(2)] {
		size := 16 >> n
		s := scale(key, float64(size))
		if r.IntN(2) == 0 {
			s["sharding"] = map[string]any{
				"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": float64(r.IntN(4)),
				"hash":           randomOf(r, []any{"identity", "murmurhash3_x86_128"}),
				"minishard_bits": 0.0, "shard_bits": 0.0, "minishard_index_encoding": randomOf(r, []any{"raw", "gzip"}),
				"data_encoding": randomOf(r, []any{"raw", "gzip"}),
			}
			files = append(files, hostileBytes(r, key+"/0.shard", shardOf(chunk, size/8*size/8*size/8), 2))
			for range r.IntN(2) {
				files = append(files, hostileBytes(r,
					key+"/"+randomOf(r, []string{"1.shard", "00.shard", "f.shard", "0.index", "0.data"}),
					shardOf(chunk, 1), 2))
			}
		} else {
			for i := range size / 8 * size / 8 * size / 8 {
				x, y, z := i%(size/8)*8, i/(size/8)%(size/8)*8, i/(size/8)/(size/8)*8
				files = append(files, hostileBytes(r, fmt.Sprintf("%s/%d-%d_%d-%d_%d-%d%s", key, x, x+8, y, y+8, z, z+8,
					randomOf(r, []string{"", "", "", ".gz"})), chunk, 3))
			}
		}
		scales = append(scales, s)
	}
	info := map[string]any{"@type": "neuroglancer_multiscale_volume",
		"type": randomOf(r, []any{"image", "segmentation"}), "data_type": "uint8", "num_channels": 1.0,
		"scales": scales}
	return append(files, hostileFile{Path: "info", JSON: spoil(r, info, 15)})
}

// shardOf is a shard of one minishard, whose chunks are all the same.
func shardOf(chunk []byte, n int) []byte {
	shard := binary.LittleEndian.AppendUint64(nil, uint64(n*len(chunk)))
	shard = binary.LittleEndian.AppendUint64(shard, uint64(n*len(chunk)+24*n))
	for range n {
		shard = append(shard, chunk...)
	}
	for _, deltas := range [][2]uint64{{0, 1}, {0, 0}, {uint64(len(chunk)), uint64(len(chunk))}} { // IDs, starts, sizes
		for i := range n {
			shard = binary.LittleEndian.AppendUint64(shard, deltas[min(i, 1)])
		}
	}
	return shard
}
