package view

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// scale presents a mag as a scale of a Precomputed volume.
type scale struct{ level }

// resolution returns the size of a voxel in nm. If the size is not known, a voxel of mag 1 counts as 1 nm.
func (s scale) resolution(snap *snapshot) [3]float64 {
	nm := snap.Cube().Spacing
	for axis, factor := range s.d.m.About().Factor {
		if nm[axis] == 0 {
			nm[axis] = float64(max(factor, 1))
		}
	}
	return nm
}

// list yields the chunks that have voxels of a cube. It yields none if they are not few.
func (s scale) list(yield func(entry, error) bool) {
	snap, err := s.d.snapshot()
	if err != nil {
		yield(entry{}, err)
		return
	}
	g := newGeometry(snap)
	chunks, few, err := s.chunks(snap, g)
	if err != nil {
		yield(entry{}, err)
		return
	}
	if !few {
		return
	}
	for _, at := range distinct(chunks) {
		f := chunkFile{s, g.box(at)}
		if !yield(entry{tree.BoxName(f.box), f}, nil) {
			return
		}
	}
}

// distinct returns the positions without repetitions: a chunk may contain parts of several cubes. It changes the list.
func distinct(all []volume.Vec) []volume.Vec {
	slices.SortFunc(all, func(a, b volume.Vec) int {
		return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
	})
	return slices.Compact(all)
}

// chunks returns the chunks of each cube. few is false if there are more than limits.listed, counted once for each cube
// that they have parts of. It makes no names: a header of 16 bytes can ask for 2^60 of them.
func (s scale) chunks(snap *snapshot, g geometry) (found []volume.Vec, few bool, err error) {
	left := s.d.fsys.limits.listed
	for c, err := range volume.AllCubes(s.d.m) {
		if err != nil {
			return nil, false, err
		}
		part := g.chunksOf(snap.Cube().CubeBox(c))
		n := part.Size()
		if n[0] > left || n[0]*n[1] > left || n[0]*n[1]*n[2] > left {
			return nil, false, nil
		}
		left -= n[0] * n[1] * n[2]
		found = slices.AppendSeq(found, part.All())
	}
	return found, true, nil
}

func (s scale) child(name string) (node, error) {
	box, ok := tree.ParseBox(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	snap, err := s.d.snapshot()
	if err != nil {
		return nil, err
	}
	g := newGeometry(snap)
	if at := box.Min.Sub(g.extent.Min).Div(g.chunk); g.box(at) != box {
		return nil, fs.ErrNotExist
	}
	return chunkFile{s, box}, nil
}

// geometry is the chunks of a scale. Chunk 0,0,0 starts at the start of the bounding box, rounded down to a block. The
// last chunks end at the end of the bounding box.
type geometry struct {
	chunk  volume.Vec // voxels of a chunk
	extent volume.Box // absolute voxels of the mag
}

func newGeometry(snap *snapshot) geometry {
	block := snap.Cube().Block
	g := geometry{chunk: chunkOf(snap.Cube())}
	first := snap.Local(snap.Bounds()).Min.Div(block).Mul(block)
	g.extent = volume.Box{Min: first.Add(snap.Cube().Origin), Max: snap.Bounds().Max}
	return g
}

// chunkOf returns the extent of a chunk in voxels.
func chunkOf(g volume.Grid) (chunk volume.Vec) {
	for axis, side := range g.Block {
		chunk[axis] = chunkSide(side)
	}
	return chunk
}

// chunkSide returns the side of a chunk in voxels. It is the side of a block from 16 to 128 voxels, which suits
// viewers. Else it is about 32 or 64, aligned with blocks.
func chunkSide(block int) int {
	switch {
	case block < 16:
		return 32 / block * block
	case block > 128:
		return 64
	}
	return block
}

// box returns the voxels of chunk c, in absolute voxels of the mag.
func (g geometry) box(c volume.Vec) volume.Box {
	lo := g.extent.Min.Add(c.Mul(g.chunk))
	return volume.Box{Min: lo, Max: lo.Add(g.chunk)}.Intersect(g.extent)
}

// chunksOf returns the chunks that intersect a box, in absolute voxels of the mag. It may be empty.
func (g geometry) chunksOf(box volume.Box) volume.Box {
	part := box.Intersect(g.extent)
	if part.Empty() {
		return volume.Box{}
	}
	return part.Sub(g.extent.Min).Div(g.chunk)
}

// chunkFile is a raw chunk of a scale. Its slowest axis is the channel, unlike in all other files of the tree.
type chunkFile struct {
	s   scale
	box volume.Box // absolute voxels of the mag
}

func (f chunkFile) stat() (fs.FileInfo, error) {
	snap, err := f.s.d.snapshot()
	if err != nil {
		return nil, err
	}
	return f.info(snap)
}

func (f chunkFile) info(snap *snapshot) (info, error) {
	source, err := snap.Info()
	if err != nil {
		return info{}, err
	}
	a := snap.header(f.s.d.path, f.box)
	i := fileInfo(tree.BoxName(f.box), a.Grid.Bytes(), source)
	i.version, i.stored = snap.fileVersion(), snap.Share(f.box)
	return i, nil
}

func (f chunkFile) open() (fs.File, error) {
	snap, err := f.s.d.currentSnapshot(&f.box)
	if err != nil {
		return nil, err
	}
	i, err := f.info(snap)
	if err != nil {
		return nil, err
	}
	snap.Open()
	r := f.s.d.fsys.prefetch.NewReader(snap.array(f.box, 0), prefetch.HintOnce)
	if snap.Cube().Channels == 1 {
		return newFile(i, header.Layout{}, arrayReader{r}, snap.Close), nil
	}
	return newWholeFile(i, func(ctx context.Context, content []byte) error {
		voxels := make([]byte, r.Array().Size())
		if _, err := r.ReadAt(ctx, voxels, 0); err != nil {
			return err
		}
		planes := content[:0]
		for c := range snap.Cube().Channels {
			planes = appendChannel(planes, voxels, c, snap.Cube().Channels, snap.Cube().Type.Size())
		}
		return nil
	}, func() {
		r.Close()
		snap.Close()
	}), nil
}

// appendChannel appends the values of a channel to planes. A value has size bytes.
func appendChannel(planes, voxels []byte, channel, channels, size int) []byte {
	for start := channel * size; start < len(voxels); start += channels * size {
		planes = append(planes, voxels[start:start+size]...)
	}
	return planes
}
