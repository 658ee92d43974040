package prefetch

import (
	"context"
	"runtime"
	"slices"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// slab is blocks that are decoded for a reader ahead of its reads: a layer of blocks, which is up to as many planes of the
// array as a block has; or, where that is too much for the memory, some rows of blocks of it; or all of a small array. A
// reader of the whole array needs each block for each of its planes. So blocks are decoded once, and replies are
// gathered from them: that takes a third of the time of putting their rows where they belong, for which the
// processor would have to fetch what it is about to overwrite.
type slab struct {
	key    slabKey
	hold   *cache.Hold
	pushed chan struct{} // closed when no more of it will be pushed; nil if none is. Under its owner's mu.
}

// slabKey names a slab by its blocks: those that have valid voxels.
type slabKey struct {
	version vfs.Version
	bytes   int // of a block: arrays of other blocks may have the same file
	blocks  volume.Box
}

// newSlab begins to decode blocks.
func newSlab(src *cache.Source, key slabKey, keep cache.Keep) (*slab, error) {
	hold, err := src.Hold(slices.Collect(key.blocks.All()), batch(key.blocks.Size()), keep)
	return &slab{key: key, hold: hold}, err
}

// batch returns how many blocks of a slab are loaded at once: two rows, because in Morton order four blocks of such a
// pair follow each other in the file; fewer where each core would not have some batches.
func batch(size volume.Vec) int {
	const each = 4
	return max(min(2*size[0], size[0]*size[1]*size[2]/(each*runtime.GOMAXPROCS(0))), 1)
}

// part is a slab as it lies in an array.
type part struct {
	*slab
	array *flat.Array
	box   volume.Box // the voxels of the array that the slab is for, with or without blocks
}

// planes and run return how many planes of the array are in the part, and how many bytes of each.
func (p part) planes() int64 { return int64(p.box.Size()[2]) }
func (p part) run() int64    { return p.array.Row() * int64(p.box.Size()[1]) }

// start returns where the first byte of the part is in the array.
func (p part) start() int64 { return p.array.Offset(p.box.Min) }

// place returns the plane of the part that has the byte at off, and where in the run of that plane.
func (p part) place(off int64) (z, in int64) {
	off -= p.start()
	return off / p.array.Plane(), off % p.array.Plane()
}

// read copies the bytes of the array from off on, as far as memory has room and the part has what follows. It returns how many,
// as soon as the blocks are decoded, or 0 if they cannot be.
func (p part) read(ctx context.Context, memory []byte, off int64) int {
	n := 0
	for run := p.run(); n < len(memory); {
		z, in := p.place(off + int64(n))
		m := min(run-in, int64(len(memory)-n))
		if z >= p.planes() || m <= 0 || p.wait(ctx, off+int64(n), m) != nil {
			break
		}
		p.array.Gather(memory[n:n+int(m)], off+int64(n), p.key.blocks, p.hold.Voxels())
		n += int(m)
	}
	return n
}

// wait returns when the blocks of a range in one plane are decoded.
func (p part) wait(ctx context.Context, off, n int64) error {
	blocks, side := p.key.blocks, p.array.Grid().Block
	size := blocks.Size()
	y, z := p.array.RowAt(off)
	last, _ := p.array.RowAt(off + n - 1)
	from, to := volume.Vec{1: y, 2: z}.Div(side).Sub(blocks.Min), volume.Vec{1: last}.Div(side).Sub(blocks.Min)
	from[1], to[1] = max(from[1], 0), min(to[1], size[1]-1)
	if from[1] > to[1] || from[2] < 0 || from[2] >= size[2] {
		return nil // zeros
	}
	row := size[1] * from[2]
	return p.hold.Wait(ctx, (row+from[1])*size[0], (row+to[1]+1)*size[0]-1)
}
