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
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	randomSeed  = flag.Uint64("random.seed", 0, "of TestRandom; 0: another one each time")
	randomSteps = flag.Int("random.steps", 10_000, "of TestRandom")
)

// TestRandom does random things with random datasets on a mount, and changes them
// below it, and compares each answer with a naive model.
func TestRandom(t *testing.T) {
	seed, steps := *randomSeed, *randomSteps
	if seed == 0 {
		seed = rand.Uint64() >> 32
	}
	if os.Getenv(raceVariable) == "1" {
		steps = min(steps, 2000)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: go test ./integration -run 'TestRandom$' -random.seed=%d -random.steps=%d", seed, steps)
		}
	})
	r := rand.New(rand.NewPCG(seed, 0))
	for done := 0; done < steps && !t.Failed(); {
		n := min(1+r.IntN(800), steps-done)
		t.Run(fmt.Sprintf("from_%d", done), func(t *testing.T) { randomSession(t, rand.New(rand.NewPCG(seed, uint64(done)+1)), n, 0) })
		done += n
	}
}

// TestRandomLate is TestRandom with a source that answers late, and in any order. Changes of that may show when the kernel, which
// believes what the source said for a second, the server and the kernel again have looked once more.
func TestRandomLate(t *testing.T) {
	seed, steps := *randomSeed, *randomSteps/50
	if seed == 0 {
		seed = rand.Uint64() >> 32
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: go test ./integration -run 'TestRandomLate$' -random.seed=%d -random.steps=%d", seed, *randomSteps)
		}
	})
	randomSession(t, rand.New(rand.NewPCG(seed, 0)), steps, 3500*time.Millisecond)
}

// session is one mount and the files that are open in it.
type session struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	layers []*randomLayer
	open   []*opened
	trail  []string // of the last steps
}

// randomSession does so many random things. If changes are seen only after a while, the source answers late.
func randomSession(t *testing.T, r *rand.Rand, steps int, seen time.Duration) {
	source, layers := randomSource(t, r)
	changes := 8
	if seen > 0 {
		source = serveLate(t, source, "-read", "2ms", "-look", "300us", "-shuffle").Dir
		changes = 1
	}
	caches := []string{"0", "10KiB", "64MiB"}
	s := &session{t: t, r: r, layers: layers}
	s.dir = mount(t, source, "--log-file", os.DevNull, "--cache-size", caches[r.IntN(len(caches))])
	defer func() {
		for _, o := range s.open {
			o.file.Close()
		}
	}()
	weighted := []struct {
		weight int
		name   string
		do     func() error
	}{
		{20, "open", s.openAny}, {40, "pread", s.pread}, {10, "mmap", s.mmap}, {8, "seek", s.seek},
		{5, "stat", s.stat}, {5, "list", s.list}, {8, "close", s.closeAny}, {changes, "change", s.change}, {1, "forget", s.forget},
	}
	total := 0
	for _, w := range weighted {
		total += w.weight
	}
	for step := range steps {
		pick := r.IntN(total)
		for _, w := range weighted {
			if pick -= w.weight; pick >= 0 {
				continue
			}
			if err := w.do(); err != nil {
				t.Errorf("step %d, %s: %v\nbefore that:\n%s", step, w.name, err, strings.Join(s.trail[max(0, len(s.trail)-40):], "\n"))
				return
			}
			if w.name == "change" {
				time.Sleep(seen)
			}
			break
		}
	}
}

// note remembers what was done.
func (s *session) note(format string, args ...any) {
	s.trail = append(s.trail, fmt.Sprintf(format, args...))
}

func pickOf[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// openAny opens a file that the model knows, or that is not there.
func (s *session) openAny() error {
	if len(s.open) >= 20 {
		return s.closeAny()
	}
	o := s.randomFile()
	flags := os.O_RDONLY
	if o.direct = s.r.IntN(4) == 0; o.direct {
		flags |= unix.O_DIRECT
	}
	file, err := os.OpenFile(filepath.Join(s.dir, o.name), flags, 0)
	s.note("open %s: %v", o.name, err)
	for _, h := range o.layer.cubes {
		o.opening[h] = len(h.versions) - 1
	}
	if !o.whole {
		h, _ := o.locate(0)
		switch now := h.now(); {
		case !now.exists && errors.Is(err, os.ErrNotExist), now.allBad() && errors.Is(err, syscall.EIO):
			return nil
		case !now.exists && err == nil:
			return fmt.Errorf("%s does not exist, and opens", o.name)
		}
	}
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err != nil || info.Size() != int64(o.size) {
		return fmt.Errorf("%s has %d bytes, %v; want %d", o.name, info.Size(), err, o.size)
	}
	o.file = file
	s.open = append(s.open, o)
	return nil
}

// extent is a random range of a file, often about its edges.
func (s *session) extent(o *opened) (off, n int) {
	off = s.r.IntN(o.size + 5)
	if s.r.IntN(4) == 0 {
		off = off &^ 4095
	}
	return off, 1 + s.r.IntN(1+s.r.IntN(min(o.size, 1<<16)+10))
}

func (s *session) pread() error {
	if len(s.open) == 0 {
		return s.openAny()
	}
	o := pickOf(s.r, s.open)
	off, n := s.extent(o)
	p := make([]byte, n)
	got, err := unix.Pread(int(o.file.Fd()), p, int64(off))
	s.note("pread %s, %d at %d: %d, %v", o.name, n, off, got, err)
	if err := o.judge(p[:max(got, 0)], err, off, n); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	return nil
}

// mmap maps a file and copies a range; a fault is EIO.
func (s *session) mmap() error {
	if len(s.open) == 0 {
		return s.openAny()
	}
	o := pickOf(s.r, s.open)
	m, err := unix.Mmap(int(o.file.Fd()), 0, o.size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("%s: map: %w", o.name, err)
	}
	defer unix.Munmap(m)
	off, n := s.extent(o)
	p := make([]byte, max(min(n, o.size-off), 0))
	copied := copyMapped(p, m, off)
	s.note("mmap %s, %d at %d: %d", o.name, len(p), off, copied)
	if copied < len(p) && !o.mayFail(off+copied) {
		return fmt.Errorf("%s: mapped: a fault at %d, but all of the page is sound", o.name, off+copied)
	}
	if err := o.compare(p[:copied], off); err != nil {
		return fmt.Errorf("%s: mapped: %w", o.name, err)
	}
	return nil
}

// copyMapped copies until it is done or meets a page that cannot be read.
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

// seek looks for holes: all of one is zeros that nobody wrote.
func (s *session) seek() error {
	if len(s.open) == 0 {
		return s.openAny()
	}
	o := pickOf(s.r, s.open)
	off := s.r.IntN(o.size)
	data, err := unix.Seek(int(o.file.Fd()), int64(off), unix.SEEK_DATA)
	s.note("seek %s, data from %d: %d, %v", o.name, off, data, err)
	if errors.Is(err, unix.ENXIO) {
		data, err = int64(o.size), nil
	}
	if err != nil || data < int64(off) || data > int64(o.size) {
		return fmt.Errorf("%s: data from %d: %d, %w", o.name, off, data, err)
	}
	for i := off; i < int(data); i++ {
		if h, _ := o.locate(i); h != nil && !slices.ContainsFunc(o.can(h), func(n int) bool { return !h.versions[n].exists }) {
			return fmt.Errorf("%s: a hole from %d to %d, but byte %d is in cube %v", o.name, off, data, i, h.at)
		}
	}
	hole, err := unix.Seek(int(o.file.Fd()), int64(off), unix.SEEK_HOLE)
	if err != nil || hole < int64(off) || hole > int64(o.size) || data > int64(off) && hole != int64(off) {
		return fmt.Errorf("%s: hole from %d: %d, %v; data from %d", o.name, off, hole, err, data)
	}
	return nil
}

func (s *session) closeAny() error {
	if len(s.open) == 0 {
		return nil
	}
	i := s.r.IntN(len(s.open))
	o := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	s.note("close %s", o.name)
	return o.file.Close()
}

// stat describes a cube: one that is there at once, one that is gone perhaps.
func (s *session) stat() error {
	l := pickOf(s.r, s.layers)
	h := pickOf(s.r, l.cubes)
	name := fmt.Sprintf("%s/1/z%d/y%d/x%d.raw", l.name, h.at[2], h.at[1], h.at[0])
	info, err := os.Stat(filepath.Join(s.dir, name))
	s.note("stat %s: %v", name, err)
	switch now := h.now(); {
	case err == nil && info.Size() != int64(l.side()*l.side()*l.side()*l.voxelSize()):
		return fmt.Errorf("%s: %d bytes", name, info.Size())
	case err == nil && !now.exists && !h.wasLately():
		return fmt.Errorf("%s: is described and not there", name)
	case err != nil && now.exists && !(now.allBad() && errors.Is(err, syscall.EIO)), err != nil && !now.exists && !errors.Is(err, os.ErrNotExist):
		return err
	}
	return nil
}

// list reads a directory of cubes in pieces, with jumps to where it was before.
func (s *session) list() error {
	l := pickOf(s.r, s.layers)
	y, z := s.r.IntN(l.count[1]), s.r.IntN(l.count[2])
	name := fmt.Sprintf("%s/1/z%d/y%d", l.name, z, y)
	names, err := listInPieces(s.r, filepath.Join(s.dir, name))
	s.note("list %s: %v, %v", name, names, err)
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
				if !h.now().exists && !h.wasLately() {
					return fmt.Errorf("%s: lists %s, which is not there", name, entry)
				}
			case h.now().exists && !h.wasMissingLately():
				return fmt.Errorf("%s: does not list %s", name, entry)
			}
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{".", ".."}) {
		return fmt.Errorf("%s: lists %q beside its cubes", name, names)
	}
	return nil
}

// forget makes the kernel forget names, inodes and what it knows of them.
func (s *session) forget() error {
	if os.Geteuid() != 0 {
		return nil
	}
	s.note("forget")
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0)
}
