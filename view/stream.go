package view

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// stream serves a reader that goes through a flat file from one end to the other. It
// has memory for two slabs, the one that is being read and the next one, which is decoded
// meanwhile. Other readers, and all where memory is short, are served block by block.
//
// The goroutines that it starts are waited for in close.
type stream struct {
	flat    *Flat
	slabs   *slabs
	source  volume.Keeper
	version vfs.Version

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup

	// What follows is under slabs.mu.
	pattern  pattern
	own      [2]*slab
	turn     int // which of them is the older one
	reserved bool
	front    int       // no layer before this one is decoded as a slab again
	used     time.Time // when a read was served last
}

// newStream returns a stream of the flat file; nil if its source has no memory for one.
func newStream(f *Flat, s *slabs) *stream {
	source, keeps := f.src.(volume.Keeper)
	versioned, ok := f.src.(volume.Versioned)
	if s == nil || !keeps || !ok {
		return nil
	}
	st := &stream{flat: f, slabs: s, source: source, version: versioned.Version(), front: math.MinInt}
	st.ctx, st.cancel = context.WithCancel(context.Background())
	return st
}

// lend returns the bytes from off on, n at most and at least one, out of a slab; and the
// slab, which the caller has to release. It returns nil if they have to be read from the
// blocks.
func (s *stream) lend(ctx context.Context, off, n int64) ([]byte, *slab) {
	if s == nil {
		return nil, nil
	}
	claimed := s.claim(off, n)
	if claimed == nil {
		return nil, nil
	}
	select {
	case <-claimed.ready:
	case <-ctx.Done():
	}
	if ctx.Err() != nil || claimed.err != nil {
		s.slabs.release(claimed)
		return nil, nil
	}
	p := claimed.at(off)
	return p[:min(n, int64(len(p)))], claimed
}

// claim returns the slab of a read, which may still have to be decoded, and begins with the
// next one in good time; nil if there is no slab.
func (s *stream) claim(off, n int64) *slab {
	s.slabs.mu.Lock()
	defer s.slabs.mu.Unlock()
	if !s.pattern.note(off, n) {
		s.front = math.MinInt
	}
	s.used = time.Now()
	z, flows := s.flat.layer(off), s.pattern.flows(s.flat.plane)
	found := s.slabs.slabs[s.key(z)]
	if found == nil && flows {
		found = s.begin(z)
	}
	if found == nil {
		return nil
	}
	found.readers++
	// Reads of the slab before may still be under way when the first of this one comes:
	// its memory is taken for the next one a little later.
	if begin, end := s.flat.layerRange(z); flows && off-begin >= (end-begin)/8 && end < s.flat.size && s.slabs.slabs[s.key(z+1)] == nil {
		s.begin(z + 1)
	}
	return found
}

func (s *stream) key(z int) slabKey { return slabKey{s.version, s.flat.box, z} }

// begin has a slab decoded, in the place of the one before the last; nil if there is no
// memory for it now. It is called with slabs.mu held.
func (s *stream) begin(z int) *slab {
	if z < s.front || !s.reserve() {
		return nil
	}
	var p []byte
	if old := s.own[s.turn]; old == nil {
		p = make([]byte, s.flat.slabSize())
	} else if old.readers > 0 || !old.done() {
		return nil
	} else {
		delete(s.slabs.slabs, old.key)
		p = old.p[:cap(old.p)]
	}
	started := s.flat.newSlab(s.key(z), p)
	s.own[s.turn], s.slabs.slabs[started.key] = started, started
	s.turn ^= 1
	s.front = max(s.front, z)
	s.group.Go(func() {
		defer close(started.ready)
		started.err = started.fill(s.ctx, s.flat, s.source)
	})
	return started
}

// reserve gets the memory for two slabs. It is called with slabs.mu held.
func (s *stream) reserve() bool {
	for !s.reserved {
		if s.source.Reserve(2 * s.flat.slabSize()) {
			s.reserved, s.slabs.streams[s] = true, true
		} else if !s.slabs.reclaim(s.used) {
			return false
		}
	}
	return true
}

// filling reports whether a slab is being decoded. It is called with slabs.mu held.
func (s *stream) filling() bool {
	for _, own := range s.own {
		if own != nil && !own.done() {
			return true
		}
	}
	return false
}

// drop gives the memory back. Replies that are being cut out of it stay valid. It is
// called with slabs.mu held.
func (s *stream) drop() {
	for i, own := range s.own {
		if own != nil {
			delete(s.slabs.slabs, own.key)
			s.own[i] = nil
		}
	}
	s.source.Release(2 * s.flat.slabSize())
	s.reserved = false
	delete(s.slabs.streams, s)
}

// close gives up what is under way and waits for it.
func (s *stream) close() {
	if s == nil {
		return
	}
	s.cancel()
	s.group.Wait()
	s.slabs.mu.Lock()
	defer s.slabs.mu.Unlock()
	if s.reserved {
		s.drop()
	}
}

// done reports whether the slab has been decoded, or has failed.
func (s *slab) done() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}
