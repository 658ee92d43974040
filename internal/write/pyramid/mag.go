package pyramid

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// mag writes the cubes of one mag, slab by slab.
type mag struct {
	Mag
	writer  *writer     // the call of Write
	grid    volume.Grid // of a cube
	voxel   int         // bytes of a voxel
	region  volume.Box  // the voxels that are written: the box, extended to whole slabs of whole blocks
	slab    int         // planes of a slab: at least those of a block
	row     int         // rows of the smallest tile: at least those of a block
	part    int         // rows that one goroutine encodes and reduces: those of row, or of group
	group   volume.Vec  // blocks that are written at a time, if they are not compressed
	direct  bool        // cubes are written past the page cache
	layout  layout
	bound   int     // most bytes of a stored block
	zero    []byte  // a block of zeros in its stored form; empty if the format leaves out such blocks
	cubes   *cubes  // the cubes that the current slab belongs to
	closing closing // cubes that are being closed

	coarser   *mag       // the next mag, or nil
	ratio     volume.Vec // voxels of this mag in a voxel of the next
	reducer   *downsample.Reducer
	planes    *planes // the slab that the mag collects; nil for the first mag
	collected bool    // the planes have voxels
}

// SlabPlanes is the least number of planes of a slab, unless cubes have fewer. Encoding fewer planes at a time is not
// worth a goroutine.
const SlabPlanes = 32

func newMag(w *writer, m Mag, box volume.Box) (*mag, error) {
	h, err := wkw.CubeHeader(m.Header)
	if err != nil {
		return nil, fmt.Errorf("mag %v: %w", m.Factor, err)
	}
	m.Header, m.Dir = h, filepath.Clean(m.Dir)
	g := h.Grid()
	side := g.Size[0]
	n := &mag{writer: w, Mag: m, grid: g, voxel: g.VoxelBytes()}
	n.slab = min(max(g.Block[0], SlabPlanes), side)
	n.row = min(max(g.Block[0], 2), side)
	n.part = n.row
	if n.raw() {
		n.planRaw(box)
	}
	unit := volume.Vec{n.row, n.row, n.slab}
	n.region = box.Div(unit).Mul(unit)
	if m.Format == Zarr3 {
		n.layout = newShardLayout(g)
	} else {
		n.layout = wkwLayout{h}
	}
	e := n.layout.newEncoder()
	n.bound = e.Bound()
	if !n.raw() && n.maxRun() > maxChunk {
		return nil,
			fmt.Errorf("mag %v: rows of blocks of up to %d bytes: expected at most %d: choose smaller blocks or cubes",
				m.Factor, n.maxRun(), maxChunk)
	}
	if m.Format == Zarr3 {
		return n, nil
	}
	n.zero, err = e.Encode(nil, make([]byte, g.BlockBytes()))
	return n, err
}

// planRaw sets what is written at a time to cubes of a box that are not compressed.
func (m *mag) planRaw(box volume.Box) {
	high := min(max(rawSlabPlanes, m.slab), m.grid.Size[2])
	tall := box
	tall.Max[2] = tall.Min[2] + high
	if m.Under == nil && box.Size()[2] >= high && bytesOf(tall, m.voxel) <= m.writer.tile {
		m.group = rawGroup(m.Header, high/m.grid.Block[2])
		m.slab = max(m.slab, m.group[2]*m.grid.Block[2])
	}
	m.group = rawGroup(m.Header, m.slab/m.grid.Block[2])
	m.part = max(m.row, m.group[1]*m.grid.Block[1])
}

// raw reports whether blocks are stored without compression, so that the place of each is fixed.
func (m *mag) raw() bool { return m.Format == WKW && m.Header.BlockType == wkw.Raw }

// reduceTo makes m reduce its voxels to the next mag.
func (m *mag) reduceTo(next *mag) (err error) {
	m.coarser = next
	for axis := range 3 {
		m.ratio[axis] = next.Factor[axis] / m.Factor[axis]
		if ok := m.ratio[axis] == 1 || m.ratio[axis] == 2; !ok || m.ratio[axis]*m.Factor[axis] != next.Factor[axis] {
			return fmt.Errorf("after mag %v: expected factors that are once or twice as large", m.Factor)
		}
		if m.ratio[axis] == 2 && m.grid.Size[axis] < 2 {
			return fmt.Errorf("cubes of one voxel: expected at least 2 voxels on a side")
		}
	}
	m.reducer, err = downsample.New(m.writer.layer.Method, m.grid.Type, m.grid.Channels, m.ratio)
	return err
}

// slabs yields the first plane of each slab, and the plane after its last one.
func (m *mag) slabs() iter.Seq[[2]int] {
	return func(yield func([2]int) bool) {
		for z := m.region.Min[2]; z < m.region.Max[2]; z += m.slab {
			if !yield([2]int{z, z + m.slab}) {
				return
			}
		}
	}
}

// slabBox returns the box of the slab that starts at plane z.
func (m *mag) slabBox(z int) volume.Box {
	b := m.region
	b.Min[2], b.Max[2] = z, z+m.slab
	return b
}

// add encodes a tile, and reduces it into the planes of the next mag.
func (m *mag) add(ctx context.Context, t tile) error {
	if m.cubes == nil {
		cubes, err := newCubes(m, t.box.Min[2])
		if err != nil {
			return err
		}
		m.cubes = cubes
	}
	if err := m.beginPlanes(ctx, t.box.Min[2]); err != nil {
		return err
	}
	end := func(y int) int { return min((y/m.part+1)*m.part, t.box.Max[1]) } // of the part that starts at y
	group, running := errgroup.WithContext(ctx)
	for y := t.box.Min[1]; y < t.box.Max[1]; y = end(y) {
		if running.Err() != nil {
			break
		}
		k := <-m.writer.workers
		group.Go(func() error {
			defer func() { m.writer.workers <- k }()
			part := t.box
			part.Min[1], part.Max[1] = y, end(y)
			if err := m.encode(running, k, t, part); err != nil {
				return err
			}
			if m.coarser == nil {
				return nil
			}
			return m.reduce(k, t, part)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// beginPlanes prepares the next mag to collect the slab that plane z belongs to.
func (m *mag) beginPlanes(ctx context.Context, z int) error {
	next := m.coarser
	if next == nil || next.collected {
		return nil
	}
	next.collected = true
	return next.planes.begin(ctx, z/m.ratio[2]/next.slab*next.slab)
}

// endSlab writes what is complete with a slab, and processes the slab of the next mag if that is complete.
func (m *mag) endSlab(ctx context.Context, slab [2]int) error {
	last := slab[1] >= m.region.Max[2]
	if err := m.cubes.flush(ctx, slab[1], last); err != nil {
		return err
	}
	if last || slab[1]%m.grid.Size[2] == 0 {
		cubes := m.cubes
		m.cubes = nil
		if err := m.closing.start(cubes); err != nil {
			return err
		}
	}
	next := m.coarser
	if next == nil {
		return nil
	}
	if end := slab[1] / m.ratio[2]; !last && end%next.slab != 0 {
		return nil
	}
	first := (slab[0] / m.ratio[2]) / next.slab * next.slab
	return next.addPlanes(ctx, [2]int{first, first + next.slab})
}

// addPlanes processes the slab that the mag has collected.
func (m *mag) addPlanes(ctx context.Context, slab [2]int) error {
	err := m.planes.tiles(slab[0], m.writer.tile, func(t tile) error { return m.add(ctx, t) })
	if err != nil {
		return err
	}
	m.collected = false
	return m.endSlab(ctx, slab)
}

// reduce writes the voxels of part of a tile into the planes of the next mag.
func (m *mag) reduce(k *worker, t tile, part volume.Box) error {
	size := t.box.Size()
	pitch := downsample.Pitch{Row: size[0] * m.voxel, Plane: size[0] * size[1] * m.voxel}
	src := t.voxels[(part.Min[1]-t.box.Min[1])*pitch.Row:]
	to := volume.Box{Min: part.Min.Div(m.ratio), Max: part.Max.Div(m.ratio)}
	return m.coarser.planes.write(k, to, func(dst []byte, dstPitch downsample.Pitch) {
		m.reducer.Reduce(dst, dstPitch, src, pitch, part.Size())
	})
}

// abandon removes the temporary files of cubes that are not complete.
func (m *mag) abandon() error {
	err := m.closing.wait()
	if m.cubes != nil {
		m.cubes.remove()
		m.cubes = nil
	}
	if m.planes != nil {
		m.planes.close()
	}
	return err
}
