package precomputed

import (
	"encoding/binary"

	"github.com/wkwfs/wkwfs/volume"
)

// spread moves the voxels of a chunk of a size from the start of its block to their places, and fills the rest with
// zeros. The last row is moved first: no place is before where a row is.
func spread(block []byte, size volume.Vec, g volume.Grid) {
	if size == g.Block {
		return
	}
	row := size[0] * g.VoxelBytes()
	place := func(y, z int) []byte { return block[g.VoxelBytes()*volume.Vec{0, y, z}.Index(g.Block):] }
	end := len(block) // of what is not yet zero
	for z := size[2] - 1; z >= 0; z-- {
		for y := size[1] - 1; y >= 0; y-- {
			to := place(y, z)
			at := len(block) - len(to)
			copy(to, block[(z*size[1]+y)*row:][:row])
			clear(block[at+row : end])
			end = at
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
