package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// faultsTrial lets requests to the source fail, of any kind and at any time. A read under a fault has the right bytes
// or an error. It has never the zeros of a cube that does not exist. When the source is well again, everything reads.
var faultsTrial = torture.New("faults", newFaultsCase, runFaults)

type faultsCase struct {
	NoHeader bool        `json:"no_header,omitempty"`
	Steps    []faultStep `json:"steps"`
}

// faultStep sets a fault, and reads under it.
type faultStep struct {
	Op    string         `json:"op"`     // of the requests that fail; empty: all succeed
	Path  string         `json:"path"`   // that has this in it
	Errno int            `json:"errno"`  // with which they fail
	OneIn int            `json:"one_in"` // of so many
	Stale bool           `json:"stale"`  // open files are lost
	Reads []torture.Seed `json:"reads"`
}

func newFaultsCase(r *rand.Rand) faultsCase {
	c := faultsCase{NoHeader: r.IntN(4) == 0}
	for range 1 + r.IntN(8) {
		s := faultStep{
			Op:   randomOf(r, []string{"", opOpen, opRead, opStat, opLookup, opList}),
			Path: randomOf(r, []string{"", ".wkw", "x0.wkw", "color/1/z", "header.wkw", "z1", "properties"}),
			Errno: int(randomOf(r, []syscall.Errno{unix.EIO, unix.ESTALE, unix.ETIMEDOUT, unix.EACCES, unix.ENOMEM,
				unix.EMFILE})),
			OneIn: randomOf(r, []int{1, 1, 2, 3, 7}),
			Stale: r.IntN(5) == 0,
		}
		for range 1 + r.IntN(6) {
			s.Reads = append(s.Reads, torture.Seed(r.Uint64()))
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

func runFaults(t testing.TB, c faultsCase) {
	source := sparse.write(t)
	if !c.NoHeader {
		sparse.writeHeader(t, filepath.Join(source, "color/1"))
	}
	disk := serveFaulty(t, source)
	w := mountWatched(t, disk.dir, 10<<10)
	defer disk.set(nil)
	reader := faultsReader{t: t, w: w, dir: filepath.Join(w.dir, "color/1")}
	for n, step := range c.Steps {
		if step.Errno <= 0 || step.Errno == int(unix.ENOENT) || step.OneIn < 1 || step.Errno == int(unix.EINTR) {
			t.Skip("no error: one that is none, or that says there is nothing, or for which a call is repeated")
		}
		disk.set(step.fault())
		if step.Stale {
			disk.makeHandlesStale()
		}
		for _, seed := range step.Reads {
			got, want, name, err := reader.read(seed.Rand())
			if err == nil && !bytes.Equal(got, want) || errors.Is(err, os.ErrNotExist) {
				t.Fatalf("step %d, %s: %d bytes that are not the model's, or %v", n, name, len(got), err)
			}
		}
	}
	disk.set(nil)
	for seed := range torture.Seed(10) {
		var name string
		var err error
		var got, want []byte
		eventually(t, "the source is well again, and all reads", func() bool {
			got, want, name, err = reader.read(seed.Rand())
			return err == nil
		})
		if !bytes.Equal(got, want) {
			t.Fatalf("afterwards, %s: %d bytes that are not the model's", name, len(got))
		}
	}
}

// fault returns how requests end.
func (s faultStep) fault() fault {
	if s.Op == "" {
		return nil
	}
	var asked atomic.Int64
	return func(_ context.Context, op, path string, _, _ int64) syscall.Errno {
		if op != s.Op || !strings.Contains(path, s.Path) || asked.Add(1)%int64(s.OneIn) != 0 {
			return 0
		}
		return syscall.Errno(s.Errno)
	}
}

type faultsReader struct {
	t   testing.TB
	w   *watched
	dir string
}

// read reads a random file of the layer, by the page cache or past it. It returns what was read and what the model has.
func (f faultsReader) read(r *rand.Rand) (got, want []byte, name string, err error) {
	cubes := [][3]int{{0, 0, 0}, {2, 1, 0}, {1, 2, 1}, {3, 0, 4}}
	switch c := randomOf(r, cubes); r.IntN(4) {
	case 0:
		name, want = fmt.Sprintf("z%d/y%d/x%d.raw", c[2], c[1], c[0]), sparse.flat()
	case 1:
		x, y, z := r.IntN(4), r.IntN(4), r.IntN(4)
		name = fmt.Sprintf("z%d/y%d/x%d.blocks/z%d/y%d/x%d.raw", c[2], c[1], c[0], z, y, x)
		want = sparse.part(4*x, 4*y, 4*z, 4)
	case 2:
		name, want = "volume.raw", sparse.box(sparse.min, sparse.max())
	case 3:
		var lo, hi [3]int
		for axis := range 3 {
			lo[axis] = sparse.min[axis] + r.IntN(sparse.size[axis])
			hi[axis] = lo[axis] + 1 + r.IntN(20)
		}
		name, want = fmt.Sprintf("box/%d-%d_%d-%d_%d-%d.raw", lo[0], hi[0], lo[1], hi[1], lo[2], hi[2]),
			sparse.box(lo, hi)
	}
	flags := os.O_RDONLY
	if r.IntN(2) == 0 {
		flags |= unix.O_DIRECT
	}
	f.w.request(f.t, "read "+name, func() { got, err = readWith(filepath.Join(f.dir, name), flags, len(want)+1) })
	return got, want, name, err
}

// readWith reads a file of fewer than most bytes.
func readWith(name string, flags, most int) ([]byte, error) {
	f, err := os.OpenFile(name, flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := make([]byte, most)
	n := 0
	for {
		read, err := unix.Pread(int(f.Fd()), p[n:], int64(n))
		if err != nil || read == 0 {
			return p[:n], err
		}
		n += read
	}
}
