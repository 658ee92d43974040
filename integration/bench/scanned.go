package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// errNoReference is the error if the reference data, which R and Q are made from, is missing.
var errNoReference = errors.New("no reference data")

// scannedCube returns a dataset of one cube of blocks of a layer of the reference data.
func (b *bench) scannedCube(ctx context.Context, name, layer string, side int) (*dataset, error) {
	r, err := scanned(ctx, filepath.Join(b.refdata, "l4_blocks", layer, "2-2-1"), side)
	if err != nil {
		return nil, err
	}
	return b.cube(ctx, name, r)
}

// scanned returns the recipe of a cube of blocks from the cube files of a microscope's mag, in random order. The blocks
// keep the bytes that another program compressed.
func scanned(ctx context.Context, mag string, side int) (recipe, error) {
	paths, err := filepath.Glob(filepath.Join(mag, "z*/y*/x*.wkw"))
	if err != nil || len(paths) == 0 {
		return recipe{}, fmt.Errorf("%w: %s has no cubes (-refdata sets the directory)", errNoReference, mag)
	}
	var h wkw.Header
	var stored [][]byte
	for _, path := range paths {
		if h, stored, err = appendFilled(ctx, stored, path); err != nil {
			return recipe{}, err
		}
	}
	if len(stored) == 0 {
		return recipe{}, fmt.Errorf("%s: expected blocks of voxels other than 0, found none", mag)
	}
	h.CubeBlocks = side / blockSide
	n := h.CubeBlocks * h.CubeBlocks * h.CubeBlocks
	h.DataOffset = uint64(wkw.HeaderSize + 8*n)
	version := fmt.Sprintf("%d scanned blocks %08x", len(stored), crc32.ChecksumIEEE(bytes.Join(stored, nil)))
	write := func(_ context.Context, path string) error { return writeShuffled(path, h, n, stored) }
	return recipe{version, h, write}, nil
}

// appendFilled appends those blocks of a cube file that are filled, as the file has them.
func appendFilled(ctx context.Context, stored [][]byte, path string) (wkw.Header, [][]byte, error) {
	f, err := wkw.OpenFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return wkw.Header{}, nil, err
	}
	defer f.Close()
	h := f.Header()
	if h.BlockSide != blockSide || h.BlockType == wkw.Raw || h.Draft {
		return h, nil, fmt.Errorf("%s: expected compressed blocks with a side of %d voxels", path, blockSide)
	}
	for n := range h.CubeBlocks * h.CubeBlocks * h.CubeBlocks {
		at := wkw.MortonBlock(uint64(n))
		voxels, err := volume.ReadBlock(ctx, f, at)
		if err != nil {
			return h, nil, err
		}
		if !filled(voxels, f.Grid().VoxelBytes()) {
			continue
		}
		block, err := f.AppendStored(ctx, nil, at)
		if err != nil {
			return h, nil, err
		}
		stored = append(stored, block)
	}
	return h, stored, nil
}

// filled reports whether more than 90 percent of the voxels are not zero. size is that of a voxel in bytes.
func filled(voxels []byte, size int) bool {
	zeros := 0
	for voxel := range slices.Chunk(voxels, size) {
		if bytes.Count(voxel, []byte{0}) == size {
			zeros++
		}
	}
	return 10*zeros*size < len(voxels)
}

// writeShuffled writes a cube file of n stored blocks that are chosen at random.
func writeShuffled(path string, h wkw.Header, n int, stored [][]byte) error {
	r := rand.New(rand.NewPCG(9, 10))
	head, err := h.MarshalBinary()
	if err != nil {
		return err
	}
	chosen := make([][]byte, n)
	end := h.DataOffset
	for i := range chosen {
		chosen[i] = stored[r.IntN(len(stored))]
		end += uint64(len(chosen[i]))
		head = binary.LittleEndian.AppendUint64(head, end)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f) // Flush returns the errors of Write
	_, _ = w.Write(head)
	for _, block := range chosen {
		_, _ = w.Write(block)
	}
	return errors.Join(w.Flush(), f.Close())
}
