package wkw

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	// HeaderSize is the bytes of a header of version 1. A header of the draft has 8.
	HeaderSize = 16

	// MaxBlockBytes is the size of the largest decoded block that the package reads and writes. The format
	// allows blocks of petabytes, but a block must fit in memory.
	MaxBlockBytes = 1 << 30

	magic   = "WKW"
	version = 1
	maxLog2 = 15 // a nibble of perDimLog2
)

// Offsets of the fields of a header of version 1, in bytes.
const (
	atVersion    = 3
	atPerDimLog2 = 4
	atBlockType  = 5
	atVoxelType  = 6
	atVoxelSize  = 7
	atDataOffset = 8
)

// BlockType is the encoding of stored blocks ("Header fields", blockType).
type BlockType uint8

// The block types, with their numbers in the header. LZ4 and LZ4HC are the same encoding. LZ4HC takes the
// writer longer and compresses better.
const (
	Raw   BlockType = 1
	LZ4   BlockType = 2
	LZ4HC BlockType = 3
)

var blockTypes = [...]string{Raw: "raw", LZ4: "lz4", LZ4HC: "lz4hc"}

// ParseBlockType returns the BlockType named "raw", "lz4" or "lz4hc".
func ParseBlockType(name string) (BlockType, error) {
	for t := Raw; t.valid(); t++ {
		if blockTypes[t] == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("unknown block type %q", name)
}

// String returns "raw", "lz4" or "lz4hc".
func (t BlockType) String() string {
	if !t.valid() {
		return fmt.Sprintf("BlockType(%d)", uint8(t))
	}
	return blockTypes[t]
}

func (t BlockType) valid() bool { return t >= Raw && t <= LZ4HC }

// voxelTypes holds the types by their number in the header. The reference library has 7 to 10, but its
// specification does not. The draft has 1 to 6.
var voxelTypes = [...]volume.Type{
	1: volume.Uint8, volume.Uint16, volume.Uint32, volume.Uint64, volume.Float32, volume.Float64,
	volume.Int8, volume.Int16, volume.Int32, volume.Int64,
}

// Header is the header of a cube file or of header.wkw ("Header fields"). Blocks and cubes have the same side on x, y
// and z.
type Header struct {
	Draft      bool        // the MPIBR draft of January 2017
	BlockSide  int         // voxels per side of a block, a power of two
	CubeBlocks int         // blocks per side of a cube, a power of two
	BlockType  BlockType   // encoding of the blocks
	Type       volume.Type // of one value
	Channels   int         // values per voxel
	DataOffset uint64      // offset of block 0 in the file, in bytes; 0 in header.wkw
}

// ParseHeader parses the first HeaderSize bytes of a file, or all bytes of a shorter file. name is the name of
// the file in errors.
//
// The error for a header that breaks the format is a [*volume.FormatError]. The error for another version, for
// blocks of more than MaxBlockBytes and for cubes of 2^63 bytes or more is a [*volume.UnsupportedError].
// DataOffset is not checked, because header.wkw does not use it.
func ParseHeader(b []byte, name string) (Header, error) {
	switch {
	case bytes.HasPrefix(b, []byte(magic)):
		return parseVersion1(b, name)
	case bytes.HasPrefix(b, []byte(draftMagic)):
		return parseDraft(b, name)
	case len(b) < len(draftMagic):
		return Header{}, shortHeader(b, name, HeaderSize)
	}
	return Header{}, invalid(name, "magic", 0, fmt.Sprintf("%q", magic), fmt.Sprintf("%q", b[:len(magic)]))
}

func parseVersion1(b []byte, name string) (Header, error) {
	if len(b) > atVersion && b[atVersion] != version {
		return Header{}, unsupportedVersion(b, name, atVersion)
	}
	if len(b) < HeaderSize {
		return Header{}, shortHeader(b, name, HeaderSize)
	}
	blockType, err := parseBlockType(b, name, atBlockType)
	if err != nil {
		return Header{}, err
	}
	voxelType, err := parseVoxelType(b, name, atVoxelType, len(voxelTypes)-1)
	if err != nil {
		return Header{}, err
	}
	voxelSize, valueSize := int(b[atVoxelSize]), voxelType.Size()
	if voxelSize == 0 || voxelSize%valueSize != 0 {
		return Header{}, invalid(name, "voxelSize", atVoxelSize,
			fmt.Sprintf("a positive multiple of %d", valueSize), fmt.Sprint(voxelSize))
	}
	h := Header{
		BlockSide:  1 << (b[atPerDimLog2] & 0xF),
		CubeBlocks: 1 << (b[atPerDimLog2] >> 4),
		BlockType:  blockType,
		Type:       voxelType,
		Channels:   voxelSize / valueSize,
		DataOffset: binary.LittleEndian.Uint64(b[atDataOffset:]),
	}
	return h, h.checkLimits(name)
}

func shortHeader(b []byte, name string, size int) error {
	return invalid(name, "header", 0, fmt.Sprintf("%d bytes", size), fmt.Sprint(len(b)))
}

func unsupportedVersion(b []byte, name string, at int) error {
	return unsupported(name, "version", int64(at), fmt.Sprint(version), fmt.Sprint(b[at]))
}

func parseBlockType(b []byte, name string, at int) (BlockType, error) {
	t := BlockType(b[at])
	if !t.valid() {
		return 0, invalid(name, "blockType", int64(at), "1 to 3", fmt.Sprint(b[at]))
	}
	return t, nil
}

func parseVoxelType(b []byte, name string, at, last int) (volume.Type, error) {
	if n := int(b[at]); n < 1 || n > last {
		return 0, invalid(name, "voxelType", int64(at), fmt.Sprintf("1 to %d", last), fmt.Sprint(n))
	}
	return voxelTypes[b[at]], nil
}

// checkLimits returns an error for blocks that do not fit in memory and cubes that do not fit in a file. BlockBytes
// is at most 255 × 2^45 and cannot overflow.
func (h Header) checkLimits(name string) error {
	if n := h.Grid().BlockBytes(); n > MaxBlockBytes {
		return unsupported(name, "perDimLog2", atPerDimLog2,
			fmt.Sprintf("blocks of at most %d bytes", MaxBlockBytes), fmt.Sprint(n))
	}
	if h.Grid().Validate() != nil {
		return unsupported(name, "perDimLog2", atPerDimLog2,
			"cubes of at most 2^63 − 1 bytes", fmt.Sprintf("%v voxels of %d bytes", h.Grid().Size,
				h.Grid().VoxelBytes()))
	}
	return nil
}

// Grid returns the geometry of a cube, without origin and spacing.
func (h Header) Grid() volume.Grid {
	return volume.Grid{
		Size:     volume.Cube(h.CubeSide()),
		Block:    volume.Cube(h.BlockSide),
		Type:     h.Type,
		Channels: h.Channels,
	}
}

// CubeSide returns the voxels per side of a cube.
func (h Header) CubeSide() int { return h.BlockSide * h.CubeBlocks }

// Fits reports whether cubes with both headers can be in the same mag: their geometry, type and channels are
// equal. BlockType, DataOffset and Draft may differ.
func (h Header) Fits(other Header) bool { return h.Grid() == other.Grid() }

// blocks returns the number of blocks in a cube.
func (h Header) blocks() uint64 { n := uint64(h.CubeBlocks); return n * n * n }

// size returns the bytes of the stored header.
func (h Header) size() uint64 {
	if h.Draft {
		return draftHeaderSize
	}
	return HeaderSize
}

// AppendBinary appends the header in its stored form ("File header") to b, and returns the longer slice: 16 bytes more,
// or 8 for the draft. It fails if the format cannot express the header.
func (h Header) AppendBinary(b []byte) ([]byte, error) {
	if h.Draft {
		return h.appendDraft(b)
	}
	voxelType := slices.Index(voxelTypes[:], h.Type)
	voxelSize := h.Type.Size() * h.Channels
	switch {
	case !h.BlockType.valid():
		return nil, fmt.Errorf("header with %v", h.BlockType)
	case voxelType < 1:
		return nil, fmt.Errorf("header with voxels of %v", h.Type)
	case h.Channels < 1 || h.Channels > 255 || voxelSize > 255:
		return nil, fmt.Errorf("header with voxels of %d × %v: expected 1 to 255 bytes", h.Channels, h.Type)
	}
	blockLog2, err := log2(h.BlockSide)
	if err != nil {
		return nil, fmt.Errorf("header with blocks of %d voxels a side: %w", h.BlockSide, err)
	}
	cubeLog2, err := log2(h.CubeBlocks)
	if err != nil {
		return nil, fmt.Errorf("header with cubes of %d blocks a side: %w", h.CubeBlocks, err)
	}
	b = append(b, magic...)
	b = append(b, version, cubeLog2<<4|blockLog2, byte(h.BlockType), byte(voxelType), byte(voxelSize))
	return binary.LittleEndian.AppendUint64(b, h.DataOffset), nil
}

// MarshalBinary returns the header in its stored form, as AppendBinary does.
func (h Header) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

func log2(n int) (byte, error) {
	if n < 1 || n > 1<<maxLog2 || n&(n-1) != 0 {
		return 0, fmt.Errorf("expected a power of two up to %d", 1<<maxLog2)
	}
	return byte(bits.TrailingZeros(uint(n))), nil
}

// geometry describes what Header.Fits compares.
func (h Header) geometry() string {
	return fmt.Sprintf("%d³ blocks of %d³ voxels of %d × %v", h.CubeBlocks, h.BlockSide, h.Channels, h.Type)
}
