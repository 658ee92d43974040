package main

import (
	"bufio"
	"bytes"
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

// errNoReference is the error if the reference data, which R and Q are made from, is missing.
var errNoReference = errors.New("no reference data")

// scanned makes cubes of blocks from a microscope's data, in random order. The blocks keep the bytes that
// another program compressed.
type scanned struct {
	header wkw.Header // of a cube
	stored [][]byte   // the blocks to choose from
}

// scannedPiece returns one cube of blocks from the cube files in magDir.
func scannedPiece(ctx context.Context, name, magDir string, side int) (piece, error) {
	paths, err := filepath.Glob(filepath.Join(magDir, "z*/y*/x*.wkw"))
	if err != nil {
		return piece{}, err
	}
	if len(paths) == 0 {
		return piece{}, fmt.Errorf("%w: %s has no cubes (WKWFS_REFDATA or -refdata sets the directory)", errNoReference, magDir)
	}
	var s scanned
	for _, path := range paths {
		if err := s.collect(ctx, path); err != nil {
			return piece{}, err
		}
	}
	if len(s.stored) == 0 {
		return piece{}, fmt.Errorf("%s: expected blocks of voxels other than 0, found none", magDir)
	}
	s.header.CubeBlocks = side / s.header.BlockSide
	s.header.DataOffset = uint64(wkw.HeaderSize + 8*s.blocks())
	return piece{name, volume.Cube(1), s.header, s}, nil
}

// blocks returns the number of blocks in a cube.
func (s scanned) blocks() int { n := s.header.CubeBlocks; return n * n * n }

// collect appends the filled blocks of a cube file.
func (s *scanned) collect(ctx context.Context, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
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
	voxels := make([]byte, h.Grid().BlockBytes())
	for n := range h.CubeBlocks * h.CubeBlocks * h.CubeBlocks {
		block := []volume.Block{{At: blockAt(n)}}
		f.Fill(ctx, block, func(volume.Vec) []byte { return voxels })
		if err := block[0].Err; err != nil {
			return err
		}
		if filled(block[0].Voxels, h.Grid().VoxelBytes()) {
			s.stored = append(s.stored, b[blockEnd(b, n-1):blockEnd(b, n)])
		}
	}
	return nil
}

// blockEnd returns the offset of the end of block n in a cube file. Block −1 ends where block 0 starts: the
// field of the header before the jump table has that offset.
func blockEnd(file []byte, n int) uint64 {
	return binary.LittleEndian.Uint64(file[wkw.HeaderSize+8*n:])
}

// blockAt returns the position of block n of a cube file in Morton order: bit 3k of n is bit k of x, bit 3k+1
// of y, bit 3k+2 of z.
func blockAt(n int) volume.Vec {
	var at volume.Vec
	for bit := 0; n>>(3*bit) > 0; bit++ {
		for axis := range at {
			at[axis] |= n >> (3*bit + axis) & 1 << bit
		}
	}
	return at
}

// filled reports whether more than 90 percent of the voxels are not zero. size is that of a voxel in bytes.
func filled(voxels []byte, size int) bool {
	zero := make([]byte, size)
	zeros, limit := 0, len(voxels)/size/10
	for i := 0; i < len(voxels) && zeros <= limit; i += size {
		if bytes.Equal(voxels[i:i+size], zero) {
			zeros++
		}
	}
	return 10*zeros*size < len(voxels)
}

func (s scanned) version(context.Context) (string, error) {
	var sum uint32
	for _, block := range s.stored {
		sum = crc32.Update(sum, crc32.IEEETable, block)
	}
	return fmt.Sprintf("%d scanned blocks %08x", len(s.stored), sum), nil
}

func (s scanned) write(_ context.Context, path string, _ volume.Vec) error {
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
