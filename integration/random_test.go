package integration

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	randomSeed  = flag.Uint64("random.seed", 0, "seed of TestRandom; 0: a new one for each run")
	randomSteps = flag.Int("random.steps", 4_000, "number of steps of TestRandom")
)

// TestRandom mounts random datasets. It does random operations in the mount, changes cubes below it, and
// compares each result with a naive model.
func TestRandom(t *testing.T) {
	parallelHeavy(t)
	seed, steps := *randomSeed, *randomSteps
	if seed == 0 {
		seed = rand.Uint64() >> 32
	}
	if os.Getenv(raceVariable) == "1" {
		steps = min(steps, 2000)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat: go test ./integration -run 'TestRandom$' -random.seed=%d -random.steps=%d", seed, steps)
		}
	})
	for done := 0; done < steps && !t.Failed(); {
		c := newRandomCase(rand.New(rand.NewPCG(seed, uint64(done))), min(800, steps-done))
		t.Run(fmt.Sprintf("from_%d", done), func(t *testing.T) { c.run(t, 0) })
		done += len(c.Steps)
	}
}

// TestRandomLate is TestRandom with a source that answers late and out of order. A change of the source may
// show only after three caches expire one after the other: the kernel's of the source, the server's, and the
// kernel's of the mount.
func TestRandomLate(t *testing.T) {
	seed, steps := *randomSeed, *randomSteps/20
	if seed == 0 {
		seed = rand.Uint64() >> 32
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat: go test ./integration -run 'TestRandomLate$' -random.seed=%d -random.steps=%d", seed,
				*randomSteps)
		}
	})
	c := newRandomCase(rand.New(rand.NewPCG(seed, 0)), steps)
	for len(c.Steps) < steps {
		c.Steps = append(c.Steps, newRandomCase(rand.New(rand.NewPCG(seed, uint64(len(c.Steps)))),
			steps-len(c.Steps)).Steps...)
	}
	c.run(t, shownLate)
}

// shownLate is the time after which a change of a source that answers late must show.
const shownLate = 3500 * time.Millisecond

// session is one mount and the files that are open in it.
type session struct {
	t      testing.TB
	r      *rand.Rand // of the step
	dir    string
	layers []*randomLayer
	files  []*openFile // open
	trail  []string    // what was done, for the message of a failure
}

// log adds a line to the trail.
func (s *session) log(format string, args ...any) {
	s.trail = append(s.trail, fmt.Sprintf(format, args...))
}

// randomOf returns a random element.
func randomOf[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// openAny opens a random file, which may be absent.
func (s *session) openAny() error {
	if len(s.files) >= 20 {
		return s.closeAny()
	}
	o := s.randomFile()
	flags := os.O_RDONLY
	if o.direct = s.r.IntN(4) == 0; o.direct {
		flags |= unix.O_DIRECT
	}
	file, err := os.OpenFile(filepath.Join(s.dir, o.name), flags, 0)
	s.log("open %s: %v", o.name, err)
	for _, h := range o.layer.cubes {
		o.opening[h] = len(h.versions) - 1
	}
	if !o.joined {
		h, _ := o.locate(0)
		switch now := h.now(); {
		case !now.exists && errors.Is(err, os.ErrNotExist), now.allBad() && errors.Is(err, syscall.EIO):
			return nil
		case !now.exists && err == nil:
			return fmt.Errorf("%s opens, but does not exist", o.name)
		}
	}
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err != nil || info.Size() != int64(o.size) {
		return fmt.Errorf("%s has %d bytes, %v; want %d", o.name, info.Size(), err, o.size)
	}
	o.file = file
	s.files = append(s.files, o)
	return nil
}

// extent returns a random range of a file. It may extend past the end.
func (s *session) extent(o *openFile) (off, n int) {
	off = s.r.IntN(o.size + 5)
	if s.r.IntN(4) == 0 {
		off = off &^ 4095
	}
	return off, 1 + s.r.IntN(1+s.r.IntN(min(o.size, 1<<16)+10))
}

// pread reads a random range of a random open file.
func (s *session) pread() error {
	if len(s.files) == 0 {
		return s.openAny()
	}
	o := randomOf(s.r, s.files)
	off, n := s.extent(o)
	p := make([]byte, n)
	got, err := unix.Pread(int(o.file.Fd()), p, int64(off))
	s.log("pread %s, %d bytes at %d: got %d, %v", o.name, n, off, got, err)
	if err := o.checkRead(p[:max(got, 0)], err, off, n); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	return nil
}

// mmap maps a random open file and copies a random range. A fault counts as EIO.
func (s *session) mmap() error {
	if len(s.files) == 0 {
		return s.openAny()
	}
	o := randomOf(s.r, s.files)
	m, err := unix.Mmap(int(o.file.Fd()), 0, o.size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("%s: map: %w", o.name, err)
	}
	defer unix.Munmap(m)
	off, n := s.extent(o)
	p := make([]byte, max(min(n, o.size-off), 0))
	copied := copyMapped(p, m, off)
	s.log("mmap %s, %d bytes at %d: got %d", o.name, len(p), off, copied)
	if copied < len(p) && !o.mayFail(off+copied) {
		return fmt.Errorf("%s: mapped: a fault at %d, but all bytes of the page are intact", o.name, off+copied)
	}
	if err := o.compare(p[:copied], off); err != nil {
		return fmt.Errorf("%s: mapped: %w", o.name, err)
	}
	return nil
}

// copyMapped copies bytes of a mapping until it meets a page that cannot be read.
func copyMapped(p, m []byte, off int) (copied int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(interface{ Addr() uintptr }); !ok {
				panic(fault)
			}
		}
	}()
	for ; copied < len(p); copied++ {
		p[copied] = m[off+copied]
	}
	return copied
}

// seek searches for data and holes. All bytes of a hole must be in absent cubes.
func (s *session) seek() error {
	if len(s.files) == 0 {
		return s.openAny()
	}
	o := randomOf(s.r, s.files)
	off := s.r.IntN(o.size)
	data, err := unix.Seek(int(o.file.Fd()), int64(off), unix.SEEK_DATA)
	s.log("seek %s, data from %d: %d, %v", o.name, off, data, err)
	if errors.Is(err, unix.ENXIO) {
		data, err = int64(o.size), nil
	}
	if err != nil || data < int64(off) || data > int64(o.size) {
		return fmt.Errorf("%s: data from %d: %d, %w", o.name, off, data, err)
	}
	for i := off; i < int(data); i++ {
		if h, _ := o.locate(i); h != nil && !slices.ContainsFunc(o.candidates(h),
			func(n int) bool { return !h.versions[n].exists }) {
			return fmt.Errorf("%s: a hole from %d to %d, but byte %d is in cube %v", o.name, off, data, i, h.at)
		}
	}
	hole, err := unix.Seek(int(o.file.Fd()), int64(off), unix.SEEK_HOLE)
	if err != nil || hole < int64(off) || hole > int64(o.size) || data > int64(off) && hole != int64(off) {
		return fmt.Errorf("%s: hole from %d: %d, %v; data from %d", o.name, off, hole, err, data)
	}
	return nil
}

// closeAny closes a random open file.
func (s *session) closeAny() error {
	if len(s.files) == 0 {
		return nil
	}
	i := s.r.IntN(len(s.files))
	o := s.files[i]
	s.files = slices.Delete(s.files, i, i+1)
	s.log("close %s", o.name)
	return o.file.Close()
}

// stat checks the attributes of a random cube. A new cube shows at once. A removed cube may show for cacheTime.
func (s *session) stat() error {
	l := randomOf(s.r, s.layers)
	h := randomOf(s.r, l.cubes)
	name := fmt.Sprintf("%s/1/z%d/y%d/x%d.raw", l.name, h.at[2], h.at[1], h.at[0])
	asked := time.Now()
	info, err := os.Stat(filepath.Join(s.dir, name))
	s.log("stat %s: %v", name, err)
	switch now := h.now(); {
	case err == nil && info.Size() != int64(l.side()*l.side()*l.side()*l.voxelSize()):
		return fmt.Errorf("%s has %d bytes", name, info.Size())
	case err == nil && !now.exists && !h.existedLately(asked):
		return fmt.Errorf("%s has attributes, but does not exist", name)
	case err != nil && now.exists && !(now.allBad() && errors.Is(err, syscall.EIO)), err != nil && !now.exists &&
		!errors.Is(err, os.ErrNotExist):
		return err
	}
	return nil
}

// list reads a random directory of cubes in pieces.
func (s *session) list() error {
	l := randomOf(s.r, s.layers)
	y, z := s.r.IntN(l.count[1]), s.r.IntN(l.count[2])
	name := fmt.Sprintf("%s/1/z%d/y%d", l.name, z, y)
	asked := time.Now()
	names, err := listInPieces(s.r, filepath.Join(s.dir, name))
	s.log("list %s: %v, %v", name, names, err)
	if err != nil {
		return err
	}
	for _, h := range l.cubes {
		if h.at[1] != y || h.at[2] != z {
			continue
		}
		for _, suffix := range []string{".raw", ".blocks"} {
			entry := fmt.Sprintf("x%d%s", h.at[0], suffix)
			i := slices.Index(names, entry)
			switch {
			case i >= 0:
				names = slices.Delete(names, i, i+1)
				if !h.now().exists && !h.existedLately(asked) {
					return fmt.Errorf("%s lists %s, which does not exist", name, entry)
				}
			case h.now().exists && !h.wasAbsentLately(asked):
				return fmt.Errorf("%s does not list %s, which exists", name, entry)
			}
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{".", ".."}) {
		return fmt.Errorf("%s lists %q, which are not its cubes", name, names)
	}
	return nil
}

// dropCaches makes the kernel drop its cached names and inodes.
func (s *session) dropCaches() error {
	if os.Geteuid() != 0 {
		return nil
	}
	s.log("drop caches")
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0)
}
