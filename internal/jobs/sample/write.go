package sample

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Options describes a sample dataset.
type Options struct {
	Tissue     Tissue
	Box        volume.Box // bounding box in voxels of mag 1
	Block      int        // voxels per side of a block, a power of two
	CubeSide   int        // voxels per side of a cube, a power of two
	Mags       []int      // rising, powers of two
	Unrecorded volume.Box // is 0; cubes of which no other part is in Box are absent
}

// Defaults returns the options of a dataset of a few MB. Its bounding box is not aligned to blocks. One cube of mag 1
// is absent. It is at a corner, so the planes through the middle, which viewers show first, are complete.
func Defaults() Options {
	return Options{
		Tissue:     Usual,
		Box:        volume.Box{Min: volume.Vec{100, 70, 34}, Max: volume.Vec{310, 250, 126}},
		Block:      32,
		CubeSide:   64,
		Mags:       []int{1, 2, 4},
		Unrecorded: volume.Box{Min: volume.Vec{256, 192, 0}, Max: volume.Vec{320, 256, 64}},
	}
}

// layer is one of the two layers of a sample dataset.
type layer struct {
	name      string
	category  string
	blockType wkw.BlockType
	source    func(Tissue, Cut) volume.Source
}

var layers = [...]layer{
	{"color", "color", wkw.LZ4, Tissue.EM},
	{"segmentation", "segmentation", wkw.LZ4HC, Tissue.Segmentation},
}

// Write writes a dataset with the layers color (uint8, LZ4) and segmentation (uint32, LZ4HC) to dir, which must be
// empty or not exist. Like WEBKNOSSOS, it writes whole cubes, with zeros outside of the bounding box. After an error,
// the files stay that were written.
func Write(ctx context.Context, dir string, o Options) error {
	dir, err := filepath.Abs(dir) // the last element is the name of the dataset
	if err != nil {
		return err
	}
	if err := createEmpty(dir); err != nil {
		return err
	}
	var largest atomic.Uint32
	for _, l := range layers {
		for _, mag := range o.Mags {
			if err := o.writeMag(ctx, dir, l, mag, &largest); err != nil {
				return err
			}
		}
	}
	return writeProperties(dir, o, largest.Load())
}

// createEmpty creates dir. It fails if dir exists and is not empty.
func createEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o777)
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: the directory is not empty: it contains %s", dir, entries[0].Name())
	}
	return nil
}

// writeMag writes header.wkw and the cubes of a mag. It raises largest to the largest id.
func (o Options) writeMag(ctx context.Context, dir string, l layer, mag int, largest *atomic.Uint32) error {
	dir = filepath.Join(dir, l.name, volume.Factor(volume.Cube(mag)).String())
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	recorded := recording{coarser(o.Box, mag), coarser(o.Unrecorded, mag), largest}
	side := volume.Cube(o.CubeSide)
	cubes := recorded.box.Div(side)
	for c := range cubes.All() {
		box := c.BoxOfOne().Mul(side)
		src := recorded.of(l.source(o.Tissue, Cut{Box: box, Block: o.Block, Mag: mag}))
		if c == cubes.Min {
			if err := writeHeader(dir, l.blockType, src.Grid()); err != nil {
				return err
			}
		}
		if recorded.isEmpty(box) {
			continue
		}
		if err := writeCube(ctx, dir, c, l.blockType, src); err != nil {
			return err
		}
	}
	return nil
}

func writeHeader(dir string, bt wkw.BlockType, g volume.Grid) error {
	return wkw.WriteHeader(filepath.Join(dir, "header.wkw"), wkw.Header{
		BlockSide:  g.Block[0],
		CubeBlocks: g.Blocks()[0],
		BlockType:  bt,
		Type:       g.Type,
		Channels:   g.Channels,
	})
}

func writeCube(ctx context.Context, dir string, c volume.Vec, bt wkw.BlockType, src volume.Source) error {
	path := filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return wkw.WriteCube(ctx, path, bt, src)
}

// coarser returns a box of mag 1 in voxels of another mag. Min is rounded down, Max is rounded up.
func coarser(b volume.Box, mag int) volume.Box {
	return b.Div(volume.Cube(mag))
}
