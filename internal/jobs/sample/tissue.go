package sample

import (
	"context"
	"encoding/binary"

	"github.com/wkwfs/wkwfs/volume"
)

// Tissue is an unbounded volume. Its voxels depend only on these fields and their position.
type Tissue struct {
	Seed  uint64
	Grain int // maximum error of a voxel, in grey levels; more grain compresses less
}

// Usual is the tissue of a sample dataset. LZ4 compresses blocks of 32³ voxels of its image to about half their size.
var Usual = Tissue{Seed: 1, Grain: 4}

// Spacing is the size of a voxel of mag 1 in nm.
var Spacing = [3]float64{11.24, 11.24, 25}

// Cut describes a source of a tissue.
type Cut struct {
	Box   volume.Box // in voxels of the mag; may be negative
	Block int        // voxels per side of a block
	Mag   int        // side of a voxel in voxels of mag 1, on all axes; at least 1
}

func (c Cut) grid(t volume.Type) volume.Grid {
	g := volume.Grid{Size: c.Box.Size(), Block: volume.Cube(c.Block), Type: t, Channels: 1, Origin: c.Box.Min}
	for axis := range g.Spacing {
		g.Spacing[axis] = Spacing[axis] * float64(c.Mag)
	}
	return g
}

// EM returns the image of a part of the tissue, in uint8. A voxel of a coarser mag is the mean of its voxels of mag 1.
// Blocks that extend beyond the box have more tissue there.
func (t Tissue) EM(c Cut) volume.Source { return em{t, c} }

// Segmentation returns the ids of the cells, in uint32. Ids are at least 1, membranes are 0. A voxel of a coarser mag
// has the id of the voxel of mag 1 in its middle.
func (t Tissue) Segmentation(c Cut) volume.Source { return segmentation{t, c} }

type em struct {
	tissue Tissue
	cut    Cut
}

func (s em) Grid() volume.Grid { return s.cut.grid(volume.Uint8) }

// Fill implements volume.Source. It computes one block after the other.
func (s em) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	compute(blocks, memory, func(at volume.Vec, grey []byte) error { return s.block(ctx, at, grey) })
}

func (s em) block(ctx context.Context, at volume.Vec, grey []byte) error {
	box := s.cut.block(at)
	if s.cut.Mag == 1 {
		s.tissue.render(picture{box: box, image: grey})
		return ctx.Err()
	}
	return s.cut.pieces(ctx, box, func(piece, fine volume.Box) {
		p := picture{box: fine, image: make([]byte, volumeOf(fine))}
		s.tissue.render(p)
		for at := range piece.All() {
			grey[at.Sub(box.Min).Index(box.Size())] = p.mean(s.cut.fine(at))
		}
	})
}

type segmentation struct {
	tissue Tissue
	cut    Cut
}

func (s segmentation) Grid() volume.Grid { return s.cut.grid(volume.Uint32) }

// Fill implements volume.Source. It computes one block after the other.
func (s segmentation) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	compute(blocks, memory, func(at volume.Vec, ids []byte) error { return s.block(ctx, at, ids) })
}

func (s segmentation) block(ctx context.Context, at volume.Vec, ids []byte) error {
	box := s.cut.block(at)
	if s.cut.Mag == 1 {
		p := picture{box: box, ids: make([]uint32, volumeOf(box))}
		s.tissue.render(p)
		for i, id := range p.ids {
			binary.LittleEndian.PutUint32(ids[4*i:], id)
		}
		return ctx.Err()
	}
	return s.cut.pieces(ctx, box, func(piece, fine volume.Box) {
		p := picture{box: fine, ids: make([]uint32, volumeOf(fine))}
		s.tissue.render(p)
		for at := range piece.All() {
			middle := s.cut.fine(at).Min.Add(volume.Cube(s.cut.Mag / 2))
			id := p.ids[middle.Sub(fine.Min).Index(fine.Size())]
			binary.LittleEndian.PutUint32(ids[4*at.Sub(box.Min).Index(box.Size()):], id)
		}
	})
}

// compute fills blocks with a function that writes the voxels of a block.
func compute(blocks []volume.Block, memory func(volume.Vec) []byte, write func(at volume.Vec, voxels []byte) error) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels = memory(b.At)
		if b.Err = write(b.At, b.Voxels); b.Err != nil {
			b.Voxels = nil
		}
	}
}

// block returns the box of block b, with the part beyond c.Box.
func (c Cut) block(b volume.Vec) volume.Box {
	lo := c.Box.Min.Add(b.Mul(volume.Cube(c.Block)))
	return volume.Box{Min: lo, Max: lo.Add(volume.Cube(c.Block))}
}

// fine returns the box of a voxel in voxels of mag 1.
func (c Cut) fine(at volume.Vec) volume.Box {
	lo := at.Mul(volume.Cube(c.Mag))
	return volume.Box{Min: lo, Max: lo.Add(volume.Cube(c.Mag))}
}

// pieceSide is the approximate side of a piece in voxels of mag 1.
const pieceSide = 32

// pieces divides a box into pieces to limit memory. It calls do for each of them, with the piece in voxels of the mag
// and of mag 1, until ctx is done.
func (c Cut) pieces(ctx context.Context, box volume.Box, do func(piece, fine volume.Box)) error {
	side := volume.Cube(max(1, pieceSide/c.Mag))
	for at := range (volume.Box{Max: box.Size().CeilDiv(side)}).All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		lo := box.Min.Add(at.Mul(side))
		piece := volume.Box{Min: lo, Max: lo.Add(side)}.Intersect(box)
		mag := volume.Cube(c.Mag)
		do(piece, piece.Mul(mag))
	}
	return nil
}

// mean returns the mean of the image in a box, rounded to grey levels of the camera.
func (p picture) mean(box volume.Box) uint8 {
	sum, n := 0, box.Size()[0]
	for z := box.Min[2]; z < box.Max[2]; z++ {
		for y := box.Min[1]; y < box.Max[1]; y++ {
			i := volume.Vec{box.Min[0], y, z}.Sub(p.box.Min).Index(p.box.Size())
			for _, grey := range p.image[i : i+n] {
				sum += int(grey)
			}
		}
	}
	return uint8(sum/volumeOf(box)+greyStep/2) &^ (greyStep - 1)
}

// volumeOf returns the number of voxels in a box.
func volumeOf(b volume.Box) int { s := b.Size(); return s[0] * s[1] * s[2] }
