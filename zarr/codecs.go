package zarr

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
)

// bytesCodecs are the codecs that turn bytes into bytes. Blosc chunks have their parameters in their header.
var bytesCodecs = map[string]codec.Codec{
	"gzip": codec.Gzip{}, "zstd": codec.Zstd{}, "blosc": codec.Blosc{}, "crc32c": codec.CRC32C{},
}

// codecReader reads lists of codecs into an array (v3, "Codecs"): first those of arrays, then one that makes bytes of
// an array, then those of bytes.
type codecReader struct {
	array  *chunked.Array
	number codec.Number // the values after the codecs so far
	isBool bool         // the array has booleans
	order  []int        // axes of the array after the transpositions so far, slowest first
	fixed  []int        // extents of a chunk after codecs that arrange its values; nil without them: order says all
	packed bool         // the values are packed bits
	depth  int          // of sharding
}

// readCodecs reads the codecs of an array with a shape and chunks.
func readCodecs(o object, a *chunked.Array, number codec.Number, isBool bool) error {
	if len(a.Chunk) != len(a.Shape) {
		return fmt.Errorf("chunk_shape: expected %d numbers, found %d", len(a.Shape), len(a.Chunk))
	}
	r := codecReader{array: a, number: number, isBool: isBool, order: identity(len(a.Shape))}
	widen(a, number)
	return r.read(o, "codecs")
}

func (r *codecReader) read(o object, member string) error {
	if !o.Has(member) {
		return fmt.Errorf("%s: expected a list of codecs, found none", member)
	}
	list, err := jsonlimit.List[extension](o[member], maxCodecs, "codecs")
	if err != nil {
		return fmt.Errorf("%s: %w", member, err)
	}
	for len(list) > 0 {
		isArrays, err := r.arrayCodec(list[0])
		if err != nil {
			return fmt.Errorf("%s: %w", jsonlimit.Abbreviate(list[0].name), err)
		}
		if !isArrays {
			break
		}
		list = list[1:]
	}
	if len(list) == 0 {
		return fmt.Errorf("%s: expected bytes or sharding_indexed, found no such codec", member)
	}
	switch first := list[0]; first.name {
	case "bytes":
		return r.bytes(first.config, list[1:])
	case "packbits":
		if err := r.packBits(first.config); err != nil {
			return err
		}
		return r.bytes(object{}, list[1:])
	case "sharding_indexed":
		if r.fixed != nil {
			return unsupported("sharding_indexed", "none after reshape, delta or packbits", "one")
		}
		if len(list) > 1 {
			return unsupported("codec "+jsonlimit.Abbreviate(list[1].name), "none after sharding_indexed", "one")
		}
		return r.shard(first.config)
	default:
		return unknownCodec(first)
	}
}

func unknownCodec(e extension) error {
	return unsupported("codec", "a codec that is known, in its place", fmt.Sprintf("%q", jsonlimit.Abbreviate(e.name)))
}

// bytes reads the byte order, and the codecs of bytes after it.
func (r *codecReader) bytes(config object, after []extension) error {
	big, err := isBigEndian(config, r.number.Size())
	if err != nil {
		return err
	}
	r.setBigEndian(big)
	for _, e := range after {
		c, err := bytesCodec(e)
		if err != nil {
			return err
		}
		if c == (codec.Blosc{}) {
			r.array.Unit = bloscUnit(e.config, r.array.Type.Size())
		}
		r.array.Codecs = append(r.array.Codecs, c)
	}
	r.array.Order = r.order
	r.array.Compression = r.array.Codecs.String()
	return nil
}

// setBigEndian sets the byte order of stored values. The last codec that decodes values turns them into little-endian
// ones.
func (r *codecReader) setBigEndian(big bool) {
	for i := len(r.array.Codecs) - 1; i >= 0; i-- {
		if c, ok := r.array.Codecs[i].(codec.Convert); ok {
			c.From.Big = big
			r.array.Codecs[i] = c
			return
		}
	}
	r.array.BigEndian = big
}

// bytesCodec returns a codec of bytes: one of the specification, or one of numcodecs as zarr-python writes them.
func bytesCodec(e extension) (codec.Codec, error) {
	if id, ok := strings.CutPrefix(e.name, "numcodecs."); ok && id != "" {
		config := object{}
		maps.Copy(config, e.config)
		config["id"] = json.RawMessage(strconv.Quote(id))
		return numcodec(config, "codec")
	}
	c, ok := bytesCodecs[e.name]
	if !ok {
		return nil, unknownCodec(e)
	}
	return c, nil
}

// bloscUnit returns how many bytes the blocks of Blosc chunks have according to a configuration. It is 0 if the
// configuration does not tell. Readers need none of its members: what is wrong with them is not an error.
func bloscUnit(config object, valueSize int) int {
	var blockSize, level int
	var compression string
	for name, value := range map[string]any{"blocksize": &blockSize, "typesize": &valueSize, "clevel": &level,
		"cname": &compression} {
		if err := config.Get(name, value); err != nil {
			return 0
		}
	}
	if blockSize > 0 {
		return blockSize
	}
	return codec.BloscBlock(compression, level, valueSize)
}

// isBigEndian reads the member endian. Values of one byte need none.
func isBigEndian(config object, size int) (bool, error) {
	var endian string
	if err := config.Get("endian", &endian); err != nil {
		return false, err
	}
	switch {
	case endian == "little", endian == "" && size == 1:
		return false, nil
	case endian == "big":
		return true, nil
	}
	return false, fmt.Errorf("bytes: endian: expected little or big, found %q", jsonlimit.Abbreviate(endian))
}

// maxDepth is how many codecs sharding_indexed may be one in the other.
const maxDepth = 2

// shard reads how a shard is divided, and the codecs of its inner chunks (v3, "Sharding codec").
func (r *codecReader) shard(config object) error {
	if r.depth++; r.depth > maxDepth {
		return unsupported("sharding_indexed", fmt.Sprintf("at most %d, one in the other", maxDepth), "more")
	}
	stored, err := integers(config, "chunk_shape")
	if err != nil {
		return fmt.Errorf("sharding_indexed: %w", err)
	}
	if len(stored) != len(r.order) {
		return fmt.Errorf("sharding_indexed: chunk_shape: expected %d numbers, found %d", len(r.order), len(stored))
	}
	s := chunked.Shard{Order: r.order, Inner: make([]int, len(stored))}
	for i, axis := range r.order { // the shape is that of the transposed array
		s.Inner[axis] = stored[i]
	}
	location := "end"
	if err := config.Get("index_location", &location); err != nil {
		return fmt.Errorf("sharding_indexed: %w", err)
	}
	if location != "start" && location != "end" {
		return fmt.Errorf("sharding_indexed: index_location: expected start or end, found %q",
			jsonlimit.Abbreviate(location))
	}
	s.AtStart = location == "start"
	if err := readIndexCodecs(config, &s); err != nil {
		return fmt.Errorf("sharding_indexed: index_codecs: %w", err)
	}
	r.array.Shards = append(r.array.Shards, s)
	return r.read(config, "codecs")
}

// readIndexCodecs reads the codecs of a shard index. The index must have a size that does not depend on its content.
func readIndexCodecs(config object, s *chunked.Shard) error {
	if !config.Has("index_codecs") {
		return fmt.Errorf("expected a list of codecs, found none")
	}
	list, err := jsonlimit.List[extension](config["index_codecs"], maxCodecs, "codecs")
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].name != "bytes" {
		return unsupported("index_codecs", "bytes first", jsonlimit.Abbreviate(config["index_codecs"]))
	}
	const wordBytes = 8
	if s.Big, err = isBigEndian(list[0].config, wordBytes); err != nil {
		return err
	}
	for _, e := range list[1:] {
		if e.name != "crc32c" {
			return unknownCodec(e)
		}
		s.Checksums++
	}
	return nil
}
