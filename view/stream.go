package view

import (
	"context"
	"maps"
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
	pusher  pusher
	known   bool // that its readers go on: they were seen to open one plane after the other

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup

	// What follows is under slabs.mu.
	track   track
	guess   guess
	cutting cutting
	memory  int64    // reserved bytes
	guessed bool     // that is for a reader of planes, of whom it is not known that it goes on
	pushes  bool     // what of the slabs is not read at once goes to the page cache
	own     [2]*slab // the older one at turn
	turn    int
	at      int          // number of the slab that the reader has come to
	begun   map[int]bool // slabs of that layer and the next that were begun; none is begun again
	used    time.Time    // when a read was served last
}

const (
	// farEnough is how much a reader has to read on end, or a plane if that is less, in bytes;
	// and ahead more, as the kernel may read that for one who reads no more.
	farEnough = 2 << 20
	ahead     = 512 << 10
	// most bounds slabs of a part of a layer, in bytes: a reader waits for the first one.
	most = 64 << 20
	// patience is how long a reader waits for memory that is on its way to the page cache.
	// The page cache may be waiting for that reader.
	patience = 100 * time.Millisecond
)

// newStream returns a stream of the flat file, which begins in its file behind a head; nil
// if its source has no memory for one, or a single plane makes it, for which no block is
// wanted twice.
func newStream(f *Flat, head int64, s *slabs) *stream {
	source, keeps := f.src.(volume.Keeper)
	versioned, ok := f.src.(volume.Versioned)
	if s == nil || !keeps || !ok || f.box.Size()[2] == 1 {
		return nil
	}
	st := &stream{flat: f, slabs: s, source: source, version: versioned.Version(), pusher: pusher{flat: f, head: head}}
	st.cutting = newCutting(f)
	st.ctx, st.cancel = context.WithCancel(context.Background())
	return st
}

// read copies bytes from off on out of a slab, and returns how many: 0 if they have to be read
// from the blocks.
func (s *stream) read(ctx context.Context, p []byte, off int64) int {
	if s == nil {
		return 0
	}
	claimed, busy := s.note(off, int64(len(p)))
	if busy != nil {
		select {
		case <-busy:
			claimed = s.claim(off, int64(len(p)))
		case <-ctx.Done():
		case <-time.After(patience):
		}
	}
	if claimed == nil {
		return 0
	}
	defer s.slabs.release(claimed)
	select {
	case <-claimed.ready:
	case <-ctx.Done():
	}
	if ctx.Err() != nil || claimed.err != nil {
		return 0
	}
	return claimed.read(s.flat, p, off)
}

// note tells of a read and claims its slab. If there will be memory for it as soon as
// a channel is closed, it returns that.
func (s *stream) note(off, n int64) (claimed *slab, busy <-chan struct{}) {
	s.slabs.mu.Lock()
	defer s.slabs.mu.Unlock()
	s.used = time.Now()
	if read, left := s.guess.note(off, n); left {
		s.judge(read)
	}
	goesOn := s.known
	if s.pushes && s.flows() && s.within(off) {
		goesOn = true
		s.track.move(max(s.track.end, off+n))
	} else if !s.known {
		goesOn = s.track.note(off, n, s.enough())
	}
	s.come(off, goesOn)
	s.pusher.reader.Store(s.track.end)
	claimed = s.claimNow(off, n)
	if claimed == nil && s.pushes && s.flows() && s.mayBegin(s.cutting.index(off)) && s.own[s.turn] != nil {
		busy = s.own[s.turn].pushed
	}
	return claimed, busy
}

// come moves the reader to off, where he comes from what he has read before or not. It is
// called with slabs.mu held.
func (s *stream) come(off int64, goesOn bool) {
	if s.memory == 0 {
		return
	}
	i := s.cutting.index(off)
	if !goesOn {
		s.begun = map[int]bool{}
	} else if i <= s.at {
		return
	}
	s.at = i
	maps.DeleteFunc(s.begun, func(i int, _ bool) bool { return i < s.layer() })
}

// flows reports whether it is known that the reader goes on. It is called with slabs.mu held.
func (s *stream) flows() bool { return s.known || s.track.flows(s.enough()) }

// enough is how many bytes a reader has to come through until it is known that it goes on.
func (s *stream) enough() int64 { return min(s.flat.plane, farEnough) + ahead }

// within reports whether a reader is at off without having left its way. Where slabs are
// pushed, it comes through the first plane of a layer, the last slabs of which one read may hold, finds the
// others in the page cache, but for a page here and there, and is next seen at the begin of the layer
// that follows. It is called with slabs.mu held.
func (s *stream) within(off int64) bool {
	i := s.cutting.index(off)
	return i >= s.layer() && i <= s.layer()+s.cutting.pieces()
}

// layer returns the number of the first slab of the layer that the reader is in. It is called
// with slabs.mu held.
func (s *stream) layer() int { return s.at - s.at%s.cutting.pieces() }

// claim is claimNow with the lock.
func (s *stream) claim(off, n int64) *slab {
	s.slabs.mu.Lock()
	defer s.slabs.mu.Unlock()
	return s.claimNow(off, n)
}

// claimNow returns the slab of a read, which may still have to be decoded, and begins with
// the next one in good time; nil if there is no slab. It is called with slabs.mu held.
func (s *stream) claimNow(off, n int64) *slab {
	flows := s.flows()
	guessed := !flows && s.readsPlane(off)
	if s.memory == 0 && (flows || guessed) {
		s.reserve(guessed)
		s.come(off, false)
	}
	s.guessed = s.guessed && !flows
	cutting := s.cutting
	if s.memory == 0 {
		cutting.rows = cutting.all() // perhaps another stream has it
	} else if s.pushes && s.pusher.refused.Load() {
		if s.cutting.pieces() > 1 {
			return nil
		}
		s.pushes = false
	}
	i := cutting.index(off)
	found := s.slabs.slabs[slabKey{s.version, cutting.box(i)}]
	if s.memory == 0 || found == nil && !flows && !guessed {
		return s.slabs.use(found)
	}
	switch {
	case found != nil || s.late(i, off):
	case flows:
		found = s.begin(i)
	default:
		found = s.beginGuessed(i, off)
	}
	if found = s.slabs.use(found); found != nil && flows {
		if s.pushes && found.pushed == nil && (found == s.own[0] || found == s.own[1]) {
			s.group.Go(s.pushing(found, nil)) // the first one, which was guessed
		}
		s.beginNext(i, found, off, n)
	}
	return found
}

// late reports whether a reader who was known before has come so far through slab i that it is no more worth
// while: the cache has the blocks of the planes that were read before.
func (s *stream) late(i int, off int64) bool {
	box := s.cutting.box(i)
	return s.known && s.flat.box.Min[2]+int(off/s.flat.plane)-box.Min[2] > box.Size()[2]/4
}

// beginNext begins with the slab behind number i, of which n bytes from off on are read.
// Reads of the slab before may still be under way when the first of this one comes: its
// memory is taken a little later. It is called with slabs.mu held.
func (s *stream) beginNext(i int, current *slab, off, n int64) {
	z, in := current.place(s.flat, off)
	run := current.run(s.flat)
	come, all := z*run+in+n, run // of what is read from the slab
	if !s.pushes {
		all *= current.planes()
	}
	if s.known {
		all *= 3 // its readers are some threads, of which the last one may be some planes behind
	}
	if come < all/8 || i+1 >= s.cutting.count() {
		return
	}
	if s.slabs.slabs[s.key(i+1)] == nil {
		s.begin(i + 1)
	}
}

func (s *stream) key(i int) slabKey { return slabKey{s.version, s.cutting.box(i)} }

// begin has a slab decoded, in the place of the one before the last; nil if that is still
// in use. It is called with slabs.mu held.
func (s *stream) begin(i int) *slab {
	if !s.mayBegin(i) {
		return nil
	}
	var p []byte
	last := s.own[s.turn^1]
	if old := s.own[s.turn]; old == nil {
		p = newMemory(s.cutting.size())
	} else if old.users > 0 {
		return nil
	} else {
		delete(s.slabs.slabs, old.key)
		p = old.memory
	}
	begun := s.flat.newSlab(s.key(i), p)
	s.own[s.turn], s.slabs.slabs[begun.key] = begun, begun
	s.turn ^= 1
	s.begun[i] = true
	begun.users++
	push := func() {}
	if s.pushes && !s.guessed {
		push = s.pushing(begun, last)
	}
	s.group.Go(func() {
		begun.err = begun.fill(s.ctx, s.flat, s.source)
		close(begun.ready)
		s.slabs.release(begun)
		push() // at once: a reader may be quick to come to what is pushed
	})
	return begun
}

// mayBegin reports whether the slab was not begun before: one that is wanted again would be
// wanted for each of its planes. It is called with slabs.mu held.
func (s *stream) mayBegin(i int) bool { return i >= s.layer() && !s.begun[i] }

// pushing returns what pushes a slab, when it is decoded and the last one, if there is one, was pushed. It is called with
// slabs.mu held.
func (s *stream) pushing(begun, last *slab) func() {
	var before <-chan struct{}
	if last != nil {
		before = last.pushed
	}
	done := make(chan struct{})
	begun.pushed = done
	begun.users++
	return func() {
		defer close(done)
		defer s.slabs.release(begun)
		<-begun.ready
		if before != nil {
			<-before
		}
		if begun.err == nil {
			s.pusher.push(s.ctx, begun)
		}
	}
}

// reserve gets the memory for two slabs: of whole layers if there is enough, else, if the
// page cache takes what is left over, of parts of them. For a guess it takes whole layers, and nothing from others. It is
// called with slabs.mu held.
func (s *stream) reserve(guessed bool) {
	c := s.cutting
	for c.rows = c.all(); c.rows > 0; c.rows /= 2 {
		part := c.rows < c.all()
		if part && (guessed || !s.pusher.welcome() || c.size() > most && c.rows > 1) {
			continue
		}
		for {
			if need := c.slabs() * c.size(); s.source.Reserve(need) {
				s.cutting, s.memory, s.pushes = c, need, part || s.pusher.all && s.pusher.welcome()
				s.guessed = guessed
				s.slabs.streams[s] = true
				return
			}
			if part || guessed || !s.slabs.reclaim(s.used) {
				break
			}
		}
	}
}

// busy reports whether a slab is being decoded, pushed or read. It is called with slabs.mu
// held.
func (s *stream) busy() bool {
	for _, own := range s.own {
		if own != nil && own.users > 0 {
			return true
		}
	}
	return false
}

// drop gives the memory back. Replies that are being gathered from it stay valid. It is
// called with slabs.mu held.
func (s *stream) drop() {
	for i, own := range s.own {
		if own != nil {
			delete(s.slabs.slabs, own.key)
			giveUp(own.memory)
			s.own[i] = nil
		}
	}
	s.source.Release(s.memory)
	s.memory, s.pushes, s.guessed = 0, false, false
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
	s.judge(s.guess.way.seen)
	if s.memory > 0 {
		s.drop()
	}
}
