package annotations

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// unpacked returns a directory with an annotation of WKW.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "edits")
	if err := os.CopyFS(dir, os.DirFS(refdata.Dir(t, "annotations", "unpacked_both"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// blocksOf returns the boxes of all blocks in a directory, by the paths of their files, in voxels of their mag.
func blocksOf(t *testing.T, dir string) map[string]volume.Box {
	t.Helper()
	all := map[string]volume.Box{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(filepath.Join(dir, "data_Volume"), path)
		mag, rest, _ := strings.Cut(filepath.ToSlash(name), "/")
		var c volume.Vec
		if n, _ := fmt.Sscanf(rest, "z%d/y%d/x%d.wkw", &c[2], &c[1], &c[0]); n == 3 {
			all[mag+"/"+rest] = c.BoxOfOne().Mul(volume.Cube(32))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRevert removes the blocks of random boxes. Exactly those that lie in the box are gone, or those that it touches,
// and all other files are there. What is removed is said before.
func TestRevert(t *testing.T) {
	factors := map[string]volume.Vec{"1": {1, 1, 1}, "2-2-1": {2, 2, 1}, "4-4-2": {4, 4, 2}}
	reverted := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 6))
		dir := unpacked(t)
		before := blocksOf(t, dir)
		var box volume.Box
		for axis := range 3 {
			box.Min[axis] = r.IntN(60)
			box.Max[axis] = box.Min[axis] + 1 + r.IntN(150)
		}
		s := Selection{Box: box, Round: seed%2 == 0, Mag: []string{"", "1", "2-2-1", ""}[seed%4]}
		want, partial := map[string]bool{}, false
		for name, b := range before {
			mag, _, _ := strings.Cut(name, "/")
			if s.Mag != "" && s.Mag != mag {
				continue
			}
			if s.Mag == "" {
				b = b.Mul(factors[mag])
			}
			common := b.Intersect(box)
			partial = partial || !common.Empty() && common != b
			if common == b || !common.Empty() && s.Round {
				want[name] = true
			}
		}
		n, boxes := 0, 0
		err := Revert(t.Context(), dir, open(t, dir), s, false, func(found []Blocks) error {
			for _, f := range found {
				n += f.N
				for _, b := range f.Boxes {
					size := b.Size().Div(volume.Cube(32))
					boxes += size[0] * size[1] * size[2]
				}
			}
			if left := blocksOf(t, dir); len(left) != len(before) {
				t.Errorf("seed %d: blocks are removed before that is said", seed)
			}
			return nil
		})
		if partial && !s.Round {
			if _, ok := errors.AsType[*PartialError](err); !ok {
				t.Errorf("seed %d: got %v", seed, err)
			}
			want = nil
		} else if err != nil || n != len(want) || boxes != n {
			t.Errorf("seed %d: got %v, %d blocks in boxes of %d, want %d", seed, err, n, boxes, len(want))
		}
		after := blocksOf(t, dir)
		for name := range before {
			if _, ok := after[name]; ok == want[name] {
				t.Errorf("seed %d: box %v: %s: is there: %v", seed, box, name, ok)
			}
		}
		reverted += len(want)
		if _, err := os.Stat(filepath.Join(dir, "data_Volume/1/header.wkw")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, annotation.LockFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("seed %d: the lock is left: %v", seed, err)
		}
	}
	if reverted < 50 {
		t.Errorf("%d blocks were reverted", reverted)
	}
}

// TestRevertErrors: nothing is removed where it cannot be, where another process writes, and by a dry run.
func TestRevertErrors(t *testing.T) {
	all := volume.Box{Max: volume.Cube(10000)}
	none := func([]Blocks) error { return nil }
	for name, test := range map[string]struct {
		source string
		s      Selection
		want   string
	}{
		"a volume of another name": {"unpacked_both", Selection{Box: all, Volume: "other"}, ErrNoSuch.Error()},
		"a mag of another name":    {"unpacked_both", Selection{Box: all, Mag: "8"}, ErrNoSuch.Error()},
		"an archive":               {"unpacked_outer", Selection{Box: all}, "unpack it first"},
		"Zarr":                     {"unpacked_zarr3", Selection{Box: all}, "expected blocks of WKW"},
	} {
		dir := filepath.Join(t.TempDir(), "edits")
		if err := os.CopyFS(dir, os.DirFS(refdata.Dir(t, "annotations", test.source))); err != nil {
			t.Fatal(err)
		}
		if err := Revert(t.Context(), dir, open(t, dir), test.s, false, none); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	dir := unpacked(t)
	before := len(blocksOf(t, dir))
	a := open(t, dir)
	lock, err := lockfile.Take(t.Context(), filepath.Join(dir, annotation.LockFile), lockfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Revert(t.Context(), dir, a, Selection{Box: all}, false, none); !errors.Is(err, lockfile.ErrBusy) {
		t.Errorf("another process writes: got %v", err)
	}
	if err := Revert(t.Context(), dir, a, Selection{Box: all}, true, none); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	lock.Release()
	stop := errors.New("stop")
	if err := Revert(t.Context(), dir, a, Selection{Box: all}, false,
		func([]Blocks) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the blocks cannot be printed: got %v", err)
	}
	if n := len(blocksOf(t, dir)); n != before {
		t.Errorf("%d of %d blocks are left", n, before)
	}
}
