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
	// HeaderSize is the bytes of a header of version 1; that of the draft has 8.
	HeaderSize = 16

	// MaxBlockBytes is the largest decoded block that is read. The format could
	// have blocks of petabytes, and a block is decoded in memory as a whole.
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

// BlockType is how blocks are stored.
type BlockType uint8

// The block types, numbered as in the header. LZ4 and LZ4HC differ in the effort
// of the writer only.
const (
	Raw   BlockType = 1
	LZ4   BlockType = 2
	LZ4HC BlockType = 3
)

var blockTypes = [...]string{Raw: "raw", LZ4: "lz4", LZ4HC: "lz4hc"}

// ParseBlockType returns the BlockType with the name: "raw", "lz4" or "lz4hc".
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

// voxelTypes are the types by their number in the header. 7 to 10 are in the
// reference library and not in its specification; the draft ends at 6.
var voxelTypes = [...]volume.Type{
	1: volume.Uint8, volume.Uint16, volume.Uint32, volume.Uint64, volume.Float32, volume.Float64,
	volume.Int8, volume.Int16, volume.Int32, volume.Int64,
}

// Header is what the first bytes of a cube file, or of header.wkw, say.
type Header struct {
	Draft      bool        // the MPIBR draft of January 2017
	BlockSide  int         // voxels per side of a block, a power of two
	CubeBlocks int         // blocks per side of a cube, a power of two
	BlockType  BlockType   // how the blocks are stored
	Type       volume.Type // of one value
	Channels   int         // values per voxel
	DataOffset uint64      // of block 0 in the file, in bytes; 0 in header.wkw
}

// ParseHeader reads a header from the first bytes of a file: HeaderSize of them,
// or all if the file is shorter. name is the file's, for errors. Everything
// but DataOffset, which has a meaning in a cube file only, is checked: a header
// that breaks the format is a *FormatError; another version and geometries beyond
// MaxBlockBytes or beyond 2^63 bytes a cube are an *UnsupportedError.
func ParseHeader(b []byte, name string) (Header, error) {
	switch {
	case bytes.HasPrefix(b, []byte(magic)):
		return parseVersion1(b, name)
	case bytes.HasPrefix(b, []byte(draftMagic)):
		return parseDraft(b, name)
	case len(b) < len(draftMagic):
		return Header{}, shortHeader(b, name, HeaderSize)
	}
	return Header{}, &FormatError{name, "magic", 0, fmt.Sprintf("%q", magic), fmt.Sprintf("%q", b[:len(magic)])}
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
		return Header{}, &FormatError{name, "voxelSize", atVoxelSize,
			fmt.Sprintf("a positive multiple of %d", valueSize), fmt.Sprint(voxelSize)}
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
	return &FormatError{name, "header", 0, fmt.Sprintf("%d bytes", size), fmt.Sprint(len(b))}
}

func unsupportedVersion(b []byte, name string, at int) error {
	return &UnsupportedError{name, "version", int64(at), fmt.Sprint(version), fmt.Sprint(b[at])}
}

func parseBlockType(b []byte, name string, at int) (BlockType, error) {
	t := BlockType(b[at])
	if !t.valid() {
		return 0, &FormatError{name, "blockType", int64(at), "1 to 3", fmt.Sprint(b[at])}
	}
	return t, nil
}

func parseVoxelType(b []byte, name string, at, last int) (volume.Type, error) {
	if n := int(b[at]); n < 1 || n > last {
		return 0, &FormatError{name, "voxelType", int64(at), fmt.Sprintf("1 to %d", last), fmt.Sprint(n)}
	}
	return voxelTypes[b[at]], nil
}

// checkLimits refuses geometries that cannot be computed with or decoded. Block
// bytes are at most 255 × 2^45 here and cannot overflow.
func (h Header) checkLimits(name string) error {
	if n := h.Grid().BlockBytes(); n > MaxBlockBytes {
		return &UnsupportedError{name, "perDimLog2", atPerDimLog2,
			fmt.Sprintf("blocks of at most %d bytes", MaxBlockBytes), fmt.Sprint(n)}
	}
	if h.Grid().Validate() != nil {
		return &UnsupportedError{name, "perDimLog2", atPerDimLog2,
			"cubes of at most 2^63 − 1 bytes", fmt.Sprintf("%v voxels of %d bytes", h.Grid().Size, h.Grid().VoxelBytes())}
	}
	return nil
}

// Grid returns the geometry of a whole cube, without origin and spacing.
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

// Fits reports whether cubes of both headers can be in one mag: they have the same
// geometry and voxels. Compression, data offset and draft or not are free.
func (h Header) Fits(other Header) bool { return h.Grid() == other.Grid() }

// blocks returns the number of blocks in a cube.
func (h Header) blocks() uint64 { n := uint64(h.CubeBlocks); return n * n * n }

// size returns the bytes of the header as it is stored.
func (h Header) size() uint64 {
	if h.Draft {
		return draftHeaderSize
	}
	return HeaderSize
}

// AppendBinary appends the header as it is stored: 16 bytes, 8 for the draft. It
// fails where the format has no such header.
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

// MarshalBinary returns what AppendBinary appends.
func (h Header) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

func log2(n int) (byte, error) {
	if n < 1 || n > 1<<maxLog2 || n&(n-1) != 0 {
		return 0, fmt.Errorf("expected a power of two up to %d", 1<<maxLog2)
	}
	return byte(bits.TrailingZeros(uint(n))), nil
}
