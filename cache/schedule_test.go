package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// checked is a source that knows what it holds.
type checked interface {
	volume.Source
	right(at volume.Vec, voxels []byte) bool
	allows(err error) bool
}

// schedule is what some goroutines do to a cache at once. Everything that they are lent is looked at.
type schedule struct {
	t       testing.TB
	cache   *Cache
	budget  int64
	arrays  []checked
	sources []*Source
	closed  atomic.Bool // soon
	others  sync.WaitGroup
}

// step is one thing that a goroutine does.
type step [6]byte

const workers = 4

// plan says what there is, and how many steps of what are done.
type plan struct {
	budget  byte // in blocks of one page
	collide bool // all keys have one of three hashes
	faults  bool // sources fail
	steps   uint16
	seed    uint64
}

// run has each goroutine do its steps.
func run(t testing.TB, p plan) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], p.seed)
	steps := make([]byte, int(p.steps)*len(step{}))
	rand.NewChaCha8(key).Read(steps)
	s := &schedule{t: t, budget: int64(p.budget) << 12}
	s.cache = New(s.budget)
	if p.collide {
		s.cache.hash = func(k volume.Key) uint64 { return k.Index % 3 }
	}
	one, two := newFaulty(2, 50, 5000, p.faults), newFaulty(2, 50, 5000, p.faults)
	s.arrays = []checked{
		faultyFile{newFaulty(1, 50, 64, p.faults), vfs.Version{1}},
		faultyFile{one, vfs.Version{2}}, faultyFile{two, vfs.Version{2}},
		faultyFiles{newFaulty(3, 50, 8192, p.faults), new([64]atomic.Bool)},
		newFaulty(4, 50, 100_000, p.faults),
	}
	for _, a := range s.arrays {
		s.sources = append(s.sources, s.cache.Source(a))
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { s.work(w, steps) })
	}
	wg.Wait()
	s.others.Wait()
	// Of entries with the same hash, ristretto makes the later one take the room of the other, whatever its size.
	if held := s.cache.Stats().HeldBytes; held > s.budget && !p.collide {
		t.Errorf("%d bytes held, budget %d", held, s.budget)
	}
	s.cache.Close()
	checkEmpty(t, s.cache)
}

// work does every fourth step.
func (s *schedule) work(w int, steps []byte) {
	var hold *held
	for i := w * len(step{}); i < len(steps); i += workers * len(step{}) {
		var p step
		copy(p[:], steps[i:])
		n := int(p[1]) % len(s.sources)
		from := int(p[2]) % 50
		blocks := row(from, min(from+int(p[3])%32, 50))
		switch kind := p[0] % 32; {
		case kind < 16:
			s.read(n, blocks, p)
		case kind < 20:
			hold.close()
			hold = s.hold(n, blocks, p)
		case kind < 24:
			hold.look(p)
		case kind < 26 && hold != nil:
			hold.Acquire()
			h := hold
			s.others.Go(func() { h.look(p); h.Release() })
		case kind < 28:
			hold.close()
			hold = nil
		case kind < 30:
			if bytes := s.budget / 8; s.cache.Reserve(bytes) {
				s.others.Go(func() { time.Sleep(time.Millisecond); s.cache.Unreserve(bytes) })
			}
		case kind == 30:
			s.cache.Stats()
		case p[4]%8 == 0:
			s.closed.Store(true)
			s.others.Go(s.cache.Close)
		}
	}
	hold.close()
}

// context returns one that is done at some time.
func (s *schedule) context(when byte) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	switch when % 8 {
	case 0:
		cancel()
	case 1, 2:
		time.AfterFunc(time.Duration(when)*time.Microsecond, cancel)
	}
	return ctx, cancel
}

// check looks at the error of a source.
func (s *schedule) check(n int, ctx context.Context, err error) {
	switch {
	case err == nil, s.arrays[n].allows(err):
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
	case errors.Is(err, ErrClosed) && s.closed.Load():
	default:
		s.t.Errorf("array %d: %v", n, err)
	}
}

func (s *schedule) read(n int, blocks []volume.Vec, p step) {
	ctx, cancel := s.context(p[4])
	defer cancel()
	if p[5]%16 == 0 {
		defer func() { _ = recover() }()
	}
	seen := 0
	err := s.sources[n].Read(ctx, blocks, Keep(p[5]>>4%3), func(at volume.Vec, voxels []byte) {
		if seen++; !s.arrays[n].right(at, voxels) {
			s.t.Errorf("array %d, block %v: wrong bytes", n, at)
		}
		if p[5]%16 == 0 && seen == 3 {
			panic("a reader that does not return")
		}
	})
	s.check(n, ctx, err)
	if err == nil && seen != len(blocks) {
		s.t.Errorf("array %d: %d of %d blocks", n, seen, len(blocks))
	}
	if f, ok := s.arrays[n].(faultyFiles); ok && p[5]%4 == 0 {
		f.known[p[3]%64].Store(false)
	}
}

// FuzzSchedule looks for steps after which memory is used that is free, or is not free that nobody uses. They are not
// bytes of the input: what a schedule covers is never the same, and Go would forever look for shorter steps that cover as much.
func FuzzSchedule(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint16(100), byte(seed*seed), seed == 7, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16, budget byte, collide, faults bool) {
		run(t, plan{budget, collide, faults, steps % 1000, seed})
	})
}

// TestSchedules is FuzzSchedule for a second.
func TestSchedules(t *testing.T) {
	end := time.Now().Add(time.Second)
	for !t.Failed() && time.Now().Before(end) {
		p := plan{byte(rand.N(256)), rand.N(8) == 0, rand.N(2) == 0, 500, rand.Uint64()}
		if run(t, p); t.Failed() {
			t.Logf("%+v", p)
		}
	}
}
