package precomputed

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// shard is an open shard file (sharded.md, "Shard file format"). It starts with the shard index. Chunks and minishard
// indexes follow in any order.
type shard struct {
	lattice.File
	spec *sharding
}

func openShard(fsys fs.FS, name string, spec *sharding) (*shard, error) {
	f, err := lattice.OpenFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return &shard{f, spec}, nil
}

// slotBytes are the bytes of a minishard in the shard index: start and end of the minishard index, relative to the
// end of the shard index.
const slotBytes = 16

// indexEnd returns the offset of the end of the shard index.
func (s *shard) indexEnd() int64 { return slotBytes << s.spec.minishardBits }

// checkIndex fails if the shard index is incomplete. Nothing in such a file can be trusted.
func (s *shard) checkIndex() error {
	if size := s.Info.Size(); size < s.indexEnd() {
		return s.Broken("shard index", 0, fmt.Sprintf("%d bytes", s.indexEnd()), fmt.Sprint(size))
	}
	return nil
}

// minishard reads the index of minishard n. The index is empty if the minishard has no chunks.
func (s *shard) minishard(n uint64) (minishardIndex, error) {
	index, err := s.readMinishard(n)
	// If the file changed during the read, index and err are not valid.
	if changed := vfs.Unchanged(s.File.File, s.Info); changed != nil {
		return nil, fmt.Errorf("%s: minishard %d: %w", s.Name, n, changed)
	}
	return index, err
}

func (s *shard) readMinishard(n uint64) (minishardIndex, error) {
	if err := s.checkIndex(); err != nil {
		return nil, err
	}
	slot := make([]byte, slotBytes)
	if err := s.ReadFull(context.Background(), slot, slotBytes*int64(n), "shard index"); err != nil {
		return nil, err
	}
	return s.readSlot(n, slot)
}

// readSlot reads the index of minishard n. slot is its entry in the shard index.
func (s *shard) readSlot(n uint64, slot []byte) (minishardIndex, error) {
	start, end := binary.LittleEndian.Uint64(slot), binary.LittleEndian.Uint64(slot[8:])
	if start == end {
		return nil, nil
	}
	part := fmt.Sprintf("index of minishard %d", n)
	if room := uint64(s.Info.Size() - s.indexEnd()); start > end || end > room {
		return nil, s.Broken(fmt.Sprintf("shard index, minishard %d,", n), slotBytes*int64(n),
			fmt.Sprintf("a range within the %d bytes that follow", room), fmt.Sprintf("%d to %d", start, end))
	}
	at := s.indexEnd() + int64(start)
	if end-start > maxIndexBytes {
		return nil, s.Broken(part, at, fmt.Sprintf("an index of at most %d bytes", maxIndexBytes),
			fmt.Sprint(end-start))
	}
	most := int(end - start)
	if s.spec.gzipIndexes {
		most = min(maxRatio*most, maxIndexBytes)
	}
	if most > usualIndexBytes {
		largeIndexes.Lock()
		defer largeIndexes.Unlock()
	}
	stored := scratch.Get(int(end - start))
	defer scratch.Put(stored)
	b := *stored
	if err := s.ReadFull(context.Background(), b, at, part); err != nil {
		return nil, err
	}
	if s.spec.gzipIndexes {
		plain := scratch.Get(most)
		defer scratch.Put(plain)
		n, err := gunzipBytes(b, *plain)
		if err != nil {
			return nil, s.Undecodable(part, at, err)
		}
		b = (*plain)[:n]
	}
	index, fault := parseMinishard(b, s.indexEnd())
	if fault != nil {
		return nil, s.Broken(fmt.Sprintf("%s, byte %d of it,", part, fault.offset), at, fault.expected, fault.found)
	}
	own := s.indexEnd() + int64(end)
	// Offsets are relative to the chunk before, so one wrong offset spoils all that follow.
	if i := slices.IndexFunc(index, func(e entry) bool { return e.offset < own && e.offset+e.size > at }); i >= 0 {
		e := index[i]
		return nil, s.Broken(fmt.Sprintf("%s, entry %d,", part, i), at,
			fmt.Sprintf("chunks outside of this index, which ends at byte %d", own),
			fmt.Sprintf("chunk ID %d with %d bytes at byte %d", e.id, e.size, e.offset))
	}
	return index, nil
}

// largeIndexes is held while an index is read that may be larger than usual ones, so that only one of them takes memory
// at a time.
var largeIndexes sync.Mutex

// slotSize returns the size of a valid minishard index.
func slotSize(slot []byte) int64 {
	return int64(binary.LittleEndian.Uint64(slot[8:]) - binary.LittleEndian.Uint64(slot))
}

// minishards calls found for each minishard that has chunks or cannot be read, until found returns false. It returns an
// error if the shard index cannot be read, or if the file changed. The indexes of minishards do not overlap, so they
// have at most the bytes of the file. Without this limit, a shard index that repeats one index could take hours to
// read.
func (s *shard) minishards(found func(n uint64, index minishardIndex, err error) bool) error {
	if err := s.checkIndex(); err != nil {
		return err
	}
	const slotsPerRead = 4096
	total := uint64(1) << s.spec.minishardBits
	buf := make([]byte, slotBytes*min(total, slotsPerRead))
	room := s.Info.Size() // for indexes
	for n := uint64(0); n < total; {
		if err := s.ReadFull(context.Background(), buf, slotBytes*int64(n), "shard index"); err != nil {
			return err
		}
		for slots := buf; len(slots) > 0; slots = slots[slotBytes:] {
			index, err := s.readSlot(n, slots)
			if err == nil {
				if room -= slotSize(slots); room < 0 {
					return s.Broken("shard index", slotBytes*int64(n), "indexes of minishards that do not overlap",
						"more bytes than the file has")
				}
			}
			if (err != nil || len(index) > 0) && !found(n, index, err) {
				return nil
			}
			n++
		}
	}
	return vfs.Unchanged(s.File.File, s.Info)
}
