package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestUpdateManyCubes: a box may have more cubes than the process may have descriptors.
func TestUpdateManyCubes(t *testing.T) {
	for _, compression := range []wkw.BlockType{wkw.Raw, wkw.LZ4} {
		dir := voxeltest.TempDir(t)
		a := array(volume.Uint8, 1)
		a.Grid.Size, a.Grid.Origin = volume.Vec{320, 320, 3}, volume.Vec{}
		voxels := voxeltest.Pattern(a.Grid)
		o := small("ids")
		o.Compression, o.Jobs = compression, 2
		out := filepath.Join(dir, "out")
		if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), out,
			o); err != nil {
			t.Fatal(err)
		}

		part := a
		part.Grid.Size, part.Grid.Origin = volume.Vec{312, 312, 1}, volume.Vec{4, 4, 1}
		in := mustOpenRaw(t, voxeltest.Export(t, dir, part, bytes.Repeat([]byte{99}, 312*312), ".raw"), part.Grid)
		limitFiles(t, 64)
		o.Offset, o.Stats = &part.Grid.Origin, nil
		if err := Update(t.Context(), in, out, o); err != nil {
			t.Fatal(err)
		}
		for at := range (volume.Box{Min: part.Grid.Origin, Max: part.Grid.Origin.Add(part.Grid.Size)}).All() {
			voxels[at.Index(a.Grid.Size)] = 99
		}
		if !bytes.Equal(read(t, tree(t, out), "ids/1/volume.raw"), voxels) {
			t.Errorf("%v: the layer is not as it should be", compression)
		}
	}
}

// limitFiles lets the process open only some more files, until the end of the test.
func limitFiles(t *testing.T, more uint64) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = min(before.Cur, uint64(len(open))+more)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
}
