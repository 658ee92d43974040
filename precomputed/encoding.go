package precomputed

import (
	"github.com/wkwfs/wkwfs/precomputed/compresso"
	"github.com/wkwfs/wkwfs/precomputed/cseg"
	"github.com/wkwfs/wkwfs/precomputed/picture"
	"github.com/wkwfs/wkwfs/volume"
)

// encoding is a way to store the voxels of a chunk (volume.md, "Chunk encoding").
type encoding struct {
	name      string
	planar    bool // the channel is the slowest axis of the decoded voxels, else the fastest
	blockwise bool // its blocks have a size of their own
	holds     func(t volume.Type, channels int) bool

	// decode fills dst, which is as long as the voxels of the size are. Nil: what is
	// stored are the voxels.
	decode func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error
}

var encodings = []encoding{
	{
		name:   "raw",
		planar: true,
		holds:  func(volume.Type, int) bool { return true },
	},
	{
		name:      "compressed_segmentation",
		planar:    true,
		blockwise: true,
		holds:     func(t volume.Type, _ int) bool { return t == volume.Uint32 || t == volume.Uint64 },
		decode: func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
			return cseg.Decode(data, size, s.block, s.channels, s.dataType.Size(), dst)
		},
	},
	{
		name: "compresso",
		holds: func(t volume.Type, channels int) bool {
			return channels == 1 && t >= volume.Uint8 && t <= volume.Uint64
		},
		decode: func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
			return compresso.Decode(data, size, s.dataType.Size(), dst)
		},
	},
	{
		name:   "png",
		holds:  holdsSamples,
		decode: decodePicture(picture.DecodePNG),
	},
	{
		name:   "jpeg",
		holds:  func(t volume.Type, channels int) bool { return t == volume.Uint8 && (channels == 1 || channels == 3) },
		decode: decodePicture(picture.DecodeJPEG),
	},
	{
		name:   "jxl",
		holds:  holdsSamples,
		decode: decodePicture(picture.DecodeJXL),
	},
}

// holdsSamples is what pictures have: gray or colour, with alpha or without.
func holdsSamples(t volume.Type, channels int) bool {
	return channels <= 4 && (t == volume.Uint8 || t == volume.Uint16)
}

// decodePicture takes the voxels of a chunk for the pixels of a picture: any width and
// height will do as long as there are as many.
func decodePicture(decode func(data []byte, pixels, channels, valueBytes int, dst []byte) error) func(*scaleInfo, []byte, volume.Vec, []byte) error {
	return func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
		return decode(data, size[0]*size[1]*size[2], s.channels, s.dataType.Size(), dst)
	}
}

// voxelBytes returns the bytes of size voxels.
func (s *scaleInfo) voxelBytes(size volume.Vec) int {
	return s.channels * s.dataType.Size() * size[0] * size[1] * size[2]
}

// maxEncoded returns the most bytes that a chunk of the size may take as it is encoded.
// No writer comes near it; it keeps what is damaged from taking all memory.
func (s *scaleInfo) maxEncoded(size volume.Vec) int {
	if s.encoding.decode == nil {
		return s.voxelBytes(size)
	}
	// compressed_segmentation stores clipped blocks whole, and its blocks may be large:
	// a float cannot overflow.
	bytes := float64(s.channels * s.dataType.Size())
	for axis, n := range size {
		if block := s.block[axis]; s.encoding.blockwise {
			n = (n + block - 1) / block * block
		}
		bytes *= float64(n)
	}
	// With blocks of one voxel, it takes 16 bytes for 4. No encoding is worse.
	const worst, metadata = 8, 1 << 20
	return int(min(worst*bytes+metadata, 4*MaxChunkBytes))
}
