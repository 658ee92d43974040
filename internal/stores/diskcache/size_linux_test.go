package diskcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// smallDisk returns a directory on a disk of its own, in memory.
func smallDisk(t *testing.T, size int64) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a small disk")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)); err != nil {
		t.Skipf("needs to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func usedOf(t *testing.T, dir string) (used, free int64) {
	t.Helper()
	var st unix.Statfs_t
	if err := statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Blocks-st.Bfree) * int64(st.Bsize), int64(st.Bavail) * int64(st.Bsize)
}

// TestSizeWhileWriting watches what a disk has allocated while two caches write to it: never more than the size, and
// always as much free as has to be.
func TestSizeWhileWriting(t *testing.T) {
	for _, test := range []struct {
		name              string
		disk              int64
		options           Options
		wantUsed, wantAll int64
	}{
		{"size", 200 << 20, Options{Size: 10 << 20}, 10 << 20, 8 << 20},
		{"free bytes", 20 << 20, Options{Size: 1 << 30, MinFree: 6 << 20}, 14 << 20, 4 << 20},
		{"free percent", 20 << 20, Options{Size: 1 << 30, MinFreePercent: 50}, 10 << 20, 3 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			disk := smallDisk(t, test.disk)
			dir := filepath.Join(disk, "cache")
			stop, most := make(chan struct{}), int64(0)
			var watching, readers sync.WaitGroup
			watching.Go(func() {
				for {
					used, _ := usedOf(t, disk)
					most = max(most, used)
					select {
					case <-stop:
						return
					default:
					}
				}
			})
			var caches []*Cache
			for i := range 2 {
				c := openCache(t, dir, test.options)
				caches = append(caches, c)
				readers.Go(func() { readMany(t, c, i) })
			}
			readers.Wait()
			for _, c := range caches {
				c.Close()
			}
			close(stop)
			watching.Wait()
			if most > test.wantUsed || most < test.wantAll {
				t.Errorf("at most %d bytes were used, want %d to %d", most, test.wantAll, test.wantUsed)
			}
			evicted := uint64(0) // either cache evicts for both
			for _, c := range caches {
				s := c.Stats()
				evicted += uint64(s.Evicted)
				if s.WrittenBytes == 0 || s.UsedBytes > test.wantUsed {
					t.Errorf("%+v", s)
				}
			}
			if evicted == 0 {
				t.Error("nothing was evicted")
			}
		})
	}
}

// readMany reads 30 MiB of objects of different sizes.
func readMany(t *testing.T, c *Cache, seed int) {
	for n, sum := 0, int64(0); sum < 30<<20; n++ {
		o := object.Object{Key: fmt.Sprintf("%d-%d", seed, n), Size: []int64{3 << 20, 100, 70_000, 1 << 20}[n%4],
			Version: "1"}
		check(t, c.Bucket(newFakeBucket(o)), o, 0, o.Size)
		sum += o.Size
	}
}

// TestSizeOnDisk checks the size of a cache of small objects, and of pieces with holes, on the disk of the temporary
// directory, where directories and places of pages take room, too.
func TestSizeOnDisk(t *testing.T) {
	const size = 6 << 20
	dir := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, dir, Options{Size: size})
	fake := newFakeBucket()
	large := object.Object{Key: "large", Size: 1 << 30, Version: "1"}
	fake.put(large)
	b := c.Bucket(fake)
	for n := range 1000 {
		o := object.Object{Key: fmt.Sprintf("small-%d", n), Size: 100, Version: "1"}
		fake.put(o)
		check(t, b, o, 0, 100)
		check(t, b, large, int64(n)*300_000, 100)
	}
	c.Close()
	syncDisk(t, dir) // the places of pages are chosen now
	if n := allocated(t, dir); n > size || n < size/8 {
		t.Errorf("%d bytes are allocated, of %d", n, int64(size))
	}
	if used := c.Stats().UsedBytes; used < allocated(t, filepath.Join(dir, formatDir))-fixedCost {
		t.Errorf("the cache counts %d bytes of %d", used, allocated(t, dir))
	}
}

// syncDisk writes what the disk of a directory has in memory.
func syncDisk(t *testing.T, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		t.Fatal(err)
	}
}

// TestLeastRecentlyUsed checks which pieces are evicted: those not used for longest, and those from the future.
func TestLeastRecentlyUsed(t *testing.T) {
	dir := t.TempDir()
	c := openCache(t, dir, Options{Size: 4 << 20})
	fake, start := newFakeBucket(), time.Now().Add(-time.Hour)
	var all []object.Object
	for n := range 30 {
		o := object.Object{Key: fmt.Sprint(n), Size: 100_000, Version: "1"}
		fake.put(o)
		all = append(all, o)
		check(t, c.Bucket(fake), o, 0, o.Size)
	}
	c = flush(t, c, dir)
	for n, o := range all {
		at := start.Add(time.Duration(n) * time.Second)
		if n == 29 {
			at = time.Now().AddDate(1, 0, 0)
		}
		path := filepath.Join(c.dir, pieceID{identify(fakeURL, "", o), 0}.path())
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	check(t, c.Bucket(fake), all[0], 0, 10) // used now
	c = flush(t, c, dir)
	fresh := object.Object{Key: "fresh", Size: 1_000_000, Version: "1"}
	fake.put(fresh)
	check(t, c.Bucket(fake), fresh, 0, fresh.Size)
	c = flush(t, c, dir)
	fake.taken()
	var gone []int
	for n, o := range all {
		if _, err := os.Stat(filepath.Join(c.dir, pieceID{identify(fakeURL, "", o), 0}.path())); errors.Is(err,
			fs.ErrNotExist) {
			gone = append(gone, n)
		}
	}
	if len(gone) < 2 || gone[0] != 1 || gone[len(gone)-2] != len(gone)-1 || gone[len(gone)-1] != 29 {
		t.Errorf("evicted: %v, want 1, 2 … and 29", gone)
	}
}

// TestFullDisk checks that reads go on while the disk is full, with one warning.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 4<<20)
	if err := os.WriteFile(filepath.Join(disk, "other"), make([]byte, 4<<20-3*pageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	c := openCache(t, filepath.Join(disk, "cache"), Options{Size: 1 << 30, Log: logTo(&log)})
	o := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
	fake := newFakeBucket(o)
	for range 3 {
		check(t, c.Bucket(fake), o, 0, o.Size)
	}
	c.Close()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "cannot write") {
		t.Errorf("%d warnings, want 1:\n%s", n, log.String())
	}
	if s := c.Stats(); s.WrittenBytes != 0 || s.DroppedBytes == 0 {
		t.Errorf("%+v", s)
	}
}

// TestReadOnlyDisk checks that what is in a cache is read from a read-only disk, and that reads go on without it.
func TestReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t, 8<<20)
	dir := filepath.Join(disk, "cache")
	o := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
	fake := newFakeBucket(o)
	c := openCache(t, dir, Options{})
	check(t, c.Bucket(fake), o, 0, unitSize)
	c.Close()
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, filepath.Join(disk, "none")} {
		var log lockedBuffer
		fake.taken()
		c = openCache(t, dir, Options{Log: logTo(&log)})
		for range 3 {
			check(t, c.Bucket(fake), o, 0, o.Size)
		}
		c.Close()
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("%s: %d warnings, want 1:\n%s", dir, n, log.String())
		}
		for _, r := range fake.taken() {
			if r.from == 0 != strings.HasSuffix(dir, "none") {
				t.Errorf("%s: request %v", dir, r)
			}
		}
	}
}

// TestRemovedWhileOpen removes the directory below an open cache: reads and writes go on.
func TestRemovedWhileOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, dir, Options{})
	o := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
	fake := newFakeBucket(o)
	for n := range int64(4) {
		check(t, c.Bucket(fake), o, n*unitSize, 10)
		waitWritten(c)
		if err := os.RemoveAll(c.dir); err != nil {
			t.Fatal(err)
		}
	}
	check(t, c.Bucket(fake), o, 5*unitSize, 10)
	c = flush(t, c, dir)
	fake.taken()
	check(t, c.Bucket(fake), o, 5*unitSize, 10)
	if reads := fake.taken(); len(reads) > 0 {
		t.Errorf("requests after a restart: %v", reads)
	}
}
