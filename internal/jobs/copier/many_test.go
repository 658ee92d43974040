package copier

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// manyFiles is a mag of n cube files in one directory.
func manyFiles(n int) *voxeltest.Many {
	name := func(i int) string { return fmt.Sprintf("x%d.raw", i) }
	return &voxeltest.Many{
		Dir: "z0/y0", N: n, Name: name, Others: map[string][]byte{tree.VolumeJSON: []byte("{}"), tree.VolumeRaw: {1}},
		Number: func(s string) int {
			i := -1
			if _, err := fmt.Sscanf(s, "x%d.raw", &i); err != nil || name(i) != s {
				return -1
			}
			return i
		},
	}
}

// TestManyFiles: a directory of many files is walked with little memory, and so is the version of a volume of many
// cubes computed.
func TestManyFiles(t *testing.T) {
	const limit = 64 << 20
	n := voxeltest.Large(300_000)
	src := manyFiles(n)
	found := 0
	peak := voxeltest.PeakHeap(func() {
		c := &copier{Options: Options{Select: Forms{FS: src}.Select}, src: Stable(src, 4), ctx: t.Context()}
		info, err := fs.Stat(src, ".")
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.walk(".", ".", info) {
			if found++; i.err != nil {
				t.Fatal(i.err)
			}
		}
		if _, err := fs.Stat(c.src, tree.VolumeRaw); err != nil {
			t.Fatal(err)
		}
	})
	if found != n+2 || peak > limit {
		t.Errorf("%d files with %d MiB, want %d with at most %d", found, peak>>20, n+2, limit>>20)
	}
}

// TestStableInAnyOrder: the version of a volume does not depend on the order in which a file system lists its cubes.
func TestStableInAnyOrder(t *testing.T) {
	const n = 2*vfs.BatchSize + 10
	version := func(order func(i int) int) vfs.Version {
		src := manyFiles(n)
		name := src.Name
		src.Name = func(i int) string { return name(order(i)) }
		info, err := fs.Stat(Stable(src, 4), tree.VolumeRaw)
		if err != nil {
			t.Fatal(err)
		}
		return vfs.VersionOf(info)
	}
	rising := version(func(i int) int { return n - 1 - i })
	if falling := version(func(i int) int { return i }); falling != rising {
		t.Error("the version depends on the order")
	}
	if other := version(func(i int) int { return max(i, 1) }); other == rising {
		t.Error("the version does not depend on the cubes")
	}
}
