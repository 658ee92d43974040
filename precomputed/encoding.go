package precomputed

import (
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
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

	// stored returns the limit for the encoded bytes of a chunk with n bytes of voxels, in blocks of a number of
	// voxels. work returns how many bytes decode takes at most besides data and dst. A float cannot overflow.
	stored func(s *scaleInfo, n, blockVoxels float64) float64
	work   func(s *scaleInfo, n int) int

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
		// For each block a header of 8 bytes, for each voxel a label and an index of up to 32 bits.
		stored: func(s *scaleInfo, n, blockVoxels float64) float64 {
			label := float64(s.dataType.Size())
			return n / label * (label + 4 + 8/blockVoxels)
		},
		decode: func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
			return cseg.Decode(data, size, s.block, s.channels, s.dataType.Size(), dst)
		},
	},
	{
		name: "compresso",
		supports: func(t volume.Type, channels int) bool {
			return channels == 1 && t.IsUnsigned()
		},
		// For each voxel up to a label of its component, and two numbers where it is; windows have a few bits.
		stored: func(s *scaleInfo, n, _ float64) float64 { return 3*n + n/float64(s.dataType.Size()) },
		work:   func(s *scaleInfo, n int) int { return compresso.Memory(n / s.dataType.Size()) },
		decode: func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
			return compresso.Decode(data, size, s.dataType.Size(), dst)
		},
	},
	{
		name:     "png",
		supports: isPicture,
		stored:   pictureBytes,
		work:     pictureMemory(picture.PNGMemory),
		decode:   decodePicture(picture.DecodePNG),
	},
	{
		name: "jpeg",
		supports: func(t volume.Type,
			channels int) bool {
			return t == volume.Uint8 && (channels == 1 || channels == 3)
		},
		stored: pictureBytes,
		work:   pictureMemory(picture.JPEGMemory),
		decode: decodePicture(picture.DecodeJPEG),
	},
	{
		name:     "jxl",
		supports: isPicture,
		stored:   pictureBytes,
		work:     pictureMemory(picture.JXLMemory),
		decode:   decodePicture(picture.DecodeJXL),
	},
}

// isPicture reports whether voxels can be the pixels of a picture: grey or colour, with or without alpha.
func isPicture(t volume.Type, channels int) bool {
	return channels <= 4 && (t == volume.Uint8 || t == volume.Uint16)
}

// decodePicture returns the decode function of a picture format. A chunk is a picture with one pixel for each voxel.
// Only the number of pixels matters, not width and height.
func decodePicture(decode func(data []byte, pixels, channels, valueBytes int, dst []byte) error) func(*scaleInfo,
	[]byte, volume.Vec, []byte) error {
	return func(s *scaleInfo, data []byte, size volume.Vec, dst []byte) error {
		return decode(data, size[0]*size[1]*size[2], s.channels, s.dataType.Size(), dst)
	}
}

// voxelBytes returns the bytes of a box of decoded voxels.
func (s *scaleInfo) voxelBytes(size volume.Vec) int {
	return s.channels * s.dataType.Size() * size[0] * size[1] * size[2]
}

// pictureBytes is the limit for pictures: what does not compress becomes a little longer.
func pictureBytes(_ *scaleInfo, n, _ float64) float64 { return 2 * n }

// pictureMemory returns the work function of a picture format.
func pictureMemory(memory func(pixels, channels, valueBytes int) int) func(*scaleInfo, int) int {
	return func(s *scaleInfo, n int) int {
		return memory(n/(s.channels*s.dataType.Size()), s.channels, s.dataType.Size())
	}
}

// interleaves reports whether the decoded channels of a chunk have to be interleaved.
func (s *scaleInfo) interleaves() bool { return s.encoding.planar && s.channels > 1 }

// maxEncoded returns the limit for the encoded bytes of a chunk. Usual writers stay below it. It bounds the memory that
// a damaged chunk takes.
func (s *scaleInfo) maxEncoded(size volume.Vec) int {
	if s.encoding.decode == nil {
		return s.voxelBytes(size)
	}
	// compressed_segmentation pads to whole blocks, and blocks may be large.
	bytes, blockVoxels := float64(s.channels*s.dataType.Size()), 1.0
	for axis, n := range size {
		if block := s.block[axis]; s.encoding.blockwise {
			n = (n + block - 1) / block * block
			blockVoxels *= float64(block)
		}
		bytes *= float64(n)
	}
	const metadata = 1 << 20
	return int(min(s.encoding.stored(s, bytes, blockVoxels)+metadata, 4*MaxChunkBytes))
}

// maxStored returns the limit for the stored bytes of a chunk. Gzip makes incompressible data slightly longer.
func (s *scaleInfo) maxStored(size volume.Vec) int {
	limit := s.maxEncoded(size)
	return limit + limit/64 + 1<<16
}

// WorkMemory implements [volume.MemoryReporter]. A chunk in gzip is not in memory as it is stored; unpacking has what
// the other compressions that were found take.
func (s *scaleInfo) WorkMemory(volume.Grid) int {
	size := s.chunk.Min(s.bounds.Size())
	work, n := codec.LatePiece+int(s.unpacking.Load()), s.voxelBytes(size)
	if s.interleaves() {
		work += n
	}
	if s.encoding.decode != nil {
		work += s.maxStored(size)
	}
	if s.encoding.work != nil {
		work += s.encoding.work(s, n)
	}
	return work
}
