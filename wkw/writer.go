package wkw

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pierrec/lz4/v4"
	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/volume"
)

// A writer works on that many blocks at once, fewer where they are large.
const (
	batchBlocks = 4096
	batchBytes  = 8 << 20
)

// WriteCube writes the array as a cube file of version 1. The grid of src is the
// cube: the same power of two voxels on each axis, at least one block of a power of two
// voxels a side; its origin and spacing are not stored. Blocks that src never had are
// written as zeros. path appears complete or not at all: the bytes are collected
// in a file beside it, ".….tmp", which is renamed at the end and removed on failure.
func WriteCube(ctx context.Context, path string, bt BlockType, src volume.Source) error {
	h, err := cubeHeader(bt, src.Grid())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, func(f *os.File) error {
		return newCubeWriter(f, h, src).write(ctx)
	})
}

// WriteHeader writes a header.wkw for cubes of the header, whatever its DataOffset.
// path appears complete or not at all.
func WriteHeader(path string, h Header) error {
	h.DataOffset = 0
	b, err := h.MarshalBinary()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// cubeHeader returns the header of a cube with the grid, or an error if it has none.
func cubeHeader(bt BlockType, g volume.Grid) (Header, error) {
	if err := g.Validate(); err != nil {
		return Header{}, err
	}
	h := Header{
		BlockSide:  g.Block[0],
		CubeBlocks: g.Size[0] / g.Block[0],
		BlockType:  bt,
		Type:       g.Type,
		Channels:   g.Channels,
		DataOffset: HeaderSize,
	}
	if whole := h.Grid(); g.Size != whole.Size || g.Block != whole.Block {
		return Header{}, fmt.Errorf("array of %v voxels in blocks of %v: expected a cube of whole cubic blocks", g.Size, g.Block)
	}
	if _, err := h.MarshalBinary(); err != nil {
		return Header{}, err
	}
	if g.BlockBytes() > MaxBlockBytes {
		return Header{}, fmt.Errorf("blocks of %d bytes: expected at most %d", g.BlockBytes(), MaxBlockBytes)
	}
	if bt != Raw {
		h.DataOffset += 8 * h.blocks()
	}
	return h, nil
}

// cubeWriter writes one cube, batch by batch: the blocks of a batch are read and
// compressed side by side and written in order.
type cubeWriter struct {
	file   *os.File
	header Header
	src    volume.Source
	data   *bufio.Writer // from dataOffset on
	end    uint64        // of the blocks written so far, in bytes of the file
}

func newCubeWriter(f *os.File, h Header, src volume.Source) *cubeWriter {
	data := bufio.NewWriter(io.NewOffsetWriter(f, int64(h.DataOffset)))
	return &cubeWriter{f, h, src, data, h.DataOffset}
}

func (w *cubeWriter) write(ctx context.Context) error {
	b, err := w.header.MarshalBinary()
	if err != nil {
		return err
	}
	if _, err := w.file.WriteAt(b, 0); err != nil {
		return err
	}
	blocks := w.header.blocks()
	batch := uint64(max(runtime.GOMAXPROCS(0), min(batchBlocks, batchBytes/w.src.Grid().BlockBytes())))
	for first := uint64(0); first < blocks; first += batch {
		if err := w.writeBatch(ctx, first, min(batch, blocks-first)); err != nil {
			return err
		}
	}
	return w.data.Flush()
}

// writeBatch writes count blocks from number first on, and their jump table entries.
func (w *cubeWriter) writeBatch(ctx context.Context, first, count uint64) error {
	encoded, err := w.encodeBatch(ctx, first, count)
	if err != nil {
		return err
	}
	table := make([]byte, 0, 8*count)
	for _, block := range encoded {
		if _, err := w.data.Write(block); err != nil {
			return err
		}
		w.end += uint64(len(block))
		table = binary.LittleEndian.AppendUint64(table, w.end)
	}
	if w.header.BlockType == Raw {
		return nil
	}
	_, err = w.file.WriteAt(table, w.header.entryOffset(first))
	return err
}

func (w *cubeWriter) encodeBatch(ctx context.Context, first, count uint64) ([][]byte, error) {
	encoded := make([][]byte, count)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range encoded {
		group.Go(func() (err error) {
			encoded[i], err = w.encode(ctx, unmorton(first+uint64(i)))
			return err
		})
	}
	return encoded, group.Wait()
}

// encode returns block b as it is stored.
func (w *cubeWriter) encode(ctx context.Context, b volume.Vec) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	block, err := volume.ReadBlock(ctx, w.src, b)
	if err != nil {
		return nil, err
	}
	size := w.src.Grid().BlockBytes()
	if block == nil {
		block = make([]byte, size)
	}
	if len(block) != size {
		return nil, fmt.Errorf("block %v: expected %d bytes, found %d", b, size, len(block))
	}
	if w.header.BlockType == Raw {
		return block, nil
	}
	return compress(w.header.BlockType, block)
}

// compress returns the block as LZ4. With this much room the compressors always
// succeed: data that does not shrink becomes literals.
func compress(bt BlockType, block []byte) ([]byte, error) {
	dst := make([]byte, lz4.CompressBlockBound(len(block)))
	var n int
	var err error
	if bt == LZ4HC {
		n, err = lz4.CompressBlockHC(block, dst, lz4.Level9, nil, nil)
	} else {
		n, err = lz4.CompressBlock(block, dst, nil)
	}
	return dst[:n], err
}

// replaceFile lets write fill a new file and gives it the name path once it is
// complete, in place of what had it.
func replaceFile(path string, write func(*os.File) error) (err error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, "."+base+"."+rand.Text()+".tmp")
	// Unlike os.CreateTemp this leaves the permissions to the umask.
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp)
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, path)
}
