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
)

// lateArgument makes the test a source that answers late: package latefs. It is a process of its own, so that the test
// may look at it, too.
const lateArgument = "late"

// serveLate mounts a directory whose requests are answered as the flags of latefs say, until the end of the test.
func serveLate(t *testing.T, source string, flags ...string) *latefs.Server {
	t.Helper()
	requireFUSE(t)
	s, err := latefs.Start([]string{os.Args[0], lateArgument}, source, tempDir(t), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("unmounting the source: %v", err)
		}
	})
	return s
}

// change changes how a source answers.
func change(t *testing.T, source *latefs.Server, flags ...string) {
	t.Helper()
	if _, err := source.Do(flags...); err != nil {
		t.Fatal(err)
	}
}

// asked returns what a source was asked for.
func asked(t *testing.T, source *latefs.Server) latefs.Counts {
	t.Helper()
	counts, err := source.Do()
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestLateBytes reads datasets whose sources answer late and in any order. Files and errors are those of a source on
// disk.
func TestLateBytes(t *testing.T) {
	sources := []string{"../testdata/damaged", "../testdata/draft", sparse.write(t)}
	if dir, err := findRefdata(); err == nil {
		for _, name := range []string{"wkw/sparse", "wkw/type_uint16", "wkw/two_channels", "wkw/sides_b2_f16", "annotation", "precomputed/cseg_u32", "precomputed/sh_gaps"} {
			sources = append(sources, filepath.Join(dir, name))
		}
	} else {
		t.Log("no reference data is read: ", err)
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			source, err := filepath.Abs(source)
			if err != nil {
				t.Fatal(err)
			}
			late := serveLate(t, source, "-read", "3ms", "-look", "300us", "-shuffle", "-slow-one-in", "50", "-slow", "30ms")
			compareMounts(t, mount(t, source), mount(t, late.Dir))
		})
	}
}

// compareMounts compares the files of two mounts, but those of single blocks and slices.
func compareMounts(t *testing.T, want, got string) {
	t.Helper()
	var group sync.WaitGroup
	defer group.Wait()
	places := make(chan struct{}, 8)
	n := 0
	err := filepath.WalkDir(want, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasSuffix(path, ".blocks") || slices.Contains([]string{"slices", "precomputed"}, d.Name())) {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		n++
		name, err := filepath.Rel(want, path)
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
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

// compareFiles compares the first MiBs of two files piece by piece. A piece that has an error has it in both.
func compareFiles(want, got string) error {
	a, errA := os.OpenFile(want, os.O_RDONLY|unix.O_DIRECT, 0)
	b, errB := os.OpenFile(got, os.O_RDONLY|unix.O_DIRECT, 0)
	if errA != nil || errB != nil {
		if numberOf(errA) != numberOf(errB) {
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
		if na != nb || numberOf(errA) != numberOf(errB) || !bytes.Equal(pa[:na], pb[:nb]) {
			return fmt.Errorf("from byte %d on: %d bytes, %v; want %d, %v, and the same bytes", off, nb, errB, na, errA)
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

// numberOf returns the number of an error, 0 if it has none.
func numberOf(err error) (number syscall.Errno) {
	errors.As(err, &number)
	return number
}

// bigPages is how many pages the flat file of big has. Each is a row of blocks along x, 16 voxels of y and one of z.
const bigPages = 128 * 128 * 128 * 2 / 4096

// badPages returns which pages of the flat file of big need a block that cannot be read.
func badPages(file []byte, mode latefs.Mode) []bool {
	bad := make([]bool, bigPages)
	for i := range 512 {
		from, end := int64(tableEntry(file, i-1)), int64(tableEntry(file, i))
		if !mode.Fails(from, end-from) {
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

// TestLateErrors reads from a source of which a part fails, by many readers at once and in any order. What fails is just
// what needs that part, and when the source is well again, nothing does.
func TestLateErrors(t *testing.T) {
	source := tempDir(t)
	file := big.file(t)
	writeFile(t, filepath.Join(source, "z0/y0/x0.wkw"), file)
	big.writeHeader(t, source)
	want := big.flat()
	mode := latefs.Mode{Fail: 0.02, FailFrom: 2 * latefs.Stripe, Seed: 4} // not in the table
	late := serveLate(t, source, "-read", "1ms", "-shuffle")
	f := openDirect(t, filepath.Join(mount(t, late.Dir), "z0/y0/x0.raw"))
	bad := badPages(file, mode)
	if n := len(slices.DeleteFunc(slices.Clone(bad), func(b bool) bool { return !b })); n < bigPages/20 || n > bigPages/2 {
		t.Fatalf("%d pages of %d are bad: choose another share", n, bigPages)
	}
	change(t, late, "-fail", fmt.Sprint(mode.Fail), "-fail-from", fmt.Sprint(mode.FailFrom), "-seed", fmt.Sprint(mode.Seed))
	readBigPages(t, 32, f, want, bad)
	if c := asked(t, late); c.MostReads < 2 {
		t.Errorf("at most %d reads were in flight", c.MostReads)
	}
	change(t, late, "-fail", "0")
	readBigPages(t, 32, f, want, make([]bool, bigPages))
}

// readBigPages has readers read the pages of the flat file of big, each once, in random order.
func readBigPages(t *testing.T, readers int, f *os.File, want []byte, bad []bool) {
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
					t.Errorf("page %d: not the model's bytes, or %v", i, err)
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

// TestLateReadsInFlight: a single reader of many blocks waits for many answers at once, and so do many readers. But they
// do not ask for more at once than they may.
func TestLateReadsInFlight(t *testing.T) {
	source := tempDir(t)
	big.write(t, source, 0, 0, 0)
	late := serveLate(t, source, "-read", "20ms")
	dir := mount(t, late.Dir)
	f := openDirect(t, filepath.Join(dir, "z0/y0/x0.raw"))
	for range 5 { // some reads until it is known that they are late
		if _, err := f.ReadAt(make([]byte, 4096), 0); err != nil {
			t.Fatal(err)
		}
	}
	// Blocks that follow each other in y are far from each other in the file.
	change(t, late, "-reset")
	box := openDirect(t, filepath.Join(dir, "box/32-48_0-128_0-128.raw"))
	if _, err := box.ReadAt(make([]byte, 16*128*128*2), 0); err != nil {
		t.Fatal(err)
	}
	if c := asked(t, late); c.MostReads < 16 || c.MostReads > 64 {
		t.Errorf("one reader: at most %d reads of %d were in flight, want 16 to 64", c.MostReads, c.Reads)
	}
	change(t, late, "-reset")
	readBigPages(t, 150, f, big.flat(), make([]bool, bigPages))
	if c := asked(t, late); c.MostReads < 16 || c.MostReads > 64 {
		t.Errorf("many readers: at most %d reads of %d were in flight, want 16 to 64", c.MostReads, c.Reads)
	}
}

// TestLateInterrupted: signals come for the threads of the server while they wait, as Go's own runtime sends them, and
// the source answers EINTR. No reader gets to know.
func TestLateInterrupted(t *testing.T) {
	source := sparse.write(t)
	late := serveLate(t, source, "-read", "1ms", "-look", "1ms", "-interrupt")
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

// interruptThreads sends the signal to all threads of a process by which Go takes turns.
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
