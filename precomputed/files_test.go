package precomputed

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Some chunks of the first scale of goodInfo.
const (
	name000 = "8_8_30/-3-5_0-8_5-9"
	name100 = "8_8_30/5-13_0-8_5-9"
	name200 = "8_8_30/13-17_0-8_5-9"
	name221 = "8_8_30/13-17_16-17_9-13"
)

// goodScale returns the first scale of goodInfo.
func goodScale(t *testing.T) *scaleInfo {
	_, s := infoFor(t, "8_8_30", "8_8_30")
	return s
}

// TestChunkFiles: a chunk is read from each kind of file name, plain or gzip.
func TestChunkFiles(t *testing.T) {
	s := goodScale(t)
	looksZipped := bytes.Clone(voxelsOf(s, volume.Vec{1, 0, 0}))
	dir := writeFiles(t, map[string][]byte{
		"info":               []byte(goodInfo),
		name000:              voxelsOf(s, volume.Vec{}),
		name000 + ".gz":      gzipOf(looksZipped), // the plain file is read
		name100 + ".gz":      gzipOf(voxelsOf(s, volume.Vec{1, 0, 0})),
		name200:              gzipOf(voxelsOf(s, volume.Vec{2, 0, 0})),
		name221:              voxelsOf(s, volume.Vec{2, 2, 1}),
		"8_8_30/other":       {1},
		"8_8_30/0-8_0-8_0-4": {1}, // a chunk of another volume
	})
	mag := openScale(t, dir, "8_8_30")
	want := []volume.Vec{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 2, 1}}
	if got := cubes(t, mag); !slices.Equal(got, want) {
		t.Errorf("listed %v, expected %v", got, want)
	}
	for _, c := range want {
		checkVoxels(t, mag, c)
		f, err := mag.OpenCube(c)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := mag.StatCubes(c[2], c[1], c[0])
		if err != nil || vfs.VersionOf(info) != f.Version() {
			t.Errorf("chunk %v: found as %v, %v, opened with another version", c, info, err)
		}
	}
	for _, c := range []volume.Vec{{0, 1, 0}, {-1, 0, 0}, {3, 0, 0}, {0, 0, 1 << 50}} {
		_, err := mag.OpenCube(c)
		wantNotExist(t, err)
		_, err = mag.StatCubes(c[2], c[1], c[0])
		wantNotExist(t, err)
	}
	for _, zy := range [][]int{{2}, {-1}, {1, 0}, {0, 3}} {
		_, err := mag.Cubes(zy...)
		wantNotExist(t, err)
		_, err = mag.StatCubes(zy...)
		wantNotExist(t, err)
	}
	if info, err := mag.StatCubes(1, 2); err != nil || !info.IsDir() {
		t.Errorf("got %v, %v for a level with chunks", info, err)
	}
}

// TestNotAbsent: a chunk that exists and cannot be opened is an error. It does not read as zeros.
func TestNotAbsent(t *testing.T) {
	dir := writeFiles(t, map[string][]byte{"info": []byte(goodInfo), name000 + ".lzma": {1}, name100 + ".lz": {1}})
	for link, to := range map[string]string{name200: "nowhere", name221 + ".gz": "/etc/passwd", "16_16_30": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	mag := openScale(t, dir, "8_8_30")
	want := map[volume.Vec]string{
		{0, 0, 0}: "a suffix that is not known: expected none, or one of .gz, .br",
		{1, 0, 0}: "a suffix that is not known",
		{2, 0, 0}: "a symbolic link that leads nowhere", {2, 2, 1}: "leads out of SOURCE",
	}
	if got := cubes(t, mag); len(got) != len(want) {
		t.Errorf("listed %v", got)
	}
	for c, reason := range want {
		_, err := mag.OpenCube(c)
		wantError(t, err, mag.(*scale).chunkName(c), reason)
		_, err = mag.StatCubes(c[2], c[1], c[0])
		wantError(t, err, mag.(*scale).chunkName(c), reason)
	}
	linked := openScale(t, dir, "16_16_30")
	_, err := linked.Cubes()
	wantError(t, err, "16_16_30: a symbolic link that leads nowhere")
	_, err = linked.OpenCube(volume.Vec{})
	wantError(t, err, "16_16_30: a symbolic link that leads nowhere")
}

// TestWrongKinds: a chunk or a scale of the wrong kind exists and cannot be read. FIFOs are not opened.
func TestWrongKinds(t *testing.T) {
	for _, c := range []struct{ name, kind, want string }{
		{name000, "directory", "expected a regular file, found a directory"},
		{name000, "FIFO", "expected a regular file, found a FIFO"},
		{name000, "link to a FIFO", "expected a regular file, found a FIFO"},
		{name000 + ".gz", "directory", "expected a regular file, found a directory"},
		{name000 + ".gz", "FIFO", "expected a regular file, found a FIFO"},
		{name000 + ".br", "directory", "expected a regular file, found a directory"},
		{name000 + ".foo", "directory", "a suffix that is not known"},
		{"8_8_30", "file", "8_8_30: expected a directory, found a regular file"},
		{"8_8_30", "FIFO", "8_8_30: expected a directory, found a FIFO"},
	} {
		dir := writeFiles(t, map[string][]byte{"info": []byte(goodInfo)})
		name := filepath.Join(dir, c.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		makeKind(t, name, c.kind)
		mag := openScale(t, dir, "8_8_30")
		if c.name == "8_8_30" {
			_, err := mag.Cubes()
			wantError(t, err, c.want)
		} else if got := cubes(t, mag); !slices.Equal(got, []volume.Vec{{}}) {
			t.Errorf("%s is a %s: listed %v, expected the chunk", c.name, c.kind, got)
		}
		_, err := mag.OpenCube(volume.Vec{})
		wantError(t, err, c.want)
		_, err = mag.StatCubes(0, 0, 0)
		wantError(t, err, c.want)
	}
}

// makeKind makes a file of a kind.
func makeKind(t *testing.T, name, kind string) {
	t.Helper()
	err := errors.New("unknown kind " + kind)
	switch kind {
	case "file":
		err = os.WriteFile(name, []byte("text"), 0o666)
	case "directory":
		err = os.Mkdir(name, 0o777)
	case "FIFO":
		err = syscall.Mkfifo(name, 0o666)
	case "link to a FIFO":
		err = errors.Join(syscall.Mkfifo(name+".fifo", 0o666), os.Symlink(filepath.Base(name)+".fifo", name))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestChangingDirectory: a listing shows new and removed chunks. A scale may have no directory yet.
func TestChangingDirectory(t *testing.T) {
	s := goodScale(t)
	dir := writeFiles(t, map[string][]byte{"info": []byte(goodInfo)})
	mag := openScale(t, dir, "8_8_30")
	expect := func(want ...int) {
		t.Helper()
		if got, err := mag.Cubes(); err != nil || !slices.Equal(got, want) {
			t.Errorf("listed %v, %v, expected %v", got, err, want)
		}
	}
	expect()
	if info, err := mag.Stat(); err != nil || !info.IsDir() {
		t.Errorf("got %v, %v", info, err)
	}
	_, err := mag.OpenCube(volume.Vec{})
	wantNotExist(t, err)
	writeFile(t, dir, name000, voxelsOf(s, volume.Vec{}))
	checkVoxels(t, mag, volume.Vec{})
	expect(0)
	writeFile(t, dir, name221, voxelsOf(s, volume.Vec{2, 2, 1}))
	expect(0, 1)
	if err := os.Remove(filepath.Join(dir, name000)); err != nil {
		t.Fatal(err)
	}
	_, err = mag.OpenCube(volume.Vec{})
	wantNotExist(t, err)
	expect(1)

	// A directory that did not change for a while is not listed again.
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "8_8_30"), old, old); err != nil {
		t.Fatal(err)
	}
	expect(1)
	store := mag.(*scale).chunks.(*files)
	listed := store.listed
	if expect(1); store.listed != listed {
		t.Error("listed again")
	}
	writeFile(t, dir, name000, voxelsOf(s, volume.Vec{}))
	expect(0, 1)
}

// TestChangedChunk: an open chunk fails after its file changed.
func TestChangedChunk(t *testing.T) {
	s := goodScale(t)
	dir := writeFiles(t, map[string][]byte{"info": []byte(goodInfo), name000: voxelsOf(s, volume.Vec{})})
	mag := openScale(t, dir, "8_8_30")
	f, err := mag.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	writeFile(t, dir, name000, []byte("shorter"))
	if _, err := readBlock(t.Context(), f, volume.Vec{}); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v, expected %v", err, vfs.ErrChanged)
	}
}

// TestLinkedChunks: chunks that are links to one file have the same version if they have the same voxels, and only
// then: blocks of the same version share memory in a cache.
func TestLinkedChunks(t *testing.T) {
	s := goodScale(t)
	full, cutOnY := volume.Vec{}, volume.Vec{0, 2, 0}
	dir := writeFiles(t, map[string][]byte{
		"info":                                   []byte(goodInfo),
		path.Join("8_8_30", s.chunkName(full)):   bytes.Repeat([]byte{7}, 8*8*4),
		path.Join("8_8_30", s.chunkName(cutOnY)): bytes.Repeat([]byte{7}, 8*1*4),
	})
	link := func(from, to volume.Vec) {
		if err := os.Link(filepath.Join(dir, path.Join("8_8_30", s.chunkName(from))),
			filepath.Join(dir, path.Join("8_8_30", s.chunkName(to)))); err != nil {
			t.Fatal(err)
		}
	}
	alsoFull, cutOnXZ := volume.Vec{1, 0, 0}, volume.Vec{2, 0, 2}
	link(full, alsoFull)
	link(cutOnY, cutOnXZ)
	mag := openScale(t, dir, "8_8_30")
	version := func(c volume.Vec) vfs.Version {
		f, err := mag.OpenCube(c)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.Version()
	}
	if version(full) != version(alsoFull) {
		t.Error("equal chunks have different versions")
	}
	if version(cutOnY) == version(cutOnXZ) {
		t.Error("chunks of 8 × 1 × 4 and 4 × 8 × 1 voxels have the same version")
	}
}
