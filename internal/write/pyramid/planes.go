package pyramid

import (
	"context"
	"os"

	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
)

// planes is the slab of a mag that is being collected, in memory or in a file without a name. It is in Fortran order.
type planes struct {
	m    *mag
	size volume.Vec
	mem  []byte
	file *os.File
	buf  []byte // a tile of the file
}

func newPlanes(m *mag, inMemory bool, dir string) (*planes, error) {
	p := &planes{m: m, size: m.slabBox(0).Size()}
	if inMemory {
		p.mem = make([]byte, p.bytes())
		return p, nil
	}
	f, err := tempFile(dir)
	if err != nil {
		return nil, err
	}
	p.file = f
	return p, f.Truncate(p.bytes())
}

func (p *planes) bytes() int64 { return bytesOf(volume.Box{Max: p.size}, p.m.voxel) }

// begin sets all voxels to those under the slab that starts at plane z, or to 0.
func (p *planes) begin(ctx context.Context, z int) error {
	switch {
	case p.m.Under != nil:
		return p.load(ctx, p.m.slabBox(z))
	case p.file == nil:
		clear(p.mem)
		return nil
	}
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	return p.file.Truncate(p.bytes())
}

// load sets the voxels to those of the mag that exists.
func (p *planes) load(ctx context.Context, slab volume.Box) error {
	for box := range p.m.tileBoxes(slab, p.m.writer.tile) {
		voxels, err := volume.ReadBox(ctx, p.m.Under, box)
		if err != nil {
			return err
		}
		writeAt := func(b []byte, off int64) (int, error) { return copy(p.mem[off:], b), nil }
		if p.file != nil {
			writeAt = p.file.WriteAt
		}
		if err := p.eachRun(box.Min.Sub(slab.Min), box.Size(), voxels, writeAt); err != nil {
			return err
		}
	}
	return nil
}

// write has fill compute the voxels of a box, which has whole rows of the slab or a part of them.
func (p *planes) write(k *worker, box volume.Box, fill func(dst []byte, pitch downsample.Pitch)) error {
	at := volume.Vec{box.Min[0] - p.m.region.Min[0], box.Min[1] - p.m.region.Min[1], box.Min[2] % p.m.slab}
	row, size := p.size[0]*p.m.voxel, box.Size()
	pitch := downsample.Pitch{Row: row, Plane: row * p.size[1]}
	if p.file == nil {
		fill(p.mem[at.Index(p.size)*p.m.voxel:], pitch)
		return nil
	}
	pitch = downsample.Pitch{Row: size[0] * p.m.voxel, Plane: size[0] * size[1] * p.m.voxel}
	b := grow(&k.voxels, pitch.Plane*size[2])
	fill(b, pitch)
	return p.eachRun(at, size, b, p.writeRun)
}

// writeRun writes to the file, except zeros where there are zeros already. The slab of an input of one plane is mostly
// zeros, and the file may be many times as large as the input.
func (p *planes) writeRun(b []byte, off int64) (int, error) {
	if p.m.Under == nil && allZero(b) {
		return len(b), nil
	}
	return p.file.WriteAt(b, off)
}

// eachRun calls do, which reads or writes the file, with each run of b that is contiguous in the file. b is a box of
// the size at a position of the slab.
func (p *planes) eachRun(at, size volume.Vec, b []byte, do func([]byte, int64) (int, error)) error {
	rows := 1 // of a run
	if size[0] == p.size[0] {
		rows = size[1]
	}
	n := rows * size[0] * p.m.voxel
	for z := range size[2] {
		for y := 0; y < size[1]; y += rows {
			off := at.Add(volume.Vec{0, y, z}).Index(p.size) * p.m.voxel
			if _, err := do(b[:n], int64(off)); err != nil {
				return err
			}
			b = b[n:]
		}
	}
	return nil
}

// tiles calls add with the tiles of the slab that starts at plane z. A slab in memory is one tile. Tiles from a file
// have at most `most` bytes, as far as tileBoxes can divide the slab.
func (p *planes) tiles(z int, most int64, add func(tile) error) error {
	slab := p.m.slabBox(z)
	if p.file == nil {
		return add(tile{slab, p.mem})
	}
	for box := range p.m.tileBoxes(slab, most) {
		t := tile{box, grow(&p.buf, int(bytesOf(box, p.m.voxel)))}
		at := box.Min.Sub(slab.Min)
		if err := p.eachRun(at, box.Size(), t.voxels, p.file.ReadAt); err != nil {
			return err
		}
		if err := add(t); err != nil {
			return err
		}
	}
	return nil
}

func (p *planes) close() {
	if p.file != nil {
		p.file.Close()
	}
}
