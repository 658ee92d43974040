package diskcache

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// indexesDir has the indexes, beside the directories of pieces.
	indexesDir = "indexes"
	// indexMagic starts the file of an index. A hash of the key follows, the length, and the CRC-32C of the content and
	// of the header.
	indexMagic  = "wkwfsix1"
	indexHeader = int64(len(indexMagic) + sha256.Size + 8 + 4 + 4)
)

// Index is an open index: what a program found out about a file, and does not want to find out again. It is safe for
// concurrent use.
type Index struct {
	file *os.File
	size int64
}

// Size returns the bytes of the index.
func (i *Index) Size() int64 { return i.size }

// ReadAt implements [io.ReaderAt]. If the index is evicted meanwhile, its bytes end early.
func (i *Index) ReadAt(p []byte, off int64) (int, error) {
	return io.NewSectionReader(i.file, indexHeader, i.size).ReadAt(p, off)
}

// Close closes the file.
func (i *Index) Close() error { return i.file.Close() }

// indexName returns the name of the file of an index, below the directory of the pieces.
func indexName(key []byte) (name string, sum [sha256.Size]byte) {
	sum = sha256.Sum256(key)
	return filepath.Join(indexesDir, hex.EncodeToString(sum[:])), sum
}

// OpenIndex opens the index with a key. It fails with fs.ErrNotExist if there is none. One that is damaged is removed.
func (c *Cache) OpenIndex(key []byte) (*Index, error) {
	name, sum := indexName(key)
	path := filepath.Join(c.dir, name)
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	size, err := checkIndex(f, sum)
	if err != nil {
		f.Close() // read-only: nothing can be lost
		if errors.Is(err, errDamaged) || errors.Is(err, syscall.EIO) {
			c.counts.damaged.Add(1)
			c.RemoveIndex(key)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// A disk to which nothing can be written keeps the old order.
	_ = unix.UtimesNanoAt(unix.AT_FDCWD, path, nil, unix.AT_SYMLINK_NOFOLLOW)
	return &Index{f, size}, nil
}

// RemoveIndex removes the index with a key.
func (c *Cache) RemoveIndex(key []byte) {
	name, _ := indexName(key)
	// there may be none; the number of bytes in use is too high until the next eviction
	_ = os.Remove(filepath.Join(c.dir, name))
}

// checkIndex checks the file of an index. It returns the size of the content.
func checkIndex(f *os.File, key [sha256.Size]byte) (size int64, err error) {
	var h [indexHeader]byte
	if _, err := f.ReadAt(h[:], 0); err == io.EOF {
		return 0, errDamaged
	} else if err != nil {
		return 0, err
	}
	size = int64(binary.LittleEndian.Uint64(h[len(h)-16:]))
	sum := crc32.New(castagnoli)
	if size < 0 || h != headerOfIndex(key, size, binary.LittleEndian.Uint32(h[len(h)-8:])) {
		return 0, errDamaged
	}
	n, err := io.Copy(sum, io.NewSectionReader(f, indexHeader, size))
	if err != nil {
		return 0, err
	}
	if n != size || sum.Sum32() != binary.LittleEndian.Uint32(h[len(h)-8:]) {
		return 0, errDamaged
	}
	return size, nil
}

func headerOfIndex(key [sha256.Size]byte, size int64, sum uint32) (h [indexHeader]byte) {
	b := append(append(h[:0], indexMagic...), key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint32(b, sum)
	binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return h
}

// PutIndex keeps an index of at most some bytes, which write writes. It makes room as for pieces. An index that is read
// later has all of these bytes, or does not exist.
func (c *Cache) PutIndex(key []byte, most int64, write func(io.Writer) error) error {
	err := c.putIndex(key, most, write)
	if unwritable(err) {
		c.warnUnwritable(err)
	}
	return err
}

func (c *Cache) putIndex(key []byte, most int64, write func(io.Writer) error) error {
	if most < 0 || most > c.options.Size/itemShare {
		return errFull
	}
	w := &writer{cache: c, access: c.writer.access, usage: usage{dir: c.dir, access: c.writer.access}}
	defer w.usage.close()
	if err := w.usage.lock(context.Background()); err != nil {
		return err
	}
	defer w.usage.unlock()
	need := most + indexHeader + reservePiece
	used, err := w.makeRoom(need)
	if err != nil {
		return err
	}
	// If the process is killed now, the number is too high until the next eviction.
	if err := w.usage.store(used + need); err != nil {
		return err
	}
	grown, err := w.writeIndex(key, most, write)
	used += grown
	c.counts.used.Store(used)
	return errors.Join(err, w.usage.store(used))
}

// writeIndex writes the file of an index under another name first. It returns by how many bytes the cache has grown.
// The lock is held.
func (w *writer) writeIndex(key []byte, most int64, write func(io.Writer) error) (grown int64, err error) {
	name, sum := indexName(key)
	path := filepath.Join(w.cache.dir, name)
	if err := w.access.mkdir(filepath.Dir(path)); err != nil {
		return 0, err
	}
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	f, _, err := w.access.openFile(part)
	if err != nil {
		return 0, err
	}
	before, err := costOf(path)
	if err == nil {
		err = fillIndex(f, sum, most, write)
	}
	st, statErr := statFile(f)
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return dirCost, errors.Join(err, os.Remove(part))
	}
	return cost(st) + nameCost + dirCost - before, nil
}

// fillIndex writes the header and the content of an index.
func fillIndex(f *os.File, key [sha256.Size]byte, most int64, write func(io.Writer) error) error {
	if _, err := f.Seek(indexHeader, io.SeekStart); err != nil {
		return err
	}
	to := &summed{w: bufio.NewWriterSize(f, 1<<16), left: most, sum: crc32.New(castagnoli)}
	if err := write(to); err != nil {
		return err
	}
	if err := to.w.Flush(); err != nil {
		return err
	}
	h := headerOfIndex(key, most-to.left, to.sum.Sum32())
	_, err := f.WriteAt(h[:], 0)
	return err
}

// summed is a writer with a bound that adds up a checksum.
type summed struct {
	w    *bufio.Writer
	left int64
	sum  hash.Hash32
}

func (s *summed) Write(p []byte) (int, error) {
	if s.left -= int64(len(p)); s.left < 0 {
		return 0, errFull
	}
	s.sum.Write(p) // never fails
	return s.w.Write(p)
}
