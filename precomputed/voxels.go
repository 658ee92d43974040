package precomputed

import (
	"encoding/binary"

	"github.com/wkwfs/wkwfs/volume"
)

// isLaidOut reports whether the decoded voxels of a chunk of a size have the layout of the block: no clipping, no
// channels to interleave.
func isLaidOut(size volume.Vec, g volume.Grid, planar bool) bool {
	return size == g.Block && (!planar || g.Channels == 1)
}

// layOut writes the decoded voxels of a chunk to block, the only block of grid g. It interleaves planar channels. If
// the chunk is clipped to a size smaller than the block, it fills the rest with zeros.
func layOut(block, data []byte, size volume.Vec, g volume.Grid, planar bool) {
	if isLaidOut(size, g, planar) {
		copy(block, data)
		return
	}
	if size == g.Block {
		interleave(block, data, g.Channels, g.Type.Size())
		return
	}
	if planar && g.Channels > 1 {
		voxels := make([]byte, len(data))
		interleave(voxels, data, g.Channels, g.Type.Size())
		data = voxels
	}
	clear(block)
	row := size[0] * g.VoxelBytes()
	for z := range size[2] {
		for y := range size[1] {
			at := g.VoxelBytes() * volume.Vec{0, y, z}.Index(g.Block)
			copy(block[at:], data[:row])
			data = data[row:]
		}
	}
}

// interleave copies voxels with the channel as the slowest axis, and makes it the fastest one.
func interleave(out, planar []byte, channels, valueBytes int) {
	voxel, plane := channels*valueBytes, len(planar)/channels
	for c := range channels {
		from, to := planar[c*plane:(c+1)*plane], out[c*valueBytes:]
		le := binary.LittleEndian
		switch valueBytes {
		case 1:
			for i, b := range from {
				to[i*voxel] = b
			}
		case 2:
			for i := 0; i < plane; i += 2 {
				le.PutUint16(to[i/2*voxel:], le.Uint16(from[i:]))
			}
		case 4:
			for i := 0; i < plane; i += 4 {
				le.PutUint32(to[i/4*voxel:], le.Uint32(from[i:]))
			}
		case 8:
			for i := 0; i < plane; i += 8 {
				le.PutUint64(to[i/8*voxel:], le.Uint64(from[i:]))
			}
		}
	}
}
