package wkw

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/volume"
)

// Limits of the blocks that a writer encodes at once: their number, and their decoded bytes.
const (
	batchBlocks = 4096
	batchBytes  = 8 << 20
)

// WriteCube writes src as a cube file of version 1. The grid of src must be a cube of cubic blocks, whose sides are
// powers of two. Its origin and spacing are not stored. Blocks that src does not have are written as zeros. WriteCube
// encodes blocks on all processors.
//
// The file at path is replaced as a whole: WriteCube writes a file ".….tmp" in the same directory and renames it at
// the end. If it fails, it removes that file. The directory must exist.
func WriteCube(ctx context.Context, path string, bt BlockType, src volume.Source) error {
	h, err := cubeHeader(bt, src.Grid())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Replace(path, 0o666, func(f *os.File) error {
		return newCubeWriter(f, h, src).write(ctx)
	})
}

// WriteHeader writes a header.wkw for cubes with the header h. It stores 0 as DataOffset. The file at path is replaced
// as a whole, as by WriteCube.
func WriteHeader(path string, h Header) error {
	h.DataOffset = 0
	b, err := h.MarshalBinary()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Replace(path, 0o666, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// cubeHeader returns the header of a cube with the grid. It fails if WKW has no such cube.
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
	}
	if whole := h.Grid(); g.Size != whole.Size || g.Block != whole.Block {
		return Header{}, fmt.Errorf("array of %v voxels in blocks of %v: expected a cube of whole cubic blocks", g.Size,
			g.Block)
	}
	return CubeHeader(h)
}

// CubeHeader returns the header of a cube file of version 1 for cubes with the header h: its DataOffset is that of the
// first block after header and jump table. It fails if no cube can have the header, or if its blocks are larger than
// MaxBlockBytes.
func CubeHeader(h Header) (Header, error) {
	if err := h.checkWritable(); err != nil {
		return Header{}, err
	}
	h.DataOffset = HeaderSize
	if h.BlockType != Raw {
		h.DataOffset += 8 * h.blocks()
	}
	return h, nil
}

// cubeWriter writes one cube in batches. It reads and compresses the blocks of a batch in parallel, and writes them in
// order.
type cubeWriter struct {
	file     *os.File
	header   Header
	src      volume.Source
	encoders sync.Pool
	encoded  [][]byte      // the stored blocks of a batch, in memory that the next batch uses again
	data     *bufio.Writer // the file from dataOffset on
	end      uint64        // offset in the file after the last written block
}

func newCubeWriter(f *os.File, h Header, src volume.Source) *cubeWriter {
	data := bufio.NewWriter(io.NewOffsetWriter(f, int64(h.DataOffset)))
	w := &cubeWriter{file: f, header: h, src: src, data: data, end: h.DataOffset}
	w.encoders.New = func() any { return NewEncoder(h) }
	return w
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
	w.encoded = make([][]byte, min(batch, blocks))
	for first := uint64(0); first < blocks; first += batch {
		if err := w.writeBatch(ctx, first, min(batch, blocks-first)); err != nil {
			return err
		}
	}
	return w.data.Flush()
}

// writeBatch writes count blocks from block first on, in Morton order, and their jump table entries.
func (w *cubeWriter) writeBatch(ctx context.Context, first, count uint64) error {
	encoded := w.encoded[:count]
	if err := w.encodeBatch(ctx, encoded, first); err != nil {
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
	_, err := w.file.WriteAt(table, w.header.TableOffset(first))
	return err
}

// encodeBatch replaces each of the stored blocks by a block from block first on.
func (w *cubeWriter) encodeBatch(ctx context.Context, encoded [][]byte, first uint64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range encoded {
		group.Go(func() (err error) {
			encoded[i], err = w.encode(ctx, encoded[i][:0], MortonBlock(first+uint64(i)))
			return err
		})
	}
	return group.Wait()
}

// encode appends block b in its stored form to dst.
func (w *cubeWriter) encode(ctx context.Context, dst []byte, b volume.Vec) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return dst, err
	}
	block, err := volume.ReadBlock(ctx, w.src, b)
	if err != nil {
		return dst, err
	}
	if block == nil {
		block = make([]byte, w.src.Grid().BlockBytes())
	}
	encoder := w.encoders.Get().(*Encoder)
	defer w.encoders.Put(encoder)
	if dst, err = encoder.Encode(dst, block); err != nil {
		return dst, fmt.Errorf("block %v: %w", b, err)
	}
	return dst, nil
}
