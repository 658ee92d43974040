package importer

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// factors returns the factors of mag 1 and of n coarser mags. Each doubles the axis on
// which voxels are shortest, and those on which doubling brings them nearer to it than leaving
// them: voxels become cubes, as in webKNOSSOS.
func factors(scale [3]float64, n int) []volume.Factor {
	all := []volume.Factor{{1, 1, 1}}
	for range n {
		f := all[len(all)-1]
		var side [3]float64
		for axis := range 3 {
			side[axis] = scale[axis] * float64(f[axis])
		}
		shortest := min(side[0], side[1], side[2])
		for axis := range 3 {
			if side[axis] <= math.Sqrt2*shortest {
				f[axis] *= 2
			}
		}
		all = append(all, f)
	}
	return all
}

// openWritten opens a cube that this layer has; an error that is fs.ErrNotExist where
// there is none.
func (w *writer) openWritten(c volume.Vec) (volume.CubeFile, error) {
	root, err := wkw.Recognise(os.DirFS(w.dir), ".", wkw.Options{Name: w.factor.String()})
	if err != nil {
		return nil, err
	}
	if root.Mag == nil {
		return nil, wkw.ErrNotRecognised
	}
	return root.Mag.OpenCube(c)
}

// reduced returns the function that opens cubes made of those of a finer mag.
func (w *writer) reduced(finer *writer) func(volume.Vec) (volume.Source, func() error, error) {
	var ratio volume.Vec
	for axis := range 3 {
		ratio[axis] = w.factor[axis] / finer.factor[axis]
	}
	return func(c volume.Vec) (volume.Source, func() error, error) {
		s := &reducedCube{grid: w.grid(c), finer: finer, ratio: ratio, cubes: map[volume.Vec]volume.CubeFile{}}
		s.reduce = reducer(s.grid.Type, w.Category == Segmentation)
		first := c.Mul(ratio)
		for at := range (volume.Box{Min: first, Max: first.Add(ratio)}).All() {
			f, err := finer.openWritten(at)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				s.close()
				return nil, nil, err
			}
			s.cubes[at] = f
		}
		return s, s.close, nil
	}
}

// reducedCube is a cube of a coarser mag. Each of its blocks is made of one to eight
// whole blocks of the finer mag, and of no others.
type reducedCube struct {
	grid   volume.Grid
	finer  *writer
	ratio  volume.Vec // voxels of the finer mag per voxel
	cubes  map[volume.Vec]volume.CubeFile
	reduce func(dst []byte, values [][]byte)
}

func (s *reducedCube) close() error {
	var all []error
	for _, f := range s.cubes {
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}

func (s *reducedCube) Grid() volume.Grid { return s.grid }

// Fill computes blocks one after the other.
func (s *reducedCube) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = s.block(ctx, b.At, memory)
	}
}

// block reduces the finer voxels inside of the layer's box; nil where they are 0.
func (s *reducedCube) block(ctx context.Context, b volume.Vec, memory func(volume.Vec) []byte) ([]byte, error) {
	first := s.grid.Origin.Div(s.grid.Block).Add(b).Mul(s.ratio) // finer block, counted from voxel 0,0,0
	var blocks finerBlocks
	empty := true
	for at := range (volume.Box{Min: first, Max: first.Add(s.ratio)}).All() {
		cube := at.Div(s.grid.Blocks())
		f := s.cubes[cube]
		if f == nil {
			continue
		}
		block, err := volume.ReadBlock(ctx, f, at.Sub(cube.Mul(s.grid.Blocks())))
		if err != nil {
			return nil, err
		}
		if block = unlessZero(block); block != nil {
			blocks[at.Sub(first).Index(volume.Cube(2))] = block
			empty = false
		}
	}
	if empty {
		return nil, nil
	}
	dst := memory(b)
	clear(dst) // reduceBlocks leaves out what is outside of the box
	lo := first.Mul(s.grid.Block)
	inside := volume.Box{Min: s.finer.box.Min.Sub(lo), Max: s.finer.box.Max.Sub(lo)}
	s.reduceBlocks(dst, &blocks, inside)
	return unlessZero(dst), nil
}

// finerBlocks are the blocks that become one, in Fortran order of a cube of two; nil
// where there are none or zeros.
type finerBlocks [8][]byte

// reduceBlocks computes the voxels of a block. inside is what the finer blocks have of the box,
// in finer voxels from the first of them on.
func (s *reducedCube) reduceBlocks(dst []byte, blocks *finerBlocks, inside volume.Box) {
	size, voxel := s.grid.Type.Size(), s.grid.VoxelBytes()
	zero := make([]byte, voxel)
	voxels, values := make([][]byte, 0, 8), make([][]byte, 0, 8)
	for p := range (volume.Box{Max: s.grid.Block}).All() {
		from := p.Mul(s.ratio)
		part := volume.Box{Min: from, Max: from.Add(s.ratio)}.Intersect(inside)
		voxels = s.gather(voxels[:0], blocks, part, zero)
		to := dst[:voxel]
		dst = dst[voxel:]
		if len(voxels) == 0 {
			continue
		}
		for c := 0; c < voxel; c += size {
			values = values[:0]
			for _, v := range voxels {
				values = append(values, v[c:c+size])
			}
			s.reduce(to[c:c+size], values)
		}
	}
}

// gather appends the finer voxels of the part, which become one.
func (s *reducedCube) gather(voxels [][]byte, blocks *finerBlocks, part volume.Box, zero []byte) [][]byte {
	side, n := s.grid.Block[0], len(zero)
	for z := part.Min[2]; z < part.Max[2]; z++ {
		for y := part.Min[1]; y < part.Max[1]; y++ {
			for x := part.Min[0]; x < part.Max[0]; x++ {
				block := blocks[x/side+2*(y/side)+4*(z/side)]
				if block == nil {
					voxels = append(voxels, zero)
					continue
				}
				at := (x%side + side*(y%side+side*(z%side))) * n
				voxels = append(voxels, block[at:at+n])
			}
		}
	}
	return voxels
}
