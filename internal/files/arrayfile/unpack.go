package arrayfile

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// unpacked is an io.ReaderAt of the plain bytes of a compressed stream. Bytes that were decompressed are in an unnamed file, so any of
// them can be read again. A read of others decompresses all bytes before them.
type unpacked struct {
	stream *stream
	end    int64 // plain bytes of the whole stream
	dir    string
	at     atomic.Int64  // plain bytes in the file
	turn   chan struct{} // has an item while a read decompresses
	file   atomic.Pointer[os.File]
	failed error // of the stream, at its offset; guarded by turn
}

// unpackPiece is how many bytes are decompressed at a time.
const unpackPiece = 1 << 20

// Unpack lets a Sequential array be read in any order: what a read passes over is kept in an unnamed file in dir, which takes at most
// the bytes that it returns. It returns 0 if the array is not Sequential.
func (a *Array) Unpack(dir string) (bytes int64) {
	f, ok := a.voxels.(flat)
	if !ok || !f.sequential {
		return 0
	}
	s := f.ReaderAt.(*stream)
	u := &unpacked{stream: s, end: s.end, dir: dir, turn: make(chan struct{}, 1)}
	f.ReaderAt, f.sequential, f.packed = u, false, u
	a.voxels = f
	return u.end
}

// ReadAt implements io.ReaderAt.
func (u *unpacked) ReadAt(p []byte, off int64) (int, error) {
	if end := off + int64(len(p)); end > u.at.Load() {
		if err := u.advance(end); err != nil {
			return 0, err
		}
	}
	return u.file.Load().ReadAt(p, off)
}

// advance decompresses the stream up to byte end.
func (u *unpacked) advance(end int64) error {
	u.turn <- struct{}{}
	defer func() { <-u.turn }()
	if u.file.Load() == nil {
		if err := u.create(); err != nil {
			return err
		}
	}
	b := scratch(unpackPiece)
	defer recycle(b)
	for u.failed == nil && u.at.Load() < end {
		at := u.at.Load()
		piece := b[:min(unpackPiece, u.end-at)]
		if len(piece) == 0 {
			return fmt.Errorf("%s: byte %d after the %d of the stream", u.stream.file, end, u.end)
		}
		n, err := u.stream.ReadAt(piece, at)
		if err != nil {
			u.failed = err
		}
		if _, err := u.file.Load().WriteAt(piece[:n], at); err != nil {
			return fmt.Errorf("%s: unpacking it: %w", u.stream.file, err)
		}
		u.at.Store(at + int64(n))
	}
	if u.at.Load() < end {
		return u.failed
	}
	return nil
}

// create creates the file without a name.
func (u *unpacked) create() error {
	f, err := os.CreateTemp(u.dir, "wkwfs-unpacked-*")
	if err != nil {
		return fmt.Errorf("%s: unpacking it: %w", u.stream.file, err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return errors.Join(err, f.Close())
	}
	u.file.Store(f)
	return nil
}
