package arrayfile

import (
	"bytes"
	"compress/bzip2"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
)

// unpacked is an io.ReaderAt of the plain bytes of a compressed stream. Bytes that were decompressed are in an unnamed
// file, so any of them can be read again. A read of others decompresses all bytes before them, in one pass. A pass that
// comes to the end leaves an index of places to start from. With it, a read decompresses the bytes between two places
// only.
type unpacked struct {
	*stream
	dir     string
	indexes IndexStore // may be nil

	at      atomic.Int64                 // plain bytes that the pass has put into the file
	turn    chan struct{}                // has an item while a read decompresses, or looks for the index
	plain   atomic.Pointer[os.File]      // nil before the first read
	index   atomic.Pointer[restarts]     // nil: there is none, or it was not looked for
	broken  atomic.Pointer[errorOfBytes] // the stream has a fault, so any of its bytes may be wrong
	doubted atomic.Bool                  // the index was wrong: no byte counts before the pass has ended

	// What turn guards.
	pending []byte // bytes of the pass that could not be put into the file yet
	failed  error  // of the pass, behind the bytes that it has read
	points  []record
	limits
}

// errorOfBytes is an error of a stream.
type errorOfBytes struct{ error }

// unpackPiece is how many bytes are decompressed at most at a time.
const unpackPiece = 1 << 20

// Unpack lets a Sequential array be read in any order: what a read passes over is kept in an unnamed file in dir, which
// takes at most the bytes that it returns. indexes keeps the places to start from; it may be nil. Unpack returns 0 if
// the array is not Sequential.
func (a *Array) Unpack(dir string, indexes IndexStore) (bytes int64) {
	f, ok := a.voxels.(flat)
	if !ok || !f.sequential {
		return 0
	}
	s := f.ReaderAt.(*stream)
	u := &unpacked{stream: s, dir: dir, indexes: indexes, turn: make(chan struct{}, 1), limits: f.limits}
	f.ReaderAt, f.sequential, f.packed = u, false, u
	a.voxels = f
	return u.end
}

// Packed describes the stream of an array that was made readable by Unpack.
type Packed struct {
	Compression string
	Bytes       int64 // plain ones
	Indexed     bool  // an earlier pass has left places to start from
}

// Packed returns the stream of the array. ok is false if the voxels are not one compressed stream, or if Unpack was not
// called.
func (a *Array) Packed() (p Packed, ok bool) {
	f, ok := a.voxels.(flat)
	if !ok || f.packed == nil {
		return p, false
	}
	return Packed{f.packed.encoding.String(), f.packed.end, f.packed.indexed()}, true
}

// ReadAt implements io.ReaderAt.
func (u *unpacked) ReadAt(p []byte, off int64) (int, error) {
	if broken := u.broken.Load(); broken != nil {
		return 0, broken.error
	}
	end := off + int64(len(p))
	if off < 0 || end > u.end {
		return 0, fmt.Errorf("%s: bytes %d to %d of the %d of the stream", u.Name(), off, end, u.end)
	}
	if at := u.at.Load(); end > at || at < u.end && u.doubted.Load() {
		if err := u.unpack(off, end); err != nil {
			return 0, err
		}
	}
	return u.plain.Load().ReadAt(p, off)
}

// unpack decompresses the bytes from off up to end, and those that are needed for them.
func (u *unpacked) unpack(off, end int64) error {
	if err := u.prepare(); err != nil {
		return err
	}
	index := u.index.Load()
	if index == nil {
		return u.advance(end)
	}
	err := index.unpack(off, end)
	if !errors.Is(err, errIndex) {
		return err
	}
	// The index is not that of this stream, or the stream is damaged. A pass finds out.
	u.doubted.Store(true)
	if u.index.CompareAndSwap(index, nil) {
		u.indexes.Remove(u.key())
	}
	return u.advance(end)
}

// prepare creates the file and looks for the index, once.
func (u *unpacked) prepare() error {
	if u.plain.Load() != nil {
		return nil
	}
	u.turn <- struct{}{}
	defer func() { <-u.turn }()
	if u.plain.Load() != nil {
		return nil
	}
	f, err := u.create()
	if err != nil {
		return err
	}
	u.look(f)
	u.plain.Store(f)
	return nil
}

// look looks for the index. The bytes that it leads to go into a file.
func (u *unpacked) look(plain *os.File) {
	if _, ok := u.encoding.framing(); !ok || u.indexes == nil {
		return
	}
	file, err := u.indexes.Open(u.key())
	if err != nil {
		return // there is none, which costs a pass
	}
	index, err := readRestarts(file, u.stream, plain)
	if err != nil {
		file.Close() // read-only: nothing can be lost
		u.indexes.Remove(u.key())
		return
	}
	u.index.Store(index)
}

// indexed reports whether there is an index.
func (u *unpacked) indexed() bool {
	if _, ok := u.encoding.framing(); !ok || u.indexes == nil {
		return false
	}
	file, err := u.indexes.Open(u.key())
	if err != nil {
		return false
	}
	file.Close() // read-only: nothing can be lost
	return true
}

// key identifies the index of the stream, in the version that was opened.
func (u *unpacked) key() []byte {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %q %x %d %d %d", restartsVersion, u.file.at, u.version, u.offset, u.encoding, u.end)
	return sum.Sum(nil)
}

// advance decompresses the stream up to byte end.
func (u *unpacked) advance(end int64) error {
	u.turn <- struct{}{}
	defer func() { <-u.turn }()
	b := scratch(unpackPiece)
	defer recycle(b)
	goal := end
	if u.doubted.Load() {
		goal = u.end
	}
	for u.failed == nil && u.at.Load() < goal {
		if err := u.step(b); err != nil {
			return err
		}
	}
	if u.at.Load() < end || u.broken.Load() != nil {
		return u.failed
	}
	return nil
}

// step decompresses some bytes. It fails if they cannot be kept.
func (u *unpacked) step(b []byte) error {
	at := u.at.Load()
	if len(u.pending) == 0 {
		u.mark(at)
		n, err := u.next(b, at)
		if err != nil {
			return u.fail(err)
		}
		u.count(b[:n])
		u.pending = b[:n]
	}
	n := int64(len(u.pending))
	if _, err := u.plain.Load().WriteAt(u.pending, at); err != nil {
		u.pending = bytes.Clone(u.pending) // they do not come again, and there may be room later
		return fmt.Errorf("%s: unpacking it: %w", u.Name(), err)
	}
	u.pending = nil
	if at+n == u.end {
		u.save()
		_ = u.stream.close() // all was read
	}
	u.at.Store(at + n)
	return nil
}

// fail ends the pass, unless the source has failed: then it returns the error, and the next read tries again. What was
// read before the end of a stream that is cut is right. What was read before a fault, or a wrong checksum, may be
// wrong.
func (u *unpacked) fail(err error) error {
	if u.stream.close() != nil {
		return err
	}
	u.failed = err
	if errors.As(err, new(*codec.InflateError)) || errors.As(err, new(bzip2.StructuralError)) {
		u.broken.Store(&errorOfBytes{err})
	}
	return nil
}

// create creates the file without a name.
func (u *unpacked) create() (*os.File, error) {
	f, err := os.CreateTemp(u.dir, "wkwfs-unpacked-*")
	if err != nil {
		return nil, fmt.Errorf("%s: unpacking it: %w", u.Name(), err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
