package n5

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

type object = jsonlimit.Object

// compressions are the compressions of blocks. Blosc blocks have their parameters in their header.
var compressions = map[string]codec.Chain{
	"raw": nil, "gzip": {codec.Gzip{}}, "bzip2": {codec.Bzip2{}}, "blosc": {codec.Blosc{}}, "zstd": {codec.Zstd{}},
	"xz": {codec.XZ{}}, "lz4": {codec.LZ4Java{}},
}

// parseArray parses the attributes of an array.
func parseArray(o object) (*chunked.Array, error) {
	a := &chunked.Array{BigEndian: true, XFirst: true, Key: chunked.Key{Separator: "/"}}
	var err error
	if a.Shape, err = chunked.Integers(o, "dimensions"); err != nil {
		return nil, err
	}
	if a.Chunk, err = chunked.Integers(o, "blockSize"); err != nil {
		return nil, err
	}
	var name string
	if err := o.Get("dataType", &name); err != nil {
		return nil, err
	}
	if a.Type, err = volume.ParseType(name); err != nil {
		return nil, chunked.Unsupported{Part: "dataType", Expected: "an integer or a float",
			Found: fmt.Sprintf("%q", jsonlimit.Abbreviate(name))}
	}
	if err := readCompression(o, a); err != nil {
		return nil, err
	}
	if names, err := jsonlimit.List[string](o["axes"], chunked.MaxAxes, "axes"); o.Has("axes") && err == nil {
		a.Names = names // other programs use the member, too
	}
	for axis := range a.Shape { // the first axis varies fastest
		a.Order = append(a.Order, axis)
	}
	slices.Reverse(a.Order)
	a.Header = headerParser(len(a.Shape))
	return a, nil
}

// readCompression reads the compression of blocks. Version 1 of N5 had only its name, in another member.
func readCompression(o object, a *chunked.Array) error {
	var compression struct {
		Type    string `json:"type"`
		UseZlib bool   `json:"useZlib"`
	}
	if err := o.Get("compressionType", &compression.Type); err != nil {
		return err
	}
	if err := o.Get("compression", &compression); err != nil {
		return err
	}
	codecs, ok := compressions[compression.Type]
	if !ok {
		return chunked.Unsupported{Part: "compression", Expected: "a compression that is known",
			Found: fmt.Sprintf("%q", jsonlimit.Abbreviate(compression.Type))}
	}
	a.Codecs, a.Compression = codecs, compression.Type
	if compression.Type == "gzip" && compression.UseZlib {
		a.Codecs, a.Compression = codec.Chain{codec.Zlib{}}, "zlib"
	}
	return nil
}

// The modes of blocks.
const (
	modeDefault   = 0
	modeVarlength = 1
)

// headerParser returns a function that parses the header of a block, big-endian: mode and number of axes of 16 bits
// each, the extent on each axis of 32 bits, and in mode 1 the number of values of 32 bits.
func headerParser(rank int) func(b []byte) (payload []byte, size []int, err error) {
	return func(b []byte) ([]byte, []int, error) {
		if n := 4 + 4*rank; len(b) < n {
			return nil, nil, headerError("block header", 0, fmt.Sprintf("%d bytes", n), fmt.Sprint(len(b)))
		}
		mode, axes := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
		if mode != modeDefault && mode != modeVarlength {
			return nil, nil, headerError("mode", 0, "0 or 1", fmt.Sprint(mode))
		}
		if int(axes) != rank {
			return nil, nil, headerError("number of axes", 2, fmt.Sprint(rank), fmt.Sprint(axes))
		}
		b = b[4:]
		size := make([]int, rank)
		for axis := range size {
			size[axis] = int(binary.BigEndian.Uint32(b))
			b = b[4:]
		}
		if mode == modeDefault {
			return b, size, nil
		}
		payload, err := varlength(b, size)
		return payload, size, err
	}
}

// varlength parses the number of values of mode 1. Numbers have one value for each voxel.
func varlength(b []byte, size []int) ([]byte, error) {
	at := int64(4 + 4*len(size))
	if len(b) < 4 {
		return nil, headerError("number of values", at, "4 bytes", fmt.Sprint(len(b)))
	}
	want := 1.0 // a float cannot overflow
	for _, n := range size {
		want *= float64(n)
	}
	if found := binary.BigEndian.Uint32(b); float64(found) != want {
		return nil, headerError("number of values", at, fmt.Sprint(want), fmt.Sprint(found))
	}
	return b[4:], nil
}

func headerError(part string, offset int64, expected, found string) error {
	return &volume.FormatError{Part: part, Offset: offset, Expected: expected, Found: found}
}
