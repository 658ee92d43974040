package diskcache

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

var (
	modelSeed   = flag.Uint64("model.seed", 0, "seed of TestAgreesWithModel; 0: random")
	modelRounds = flag.Int("model.rounds", 12, "rounds of TestAgreesWithModel")
)

// model is a directory with several caches, as of several processes, and objects that change. What a read must return
// is computed from the object.
type model struct {
	*testing.T
	dir    string
	fake   *fakeBucket
	size   int64
	caches []*Cache
}

// TestAgreesWithModel reads random ranges of objects through two caches in one directory, while objects get new
// versions, pieces are evicted, bits flip and caches are closed and opened. Every read returns the bytes of its
// version, or an error if that is gone. The directory is never larger than it may be.
func TestAgreesWithModel(t *testing.T) {
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-model.seed=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	m := &model{T: t, dir: t.TempDir(), fake: newFakeBucket(), size: 12 << 20}
	for i, size := range []int64{1, 500, pageSize, 70_000, 1 << 20, pieceSize + 77, 5 << 20, 9<<20 + 1} {
		m.fake.put(object.Object{Key: fmt.Sprintf("%03d", i), Size: size, Version: "0"})
	}
	for range 2 {
		m.caches = append(m.caches, m.open())
	}
	rounds := *modelRounds
	if testing.Short() {
		rounds = min(rounds, 4)
	}
	for round := range rounds {
		m.readAtOnce(r)
		m.checkSize()
		switch i := r.IntN(len(m.caches)); r.IntN(3) {
		case 0:
			m.caches[i].Close()
			m.caches[i] = m.open()
		case 1:
			m.flipBits(r)
		case 2:
			m.change(r, round)
		}
	}
	evicted := uint64(0)
	for _, c := range m.caches {
		evicted += c.Stats().Evicted
	}
	if evicted == 0 {
		t.Error("nothing was evicted: the test is too small")
	}
}

func (m *model) open() *Cache {
	c := openCache(m, m.dir, Options{Size: m.size})
	c.writer.touchEvery = 0
	return c
}

// readAtOnce reads with several readers at once.
func (m *model) readAtOnce(r *rand.Rand) {
	var readers sync.WaitGroup
	for range 8 {
		b, own := m.caches[r.IntN(len(m.caches))].Bucket(m.fake), rand.New(rand.NewPCG(r.Uint64(), 0))
		readers.Go(func() {
			for range 20 {
				m.readOne(b, own)
			}
		})
	}
	readers.Wait()
}

// readOne reads a random range of a random object, now and then of its former version.
func (m *model) readOne(b object.Bucket, r *rand.Rand) {
	m.fake.mu.Lock()
	o := m.fake.objects[fmt.Sprintf("%03d", r.IntN(len(m.fake.objects)))]
	m.fake.mu.Unlock()
	now := o.Version
	if r.IntN(8) == 0 && now != "0" {
		o.Version = "0"
	}
	off := r.Int64N(o.Size)
	n := 1 + r.Int64N(o.Size-off)
	if r.IntN(2) == 0 {
		n = min(n, 1+r.Int64N(50_000))
	}
	got, want := make([]byte, n), make([]byte, n)
	contentOf(o, want, off)
	err := b.Read(m.Context(), o, got, off)
	switch {
	case err != nil && o.Version != now && errors.Is(err, vfs.ErrChanged):
	case err != nil:
		m.Errorf("%s, version %s, %d bytes at %d: %v", o.Key, o.Version, n, off, err)
	case !bytes.Equal(got, want):
		m.Errorf("%s, version %s, %d bytes at %d: wrong bytes", o.Key, o.Version, n, off)
	}
}

func (m *model) flipBits(r *rand.Rand) {
	for range 5 {
		if files := pieceFiles(m, m.dir); len(files) > 0 {
			file := files[r.IntN(len(files))]
			var st unix.Stat_t
			if unix.Stat(file, &st) == nil && st.Size > 0 {
				m.flipUnlessEvicted(file, r.Int64N(8*st.Size))
			}
		}
	}
}

// flipUnlessEvicted flips a bit while no cache writes or evicts.
func (m *model) flipUnlessEvicted(file string, bit int64) {
	m.locked(func() {
		var st unix.Stat_t
		if unix.Stat(file, &st) == nil && st.Size*8 > bit {
			flipBit(m, file, bit)
		}
	})
}

// locked calls f while no cache writes or evicts.
func (m *model) locked(f func()) {
	u := usage{dir: filepath.Join(m.dir, formatDir), access: private}
	defer u.close()
	if err := u.lock(m.Context()); err != nil {
		m.Fatal(err)
	}
	f()
	u.unlock()
}

func (m *model) checkSize() {
	m.locked(func() {
		if n := allocated(m, m.dir); n > m.size {
			m.Errorf("%d bytes are allocated, of %d", n, m.size)
		}
	})
}

func (m *model) change(r *rand.Rand, round int) {
	key := fmt.Sprintf("%03d", r.IntN(len(m.fake.objects)))
	m.fake.mu.Lock()
	defer m.fake.mu.Unlock()
	o := m.fake.objects[key]
	o.Version = fmt.Sprint(round + 1)
	m.fake.objects[key] = o
}
