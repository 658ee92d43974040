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

// checked is a source that can check its voxels and errors.
type checked interface {
	volume.Source
	matches(at volume.Vec, voxels []byte) bool
	allows(err error) bool
}

// schedule runs steps on a cache in several goroutines. It checks all voxels that are lent to them.
type schedule struct {
	t          testing.TB
	cache      *Cache
	budget     int64
	arrays     []checked
	sources    []*Source
	closing    atomic.Bool
	background sync.WaitGroup
}

// step encodes one operation of a goroutine.
type step [6]byte

const workers = 4

// plan is the setting of a schedule.
type plan struct {
	budget  byte // in blocks of one page
	collide bool // all keys have one of three hashes
	faults  bool // sources may fail
	steps   uint16
	seed    uint64
}

// run runs the schedule of a plan.
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
	s.background.Wait()
	// If entries have the same hash, ristretto replaces one by the other without regard to their sizes.
	if held := s.cache.Stats().HeldBytes; held > s.budget && !p.collide {
		t.Errorf("%d bytes held, budget %d", held, s.budget)
	}
	s.cache.Close()
	checkEmpty(t, s.cache)
}

// work runs every fourth step.
func (s *schedule) work(w int, steps []byte) {
	var hold *scheduledHold
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
			hold.checkVoxels(p)
		case kind < 26 && hold != nil:
			hold.Acquire()
			h := hold
			s.background.Go(func() { h.checkVoxels(p); h.Release() })
		case kind < 28:
			hold.close()
			hold = nil
		case kind < 30:
			if bytes := s.budget / 8; s.cache.Reserve(bytes) {
				s.background.Go(func() { time.Sleep(time.Millisecond); s.cache.Unreserve(bytes) })
			}
		case kind == 30:
			s.cache.Stats()
		case p[4]%8 == 0:
			s.closing.Store(true)
			s.background.Go(s.cache.Close)
		}
	}
	hold.close()
}

// context returns a context that may be done now or later.
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

// check checks the error of a source.
func (s *schedule) check(n int, ctx context.Context, err error) {
	switch {
	case err == nil, s.arrays[n].allows(err):
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
	case errors.Is(err, ErrClosed) && s.closing.Load():
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
		if seen++; !s.arrays[n].matches(at, voxels) {
			s.t.Errorf("array %d, block %v: wrong bytes", n, at)
		}
		if p[5]%16 == 0 && seen == 3 {
			panic("a use function that does not return")
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

// FuzzSchedule searches for steps after which free memory is used, or unused memory is not free. The steps are
// generated from a seed and are not part of the input: their coverage is random, so minimizing the input would never
// end.
func FuzzSchedule(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint16(100), byte(seed*seed), seed == 7, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16, budget byte, collide, faults bool) {
		run(t, plan{budget, collide, faults, steps % 1000, seed})
	})
}

// TestSchedules runs random schedules for a second.
func TestSchedules(t *testing.T) {
	end := time.Now().Add(time.Second)
	for !t.Failed() && time.Now().Before(end) {
		p := plan{byte(rand.N(256)), rand.N(8) == 0, rand.N(2) == 0, 500, rand.Uint64()}
		if run(t, p); t.Failed() {
			t.Logf("%+v", p)
		}
	}
}
