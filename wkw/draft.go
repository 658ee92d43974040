package wkw

import (
	"fmt"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// The MPIBR draft of January 2017. Its header is the magic, version, dataType and blockType. Its geometry is
// fixed: one channel, blocks of 32³ voxels, cubes of 32³ blocks. Raw blocks follow the header. With LZ4, the
// jump table follows the header, and its entries are relative to the end of the table.
const (
	draftMagic      = "MPIBR"
	draftHeaderSize = 8
	draftBlockSide  = 32
	draftCubeBlocks = 32
	draftVoxelTypes = 6
	draftTableBytes = 8 * draftCubeBlocks * draftCubeBlocks * draftCubeBlocks

	atDraftVersion   = 5
	atDraftVoxelType = 6
	atDraftBlockType = 7
)

func parseDraft(b []byte, name string) (Header, error) {
	if len(b) > atDraftVersion && b[atDraftVersion] != version {
		return Header{}, unsupportedVersion(b, name, atDraftVersion)
	}
	if len(b) < draftHeaderSize {
		return Header{}, shortHeader(b, name, draftHeaderSize)
	}
	voxelType, err := parseVoxelType(b, name, atDraftVoxelType, draftVoxelTypes)
	if err != nil {
		return Header{}, err
	}
	blockType, err := parseBlockType(b, name, atDraftBlockType)
	if err != nil {
		return Header{}, err
	}
	return draftHeader(voxelType, blockType), nil
}

// draftHeader returns the header of a draft cube. All other fields are fixed.
func draftHeader(t volume.Type, bt BlockType) Header {
	h := Header{
		Draft:      true,
		BlockSide:  draftBlockSide,
		CubeBlocks: draftCubeBlocks,
		BlockType:  bt,
		Type:       t,
		Channels:   1,
		DataOffset: draftHeaderSize,
	}
	if bt != Raw {
		h.DataOffset += draftTableBytes
	}
	return h
}

func (h Header) appendDraft(b []byte) ([]byte, error) {
	voxelType := slices.Index(voxelTypes[:], h.Type)
	if voxelType < 1 || voxelType > draftVoxelTypes || !h.BlockType.valid() ||
		!h.Fits(draftHeader(h.Type, h.BlockType)) {
		return nil, fmt.Errorf("the draft has no header with blocks of %d, cubes of %d, %d × %v, %v",
			h.BlockSide, h.CubeBlocks, h.Channels, h.Type, h.BlockType)
	}
	b = append(b, draftMagic...)
	return append(b, version, byte(voxelType), byte(h.BlockType)), nil
}
