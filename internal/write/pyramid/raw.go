package pyramid

import (
	"context"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// rawSlabPlanes is the number of planes of a slab of cubes that are not compressed, if there is memory for it. More
// planes have more blocks that are next to each other in a cube file.
const rawSlabPlanes = 2 * SlabPlanes

// rawGroup returns the size in blocks of what is written at a time to cubes that are not compressed: blocks that are
// next to each other in Morton order. A group has at most writeBytes, unless it is one block, and at most the given
// blocks on z.
func rawGroup(h wkw.Header, onZ int) volume.Vec {
	group, bytes := volume.Cube(1), h.Grid().BlockBytes()
	for axis := 0; 2*bytes <= writeBytes; axis = (axis + 1) % 3 {
		if group[axis] == h.CubeBlocks || axis == 2 && group[2] == onZ {
			break
		}
		group[axis] *= 2
		bytes *= 2
	}
	return group
}

// rawWriter writes blocks of a tile to cubes that are not compressed: the place of each is known. Blocks of zeros
// become holes.
type rawWriter struct {
	*mag
	worker *worker
	tile   tile
	direct *directWriter // nil: the page cache is written to
	cube   *cube         // that was last written to
	file   *cubeFile     // of the cube; nil: it is not open
}

// writeRaw writes the blocks of a part of a tile. The part is in blocks, from voxel 0,0,0 of the mag.
func (m *mag) writeRaw(ctx context.Context, k *worker, t tile, part volume.Box) error {
	w := &rawWriter{mag: m, worker: k, tile: t}
	if m.direct && !m.writer.disk.pace.slow.Load() {
		w.direct = m.writer.disk
	}
	defer w.close()
	groups := part.Div(m.group)
	for at := range groups.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		group := at.BoxOfOne().Mul(m.group)
		if err := w.writeGroup(group, part); err != nil {
			return err
		}
	}
	return nil
}

// writeGroup writes the blocks of a group that are in the part.
func (w *rawWriter) writeGroup(group, part volume.Box) error {
	if c := w.cubes.of(group.Min.Div(w.grid.Blocks())); c != w.cube {
		w.close()
		w.cube = c
	}
	if w.cube.kept {
		return w.observe(w.worker, w.tile, group.Intersect(part))
	}
	if w.direct == nil {
		return w.eachRun(&w.worker.out, group, part, func(r fileRun) error {
			if err := w.open(); err != nil {
				return err
			}
			return writeAt(w.file, r.bytes, r.offset)
		})
	}
	memory, err := w.direct.memory()
	if err != nil {
		return err
	}
	var runs []fileRun
	err = w.eachRun(&memory, group, part, func(r fileRun) error { runs = append(runs, r); return w.open() })
	if err != nil {
		runs = nil
	}
	w.direct.write(w.file, runs, memory)
	return err
}

// eachRun copies the blocks of a group that are in the part into memory, and calls do with those that are next to each
// other in the cube file.
func (w *rawWriter) eachRun(memory *[]byte, group, part volume.Box, do func(fileRun) error) error {
	size := w.grid.BlockBytes()
	first := wkw.MortonIndex(group.Min.Sub(w.cube.at.Mul(w.grid.Blocks())))
	offset := int64(w.Header.DataOffset) + int64(first)*int64(size)
	blocks := int(bytesOf(volume.Box{Max: w.group}, 1))
	all := congruent(memory, blocks*size, offset)
	start := 0 // of the blocks that are to be written
	for i := range blocks + 1 {
		if i < blocks {
			b := group.Min.Add(wkw.MortonBlock(uint64(i)))
			if part.Contains(b) && w.cutOver(all[i*size:][:size], b) {
				continue
			}
		}
		if run := all[start : i*size]; len(run) > 0 {
			if err := do(fileRun{run, offset + int64(start)}); err != nil {
				return err
			}
		}
		start = (i + 1) * size
	}
	return nil
}

// cutOver copies a block of the tile. It reports whether the block must be written.
func (w *rawWriter) cutOver(block []byte, b volume.Vec) bool {
	return w.cutTo(block, w.tile, b) != nil || w.cube.old != nil // zeros go over what the block was
}

// open opens the file of the cube, if it is not open.
func (w *rawWriter) open() error {
	if w.file != nil {
		return nil
	}
	f, err := w.cube.create()
	if err != nil {
		return err
	}
	w.file = &cubeFile{File: f}
	if w.direct != nil {
		w.file.direct = openDirect(f.Name())
	}
	return nil
}

func (w *rawWriter) close() {
	switch {
	case w.file == nil:
	case w.direct != nil:
		w.direct.close(w.file)
	default:
		w.file.Close()
	}
	w.file = nil
}

// pageBytes is the size of a page of the page cache, or a multiple of it.
const pageBytes = 4096

// congruent returns n bytes of memory to write at an offset of a file, b if it is long enough. Their address and the
// offset have the same position in a page. A block of WKW starts at byte 16 of a page, and some processors copy half as
// fast from byte 0 of one page to byte 16 of another. Writes past the page cache need it. The content is undefined.
func congruent(b *[]byte, n int, offset int64) []byte {
	*b = grow(b, n+pageBytes-1)
	all := *b
	skip := (uintptr(offset) - uintptr(unsafe.Pointer(unsafe.SliceData(all)))) % pageBytes
	return all[skip:][:n]
}
