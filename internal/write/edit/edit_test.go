package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// pattern is a base whose voxels encode where they are.
type pattern struct {
	grid   volume.Grid
	bounds volume.Box
}

func (p pattern) at(v volume.Vec) uint16 { return uint16(v[0]*3 + v[1]*5 + v[2]*7 + 1) }

func (p pattern) read(_ context.Context, at volume.Vec) ([]byte, error) {
	box := at.BoxOfOne().Mul(volume.Cube(side))
	voxels := make([]byte, p.grid.BlockBytes())
	for v := range box.Intersect(p.bounds).All() {
		binary.LittleEndian.PutUint16(voxels[2*v.Sub(box.Min).Index(volume.Cube(side)):], p.at(v))
	}
	return voxels, nil
}

// model is the voxels as one array.
type model struct {
	bounds volume.Box
	voxels []byte
}

func newModel(p pattern) *model {
	m := &model{p.bounds, make([]byte, 2*volumeOf(p.bounds))}
	for v := range p.bounds.All() {
		binary.LittleEndian.PutUint16(m.voxels[2*v.Sub(p.bounds.Min).Index(p.bounds.Size()):], p.at(v))
	}
	return m
}

func volumeOf(b volume.Box) int { s := b.Size(); return s[0] * s[1] * s[2] }

// box returns the bytes of a box. Those outside of the bounds are 0.
func (m *model) box(b volume.Box) []byte {
	p := make([]byte, 2*volumeOf(b))
	for v := range b.Intersect(m.bounds).All() {
		copy(p[2*v.Sub(b.Min).Index(b.Size()):][:2], m.voxels[2*v.Sub(m.bounds.Min).Index(m.bounds.Size()):])
	}
	return p
}

// write replaces the bytes of a box that are inside of the bounds.
func (m *model) write(b volume.Box, p []byte) {
	for v := range b.Intersect(m.bounds).All() {
		copy(m.voxels[2*v.Sub(m.bounds.Min).Index(m.bounds.Size()):][:2], p[2*v.Sub(b.Min).Index(b.Size()):])
	}
}

var (
	testGrid   = volume.Grid{Type: volume.Uint16, Channels: 1}
	testBounds = volume.Box{Min: volume.Vec{5, 40, 30}, Max: volume.Vec{75, 70, 101}}
)

// openTest opens a directory of a mag that has the pattern under it.
func openTest(t testing.TB, dir string, limit int64, d disk) (*Voxels, pattern) {
	t.Helper()
	g := headerOf(testGrid).Grid()
	p := pattern{g, testBounds}
	dir, header, err := openMag(dir, volume.Factor{1, 1, 1}, g)
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{limit: limit, limits: usual}
	v := newVoxels(dir, header, g, testBounds, p, m, d)
	v.factor = volume.Factor{1, 1, 1}
	if err := v.list(); err != nil {
		t.Fatal(err)
	}
	return v, p
}

// read reads bytes of a box.
func read(t testing.TB, v *Voxels, under *model, box volume.Box, off, n int) []byte {
	t.Helper()
	p := under.box(box)[off:][:n]
	if err := v.Patch(t.Context(), box, p, int64(off)); err != nil {
		t.Fatal(err)
	}
	return p
}

// randomBox returns a box that shares a voxel with the bounds.
func randomBox(r *rand.Rand) volume.Box {
	for {
		var b volume.Box
		for axis := range 3 {
			lo := testBounds.Min[axis] - 8 + r.IntN(testBounds.Size()[axis]+16)
			b.Min[axis], b.Max[axis] = lo, lo+1+r.IntN(40)
		}
		if !b.Intersect(testBounds).Empty() {
			return b
		}
	}
}

// TestWritesAgreeWithModel makes random writes, reads and syncs, in a lot of memory and in little, and opens the
// directory again.
func TestWritesAgreeWithModel(t *testing.T) {
	for limit, steps := range map[int64]int{1 << 30: 300, 1 << 20: 100, 200 << 10: 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(limit)))
			dir := t.TempDir()
			v, p := openTest(t, dir, limit, quickDisk{})
			under, want := newModel(p), newModel(p)
			for i := range steps {
				box := randomBox(r)
				all := want.box(box)
				off := r.IntN(len(all))
				n := 1 + r.IntN(len(all)-off)
				switch r.IntN(10) {
				case 0:
					if err := v.Sync(t.Context(), box); err != nil {
						t.Fatal(err)
					}
				case 1:
					if err := v.syncAll(t.Context()); err != nil {
						t.Fatal(err)
					}
					v, _ = openTest(t, dir, limit, quickDisk{})
				case 2, 3, 4, 5:
					if got := read(t, v, under, box, off, n); !bytes.Equal(got, all[off:off+n]) {
						t.Fatalf("step %d: bytes %d to %d of %v differ", i, off, off+n, box)
					}
				default:
					fresh := make([]byte, len(all))
					for i := range fresh {
						fresh[i] = byte(r.Uint32())
					}
					inside := &model{testBounds, make([]byte, len(want.voxels))}
					inside.write(box, fresh)
					copy(all[off:off+n], inside.box(box)[off:]) // 0 outside of the bounds
					if err := v.Write(t.Context(), box, all[off:off+n], int64(off)); err != nil {
						t.Fatal(err)
					}
					want.write(box, all)
				}
			}
			if err := v.syncAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkFiles(t, dir, v, want)
			if used := v.memory.bytes.Load(); limit < 1<<20 && used > limit+int64(v.grid.BlockBytes()) {
				v.memory.shrink(t.Context())
				if used = v.memory.bytes.Load(); used > limit {
					t.Errorf("%d bytes in memory, expected at most %d", used, limit)
				}
			}
		})
	}
}

// checkFiles compares the bounds with the files, as other programs read them. Blocks without a file are as the base has
// them.
func checkFiles(t *testing.T, dir string, v *Voxels, want *model) {
	t.Helper()
	changed := 0
	for at := range testBounds.Div(volume.Cube(side)).All() {
		voxels, err := v.base.read(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		f, err := wkw.OpenFile(os.DirFS(filepath.Join(dir, "1")), nameOf(at))
		if err == nil {
			changed++
			voxels, err = volume.ReadBlock(t.Context(), f, volume.Vec{})
			f.Close()
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(voxels, want.box(at.BoxOfOne().Mul(volume.Cube(side)))) {
			t.Errorf("block %v differs", at)
		}
	}
	if changed == 0 {
		t.Error("no block has a file")
	}
}

// TestEqualWrites: bytes that the layer has make no block.
func TestEqualWrites(t *testing.T) {
	dir := t.TempDir()
	v, p := openTest(t, dir, 1<<30, osDisk{})
	all := newModel(p).box(testBounds)
	if err := v.Write(t.Context(), testBounds, all, 0); err != nil {
		t.Fatal(err)
	}
	all[100]++
	if err := v.Write(t.Context(), testBounds, all, 0); err != nil {
		t.Fatal(err)
	}
	if err := v.syncAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len((*files)(v).at()); n != 1 {
		t.Errorf("%d blocks have files, expected 1", n)
	}
}

// TestVersions: a block has the same version when it is described, when it is opened, and in the next process. Readers
// compare them, and refuse a block that has another one.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	v, _ := openTest(t, dir, 1<<30, osDisk{})
	box := volume.Box{Min: volume.Vec{30, 50, 40}, Max: volume.Vec{34, 51, 41}}
	seen := map[vfs.Version]bool{}
	for i := range 2 {
		if err := v.Write(t.Context(), box, bytes.Repeat([]byte{byte(200 + i)}, 8), 0); err != nil {
			t.Fatal(err)
		}
		if err := v.Sync(t.Context(), box); err != nil {
			t.Fatal(err)
		}
		again, _ := openTest(t, dir, 1<<30, osDisk{})
		for _, c := range (*files)(v).at() {
			described, err := (*files)(v).StatCubes(c[2], c[1], c[0])
			if err != nil {
				t.Fatal(err)
			}
			next, err := (*files)(again).StatCubes(c[2], c[1], c[0])
			if err != nil {
				t.Fatal(err)
			}
			opened, err := (*files)(v).OpenCube(c)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			want := opened.Version()
			if vfs.VersionOf(described) != want || vfs.VersionOf(opened.Info()) != want || vfs.VersionOf(next) != want {
				t.Errorf("block %v: the versions differ", c)
			}
			if seen[want] {
				t.Errorf("block %v: the version is that of before", c)
			}
			seen[want] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d versions of 2 blocks, expected 4", len(seen))
	}
}

// TestOutside: a voxel outside of the bounding box can only be 0.
func TestOutside(t *testing.T) {
	v, _ := openTest(t, t.TempDir(), 1<<30, osDisk{})
	box := volume.Box{Min: volume.Vec{0, 40, 30}, Max: volume.Vec{10, 41, 31}}
	p := make([]byte, 20)
	if err := v.Write(t.Context(), box, p, 0); err != nil {
		t.Error(err)
	}
	p[9] = 1 // of voxel 4,40,30
	if err := v.Write(t.Context(), box, p, 0); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v, expected %v", err, fs.ErrInvalid)
	}
}

// TestManyWriters writes from many goroutines into parts of the same blocks, while others read and sync, in little
// memory.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	v, p := openTest(t, dir, 1<<20, quickDisk{})
	under, want := newModel(p), newModel(p)
	var group sync.WaitGroup
	size := testBounds.Size()
	for w := range 8 {
		r := rand.New(rand.NewPCG(2, uint64(w)))
		box := testBounds // every eighth column
		fresh := make([]byte, 2*size[1]*size[2])
		group.Go(func() {
			for range 3 {
				for i := range fresh {
					fresh[i] = byte(r.Uint32())
				}
				for x := testBounds.Min[0] + w; x < testBounds.Max[0]; x += 8 {
					box.Min[0], box.Max[0] = x, x+1
					if err := v.Write(t.Context(), box, fresh, 0); err != nil {
						t.Error(err)
					}
				}
				if err := v.Sync(t.Context(), box); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 3 {
				got := under.box(testBounds)
				if err := v.Patch(t.Context(), testBounds, got, 0); err != nil {
					t.Error(err)
				}
			}
		})
		defer func() {
			for x := testBounds.Min[0] + w; x < testBounds.Max[0]; x += 8 {
				box.Min[0], box.Max[0] = x, x+1
				want.write(box, fresh)
			}
			if w == 0 { // the last of the deferred calls
				if err := v.syncAll(context.Background()); err != nil {
					t.Error(err)
				}
				checkFiles(t, dir, v, want)
			}
		}()
	}
	group.Wait()
}

// quickDisk is a disk that does not sync.
type quickDisk struct{ osDisk }

func (quickDisk) SyncDir(string) error { return nil }

func (d quickDisk) Create(path string) (diskFile, error) {
	f, err := d.osDisk.Create(path)
	return quickFile{f}, err
}

type quickFile struct{ diskFile }

func (quickFile) Sync() error { return nil }

// fullDisk is a disk with little room.
type fullDisk struct {
	osDisk
	free int64
	err  error // of Create
}

func (d fullDisk) Free(string) (int64, error) { return d.free, nil }

func (d fullDisk) Create(path string) (diskFile, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.osDisk.Create(path)
}

// TestFullDisk: a write for which there is no room fails. If room is taken after the write, Sync fails, and a later one
// succeeds.
func TestFullDisk(t *testing.T) {
	v, p := openTest(t, t.TempDir(), 1<<30, nil)
	d := &fullDisk{free: v.bound * 2}
	v.disk = d
	one := volume.Box{Min: testBounds.Min, Max: testBounds.Min.Add(volume.Vec{1, 1, 1})}
	if err := v.Write(t.Context(), testBounds, make([]byte, 2*volumeOf(testBounds)), 0); !errors.Is(err,
		syscall.ENOSPC) {
		t.Errorf("got %v, expected %v", err, syscall.ENOSPC)
	}
	if err := v.Write(t.Context(), one, []byte{1, 2}, 0); err != nil {
		t.Error(err)
	}
	d.err, d.free = syscall.ENOSPC, 0
	if err := v.Sync(t.Context(), one); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, expected %v", err, syscall.ENOSPC)
	}
	if got := read(t, v, newModel(p), one, 0, 2); !bytes.Equal(got, []byte{1, 2}) {
		t.Errorf("got %v after the error", got)
	}
	d.err, d.free = nil, math.MaxInt64
	if err := v.Sync(t.Context(), one); err != nil {
		t.Error(err)
	}
	if n := v.dirtyBlocks(); n != 0 {
		t.Errorf("%d blocks are not durable", n)
	}
}
