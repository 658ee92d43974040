package chunked

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// channelsApart is an array of two channels in chunks of their own, 3 × 1 × 1 cubes of 2³ voxels.
func channelsApart() *Array {
	return &Array{Shape: []int{2, 2, 2, 6}, Chunk: []int{1, 2, 2, 2}, Type: volume.Uint8, Order: []int{0, 1, 2, 3},
		Key: Key{"", "."}}
}

// writeArray writes the files of an array to a directory and opens it. absent are chunks, by their first index.
func writeArray(t *testing.T, a *Array, o Options, absent ...string) (dir string, m *Mag) {
	t.Helper()
	stored := &model{Array: a, absent: map[string]bool{}}
	for _, name := range absent {
		stored.absent[name] = true
	}
	stored.write()
	dir = t.TempDir()
	for name, f := range stored.files {
		name = filepath.Join(dir, strings.TrimPrefix(name, "a/"))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	if m, err = New(fsys, ".", a, o); err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// TestWrongKinds: what exists under the name of a chunk and is no regular file is an error, listed, and never absent.
func TestWrongKinds(t *testing.T) {
	dir, m := writeArray(t, channelsApart(), Options{}, "[0 0 0 0]", "[1 0 0 0]", "[0 0 0 2]", "[0 0 0 4]", "[1 0 0 4]")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "0.0.0.0"), 0o755),
		os.Symlink("nothing", filepath.Join(dir, "0.0.0.1"))); err != nil {
		t.Fatal(err)
	}
	if xs, err := m.Cubes(0, 0); err != nil || !slices.Equal(xs, []int{0, 1}) {
		t.Errorf("got the cubes %v, %v", xs, err)
	}
	for x, want := range []string{"expected a regular file, found a directory", "a symbolic link that leads nowhere"} {
		_, err := m.OpenCube(volume.Vec{x})
		_, statErr := m.StatCubes(0, 0, x)
		for _, err := range []error{err, statErr} {
			if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
				t.Errorf("cube %d: got %v, expected %q", x, err, want)
			}
		}
	}
	for _, c := range []volume.Vec{{2}, {3}, {-1}, {0, 1}} {
		if _, err := m.OpenCube(c); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("cube %v: got %v", c, err)
		}
		if _, err := m.StatCubes(c[2], c[1], c[0]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("cube %v: stat: %v", c, err)
		}
	}
}

// TestJoinedFiles: a cube of several files has the sum of their sizes, the permissions of users who may read all, and a
// version that changes with each of them.
func TestJoinedFiles(t *testing.T) {
	dir, m := writeArray(t, channelsApart(), Options{})
	file := filepath.Join(dir, "1.0.0.1")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := m.StatCubes(0, 0, 1)
	if err != nil || info.Size() != 16 || info.Mode().Perm() != 0o400 || !info.Mode().IsRegular() {
		t.Errorf("got %v, %v", info, err)
	}
	f, err := m.OpenCube(volume.Vec{1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	version := vfs.VersionOf(info)
	if f.Version() != version {
		t.Error("the open cube has another version")
	}
	if err := os.WriteFile(file, make([]byte, 9), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := volume.ReadBlock(t.Context(), f, volume.Vec{}); !errors.Is(err, volume.ErrChanged) {
		t.Errorf("after a change: got %v", err)
	}
	if info, err := m.StatCubes(0, 0, 1); err != nil || vfs.VersionOf(info) == version {
		t.Errorf("after a change: got the same version, %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if info, err := m.StatCubes(0, 0, 1); err != nil || vfs.VersionOf(info) == version || info.Size() != 8 {
		t.Errorf("without a file: got %v, %v", info, err)
	}
}

// TestFillValue: absent cubes of an array whose fill value is not zero can be opened, and are in every level of Cubes.
// Walks yield only stored ones. Each has a version of its own, because cubes at the end of the array have other voxels.
func TestFillValue(t *testing.T) {
	a := &Array{Shape: []int{3, 5}, Chunk: []int{2, 2}, Type: volume.Uint16, Order: []int{0, 1}, Key: Key{"c", "/"},
		Fill: []byte{7, 1}}
	_, m := writeArray(t, a, Options{}, "[0 0]", "[2 0]", "[2 4]")
	for _, c := range []struct{ at, want []int }{{nil, []int{0}}, {[]int{0}, []int{0, 1}},
		{[]int{0, 1}, []int{0, 1, 2}}} {
		if got, err := m.Cubes(c.at...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("below %v: got %v, %v", c.at, got, err)
		}
	}
	if _, err := m.Cubes(0, 2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	stored := 0
	for _, err := range m.WalkCubes() {
		if stored++; err != nil {
			t.Error(err)
		}
	}
	versions := map[vfs.Version]bool{}
	for c := range (volume.Box{Max: volume.Vec{3, 2, 1}}).All() {
		info, err := m.StatCubes(c[2], c[1], c[0])
		if err != nil || !info.Mode().IsRegular() {
			t.Fatal(info, err)
		}
		versions[vfs.VersionOf(info)] = true
	}
	if stored != 3 || len(versions) != 6 {
		t.Errorf("%d cubes are stored, and there are %d versions; expected 3 and 6", stored, len(versions))
	}
	f, err := m.OpenCube(volume.Vec{2, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := volume.ReadBlock(t.Context(), f, volume.Vec{}); err != nil ||
		!bytes.Equal(got, []byte{7, 1, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("the last cube has %v, %v", got, err)
	}
}

// TestManyCubes: an array of more cubes than are kept in a list lists none, and all can be walked and opened.
func TestManyCubes(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, fill := range [][]byte{nil, {1}} {
		a := &Array{Shape: []int{4, 4, 4}, Chunk: []int{1, 2, 2}, Type: volume.Uint8, Order: []int{2, 1, 0},
			Key: Key{"c", "/"}, Fill: fill}
		_, m := writeArray(t, a, Options{maxPositions: 14}, "[0 0 0]")
		if _, err := m.Cubes(); !lattice.IsTooMany(err) {
			t.Errorf("fill value %v: got %v", fill, err)
		}
		found := map[volume.Vec]bool{}
		for c, err := range m.WalkCubes() {
			if found[c] = true; err != nil {
				t.Error(err)
			}
			if _, err := m.StatCubes(c[2], c[1], c[0]); err != nil {
				t.Error(err)
			}
		}
		if want := 15; len(found) != want {
			t.Errorf("fill value %v: walked %d cubes, expected %d", fill, len(found), want)
		}
	}
}

// TestImplausibleSize: a chunk that is longer than any encoder makes it takes no memory.
func TestImplausibleSize(t *testing.T) {
	dir, m := writeArray(t, &Array{Shape: []int{4, 4}, Chunk: []int{4, 4}, Type: volume.Uint8, Order: []int{0, 1},
		Key: Key{"", "/"}}, Options{})
	if err := os.Truncate(filepath.Join(dir, "0/0"), 1<<40); err != nil {
		t.Skip("no sparse files: ", err)
	}
	f, err := m.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	blocks := []volume.Block{{}}
	f.Fill(t.Context(), blocks, func(volume.Vec) []byte {
		t.Error("memory was taken")
		return make([]byte, 16)
	})
	if err := blocks[0].Err; err == nil || !strings.Contains(err.Error(),
		"0/0: chunk 0-4_0-4_0-1 at byte 0: expected at most") {
		t.Errorf("got %v", err)
	}
}

// TestVersionsOfOneFile: the version of a cube names its voxels, not only its file: blocks of the same version and
// index share memory in a cache. Layers may show other channels or axes of one array, and chunks of the same bytes may
// be links to one file, but those at the end of the array have other voxels.
func TestVersionsOfOneFile(t *testing.T) {
	a := &Array{Shape: []int{2, 3, 3, 3}, Chunk: []int{2, 2, 2, 2}, Type: volume.Uint8, Order: []int{0, 1, 2, 3},
		Key: Key{"", "."}}
	dir, m := writeArray(t, a, Options{})
	first := filepath.Join(dir, "0.0.0.0")
	for _, name := range []string{"0.0.0.1", "0.1.0.0"} {
		if err := errors.Join(os.Remove(filepath.Join(dir, name)),
			os.Link(first, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	shownAs := func(o Options) *Mag {
		other, err := New(m.fsys, ".", a, o)
		if err != nil {
			t.Fatal(err)
		}
		return other
	}
	type cube struct {
		what string
		m    *Mag
		at   volume.Vec
	}
	found := map[vfs.Version]string{}
	for _, c := range []cube{
		{"all channels", m, volume.Vec{}},
		{"channel 0", shownAs(Options{Channels: 1}), volume.Vec{}},
		{"channel 1", shownAs(Options{Channel: 1, Channels: 1}), volume.Vec{}},
		{"other axes", shownAs(Options{Axes: []string{"c", "x", "y", "z"}}), volume.Vec{}},
		{"cut on x", m, volume.Vec{1}},
		{"cut on z", m, volume.Vec{2: 1}},
	} {
		info, err := c.m.StatCubes(c.at[2], c.at[1], c.at[0])
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.m.OpenCube(c.at)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		v := f.Version()
		if v != vfs.VersionOf(info) {
			t.Errorf("%s: the open cube has another version", c.what)
		}
		if other, ok := found[v]; ok {
			t.Errorf("%s: the same version as %s", c.what, other)
		}
		found[v] = c.what
	}
	if info, err := shownAs(Options{}).StatCubes(0, 0, 0); err != nil || found[vfs.VersionOf(info)] != "all channels" {
		t.Errorf("the same cube of another mag: got %v, %v", info, err)
	}
}

// TestTree: in a tree of named directories, a directory without the file of its chunk is an absent chunk, whatever else
// it has. A file that is no regular one is an error, and names say what they are.
func TestTree(t *testing.T) {
	a := &Array{Shape: []int{2, 2, 6}, Chunk: []int{2, 2, 2}, Type: volume.Uint8, Order: []int{0, 1, 2},
		Tree: axisTree{}}
	dir, m := writeArray(t, a, Options{}, "[0 0 2]", "[0 0 4]")
	other := filepath.Join(dir, "a0_00/a1_00/a2_01")
	wrong := filepath.Join(dir, "a0_00/a1_00/a2_02/chunk[0_0_2]")
	if err := errors.Join(os.MkdirAll(wrong, 0o755), os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "chunk"),
		nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if xs, err := m.Cubes(0, 0); err != nil || !slices.Equal(xs, []int{0, 2}) {
		t.Errorf("got the cubes %v, %v, expected 0 and 2", xs, err)
	}
	if _, err := m.OpenCube(volume.Vec{1}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cube 1: got %v", err)
	}
	if _, err := m.OpenCube(volume.Vec{2}); err == nil || errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "a2_02/chunk[0_0_2]") {
		t.Errorf("cube 2: got %v", err)
	}
	for name, want := range map[string]volume.CubeName{
		"a0_00": volume.DirName, "a0_00/a1_00/a2_02": volume.DirName, "a0_00/a1_00/a2_02/chunk[0_0_2]": volume.FileName,
		"a0_00/a1_00/a2_02/chunk[0_0_1]": volume.OtherName, "a0_00/a1_00/a2_02/beside": volume.BesideName,
		"a0_00/a1_00/a2_03": volume.OtherName, "a0_0": volume.OtherName,
		"a0_00/a1_00/a2_02/chunk[0_0_2]/x": volume.OtherName, "other": volume.OtherName,
	} {
		if got := m.kindOfName(name); got != want {
			t.Errorf("%s: got %v, expected %v", name, got, want)
		}
	}
	if files := m.Index().Files(); files.Kind(files.Example) != volume.FileName {
		t.Errorf("the example %s is no file", files.Example)
	}
}
