package integration

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// memoryCase is a volume of chunks that lie one after the other on z, and the way in which it is read.
type memoryCase struct {
	Format  string       `json:"format"` // zarr, zarr-shards, n5, precomputed, precomputed-shards or wkw
	Codecs  []string     `json:"codecs"` // of bytes; the first one is the encoding of Precomputed
	Type    string       `json:"type"`   // uint8 or uint32
	Big     bool         `json:"big,omitempty"`
	Turned  bool         `json:"turned,omitempty"` // z is the fast axis of a chunk of Zarr
	Plane   [2]int       `json:"plane"`            // voxels of a chunk on x and y
	Depth   int          `json:"depth"`            // and on z
	Planes  int          `json:"planes"`           // voxels of the volume on z
	Stored  string       `json:"stored"`           // right, zeros, long, cut, noise or claims
	Content torture.Seed `json:"content"`
	Cache   int          `json:"cache"` // MiB
	Readers int          `json:"readers"`
	Way     string       `json:"way"` // mount, serve, nfs, cp, check or info
}

const (
	memoryLongTimes  = 16 // how many times more than a chunk a stream decodes to that is too long
	memoryMostBytes  = 1 << 28
	memoryMostCodecs = 30 // Zarr has at most 32, with those that are not of bytes
)

var (
	memoryFormats = []string{"zarr", "zarr-shards", "n5", "precomputed", "precomputed-shards", "wkw"}
	memoryStored  = []string{"right", "right", "right", "zeros", "long", "cut", "noise", "claims"}
	memoryWays    = []string{"mount", "mount", "serve", "nfs", "cp", "check", "info"}

	// memoryCodecs has the codecs of each format, as its metadata name them.
	memoryCodecs = map[string][]string{
		"zarr": {"", "gzip", "numcodecs.zlib", "zstd", "blosc", "numcodecs.lz4", "numcodecs.bz2",
			"numcodecs.lzma", "numcodecs.xz", "crc32c"},
		"n5":          {"raw", "gzip", "zlib", "bzip2", "lz4", "xz"},
		"precomputed": {"raw", "compressed_segmentation", "compresso", "png", "jpeg", "jxl"},
		"wkw":         {"raw", "lz4"},
	}
)

func (c memoryCase) family() string { return strings.TrimSuffix(c.Format, "-shards") }

func (c memoryCase) valueBytes() int {
	if c.Type == "uint32" {
		return 4
	}
	return 1
}

// chunkBytes returns the bytes of a decoded chunk.
func (c memoryCase) chunkBytes() int { return c.valueBytes() * c.Plane[0] * c.Plane[1] * c.Depth }

func (c memoryCase) chunks() int { return (c.Planes + c.Depth - 1) / c.Depth }

// valid reports whether the case is one that newMemoryCase could return, or a smaller one.
func (c memoryCase) valid() bool {
	if !slices.Contains(memoryFormats, c.Format) || !slices.Contains(memoryStored, c.Stored) ||
		!slices.Contains(memoryWays, c.Way) || c.Type != "uint8" && c.Type != "uint32" {
		return false
	}
	for _, n := range []int{c.Plane[0], c.Plane[1], c.Depth, c.Planes, c.Readers} {
		if n < 1 || n > 1<<20 {
			return false
		}
	}
	if len(c.Codecs) < 1 || len(c.Codecs) > memoryMostCodecs || c.Cache < 1 || c.Cache > 1024 ||
		c.Plane[0]*c.Plane[1] > 1<<24 || c.chunks() > 1000 {
		return false
	}
	for i, name := range c.Codecs {
		if !slices.Contains(memoryCodecs[c.family()], name) && !(c.family() == "precomputed" && i == 1 &&
			name == "gzip") || i > 0 && c.family() == "n5" {
			return false
		}
	}
	// What is written has to fit into the memory of the test.
	return c.Plane[0]*c.Plane[1]*min(c.Depth, c.Planes)*c.valueBytes() <= memoryMostBytes &&
		(c.chunkBytes() <= memoryMostBytes || c.family() == "precomputed")
}

// voxels returns the decoded chunk. Neighbours are equal, so it compresses. It is zeros if its codec has no encoder in
// Go.
func (c memoryCase) voxels(planes int) []byte {
	b := make([]byte, c.valueBytes()*c.Plane[0]*c.Plane[1]*planes)
	if c.isZeros() {
		return b
	}
	r := c.Content.Rand()
	for i := 0; i < len(b); i += 64 {
		v := byte(1 + r.IntN(9))
		for j := i; j < min(i+64, len(b)); j++ {
			b[j] = v
		}
	}
	return b
}

// isZeros reports whether all voxels are 0: an encoder writes nothing else, or takes long for it.
func (c memoryCase) isZeros() bool {
	return c.Stored != "right" || slices.ContainsFunc(c.Codecs, func(name string) bool {
		return slices.Contains([]string{"numcodecs.bz2", "bzip2", "numcodecs.lzma", "numcodecs.xz", "xz",
			"compressed_segmentation", "compresso", "jpeg", "jxl"}, name)
	})
}

// isRight reports whether every voxel has to be right, if the volume is shown at all.
func (c memoryCase) isRight() bool {
	return (c.Stored == "right" || c.Stored == "zeros") && (c.Codecs[0] != "jxl" || c.hasJXL())
}

// hasJXL reports whether there is a JPEG XL picture of each chunk: nothing in Go writes others than [jxlOfZeros].
func (c memoryCase) hasJXL() bool {
	return c.Stored == "right" && c.Cache >= 1024 && c.Plane == [2]int{128, 128} && c.Depth == 64 && c.Planes%64 == 0
}

// jxlOfZeros is a picture of 128 × 8192 pixels, by cjxl -d 0 -e 9 --container=0 of libjxl.
const jxlOfZeros = "/wr6/+APCIoLAQgCAQAYAAAAAAAAAAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQAAEQABLGIsVggEDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw=="

// chunk returns the stored bytes of a chunk with planes voxels on z.
func (c memoryCase) chunk(t testing.TB, planes int) []byte {
	b := c.voxels(planes)
	if c.Big {
		for i := 0; i+4 <= len(b); i += 4 { // values are equal on both ends
			slices.Reverse(b[i : i+4])
		}
	}
	if c.Stored == "long" && len(b)*memoryLongTimes <= 1<<30 {
		b = make([]byte, memoryLongTimes*len(b))
	}
	for _, name := range c.Codecs {
		b = c.encode(t, name, b, planes)
	}
	r := c.Content.Rand()
	switch c.Stored {
	case "cut":
		b = b[:len(b)/2]
	case "noise":
		for i := min(8, len(b)/2); i < min(len(b), 1<<20); i++ {
			b[i] = byte(r.Uint32())
		}
	case "claims": // sizes in the header become large
		for i := range 4 {
			if at := r.IntN(min(len(b), 40)); i > 0 {
				b[at] = byte(0xff - i)
			}
		}
	}
	return b
}

// encode encodes bytes as a codec of that name does.
func (c memoryCase) encode(t testing.TB, name string, b []byte, planes int) []byte {
	t.Helper()
	var out bytes.Buffer
	le := binary.LittleEndian
	write := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, err error) []byte {
		if err == nil {
			_, err = w.Write(b)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	switch name {
	case "", "raw":
		return b
	case "gzip":
		return write(gzip.NewWriterLevel(&out, gzip.BestSpeed))
	case "numcodecs.zlib", "zlib":
		return write(zlib.NewWriterLevel(&out, zlib.BestSpeed))
	case "zstd": // frames do not say how long their content is
		return write(zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	case "numcodecs.xz", "xz":
		return write(xz.NewWriter(&out))
	case "numcodecs.lzma":
		return write(lzma.WriterConfig{Size: int64(len(b)), EOSMarker: true, SizeInHeader: false}.NewWriter(&out))
	case "numcodecs.bz2", "bzip2":
		return bzip2OfZeros(t, len(b))
	case "crc32c":
		return le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	case "numcodecs.lz4":
		return append(le.AppendUint32(nil, uint32(len(b))), lz4Literals(b)...)
	case "lz4":
		if c.family() == "wkw" {
			return lz4Literals(b)
		}
		return lz4JavaOf(b)
	case "blosc":
		return bloscStored(b, 256<<10)
	case "compressed_segmentation": // every block has the label 0 of one table
		headers := (c.Plane[0] + 7) / 8 * ((c.Plane[1] + 7) / 8) * ((planes + 7) / 8)
		out := append(le.AppendUint32(nil, 1), make([]byte, 8*headers+8)...)
		for i := range headers {
			le.PutUint32(out[4+8*i:], uint32(2*headers))
		}
		return out
	case "compresso": // no boundary, and one component
		out := append([]byte("cpso"), 0, byte(c.valueBytes()))
		for _, n := range []int{c.Plane[0], c.Plane[1], planes} {
			out = le.AppendUint16(out, uint16(n))
		}
		out = append(out, 4, 4, 1)
		out = le.AppendUint64(out, 1)
		out = append(out, make([]byte, 12)...)
		return append(append(out, 6), make([]byte, c.valueBytes())...)
	case "png", "jpeg":
		m := &image.Gray{Pix: b, Stride: c.Plane[0], Rect: image.Rect(0, 0, c.Plane[0], len(b)/c.Plane[0])}
		err := png.Encode(&out, m)
		if name == "jpeg" {
			out.Reset()
			err = jpeg.Encode(&out, m, nil)
		}
		if err != nil {
			t.Skip(err) // too large for the format
		}
		return out.Bytes()
	case "jxl":
		if c.hasJXL() {
			picture, err := base64.StdEncoding.DecodeString(jxlOfZeros)
			if err != nil {
				t.Fatal(err)
			}
			return picture
		}
		// A header alone: a picture of 2^30 × 2^30 pixels.
		return append([]byte{0xff, 0x0a, 0xf6, 0xff, 0xff, 0xff, 0xff}, make([]byte, 100)...)
	}
	t.Fatalf("no encoder of %q", name)
	return nil
}

// bzip2OfZeros returns streams of zeros, one after the other.
func bzip2OfZeros(t testing.TB, n int) (b []byte) {
	t.Helper()
	const mebibyte = "QlpoOTFBWSZTWThXHOUACAhAAMAEAAggADDMBSmmCAbEIB4u5IpwoSBwrjnK"
	stream, err := base64.StdEncoding.DecodeString(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if n%(1<<20) != 0 {
		t.Skip("no such stream")
	}
	return bytes.Repeat(stream, n>>20)
}

// lz4Literals returns an LZ4 block without matches.
func lz4Literals(b []byte) []byte {
	if len(b) < 15 {
		return append([]byte{byte(len(b) << 4)}, b...)
	}
	n := len(b) - 15
	out := append([]byte{0xf0}, bytes.Repeat([]byte{255}, n/255)...)
	return append(append(out, byte(n%255)), b...)
}

// lz4JavaOf returns a stream of lz4-java with stored blocks, and wrong checksums if they are not zeros of 64 KiB.
func lz4JavaOf(b []byte) (out []byte) {
	const block, magic, stored = 64 << 10, "LZ4Block", 0x10 | 6
	le := binary.LittleEndian
	for ; ; b = b[min(block, len(b)):] {
		n := min(block, len(b))
		out = append(append(out, magic...), stored)
		out = le.AppendUint32(le.AppendUint32(out, uint32(n)), uint32(n))
		sum := uint32(0)
		if n > 0 {
			sum = xxh32Of(b[:n]) & (1<<28 - 1)
		}
		out = append(le.AppendUint32(out, sum), b[:n]...)
		if n == 0 {
			return out
		}
	}
}

// xxh32Of is xxHash with the seed of lz4-java, for a multiple of 16 bytes.
func xxh32Of(b []byte) uint32 {
	const p1, p2, p3, p4 = 2654435761, 2246822519, 3266489917, 668265263
	const seed = uint32(0x9747b28c)
	rotate := func(v uint32, n int) uint32 { return v<<n | v>>(32-n) }
	p1v, p2v := uint32(p1), uint32(p2)
	v := [4]uint32{seed + p1v + p2v, seed + p2v, seed, seed - p1v}
	n := len(b)
	for ; len(b) >= 16; b = b[16:] {
		for i := range v {
			v[i] = rotate(v[i]+binary.LittleEndian.Uint32(b[4*i:])*p2v, 13) * p1v
		}
	}
	h := rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18) + uint32(n)
	for ; len(b) >= 4; b = b[4:] {
		h = rotate(h+binary.LittleEndian.Uint32(b)*uint32(p3), 17) * uint32(p4)
	}
	h = (h ^ h>>15) * p2v
	h = (h ^ h>>13) * uint32(p3)
	return h ^ h>>16
}

// bloscStored returns a chunk of blosc with blocks that are not compressed. They are in reverse order.
func bloscStored(b []byte, size int) []byte {
	le := binary.LittleEndian
	n := max((len(b)+size-1)/size, 1)
	body := make([]byte, 4*n, len(b)+8*n)
	for i := n - 1; i >= 0; i-- {
		block := b[min(i*size, len(b)):min((i+1)*size, len(b))]
		le.PutUint32(body[4*i:], uint32(16+len(body)))
		body = append(le.AppendUint32(body, uint32(len(block))), block...)
	}
	head := []byte{2, 1, 1<<5 | 1<<4, 1}
	for _, n := range []int{len(b), size, 16 + len(body)} {
		head = le.AppendUint32(head, uint32(n))
	}
	return append(head, body...)
}

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

// newMemoryCase returns a volume of up to some chunks.
func newMemoryCase(r *rand.Rand) memoryCase {
	c := memoryCase{
		Format: randomOf(r, memoryFormats), Type: randomOf(r, []string{"uint8", "uint32"}), Turned: r.IntN(4) == 0,
		Stored: randomOf(r, memoryStored), Content: torture.Seed(r.Uint64()), Way: randomOf(r, memoryWays),
		Cache: randomOf(r, []int{16, 64, 64, 256}), Readers: randomOf(r, []int{1, 4, 16}),
	}
	family := c.family()
	c.Codecs = []string{randomOf(r, memoryCodecs[family])}
	side := randomOf(r, []int{64, 256, 512})
	c.Plane, c.Depth = [2]int{side, side}, randomOf(r, []int{4, 16, 64, 128})
	switch {
	case family == "wkw":
		side = randomOf(r, []int{32, 128, 256})
		c.Plane, c.Depth, c.Type, c.Turned = [2]int{side, side}, side, "uint8", false
	case family == "precomputed":
		c.Turned = false
		if r.IntN(2) == 0 {
			c.Codecs = append(c.Codecs, "gzip")
		}
		switch c.Codecs[0] {
		case "compressed_segmentation":
			c.Type = "uint32"
		case "png", "jpeg", "jxl":
			c.Type = "uint8"
		}
	case family == "zarr":
		for r.IntN(3) == 0 && len(c.Codecs) < memoryMostCodecs && c.Codecs[0] != "numcodecs.bz2" {
			c.Codecs = append(c.Codecs, randomOf(r, []string{"gzip", "zstd", "crc32c"}))
		}
		if r.IntN(10) == 0 {
			c.Codecs = slices.Repeat([]string{"gzip"}, memoryMostCodecs)
		}
		c.Big = c.Type == "uint32" && r.IntN(2) == 0
	case family == "n5":
		c.Turned = false
	}
	c.Planes = randomOf(r, []int{c.Depth, 3 * c.Depth, 2*c.Depth + 1, 3, 1})
	if r.IntN(8) == 0 && family != "wkw" { // far past the end
		c.Depth, c.Planes = randomOf(r, []int{1 << 12, 1 << 10}), 15
		if c.chunkBytes() > 1<<26 {
			c.Plane = [2]int{64, 64}
		}
	}
	return c
}
