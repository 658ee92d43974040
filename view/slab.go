package view

import (
	"context"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// slab is the part of a flat file that comes out of one layer of blocks: up to as many
// planes as a block has, one after the other in the file. Whoever reads all of the file
// needs each block of the layer for each of these planes. So the blocks are decoded once,
// right to where their voxels belong, and replies are cut out of the slab.
type slab struct {
	key   slabKey
	begin int64 // where it begins in the array
	p     []byte

	ready chan struct{} // closed when p and err are final
	err   error         // why p cannot be used; block by block more may be found out

	readers int // who use p; under slabs.mu
}

// slabKey names a slab: files of the same box of the same version have the same slabs.
type slabKey struct {
	version vfs.Version
	box     volume.Box
	z       int // of the layer of blocks, in the source
}

// layer returns which layer of blocks the byte at off comes from.
func (f *Flat) layer(off int64) int {
	return volume.Vec{2: f.box.Min[2] + int(off/f.plane)}.Div(f.grid.Block)[2]
}

// layerRange returns where the layer begins and ends in the array, in bytes.
func (f *Flat) layerRange(z int) (begin, end int64) {
	depth := f.grid.Block[2]
	lo, hi := max(z*depth, f.box.Min[2]), min((z+1)*depth, f.box.Max[2])
	return int64(lo-f.box.Min[2]) * f.plane, int64(hi-f.box.Min[2]) * f.plane
}

// slabSize returns the bytes of the largest slab.
func (f *Flat) slabSize() int64 { return min(int64(f.grid.Block[2])*f.plane, f.size) }

// fillSlab decodes the layer of blocks into p, which is as long as the slab, on all
// cores.
func (f *Flat) fillSlab(ctx context.Context, src volume.Scanner, p []byte, z int) error {
	begin, _ := f.layerRange(z)
	r := f.newRequest(p, begin)
	there := r.bounds.Intersect(f.valid)
	if there != r.bounds {
		clear(p)
	}
	if there.Empty() {
		return nil
	}
	blocks := volume.Box{Min: there.Min.Div(f.grid.Block), Max: there.Max.CeilDiv(f.grid.Block)}
	// Rows of blocks are taken by twos: in Morton order four blocks of such a pair follow
	// each other in the file.
	first := blocks.Min[1] / 2
	return parallel((blocks.Max[1]+1)/2-first, func(i int) error {
		pair := blocks
		pair.Min[1] = max(2*(first+i), blocks.Min[1])
		pair.Max[1] = min(2*(first+i)+2, blocks.Max[1])
		return src.Scan(ctx, pair, func(b volume.Vec, block []byte) { r.place(b, block, there) })
	})
}

// place puts the voxels of block b where they belong, as far as they are in the box there.
func (r request) place(b volume.Vec, block []byte, there volume.Box) {
	lo := b.Mul(r.grid.Block)
	part := volume.Box{Min: lo, Max: lo.Add(r.grid.Block)}.Intersect(there)
	if block == nil {
		r.clear(part)
		return
	}
	r.copy(part, block, lo)
}
