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
	key    slabKey
	begin  int64 // where it begins in the array
	size   int64
	plane  int64 // bytes of a plane
	stride int64 // bytes from one plane to the next in p
	p      []byte

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

// stride returns how many bytes the planes of a slab are apart. Sides of volumes are often
// powers of two, and then a line of cache holds the same place of all planes; a little
// more between large planes makes the scattering of blocks half as long again.
func (f *Flat) stride() int64 {
	const large, gap = 256 << 10, 65 * 64
	if f.plane < large {
		return f.plane
	}
	return f.plane + gap
}

// slabSize returns the memory that the largest slab takes.
func (f *Flat) slabSize() int64 {
	return int64(min(f.grid.Block[2], f.box.Size()[2])) * f.stride()
}

// at returns the bytes of a slab from an offset in the array on, up to the end of the
// plane if planes are apart.
func (s *slab) at(off int64) []byte {
	off -= s.begin
	if s.stride == s.plane {
		return s.p[off:s.size]
	}
	z, rest := off/s.plane, off%s.plane
	return s.p[z*s.stride:][rest:s.plane]
}

// newSlab returns the slab of a layer, to be filled, in memory of slabSize.
func (f *Flat) newSlab(key slabKey, p []byte) *slab {
	begin, end := f.layerRange(key.z)
	p = p[:(end-begin)/f.plane*f.stride()]
	return &slab{key: key, begin: begin, size: end - begin, plane: f.plane, stride: f.stride(), p: p, ready: make(chan struct{})}
}

// fill decodes the layer of blocks of the flat file into the slab, on all cores.
func (s *slab) fill(ctx context.Context, flat *Flat, src volume.Scanner) error {
	f := *flat // with the planes as far apart as they are here
	f.plane = s.stride
	bounds := f.box
	bounds.Min[2] += int(s.begin / s.plane)
	bounds.Max[2] = bounds.Min[2] + int(s.size/s.plane)
	begin := s.begin / s.plane * s.stride
	r := request{&f, s.p, begin, begin + int64(len(s.p)), bounds}
	there := bounds.Intersect(f.valid)
	if there != bounds {
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
