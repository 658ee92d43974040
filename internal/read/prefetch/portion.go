package prefetch

import (
	"context"
	"runtime"
	"slices"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// portion is a box of blocks that is decoded before a reader needs it: a slab, two slabs if requests to the source should be long,
// or some rows of blocks of a slab if a slab does not fit in memory. A slab has up to as many planes of the array as a
// block has, and a reader of the whole array needs each block for each of these planes. With portions, each block is
// decoded once, and replies are gathered from the blocks. That takes a third of the time of copying each block to
// where its rows belong, because then the processor has to load the memory that it is about to overwrite.
type portion struct {
	key    portionKey
	hold   *cache.Hold
	pushed chan struct{} // closed when the portion is pushed; nil if it is not pushed. Protected by mu of the owner.
}

// portionKey identifies a portion by its blocks: those that contain valid voxels.
type portionKey struct {
	version    vfs.Version
	blockBytes int // arrays with blocks of different sizes may share a file
	blocks     volume.Box
}

// newPortion starts to decode the blocks of a key. ahead says that one core is left to the reader until it waits for them. That is for
// readers of many small files: they wait for a reply several times for each file.
func (l *limits) newPortion(src *cache.Source, key portionKey, keep cache.Keep, ahead bool) (*portion, error) {
	blocks := slices.Collect(key.blocks.All())
	o := cache.HoldOptions{Keep: keep, Ahead: ahead}
	if speed := src.Speed(); speed.Long > 0 && !speed.Near {
		o.BatchOf = cells(blocks, l.cell)
	} else {
		o.BatchSize = batchSize(key.blocks.Size(), l.leastBlocks(src))
	}
	hold, err := src.Hold(blocks, o)
	if err != nil {
		return nil, err
	}
	return &portion{key: key, hold: hold}, nil
}

// leastBlocks returns the least number of blocks that are loaded at once.
func (l *limits) leastBlocks(src *cache.Source) int {
	least := l.leastBatch
	if speed := src.Speed(); speed.Late && !speed.Near {
		least = speed.Long // if it is 0, all requests are sent at once
	}
	return least / src.Grid().BlockBytes()
}

// cells returns the number of the cell of each block, in the order in which the list first reaches them.
func cells(blocks []volume.Vec, cell volume.Vec) []int32 {
	numbers := map[volume.Vec]int32{}
	of := make([]int32, len(blocks))
	for i, b := range blocks {
		at := b.Div(cell)
		n, ok := numbers[at]
		if !ok {
			n = int32(len(numbers))
			numbers[at] = n
		}
		of[i] = n
	}
	return of
}

// batchSize returns the number of blocks of a portion that are loaded at once, which is least or more. It is two rows of blocks, because in
// Morton order groups of four of these blocks are neighbours in the file. It is less if there would be fewer than
// four batches for each core.
func batchSize(size volume.Vec, least int) int {
	const batchesPerCore = 4
	return max(min(2*size[0], size[0]*size[1]*size[2]/(batchesPerCore*runtime.GOMAXPROCS(0))), least, 1)
}

// portionView is a portion as a part of an array. Each plane of the part is one run of bytes of the array.
type portionView struct {
	*portion // nil if the portion is not in memory
	array    *flat.Array
	box      volume.Box // the part of the array that the portion covers, in voxels of the grid
}

// planes returns the number of planes.
func (v portionView) planes() int64 { return int64(v.box.Size()[2]) }

// run returns the bytes of the array that are in a plane of the portion. Planes are numbered from 0.
func (v portionView) run(plane int64) span.Span {
	start := v.array.Offset(v.box.Min) + plane*v.array.PlaneBytes()
	return span.Of(start, v.array.RowBytes()*int64(v.box.Size()[1]))
}

// planesAfterFirst returns the bytes of the array that are in the planes after the first one, if the portion has whole planes.
func (v portionView) planesAfterFirst() span.Span {
	first := v.run(0)
	return span.Of(first.End(), (v.planes()-1)*first.Len())
}

// runAt returns the number of the plane that has the byte at off of the array, and the part of its run from off on. That is empty
// if the byte is not in the portion.
func (v portionView) runAt(off int64) (plane int64, rest span.Span) {
	plane = off/v.array.PlaneBytes() - v.array.Offset(v.box.Min)/v.array.PlaneBytes()
	if plane < 0 || plane >= v.planes() || !v.run(plane).Contains(off) {
		return plane, span.Span{}
	}
	return plane, v.run(plane).From(off)
}

// read copies bytes of the array to p, from off on, and returns how many. It stops at the end of p, at the first byte
// outside of the portion, and at a block that cannot be read. It waits until the blocks are decoded.
func (v portionView) read(ctx context.Context, p []byte, off int64) int {
	n := 0
	for n < len(p) {
		_, rest := v.runAt(off + int64(n))
		part := rest.To(off + int64(len(p)))
		if part.Empty() || v.wait(ctx, part) != nil {
			break
		}
		v.array.Gather(p[n:][:part.Len()], part.Start(), v.key.blocks, v.hold.Voxels())
		n += int(part.Len())
	}
	return n
}

// readAndRelease is read, and removes a user of the portion.
func (v portionView) readAndRelease(ctx context.Context, p []byte, off int64) int {
	defer v.hold.Release()
	return v.read(ctx, p, off)
}

// wait waits until the blocks of a part of one plane are decoded.
func (v portionView) wait(ctx context.Context, part span.Span) error {
	blocks, side := v.key.blocks, v.array.Grid().Block
	size := blocks.Size()
	y, z := v.array.RowAt(part.Start())
	lastY, _ := v.array.RowAt(part.End() - 1)
	from, to := volume.Vec{1: y, 2: z}.Div(side).Sub(blocks.Min), volume.Vec{1: lastY}.Div(side).Sub(blocks.Min)
	from[1], to[1] = max(from[1], 0), min(to[1], size[1]-1)
	if from[1] > to[1] || from[2] < 0 || from[2] >= size[2] {
		return nil // the range has no valid voxels
	}
	row := size[1] * from[2]
	return v.hold.Wait(ctx, (row+from[1])*size[0], (row+to[1]+1)*size[0]-1)
}
