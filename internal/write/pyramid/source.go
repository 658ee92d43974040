package pyramid

import (
	"context"
	"errors"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/volume"
)

// ahead is the number of tiles that are read while another is encoded. For cubes that are written past the page cache
// one is enough: they wait for the disk, and new memory costs time.
const (
	ahead       = 2
	aheadDirect = 1
)

// pieceBytes is what one goroutine reads of a tile at a time.
const pieceBytes = 4 << 20

// input reads the tiles of a source ahead, slab by slab.
type input struct {
	m            *mag
	src          Source
	box          volume.Box // of the source
	tilesPerSlab int
	tiles        chan tile
	free         chan []byte
	stop         context.CancelFunc
	done         chan struct{} // closed when the reader has ended
	err          error         // of the reader; valid once done is closed
	spooled      *spooled      // or nil
}

// open starts to read the source. If slabs are larger than a tile, and the source is sequential or decodes whole
// planes, each slab is first copied into a temporary file.
func (w *writer) open(ctx context.Context, src Source) (*input, error) {
	m := w.mags[0]
	in := &input{m: m, src: src, box: w.layer.Box, tiles: make(chan tile), done: make(chan struct{})}
	for range m.tileBoxes(m.slabBox(m.region.Min[2]), w.tile) {
		in.tilesPerSlab++
	}
	if in.tilesPerSlab > 1 && (src.Sequential() || src.WholePlanes()) {
		s, err := newSpooled(src, w, m.voxel)
		if err != nil {
			return nil, err
		}
		in.spooled, in.src = s, s
	}
	n := ahead + 1
	if m.direct {
		n = aheadDirect + 1
	}
	in.free = make(chan []byte, n)
	for range n {
		in.free <- nil
	}
	ctx, in.stop = context.WithCancel(ctx)
	go func() {
		defer close(in.done)
		in.err = in.readAll(ctx)
	}()
	return in, nil
}

// next returns the next tile. Its memory belongs to the caller until giveBack.
func (in *input) next() (tile, error) {
	select {
	case t := <-in.tiles:
		return t, nil
	case <-in.done:
		return tile{}, in.err
	}
}

func (in *input) giveBack(t tile) { in.free <- t.voxels }

// close stops the reader and waits for it.
func (in *input) close() {
	in.stop()
	<-in.done
	if in.spooled != nil {
		in.spooled.close()
	}
}

func (in *input) readAll(ctx context.Context) error {
	for slab := range in.m.slabs() {
		if in.spooled != nil {
			if err := in.spooled.load(ctx, slab[0]-in.box.Min[2], slab[1]-in.box.Min[2]); err != nil {
				return err
			}
		}
		for box := range in.m.tileBoxes(in.m.slabBox(slab[0]), in.m.writer.tile) {
			t := tile{box: box}
			select {
			case t.voxels = <-in.free:
			case <-ctx.Done():
				return ctx.Err()
			}
			t.voxels = grow(&t.voxels, int(bytesOf(box, in.m.voxel)))
			if err := in.read(ctx, t); err != nil {
				return err
			}
			select {
			case in.tiles <- t:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return errors.New("more tiles were asked for than there are") // a mistake of this package
}

// read fills a tile. Voxels outside of the source are 0.
func (in *input) read(ctx context.Context, t tile) error {
	inside := t.box.Intersect(in.box)
	if inside != t.box {
		clear(t.voxels)
	}
	if inside.Empty() {
		return nil
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(in.m.writer.layer.Jobs)
	if in.src.Sequential() {
		group.SetLimit(1)
	}
	for part := range pieces(inside, in.m.voxel) {
		if running.Err() != nil {
			break
		}
		group.Go(func() error { return in.readPiece(running, t, part) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// pieces yields the parts of a box that are read at a time, in the order of the source: whole planes, or rows of one.
func pieces(box volume.Box, voxel int) iter.Seq[volume.Box] {
	return func(yield func(volume.Box) bool) {
		size := box.Size()
		planes := max(1, pieceBytes/max(1, size[0]*size[1]*voxel))
		rows := size[1]
		if planes == 1 {
			rows = max(1, min(rows, pieceBytes/max(1, size[0]*voxel)))
		}
		for z := box.Min[2]; z < box.Max[2]; z += planes {
			for y := box.Min[1]; y < box.Max[1]; y += rows {
				part := volume.Box{Min: volume.Vec{box.Min[0], y, z}, Max: volume.Vec{box.Max[0], y + rows, z + planes}}
				if !yield(part.Intersect(box)) {
					return
				}
			}
		}
	}
}

// readPiece reads part of a tile. Where its rows are not next to each other in the tile, it moves them there.
func (in *input) readPiece(ctx context.Context, t tile, part volume.Box) error {
	voxel, size := in.m.voxel, t.box.Size()
	from := part.Sub(in.box.Min)
	dst := t.voxels[part.Min.Sub(t.box.Min).Index(size)*voxel:]
	n := int(bytesOf(part, voxel))
	ps := part.Size()
	wholeRows, wholePlanes := ps[0] == size[0], ps[1] == size[1]
	if wholeRows && (wholePlanes || ps[2] == 1) || ps[1] == 1 && ps[2] == 1 {
		return in.src.Read(ctx, from, dst[:n])
	}
	b := make([]byte, n)
	if err := in.src.Read(ctx, from, b); err != nil {
		return err
	}
	row := ps[0] * voxel
	for z := range ps[2] {
		for y := range ps[1] {
			copy(dst[(volume.Vec{0, y, z}).Index(size)*voxel:], b[:row])
			b = b[row:]
		}
	}
	return nil
}

// tileBoxes yields the tiles of a slab, in Fortran order. If the slab has at most `most` bytes, it is one tile.
// Otherwise a tile is some whole rows of blocks, or a part of one row that has whole cubes.
func (m *mag) tileBoxes(slab volume.Box, most int64) iter.Seq[volume.Box] {
	step := slab.Size()
	perRow := int64(step[0]) * int64(step[2]) * int64(m.voxel)
	if fit := most / perRow / int64(m.row) * int64(m.row); fit < int64(step[1]) {
		step[1] = max(int(fit), m.row)
	}
	if side := m.grid.Size[0]; bytesOf(volume.Box{Max: step}, m.voxel) > most {
		step[0] = max(int(most/(int64(step[1])*int64(step[2])*int64(m.voxel)))/side*side, side)
	}
	return func(yield func(volume.Box) bool) {
		for y := slab.Min[1]; y < slab.Max[1]; y += step[1] {
			for x := slab.Min[0]; x < slab.Max[0]; {
				end := min((x+step[0])/step[0]*step[0], slab.Max[0]) // whole cubes, wherever the slab starts
				if step[0] == slab.Size()[0] {
					end = slab.Max[0]
				}
				b := volume.Box{Min: volume.Vec{x, y, slab.Min[2]}, Max: volume.Vec{end, y + step[1], slab.Max[2]}}
				if !yield(b.Intersect(slab)) {
					return
				}
				x = end
			}
		}
	}
}
