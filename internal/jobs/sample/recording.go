package sample

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// recording is the part of the tissue that was recorded, in voxels of a mag.
type recording struct {
	box        volume.Box
	unrecorded volume.Box     // a part of box
	largest    *atomic.Uint32 // id that was read so far
}

// isEmpty reports whether nothing was recorded in a box.
func (r recording) isEmpty(b volume.Box) bool {
	b = b.Intersect(r.box)
	return b.Empty() || b.Intersect(r.unrecorded) == b
}

// of returns the recorded part of a source. All other voxels are 0.
func (r recording) of(src volume.Source) volume.Source { return recorded{src, r} }

// recorded is the recorded part of a source.
type recorded struct {
	volume.Source
	recording
}

// Fill implements volume.Source. It reads one block after the other. Blocks in which nothing was recorded are absent.
func (r recorded) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	g := r.Grid()
	for i := range blocks {
		b := &blocks[i]
		lo := g.Origin.Add(b.At.Mul(g.Block))
		box := volume.Box{Min: lo, Max: lo.Add(g.Block)}
		if r.isEmpty(box) {
			b.Voxels, b.Err = nil, nil
			continue
		}
		if r.Source.Fill(ctx, blocks[i:i+1], memory); b.Err == nil {
			r.finish(b.Voxels, box)
		}
	}
}

// finish clears the voxels of a box that were not recorded, and raises the largest id to that of the others.
func (r recorded) finish(voxels []byte, box volume.Box) {
	g := r.Grid()
	if box.Intersect(r.box) != box || !box.Intersect(r.unrecorded).Empty() {
		r.clear(voxels, box, g.VoxelBytes())
	}
	if g.Type == volume.Uint32 {
		r.raiseLargest(voxels)
	}
}

// clear sets the voxels of a box that were not recorded to 0, row by row.
func (r recorded) clear(voxels []byte, box volume.Box, size int) {
	rows := volume.Box{Min: box.Min, Max: volume.Vec{box.Min[0] + 1, box.Max[1], box.Max[2]}}
	for at := range rows.All() {
		row := volume.Box{Min: at, Max: volume.Vec{box.Max[0], at[1] + 1, at[2] + 1}}
		first := at.Sub(box.Min).Index(box.Size()) * size
		bytes := voxels[first : first+row.Size()[0]*size]
		if kept := row.Intersect(r.box); kept.Empty() {
			clear(bytes)
		} else {
			clear(bytes[:(kept.Min[0]-at[0])*size])
			clear(bytes[(kept.Max[0]-at[0])*size:])
		}
		if gone := row.Intersect(r.unrecorded); !gone.Empty() {
			clear(bytes[(gone.Min[0]-at[0])*size : (gone.Max[0]-at[0])*size])
		}
	}
}

// raiseLargest raises the largest id to that of the voxels.
func (r recorded) raiseLargest(voxels []byte) {
	var largest uint32
	for i := 0; i < len(voxels); i += 4 {
		largest = max(largest, binary.LittleEndian.Uint32(voxels[i:]))
	}
	for {
		seen := r.largest.Load()
		if largest <= seen || r.largest.CompareAndSwap(seen, largest) {
			return
		}
	}
}
