package pyramid

import (
	"encoding/binary"
	"math"
	"os"
	"sync"
	"sync/atomic"
)

// minChunk and maxChunk are the smallest and the largest size of a chunk in bytes. A run has 32 bits for its offset.
const (
	minChunk = 2 << 20
	maxChunk = math.MaxUint32
)

// chunkRuns is how many of the longest runs a chunk holds, if there is memory for it.
const chunkRuns = 4

// spool keeps encoded blocks until all blocks before them in their cube are encoded: blocks come slab by slab, and a
// cube file has them in Morton order. It is a list of chunks. They are in memory or, when the memory is full, in a file
// without a name.
//
// A chunk has runs. A run is one row of blocks of one cube: the lengths of its stored blocks in bytes, then the blocks.
type spool struct {
	chunkSize int
	memory    int64 // most bytes of full chunks in memory
	dir       string

	mu      sync.Mutex
	freed   sync.Cond // a chunk was dropped, or leaving is less
	chunks  []*chunk
	unused  []int    // indexes of chunks that hold nothing
	spare   [][]byte // memory of such chunks
	used    int64    // bytes of full chunks in memory
	leaving int      // sub-cubes that another goroutine copies out of the spool
	file    *os.File // chunk i is at i × chunkSize
}

// chunk is a part of the spool. One worker appends to it, and no other goroutine reads it until it is full.
type chunk struct {
	index int
	data  []byte // nil: in the file
	end   int
	full  bool
	live  atomic.Int32 // parts of runs that are still needed
}

// run is the place of a run in the spool: index of the chunk + 1, and the offset in it. 0 is a row of zeros.
type run uint64

func newSpool(chunkSize int, memory int64, dir string) *spool {
	s := &spool{chunkSize: chunkSize, memory: memory, dir: dir}
	s.freed.L = &s.mu
	return s
}

// room returns memory for a run of up to n bytes, at the end of the worker's chunk.
func (s *spool) room(k *worker, n int) ([]byte, error) {
	if k.chunk != nil && s.chunkSize-k.chunk.end < n {
		if err := s.sealOf(k); err != nil {
			return nil, err
		}
	}
	if k.chunk == nil {
		k.chunk = s.newChunk()
	}
	return k.chunk.data[k.chunk.end:k.chunk.end:s.chunkSize], nil
}

// commit keeps the n bytes that were appended to the memory from room. They are a run. It stays until it was released
// as often as times says.
func (s *spool) commit(k *worker, n, times int) run {
	c := k.chunk
	r := run(uint64(c.index+1)<<32 | uint64(c.end))
	c.end += n
	c.live.Add(int32(times))
	return r
}

func (s *spool) newChunk() *chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &chunk{}
	if n := len(s.unused); n > 0 {
		c.index, s.unused = s.unused[n-1], s.unused[:n-1]
		s.chunks[c.index] = c
	} else {
		c.index = len(s.chunks)
		s.chunks = append(s.chunks, c)
	}
	if n := len(s.spare); n > 0 {
		c.data, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		c.data = make([]byte, s.chunkSize)
	}
	return c
}

// sealOf ends the chunk of a worker, if it has one.
func (s *spool) sealOf(k *worker) error {
	c := k.chunk
	k.chunk = nil
	if c == nil {
		return nil
	}
	return s.seal(c)
}

// seal ends a chunk. It writes the chunk to the file if the memory is full, also after all sub-cubes that are leaving
// have left.
func (s *spool) seal(c *chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.full = true
	if c.live.Load() == 0 {
		s.drop(c)
		return nil
	}
	for s.used+int64(s.chunkSize) > s.memory && s.leaving > 0 {
		s.freed.Wait()
	}
	if s.used+int64(s.chunkSize) <= s.memory {
		s.used += int64(s.chunkSize)
		return nil
	}
	if s.file == nil {
		f, err := tempFile(s.dir)
		if err != nil {
			return err
		}
		s.file = f
	}
	if _, err := s.file.WriteAt(c.data[:c.end], int64(c.index)*int64(s.chunkSize)); err != nil {
		return err
	}
	s.spare = append(s.spare, c.data)
	c.data = nil
	return nil
}

// drop frees the place and the memory of a chunk for others. s.mu is locked.
func (s *spool) drop(c *chunk) {
	if c.data != nil {
		s.spare = append(s.spare, c.data)
		c.data = nil
	}
	s.chunks[c.index] = nil
	s.unused = append(s.unused, c.index)
	s.freed.Broadcast()
}

// leave changes the number of sub-cubes that another goroutine copies out of the spool.
func (s *spool) leave(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving += n
	s.freed.Broadcast()
}

// inMemory reports whether no chunk was ever written to the file.
func (s *spool) inMemory() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file == nil
}

// release ends one use of a run. No goroutine may append to the chunk of the run at that time.
func (s *spool) release(r run) {
	c := s.chunk(r)
	if c.live.Add(-1) > 0 || !c.full {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.data != nil {
		s.used -= int64(s.chunkSize)
	}
	s.drop(c)
}

func (s *spool) chunk(r run) *chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chunks[r>>32-1]
}

// read returns n bytes of a run from an offset on. They are in buf or in the spool, and valid until the run is
// released.
func (s *spool) read(r run, offset, n int, buf *[]byte) ([]byte, error) {
	c := s.chunk(r)
	at := int(uint32(r)) + offset
	if c.data != nil {
		return c.data[at : at+n], nil
	}
	b := grow(buf, n)
	_, err := s.file.ReadAt(b, int64(c.index)*int64(s.chunkSize)+int64(at))
	return b, err
}

// lengths returns the stored lengths of the n blocks of a run, as little-endian numbers of 32 bits.
func (s *spool) lengths(r run, n int, buf *[]byte) ([]byte, error) { return s.read(r, 0, 4*n, buf) }

func lengthAt(lengths []byte, i int) int { return int(binary.LittleEndian.Uint32(lengths[4*i:])) }

func (s *spool) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return s.file.Close()
}
