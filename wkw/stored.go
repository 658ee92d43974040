package wkw

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// AppendStored appends block b as the file has it, without decoding it, to dst, and returns the longer slice. It does not find
// damage in the block.
func (f *File) AppendStored(ctx context.Context, dst []byte, b volume.Vec) ([]byte, error) {
	dst, _, err := f.appendStored(ctx, dst, b)
	return dst, err
}

// appendStored is AppendStored. It also returns where the block is.
func (f *File) appendStored(ctx context.Context, dst []byte, b volume.Vec) ([]byte, extent, error) {
	if !b.In(f.grid.Blocks()) {
		return dst, extent{}, f.outsideError(b)
	}
	n := MortonIndex(b)
	at, err := f.extent(ctx, n, f.readChunk(ctx, n/chunkEntries))
	if err == nil {
		end := len(dst)
		dst = slices.Grow(dst, int(at.size))[:end+int(at.size)]
		if err = vfs.ReadFull(ctx, f.file, dst[end:], at.offset); err != nil {
			dst, err = dst[:end], f.readError(n, at.offset, err)
		}
	}
	if changed := f.checkUnchanged(); changed != nil {
		err = f.changedError(b, changed)
	}
	return dst, at, err
}

// LZ4Size implements [volume.LZ4Source].
func (f *File) LZ4Size(b volume.Vec) (int64, error) {
	if f.header.BlockType == Raw {
		return 0, nil
	}
	return f.StoredSize(b)
}

// AppendLZ4 implements [volume.LZ4Source]. It decodes the block to find damage.
func (f *File) AppendLZ4(ctx context.Context, dst []byte, b volume.Vec) ([]byte, error) {
	if f.header.BlockType == Raw {
		return dst, fmt.Errorf("%s: block %v: raw cubes have no LZ4 blocks", f.name, b)
	}
	start := len(dst)
	dst, at, err := f.appendStored(ctx, dst, b)
	if err != nil {
		return dst[:start], err
	}
	scratch, _ := scratches.Get().(*[]byte)
	if scratch == nil {
		scratch = new([]byte)
	}
	defer scratches.Put(scratch)
	*scratch = resized(*scratch, f.grid.BlockBytes())
	if err := lz4block.Decode(*scratch, dst[start:]); err != nil {
		return dst[:start], f.decodeError(MortonIndex(b), at, err)
	}
	return dst, nil
}

// scratches holds memory for decoded blocks that nobody reads.
var scratches sync.Pool

// Location says where the mags of this package are in their source. A volume.Mag of this package implements it.
type Location interface {
	Dir() string             // of the cube files, in the fs.FS that was recognised
	Header() (Header, error) // that all cubes fit
}

// Dir implements Location.
func (m *mag) Dir() string { return m.dir }

// Header implements Location.
func (m *mag) Header() (Header, error) { return m.geometry() }

var _ Location = (*mag)(nil)
