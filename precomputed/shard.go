package precomputed

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// shard is an open shard file (sharded.md, "Shard file format"): the shard index, then
// chunks and minishard indexes in any order.
type shard struct {
	file fs.File
	name string
	info fs.FileInfo // when it was opened
	spec *sharding
}

func openShard(fsys fs.FS, name string, spec *sharding) (*shard, error) {
	f, info, err := openFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return &shard{f, name, info, spec}, nil
}

func (s *shard) close() { s.file.Close() } // read-only: nothing can be lost

// slotBytes is what a minishard takes in the shard index: where its own index begins
// and ends, in bytes after the end of the shard index.
const slotBytes = 16

// indexEnd is where the shard index ends.
func (s *shard) indexEnd() int64 { return slotBytes << s.spec.minishardBits }

// checkIndex fails where the shard index is not all there: no part of such a file is
// to be trusted.
func (s *shard) checkIndex() error {
	if size := s.info.Size(); size < s.indexEnd() {
		return s.broken("shard index", 0, fmt.Sprintf("%d bytes", s.indexEnd()), fmt.Sprint(size))
	}
	return nil
}

// minishard reads the index of a minishard; it is empty for a minishard without chunks.
func (s *shard) minishard(n uint64) (minishardIndex, error) {
	index, err := s.readMinishard(n)
	// What was read is of the old file, the new one or both, and so is an error found
	// in it: look before anybody uses either.
	if changed := vfs.Unchanged(s.file, s.info); changed != nil {
		return nil, fmt.Errorf("%s: minishard %d: %w", s.name, n, changed)
	}
	return index, err
}

func (s *shard) readMinishard(n uint64) (minishardIndex, error) {
	if err := s.checkIndex(); err != nil {
		return nil, err
	}
	slot := make([]byte, slotBytes)
	if err := s.read(slot, slotBytes*int64(n), "shard index"); err != nil {
		return nil, err
	}
	return s.readSlot(n, slot)
}

// readSlot reads the minishard index that a slot of the shard index points to.
func (s *shard) readSlot(n uint64, slot []byte) (minishardIndex, error) {
	begin, end := binary.LittleEndian.Uint64(slot), binary.LittleEndian.Uint64(slot[8:])
	if begin == end {
		return nil, nil
	}
	what := fmt.Sprintf("index of minishard %d", n)
	if room := uint64(s.info.Size() - s.indexEnd()); begin > end || end > room {
		return nil, s.broken(fmt.Sprintf("shard index, minishard %d,", n), slotBytes*int64(n),
			fmt.Sprintf("a range within the %d bytes that follow", room), fmt.Sprintf("%d to %d", begin, end))
	}
	at := s.indexEnd() + int64(begin)
	if end-begin > maxIndexBytes {
		return nil, s.broken(what, at, fmt.Sprintf("an index of at most %d bytes", maxIndexBytes), fmt.Sprint(end-begin))
	}
	b := make([]byte, end-begin)
	if err := s.read(b, at, what); err != nil {
		return nil, err
	}
	if s.spec.gzipIndexes {
		var err error
		if b, err = gunzip(b, maxIndexBytes); err != nil {
			return nil, &FormatError{File: s.name, What: what, Offset: at, Err: err}
		}
	}
	index, fault := parseMinishard(b, s.indexEnd())
	if fault != nil {
		return nil, s.broken(fmt.Sprintf("%s, byte %d of it,", what, fault.offset), at, fault.expected, fault.found)
	}
	return index, nil
}

// minishards calls found for all minishards that have chunks or cannot be read. The
// error is that of the shard index.
func (s *shard) minishards(found func(n uint64, index minishardIndex, err error)) error {
	if err := s.checkIndex(); err != nil {
		return err
	}
	const atOnce = 4096 // slots
	total := uint64(1) << s.spec.minishardBits
	buf := make([]byte, slotBytes*min(total, atOnce))
	for n := uint64(0); n < total; {
		if err := s.read(buf, slotBytes*int64(n), "shard index"); err != nil {
			return err
		}
		for slots := buf; len(slots) > 0; slots = slots[slotBytes:] {
			index, err := s.readSlot(n, slots)
			if err != nil || len(index) > 0 {
				found(n, index, err)
			}
			n++
		}
	}
	return vfs.Unchanged(s.file, s.info)
}

func (s *shard) read(p []byte, offset int64, what string) error {
	if err := vfs.ReadFull(context.Background(), s.file, p, offset); err != nil {
		return fmt.Errorf("%s: %s at byte %d: %w", s.name, what, offset, err)
	}
	return nil
}

func (s *shard) broken(what string, offset int64, expected, found string) error {
	return &FormatError{File: s.name, What: what, Offset: offset, Expected: expected, Found: found}
}
