package view

import (
	"context"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// slab is a box of a flat file that comes out of one layer of blocks: up to as many
// planes as a block has, which follow each other in the file, and of each plane all rows, or,
// where that is too much for the memory, the rows of some rows of blocks. Whoever reads
// all of the file needs each block for each of its planes. So blocks are decoded once, and
// replies are gathered from them: that takes a third of the time of putting their rows where
// they belong, for which the processor would have to fetch what it is about to overwrite.
type slab struct {
	key    slabKey
	within volume.Box // the blocks
	memory []byte     // their voxels, x fastest
	there  []bool     // whether each was ever written, and counts
	block  int        // bytes of a block

	ready chan struct{} // closed when memory and err are final
	err   error         // why it cannot be used; block by block more may be found out

	// What follows is under slabs.mu.
	users  int             // who use it, or will
	pushed <-chan struct{} // closed when nothing more of it will be offered to the page cache; nil if nothing is
}

// slabKey names a slab by what is in it.
type slabKey struct {
	version vfs.Version
	box     volume.Box // in voxels of the source
}

// newSlab returns a slab to be filled, in memory that is large enough.
func (f *Flat) newSlab(key slabKey, memory []byte) *slab {
	s := &slab{key: key, memory: memory, ready: make(chan struct{})}
	s.within = volume.Box{Min: key.box.Min.Div(f.grid.Block), Max: key.box.Max.CeilDiv(f.grid.Block)}
	n := s.within.Size()
	s.there, s.block = make([]bool, n[0]*n[1]*n[2]), f.grid.BlockBytes()
	return s
}

// fill decodes all that is in the slab, on all cores.
func (s *slab) fill(ctx context.Context, f *Flat, src volume.Scanner) error {
	there := s.key.box.Intersect(f.valid)
	if there.Empty() {
		return nil
	}
	blocks := volume.Box{Min: there.Min.Div(f.grid.Block), Max: there.Max.CeilDiv(f.grid.Block)}
	memory := func(b volume.Vec) []byte {
		i := s.index(b)
		s.there[i] = true
		return s.memory[i*s.block : (i+1)*s.block]
	}
	// Rows of blocks are taken by twos: in Morton order four blocks of such a pair follow
	// each other in the file.
	first := blocks.Min[1] / 2
	return parallel((blocks.Max[1]+1)/2-first, func(i int) error {
		pair := blocks
		pair.Min[1] = max(2*(first+i), blocks.Min[1])
		pair.Max[1] = min(2*(first+i)+2, blocks.Max[1])
		return src.Scan(ctx, pair, memory)
	})
}

func (s *slab) index(b volume.Vec) int { return b.Sub(s.within.Min).Index(s.within.Size()) }

// planes and run return how many planes of f are in the slab, and how many bytes of each.
func (s *slab) planes() int64       { return int64(s.key.box.Size()[2]) }
func (s *slab) run(f *Flat) int64   { return f.row * int64(s.key.box.Size()[1]) }
func (s *slab) begin(f *Flat) int64 { return f.offset(s.key.box.Min) }

// place returns the plane of the slab that an offset in the array of f is in, and where in
// the run of that plane.
func (s *slab) place(f *Flat, off int64) (z, in int64) {
	off -= s.begin(f)
	return off / f.plane, off % f.plane
}

// read copies the bytes of the array of f from an offset on, until p is full or the slab does not
// have what follows, and returns how many.
func (s *slab) read(f *Flat, p []byte, off int64) int {
	n := 0
	for run := s.run(f); n < len(p); {
		z, in := s.place(f, off+int64(n))
		m := min(run-in, int64(len(p)-n))
		if z == s.planes() || m <= 0 {
			break
		}
		f.newRequest(p[n:n+int(m)], off+int64(n)).gather(s)
		n += int(m)
	}
	return n
}

// gather reads a request for voxels of one plane from blocks of a slab. Plain numbers take
// half of the time here that boxes do.
func (r request) gather(s *slab) {
	side, lo, hi := r.grid.Block, r.bounds.Min, r.bounds.Max
	first, end := lo.Div(side), hi.CeilDiv(side)
	blockRow := r.voxel * int64(side[0])
	plane := int64(side[1]) * int64(lo[2]-first[2]*side[2]) // in rows of a block
	allCount := r.bounds.Intersect(r.valid) == r.bounds
	for y := first[1]; y < end[1]; y++ {
		from, to := max(lo[1], y*side[1]), min(hi[1], (y+1)*side[1])
		at := r.offset(volume.Vec{r.box.Min[0], from, lo[2]})
		src := blockRow * (plane + int64(from-y*side[1]))
		i := s.index(volume.Vec{first[0], y, first[2]})
		for x := first[0]; x < end[0]; x, i = x+1, i+1 {
			var block []byte
			if s.there[i] {
				block = s.memory[i*s.block : (i+1)*s.block]
			}
			if block == nil || !allCount {
				r.place(volume.Vec{x, y, first[2]}, block)
				continue
			}
			left, right := max(lo[0], x*side[0]), min(hi[0], (x+1)*side[0])
			r.copyPlane(at+r.voxel*int64(left-r.box.Min[0]), block[src+r.voxel*int64(left-x*side[0]):],
				r.voxel*int64(right-left), to-from, blockRow, int64(s.block))
		}
	}
}
