package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// scanned makes cubes of blocks from a microscope's data, in random order. The blocks keep the bytes that another program
// compressed.
type scanned struct {
	header wkw.Header // of a cube
	stored [][]byte   // the blocks to choose from
}

// scannedCube returns a dataset of one cube of the blocks of a layer of the reference data.
func (b *bench) scannedCube(ctx context.Context, name, dirName, layer string, side int) (*dataset, error) {
	r, err := scannedRecipe(ctx, filepath.Join(b.refdata, "l4_blocks", layer, "2-2-1"), side)
	if err != nil {
		return nil, err
	}
	return b.cube(ctx, name, dirName, r)
}

// scannedRecipe returns the recipe of a cube of blocks from the cube files in a mag.
func scannedRecipe(ctx context.Context, mag string, side int) (recipe, error) {
	paths, err := filepath.Glob(filepath.Join(mag, "z*/y*/x*.wkw"))
	if err != nil {
		return recipe{}, err
	}
	if len(paths) == 0 {
		return recipe{}, fmt.Errorf("%w: %s has no cubes (WKWFS_REFDATA or -refdata sets the directory)", errNoReference, mag)
	}
	var s scanned
	for _, path := range paths {
		if err := s.collect(ctx, path); err != nil {
			return recipe{}, err
		}
	}
	if len(s.stored) == 0 {
		return recipe{}, fmt.Errorf("%s: expected blocks of voxels other than 0, found none", mag)
	}
	s.header.CubeBlocks = side / s.header.BlockSide
	s.header.DataOffset = uint64(wkw.HeaderSize + 8*s.blocks())
	var sum uint32
	for _, block := range s.stored {
		sum = crc32.Update(sum, crc32.IEEETable, block)
	}
	return recipe{fmt.Sprintf("%d scanned blocks %08x", len(s.stored), sum), s.header, s.write}, nil
}

// blocks returns the number of blocks in a cube.
func (s scanned) blocks() int { n := s.header.CubeBlocks; return n * n * n }

// collect appends the filled blocks of a cube file.
func (s *scanned) collect(ctx context.Context, path string) error {
	f, err := wkw.OpenFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return err
	}
	defer f.Close()
	h := f.Header()
	if h.BlockSide != blockSide || h.BlockType == wkw.Raw || h.Draft || s.stored != nil && !h.Fits(s.header) {
		return fmt.Errorf("%s: expected compressed blocks with a side of %d voxels, and the geometry of the other files", path, blockSide)
	}
	s.header = h
	for n := range h.CubeBlocks * h.CubeBlocks * h.CubeBlocks {
		at := wkw.MortonBlock(uint64(n))
		voxels, err := volume.ReadBlock(ctx, f, at)
		if err != nil {
			return err
		}
		if !filled(voxels, h.Grid().VoxelBytes()) {
			continue
		}
		block, err := f.AppendStored(ctx, nil, at)
		if err != nil {
			return err
		}
		s.stored = append(s.stored, block)
	}
	return nil
}

func (s scanned) write(_ context.Context, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(s.writeCube(w), w.Flush(), f.Close())
}

// writeCube writes the header, the jump table and the blocks.
func (s scanned) writeCube(w io.Writer) error {
	r := rand.New(rand.NewPCG(9, 10))
	b, err := s.header.MarshalBinary()
	if err != nil {
		return err
	}
	chosen := make([][]byte, s.blocks())
	end := s.header.DataOffset
	for i := range chosen {
		chosen[i] = s.stored[r.IntN(len(s.stored))]
		end += uint64(len(chosen[i]))
		b = binary.LittleEndian.AppendUint64(b, end)
	}
	for _, p := range append([][]byte{b}, chosen...) {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}
