package precomputed

import (
	"github.com/wkwfs/wkwfs/precomputed/compresso"
	"github.com/wkwfs/wkwfs/precomputed/cseg"
	"github.com/wkwfs/wkwfs/precomputed/picture"
	"github.com/wkwfs/wkwfs/volume"
)

// encoding is an encoding of chunks (volume.md, "Chunk encoding").
type encoding struct {
	name      string
	planar    bool // the channel is the slowest axis of decoded chunks, not the fastest
	blockwise bool // chunks are encoded in smaller blocks, of scaleInfo.block voxels
	supports  func(t volume.Type, channels int) bool

	// decode decodes data into dst, which has exactly the bytes of size voxels. It is nil if the stored bytes are the
	// voxels.
	decode func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error
}

var encodings = []encoding{
	{
		name:     "raw",
		planar:   true,
		supports: func(volume.Type, int) bool { return true },
	},
	{
		name:      "compressed_segmentation",
		planar:    true,
		blockwise: true,
		supports:  func(t volume.Type, _ int) bool { return t == volume.Uint32 || t == volume.Uint64 },
		decode: func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
			return cseg.Decode(data, size, s.block, s.channels, s.dataType.Size(), dst)
		},
	},
	{
		name: "compresso",
		supports: func(t volume.Type, channels int) bool {
			return channels == 1 && t.IsUnsigned()
		},
		decode: func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
			return compresso.Decode(data, size, s.dataType.Size(), dst)
		},
	},
	{
		name:     "png",
		supports: isPicture,
		decode:   decodePicture(picture.DecodePNG),
	},
	{
		name:     "jpeg",
		supports: func(t volume.Type, channels int) bool { return t == volume.Uint8 && (channels == 1 || channels == 3) },
		decode:   decodePicture(picture.DecodeJPEG),
	},
	{
		name:     "jxl",
		supports: isPicture,
		decode:   decodePicture(picture.DecodeJXL),
	},
}

// isPicture reports whether voxels can be the pixels of a picture: grey or colour, with or without alpha.
func isPicture(t volume.Type, channels int) bool {
	return channels <= 4 && (t == volume.Uint8 || t == volume.Uint16)
}

// decodePicture returns the decode function of a picture format. A chunk is a picture with one pixel for each voxel.
// Only the number of pixels matters, not width and height.
func decodePicture(decode func(data []byte, pixels, channels, valueBytes int, dst []byte) error) func(*scaleInfo, []byte, volume.Vec, []byte) error {
	return func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
		return decode(data, size[0]*size[1]*size[2], s.channels, s.dataType.Size(), dst)
	}
}

// voxelBytes returns the bytes of a box of decoded voxels.
func (s *scaleInfo) voxelBytes(size volume.Vec) int {
	return s.channels * s.dataType.Size() * size[0] * size[1] * size[2]
}

// maxEncoded returns the limit for the encoded bytes of a chunk. Writers stay far below it. It bounds the memory that
// a damaged chunk takes.
func (s *scaleInfo) maxEncoded(size volume.Vec) int {
	if s.encoding.decode == nil {
		return s.voxelBytes(size)
	}
	// compressed_segmentation pads to whole blocks, and blocks may be large. A float cannot overflow.
	bytes := float64(s.channels * s.dataType.Size())
	for axis, n := range size {
		if block := s.block[axis]; s.encoding.blockwise {
			n = (n + block - 1) / block * block
		}
		bytes *= float64(n)
	}
	// The worst case is compressed_segmentation with blocks of one voxel: 16 bytes for 4.
	const expansion, metadata = 8, 1 << 20
	return int(min(expansion*bytes+metadata, 4*MaxChunkBytes))
}
