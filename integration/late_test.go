package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/latefs"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// lateArgument makes the test binary a source that answers late: see package latefs. It is a process of its
// own, because a process must not read a file system that it serves.
const lateArgument = "late"

// serveLate mounts a directory with latefs until the end of the test. The flags are those of latefs.
func serveLate(t testing.TB, source string, flags ...string) *latefs.Server {
	t.Helper()
	requireFUSE(t)
	s, err := latefs.Start([]string{os.Args[0], lateArgument}, source, tempDir(t), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("unmount the source: %v", err)
		}
	})
	return s
}

// setMode changes the mode of a source by flags.
func setMode(t testing.TB, source *latefs.Server, flags ...string) {
	t.Helper()
	if _, err := source.Do(flags...); err != nil {
		t.Fatal(err)
	}
}

// countsOf returns the number of requests that a source has got.
func countsOf(t testing.TB, source *latefs.Server) latefs.Counts {
	t.Helper()
	counts, err := source.Do()
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestLateSourceBytes compares mounts of sources that answer late and out of order with mounts of the same
// sources on disk. Bytes and errors are equal.
func TestLateSourceBytes(t *testing.T) {
	t.Parallel()
	sources := []string{"../testdata/damaged", "../testdata/draft", sparse.write(t)}
	for _, name := range []string{"wkw/sparse", "wkw/type_uint16", "wkw/two_channels", "wkw/sides_b2_f16",
		"forms/annotation", "precomputed/cseg_u32", "precomputed/sh_gaps"} {
		sources = append(sources, refdata.Dir(t, name))
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			source, err := filepath.Abs(source)
			if err != nil {
				t.Fatal(err)
			}
			late := serveLate(t, source, "-read", "3ms", "-metadata", "300us", "-shuffle", "-slow-one-in", "50",
				"-slow", "30ms")
			compareMounts(t, mount(t, source), mount(t, late.Dir))
		})
	}
}

// compareMounts compares the files of two mounts, except block files, slices and precomputed volumes. Of more
// than 1,000 files, which are chunks, it compares one of 64.
func compareMounts(t testing.TB, want, got string) {
	t.Helper()
	var group sync.WaitGroup
	defer group.Wait()
	slots := make(chan struct{}, 8)
	n := 0
	err := filepath.WalkDir(want, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasSuffix(path, ".blocks") ||
			slices.Contains([]string{"slices", "precomputed"}, d.Name())) {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		if n++; n > 1000 && n%64 != 0 {
			return nil
		}
		name, err := filepath.Rel(want, path)
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := compareFiles(path, filepath.Join(got, name)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		return err
	})
	if err != nil || n == 0 {
		t.Errorf("%d files, %v", n, err)
	}
}

// compareFiles compares the first 4 MiB of two files piece by piece, bytes and errors.
func compareFiles(want, got string) error {
	a, errA := os.OpenFile(want, os.O_RDONLY|unix.O_DIRECT, 0)
	b, errB := os.OpenFile(got, os.O_RDONLY|unix.O_DIRECT, 0)
	if errA != nil || errB != nil {
		if errnoOf(errA) != errnoOf(errB) {
			return fmt.Errorf("open: %v, want %v", errB, errA)
		}
		return errors.Join(closeAny(a), closeAny(b))
	}
	defer a.Close()
	defer b.Close()
	pa, pb := make([]byte, 96<<10), make([]byte, 96<<10)
	for off := int64(0); off < 4<<20; off += int64(len(pa)) {
		na, errA := a.ReadAt(pa, off)
		nb, errB := b.ReadAt(pb, off)
		if na != nb || errnoOf(errA) != errnoOf(errB) || !bytes.Equal(pa[:na], pb[:nb]) {
			return fmt.Errorf("at offset %d: %d bytes, %v; want %d bytes, %v, and equal bytes", off, nb, errB, na, errA)
		}
		if errors.Is(errA, io.EOF) {
			return nil
		}
	}
	return nil
}

func closeAny(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// errnoOf returns the error number of an error, or 0.
func errnoOf(err error) (number syscall.Errno) {
	errors.As(err, &number)
	return number
}

// bigPages is the number of pages in the flat file of big. A page has 128 × 16 × 1 voxels: one row of blocks.
const bigPages = 128 * 128 * 128 * 2 / 4096

// badPages reports for each page of the flat file of big whether it needs a block that cannot be read.
func badPages(file []byte, mode latefs.Mode) []bool {
	bad := make([]bool, bigPages)
	for i := range 512 {
		start, end := int64(tableEntry(file, i-1)), int64(tableEntry(file, i))
		if !mode.Fails(start, end-start) {
			continue
		}
		var at [3]int
		for bit := range 9 {
			at[bit%3] |= i >> bit & 1 << (bit / 3)
		}
		for z := range 16 {
			bad[(at[2]*16+z)*8+at[1]] = true
		}
	}
	return bad
}

// TestLateSourceErrors reads by many readers, in random order, from a source that fails in parts. Only the
// pages that need these parts fail. After the source recovers, no page fails.
func TestLateSourceErrors(t *testing.T) {
	source := tempDir(t)
	file := big.file(t)
	writeFile(t, filepath.Join(source, "z0/y0/x0.wkw"), file)
	big.writeHeader(t, source)
	want := big.flat()
	mode := latefs.Mode{Fail: 0.02, FailFrom: 2 * latefs.Stripe, Seed: 4} // the jump table does not fail
	late := serveLate(t, source, "-read", "1ms", "-shuffle")
	f := openDirect(t, filepath.Join(mount(t, late.Dir), "z0/y0/x0.raw"))
	bad := badPages(file, mode)
	if n := len(slices.DeleteFunc(slices.Clone(bad), func(b bool) bool { return !b })); n < bigPages/20 ||
		n > bigPages/2 {
		t.Fatalf("%d of %d pages are bad: this test needs another fraction", n, bigPages)
	}
	setMode(t, late, "-fail", fmt.Sprint(mode.Fail), "-fail-from", fmt.Sprint(mode.FailFrom), "-seed",
		fmt.Sprint(mode.Seed))
	readBigPages(t, 32, f, want, bad)
	if c := countsOf(t, late); c.MostReads < 2 {
		t.Errorf("at most %d reads were in flight, want at least 2", c.MostReads)
	}
	setMode(t, late, "-fail", "0")
	readBigPages(t, 32, f, want, make([]bool, bigPages))
}

// readBigPages reads each page of the flat file of big once, in random order. Exactly the bad pages have to
// fail.
func readBigPages(t testing.TB, readers int, f *os.File, want []byte, bad []bool) {
	t.Helper()
	var group sync.WaitGroup
	next := make(chan int)
	for range readers {
		group.Go(func() {
			for i := range next {
				p := make([]byte, 4096)
				_, err := f.ReadAt(p, int64(i)*4096)
				switch {
				case bad[i] && !errors.Is(err, unix.EIO):
					t.Errorf("page %d: %v, want EIO", i, err)
				case !bad[i] && (err != nil || !bytes.Equal(p, want[i*4096:][:4096])):
					t.Errorf("page %d: wrong bytes, or error %v", i, err)
				}
			}
		})
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(bigPages) {
		next <- i
	}
	close(next)
	group.Wait()
}

// TestLateReadsInFlight checks that one reader of many blocks has few and long reads of a distant source, and most of
// them in flight at a time, and that many readers together do not exceed the limit of 64.
func TestLateReadsInFlight(t *testing.T) {
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	late := serveLate(t, source, "-read", "20ms")
	dir := mount(t, late.Dir)
	f := openDirect(t, filepath.Join(dir, "z0/y0/x0.raw"))
	for range 5 { // the server detects by these reads that the source is distant
		if _, err := f.ReadAt(make([]byte, 4096), 0); err != nil {
			t.Fatal(err)
		}
	}
	// Blocks that are neighbours along y are far from each other in the file.
	setMode(t, late, "-reset")
	box := openDirect(t, filepath.Join(dir, "box/32-48_0-128_0-128.raw"))
	if _, err := box.ReadAt(make([]byte, 16*128*128*2), 0); err != nil {
		t.Fatal(err)
	}
	if c := countsOf(t, late); c.Reads > 16 || int64(c.MostReads) < c.Reads/2 {
		t.Errorf("one reader: %d reads, at most %d in flight; want at most 16, and half of them in flight", c.Reads,
			c.MostReads)
	}
	setMode(t, late, "-reset")
	readBigPages(t, 150, f, big.flat(), make([]bool, bigPages))
	if c := countsOf(t, late); c.MostReads < 16 || c.MostReads > 64 {
		t.Errorf("many readers: at most %d of %d reads were in flight, want 16 to 64", c.MostReads, c.Reads)
	}
}

// TestLateSourceInterrupted sends signals to the threads of the server while they wait, as Go's runtime does.
// The source answers EINTR. The readers see no error.
func TestLateSourceInterrupted(t *testing.T) {
	source := sparse.write(t)
	late := serveLate(t, source, "-read", "1ms", "-metadata", "1ms", "-interrupt")
	s := mountServer(t, late.Dir)
	ended := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
				if err := interruptThreads(s.pid); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	compareMounts(t, mount(t, source), s.dir)
	close(ended)
	group.Wait()
}

// interruptThreads sends SIGURG to all threads of a process. Go's runtime uses this signal to preempt
// goroutines.
func interruptThreads(pid int) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, d := range threads {
		thread, err := strconv.Atoi(d.Name())
		if err != nil {
			return err
		}
		if err := unix.Tgkill(pid, thread, unix.SIGURG); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return err
}
