package wkw

import "github.com/wkwfs/wkwfs/internal/vfs"

// locate finds the extents of the blocks. It reads the chunks of the jump table that it needs and that are not in
// memory, all together.
func (s *filler) locate() {
	s.extents, s.starts = resized(s.extents, len(s.blocks)), resized(s.starts, len(s.blocks))
	s.readTable()
	at := 0
	for i, n := range s.numbers {
		if i > 0 && n/chunkEntries != s.numbers[i-1]/chunkEntries {
			at++
		}
		extent, err := s.file.extent(s.ctx, n, s.chunks[at])
		s.extents[i] = extent
		if err != nil {
			s.fail(i, err)
		}
	}
}

// readTable sets s.chunks to the chunks of the jump table with the entries of the blocks, in order. A chunk that
// cannot be read is nil.
func (s *filler) readTable() {
	s.chunks, s.ranges = s.chunks[:0], s.ranges[:0]
	missing := 0
	for i, n := range s.numbers {
		if i > 0 && n/chunkEntries == s.numbers[i-1]/chunkEntries {
			continue
		}
		c := s.file.chunk(n / chunkEntries)
		if c == nil {
			var r vfs.Range
			if c, r = s.file.newChunk(n / chunkEntries); c != nil {
				s.ranges = append(s.ranges, r)
				missing++
			}
		}
		s.chunks = append(s.chunks, c)
	}
	if missing > 0 {
		s.read(missing * 8 * chunkEntries)
		s.keepTable()
	}
}

// keepTable keeps the chunks that were just read. It sets those that could not be read to nil.
func (s *filler) keepTable() {
	next := 0
	for i, c := range s.chunks {
		if c == nil || next == len(s.ranges) || &c.entries[0] != &s.ranges[next].P[0] {
			continue
		}
		if s.ranges[next].Err != nil {
			s.chunks[i] = nil
		} else {
			s.file.keep(c)
		}
		next++
	}
}
