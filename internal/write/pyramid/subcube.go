package pyramid

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// maxSubCubeBytes is the most decoded bytes of a sub-cube.
const maxSubCubeBytes = 16 << 20

// subCube is the part of a cube that is written at a time: a cube of blocks. Its side is a power of two, so its blocks
// are next to each other in the file.
type subCube struct {
	cube   *cube
	index  uint64 // in Morton order of the sub-cubes
	bytes  uint64 // that its blocks take in the file
	offset uint64 // of the first of them

	old *wkw.File // the cube that is replaced; open while it is needed
}

// maxSubCubeSide is the largest side of a sub-cube in blocks.
const maxSubCubeSide = 8

// subCubeSide returns the side of a sub-cube in blocks, as large as the memory for it allows.
func (m *mag) subCubeSide() int {
	side := min(maxSubCubeSide, m.Header.CubeBlocks)
	for side > 1 && side*side*side*m.grid.BlockBytes() > maxSubCubeBytes {
		side /= 2
	}
	return side
}

// maxSubCube returns the most bytes that a sub-cube takes in the file.
func (m *mag) maxSubCube() int64 {
	side := m.subCubeSide()
	return int64(side*side*side) * int64(m.bound)
}

// parts returns how many sub-cubes need a run: each that has a part of its row.
func (m *mag) parts() int { return m.Header.CubeBlocks / m.subCubeSide() }

// complete returns the sub-cubes that come next in the file and have all their blocks below block z of the cube. It
// returns none while all blocks of the cube are zeros.
func (c *cube) complete(z int) (parts []*subCube) {
	if c.kept || !c.some || c.m.raw() {
		return nil
	}
	side := c.m.subCubeSide()
	n := uint64(c.m.Header.CubeBlocks / side)
	for ; c.next < n*n*n && (wkw.MortonBlock(c.next)[2]+1)*side <= z; c.next++ {
		parts = append(parts, &subCube{cube: c, index: c.next})
	}
	return parts
}

// firstBlock returns the first block, in the cube.
func (p *subCube) firstBlock() volume.Vec {
	return wkw.MortonBlock(p.index).Mul(volume.Cube(p.cube.m.subCubeSide()))
}

// rows calls do with the run of each row of blocks of the sub-cube, which may be a row of zeros.
func (p *subCube) rows(do func(y, z int, r run) error) error {
	side, first := p.cube.m.subCubeSide(), p.firstBlock()
	for z := range side {
		for y := range side {
			if err := do(y, z, p.cube.runs[first[1]+y+p.cube.m.Header.CubeBlocks*(first[2]+z)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// withOld calls do while the cube that is replaced is open, if blocks of it are kept.
func (p *subCube) withOld(do func() error) error {
	if !p.keepsAny() {
		return do()
	}
	old, err := p.cube.old.open()
	if err != nil {
		return err
	}
	defer old.Close() // read-only
	p.old = old
	return do()
}

// keepsAny reports whether blocks are copied from the cube that is replaced.
func (p *subCube) keepsAny() bool {
	if p.cube.old == nil {
		return false
	}
	first, last := p.firstBlock(), volume.Cube(p.cube.m.subCubeSide()-1)
	return p.cube.keepsOld(first) || p.cube.keepsOld(first.Add(last)) // the region is a box
}

// measure sets bytes.
func (p *subCube) measure(k *worker) error {
	return p.withOld(func() error { return p.measureBlocks(k) })
}

func (p *subCube) measureBlocks(k *worker) error {
	return p.eachLength(k, func(_ volume.Vec, length int) { p.bytes += uint64(length) })
}

// eachLength calls do with each block, relative to the sub-cube, and the bytes that it takes in the file.
func (p *subCube) eachLength(k *worker, do func(b volume.Vec, length int)) error {
	m, first := p.cube.m, p.firstBlock()
	return p.rows(func(y, z int, r run) error {
		lengths, err := p.rowLengths(k, r)
		if err != nil {
			return err
		}
		for x := range m.subCubeSide() {
			b, length := (volume.Vec{x, y, z}), len(m.zero)
			switch at := first.Add(b); {
			case p.cube.keepsOld(at):
				n, err := p.old.StoredSize(at)
				if err != nil {
					return err
				}
				length = int(n)
			case lengths != nil && lengthAt(lengths, at[0]) > 0: // else a block of zeros
				length = lengthAt(lengths, at[0])
			}
			do(b, length)
		}
		return nil
	})
}

// sink writes the blocks of sub-cubes.
type sink interface {
	// put takes block i in Morton order, which starts at an offset of the sub-cube. A block of a spool that is not in
	// memory is valid only during the call. Others stay until write returns.
	put(i, offset uint64, block []byte)
	// write writes all blocks, and where they are. ends has the offset after each block, relative to that of the
	// sub-cube.
	write(p *subCube, ends []uint64) error
}

// assemble gives the blocks to a sink, has them written, and releases their runs.
func (p *subCube) assemble(k *worker, to sink) error {
	return p.withOld(func() error {
		ends, err := p.ends(k)
		if err != nil {
			return err
		}
		if err := p.rows(func(y, z int, r run) error { return p.putRow(k, to, ends, y, z, r) }); err != nil {
			return err
		}
		if err := to.write(p, ends); err != nil {
			return err
		}
		return p.release()
	})
}

// ends returns the offset after each block in Morton order.
func (p *subCube) ends(k *worker) ([]uint64, error) {
	side := p.cube.m.subCubeSide()
	ends := make([]uint64, side*side*side) // first the lengths
	err := p.eachLength(k, func(b volume.Vec, length int) { ends[wkw.MortonIndex(b)] = uint64(length) })
	end := uint64(0)
	for i, length := range ends {
		end += length
		ends[i] = end
	}
	return ends, err
}

// release gives back the memory of the sub-cube in the spool.
func (p *subCube) release() error {
	return p.rows(func(_, _ int, r run) error {
		if r != 0 {
			p.cube.m.writer.spool.release(r)
		}
		return nil
	})
}

// write writes the blocks through the page cache.
func (p *subCube) write(k *worker) error {
	k.out = grow(&k.out, int(p.bytes))
	return p.assemble(k, buffered(k.out))
}

// buffered is a sink with memory for a sub-cube. It writes through the page cache.
type buffered []byte

func (b buffered) put(_, offset uint64, block []byte) { copy(b[offset:], block) }

func (b buffered) write(p *subCube, ends []uint64) error {
	f, err := p.cube.create()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := writeAt(f, b, int64(p.offset)); err != nil {
		return err
	}
	if err := p.cube.m.layout.writeTable(f, p, ends); err != nil {
		return err
	}
	startWriting(f, int64(p.offset), int64(len(b)))
	return nil
}

// rowLengths returns the lengths of a run, or nil for a row of zeros.
func (p *subCube) rowLengths(k *worker, r run) ([]byte, error) {
	if r == 0 {
		return nil, nil
	}
	return p.cube.m.writer.spool.lengths(r, p.cube.m.Header.CubeBlocks, &k.read)
}

// putRow gives the blocks of a row to a sink.
func (p *subCube) putRow(k *worker, to sink, ends []uint64, y, z int, r run) error {
	m, first := p.cube.m, p.firstBlock()
	stored, err := p.readRow(k, r)
	if err != nil {
		return err
	}
	for x := range m.subCubeSide() {
		b := volume.Vec{x, y, z}
		i := wkw.MortonIndex(b)
		offset, _ := extentOf(ends, i)
		block := m.zero
		if n := stored.sizes[x]; n > 0 {
			block, stored.bytes = stored.bytes[:n], stored.bytes[n:]
		}
		if p.cube.keepsOld(first.Add(b)) {
			if k.block, err = p.old.AppendStored(context.Background(), k.block[:0], first.Add(b)); err != nil {
				return err
			}
			block = k.block
		}
		to.put(i, offset, block)
	}
	return nil
}

// storedRow is the part of a run that a sub-cube needs.
type storedRow struct {
	sizes [maxSubCubeSide]int // of the blocks; 0: a block of zeros
	bytes []byte              // the blocks
}

func (p *subCube) readRow(k *worker, r run) (s storedRow, err error) {
	lengths, err := p.rowLengths(k, r)
	if err != nil || lengths == nil {
		return s, err
	}
	first, offset, n := p.firstBlock()[0], len(lengths), 0
	for x := range first {
		offset += lengthAt(lengths, x)
	}
	for x := range p.cube.m.subCubeSide() {
		s.sizes[x] = lengthAt(lengths, first+x)
		n += s.sizes[x]
	}
	s.bytes, err = p.cube.m.writer.spool.read(r, offset, n, &k.read)
	return s, err
}
