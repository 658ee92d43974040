package dataset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
)

// openSample writes a sample, and opens a mag of it.
func openSample(t *testing.T) (dir string, m volume.Mag) {
	t.Helper()
	dir = t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), filepath.Join(dir, "color/1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return dir, d.Root.Mag
}

// TestReader: boxes have the voxels that volume.ReadBox returns, many at a time, and each block is decoded once.
func TestReader(t *testing.T) {
	_, m := openSample(t)
	c := cache.New(64 << 20)
	defer c.Close()
	r, err := NewReader(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g, err := m.CubeGrid()
	if err != nil || r.Grid() != g {
		t.Errorf("got %+v, expected %+v, %v", r.Grid(), g, err)
	}
	bounds, err := m.Bounds()
	if err != nil || r.Bounds() != bounds {
		t.Errorf("got %v, expected %v, %v", r.Bounds(), bounds, err)
	}
	boxes := []volume.Box{bounds, bounds.Min.BoxOfOne(), {Min: bounds.Min.Add(volume.Vec{3, 1, 2}),
		Max: bounds.Max.Sub(volume.Vec{5, 0, 1})}}
	for range 2 {
		var all sync.WaitGroup
		for _, box := range boxes {
			all.Go(func() {
				got, err := r.ReadBox(t.Context(), box)
				want, wantErr := volume.ReadBox(context.Background(), m, box)
				if err != nil || wantErr != nil || !bytes.Equal(got, want) {
					t.Errorf("%v: other voxels, %v, %v", box, err, wantErr)
				}
			})
		}
		all.Wait()
	}
	if s, blocks := c.Stats(),
		r.mag.Local(bounds).Div(g.Block).Size(); s.Loads != uint64(blocks[0]*blocks[1]*blocks[2]) || s.Hits == 0 {
		t.Errorf("got %+v for %v blocks", s, blocks)
	}
}

// openReader returns a reader of the sample with a small cache, until the end of the test.
func openReader(t *testing.T) *Reader {
	t.Helper()
	_, m := openSample(t)
	c := cache.New(1 << 20)
	t.Cleanup(c.Close)
	r, err := NewReader(m, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestReaderOutside: voxels outside of the bounds are 0.
func TestReaderOutside(t *testing.T) {
	r := openReader(t)
	lo := r.Bounds().Min
	box := volume.Box{Min: lo.Sub(volume.Vec{50, 1, 0}), Max: lo.Add(volume.Vec{1, 1, 1})}
	got, err := r.ReadBox(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := r.ReadBox(t.Context(), lo.BoxOfOne())
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 51*2)
	copy(want[101:], inside)
	if !bytes.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
}

// TestReaderErrors: an empty box, memory of another size, and a context that is done.
func TestReaderErrors(t *testing.T) {
	r := openReader(t)
	if _, err := r.ReadBox(t.Context(), volume.Box{}); err == nil {
		t.Error("no error for an empty box")
	}
	one := r.Bounds().Min.BoxOfOne()
	for _, n := range []int{0, 2} {
		if err := r.ReadBoxInto(t.Context(), one, make([]byte, n)); err == nil {
			t.Errorf("no error for a voxel in %d bytes", n)
		}
	}
	if err := r.ReadBoxInto(t.Context(), one, make([]byte, 1)); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.ReadBox(ctx, r.Bounds()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestReaderOfChangedCube: a reader never shows another version of a cube, and a new reader shows it.
func TestReaderOfChangedCube(t *testing.T) {
	dir, m := openSample(t)
	c := cache.New(1 << 20)
	defer c.Close()
	old, err := NewReader(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	cube := filepath.Join(dir, "color/1/z0/y0/x1.wkw")
	b, err := os.ReadFile(cube)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(cube); err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(filepath.Join(dir, "color/1/z0/y0/x2.wkw"))
	if err != nil || bytes.Equal(b, other) {
		t.Fatal("the cubes are equal", err)
	}
	if err := os.WriteFile(cube, other, 0o644); err != nil {
		t.Fatal(err)
	}
	box := old.Grid().CubeBox(volume.Vec{1, 0, 0}).Intersect(old.Bounds())
	if _, err := old.ReadBox(t.Context(), box); !errors.Is(err, volume.ErrChanged) {
		t.Errorf("got %v, expected %v", err, volume.ErrChanged)
	}
	r, err := NewReader(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.ReadBox(t.Context(), box)
	want, wantErr := volume.ReadBox(t.Context(), m, box)
	if err != nil || wantErr != nil || !bytes.Equal(got, want) {
		t.Errorf("other voxels, %v, %v", err, wantErr)
	}
}
