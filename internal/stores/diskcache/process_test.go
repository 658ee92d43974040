package diskcache

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
)

var kills = flag.Int("kills", 12, "how many writers TestKilledWriters kills")

// childVariable has the directory of the cache that a process of a test reads through. The process writes a byte to
// stdout for each read.
const childVariable = "DISKCACHE_TEST_DIR"

// childSize is the size of the cache that processes share.
const childSize = 12 << 20

// childReads is how often a process reads, unless it is killed. Processes share no memory, so that the race detector
// needs few.
var childReads = map[bool]int{false: 300, true: 100}[voxeltest.Race]

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childObjects are the objects that processes read.
func childObjects() (all []object.Object) {
	for i, size := range []int64{10, 70_000, 1 << 20, pieceSize + 5, 5 << 20, 9 << 20} {
		all = append(all, object.Object{Key: fmt.Sprintf("%03d", i), Size: size, Version: "1"})
	}
	return all
}

func runChild(dir string) error {
	c, err := Open(dir, Options{Size: childSize})
	if err != nil {
		return err
	}
	objects := childObjects()
	b := c.Bucket(newFakeBucket(objects...))
	for range childReads {
		o := objects[rand.IntN(len(objects))]
		off := rand.Int64N(o.Size)
		got, want := make([]byte, 1+rand.Int64N(o.Size-off)), make([]byte, o.Size-off)
		if err := b.Read(context.Background(), o, got, off); err != nil {
			return err
		}
		if contentOf(o, want, off); !bytes.Equal(got, want[:len(got)]) {
			return fmt.Errorf("%s, %d bytes at %d: wrong bytes", o.Key, len(got), off)
		}
		if _, err := os.Stdout.Write([]byte{'.'}); err != nil {
			return err
		}
	}
	c.Close()
	return nil
}

// child is a process that reads.
type child struct {
	*exec.Cmd
	reads  *bufio.Reader
	stderr bytes.Buffer
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), childVariable+"="+dir)
	c.Stderr = &c.stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.reads = bufio.NewReaderSize(out, 1)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTwoProcesses reads in several processes through one cache, which is never larger than it may be.
func TestTwoProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var all []*child
	for range 3 {
		all = append(all, startChild(t, dir))
	}
	m := &model{T: t, dir: dir, size: childSize}
	for _, c := range all {
		for {
			if _, err := c.reads.ReadByte(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			m.checkSize()
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, c.stderr.String())
		}
	}
}

// TestKilledWriters kills processes that write, at any moment. What is in the cache is served to the next, and is
// right; the cache is never larger than it may be.
func TestKilledWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	objects := childObjects()
	m := &model{T: t, dir: dir, size: childSize}
	hits := uint64(0)
	n := *kills
	if testing.Short() {
		n = min(n, 3)
	}
	for range n {
		c := startChild(t, dir)
		for range 1 + rand.IntN(childReads/10) {
			if _, err := c.reads.ReadByte(); err != nil {
				t.Fatalf("%v: %s", err, c.stderr.String())
			}
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		if c.stderr.Len() > 0 {
			t.Error(c.stderr.String())
		}
		m.checkSize()
		own := openCache(t, dir, Options{Size: childSize})
		b := own.Bucket(newFakeBucket(objects...))
		for _, o := range objects {
			for off := int64(0); off < o.Size; off += 100_000 {
				check(t, b, o, off, min(100_000, o.Size-off))
			}
		}
		own.Close()
		m.checkSize()
		hits += own.Stats().Hits
		if n := own.Stats().Damaged; n > 0 {
			t.Errorf("%d damaged pages: a checksum was written before its page", n)
		}
	}
	if hits == 0 {
		t.Error("nothing was read from the cache")
	}
}
