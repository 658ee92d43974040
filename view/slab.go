package view

import (
	"context"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// slab is a box of a flat file that comes out of one layer of blocks: up to as many
// planes as a block has, which follow each other in the file, and of each plane all rows, or,
// where that is too much for the memory, the rows of some rows of blocks. Whoever reads
// all of the file needs each block for each of its planes. So blocks are decoded once,
// right to where their voxels belong, and replies are cut out of the slab.
type slab struct {
	key    slabKey
	run    int64 // bytes of a plane that are in here
	stride int64 // bytes from one plane to the next in p
	p      []byte

	ready  chan struct{} // closed when p and err are final
	pushed chan struct{} // closed when nothing more of it will be offered to the page cache
	err    error         // why p cannot be used; block by block more may be found out

	users int // who use p, or will; under slabs.mu
}

// slabKey names a slab by what is in it.
type slabKey struct {
	version vfs.Version
	box     volume.Box // in voxels of the source
}

// stride returns how many bytes runs of n bytes are apart in a slab. Sides of volumes are
// often powers of two, and then a line of the processor's cache holds the same place of all
// planes; a little more between large ones makes scattering blocks half as fast again.
func stride(n int64) int64 {
	const large, gap = 256 << 10, 65 * 64
	if n < large {
		return n
	}
	return n + gap
}

// newSlab returns a slab to be filled, in memory p, which is large enough.
func (f *Flat) newSlab(key slabKey, p []byte) *slab {
	size := key.box.Size()
	s := &slab{key: key, run: f.row * int64(size[1]), ready: make(chan struct{}), pushed: make(chan struct{})}
	s.stride = stride(s.run)
	s.p = p[:s.stride*int64(size[2])]
	return s
}

// fill decodes all that is in the slab, on all cores.
func (s *slab) fill(ctx context.Context, flat *Flat, src volume.Scanner) error {
	f := *flat // of the box alone, with its planes as far apart as they are here
	f.box, f.plane, f.size = s.key.box, s.stride, int64(len(s.p))
	r := request{&f, s.p, 0, f.size, f.box}
	there := f.box.Intersect(f.valid)
	if there != f.box {
		clear(s.p)
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

// at returns the bytes from an offset in the array of f on, up to where the slab does not
// have what follows there.
func (s *slab) at(f *Flat, off int64) []byte {
	z, in := s.place(f, off)
	if s.stride == f.plane { // one plane follows the other, here and there
		return s.p[z*s.stride+in:]
	}
	return s.p[z*s.stride:][in:s.run]
}

// place returns the plane of the slab that an offset in the array of f is in, and where in
// the run of that plane.
func (s *slab) place(f *Flat, off int64) (z, in int64) {
	z = off/f.plane - int64(s.key.box.Min[2]-f.box.Min[2])
	return z, off%f.plane - f.row*int64(s.key.box.Min[1]-f.box.Min[1])
}
