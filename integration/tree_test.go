package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTree checks all names of a mount. Users rely on them in scripts.
func TestTree(t *testing.T) {
	source := t.TempDir()
	mag := filepath.Join(source, "color/2-2-1")
	small.writeHeader(t, mag)
	small.write(t, mag, 7, 3, 0)
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[1,1,1],"dataLayers":[]}`))
	writeFile(t, filepath.Join(source, "color/2-2-1/z0/y3/x8.wkw_tmp"), []byte("an incomplete cube"))
	dir := mount(t, source)
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		names = append(names, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(". color color/2-2-1 color/2-2-1/box color/2-2-1/slices")
	for z := range small.side() {
		want = append(want, fmt.Sprintf("color/2-2-1/slices/z%07d.tif", z))
	}
	for _, suffix := range strings.Fields("json mhd nhdr nii npy nrrd raw tif xmf") {
		want = append(want, "color/2-2-1/volume."+suffix)
	}
	want = append(want, strings.Fields("color/2-2-1/z0 color/2-2-1/z0/y3 color/2-2-1/z0/y3/x7.blocks")...)
	for z := range 2 {
		want = append(want, fmt.Sprintf("color/2-2-1/z0/y3/x7.blocks/z%d", z))
		for y := range 2 {
			want = append(want, fmt.Sprintf("color/2-2-1/z0/y3/x7.blocks/z%d/y%d", z, y))
			for x := range 2 {
				want = append(want, fmt.Sprintf("color/2-2-1/z0/y3/x7.blocks/z%d/y%d/x%d.raw", z, y, x))
			}
		}
	}
	want = append(want, "color/2-2-1/z0/y3/x7.raw")
	want = append(want, omeNames("color/ome-v3.zarr", "2-2-1", "2-2-1/c", "2-2-1/zarr.json", "zarr.json")...)
	want = append(want, omeNames("color/ome.zarr", ".zattrs", ".zgroup", ".zmetadata", "2-2-1", "2-2-1/.zarray",
		"2-2-1/.zattrs")...)
	want = append(want, "color/precomputed", "color/precomputed/2-2-1")
	for _, chunk := range strings.Fields(
		"224-240_112-128_0-16 224-240_112-128_16-32 224-240_96-112_0-16 224-240_96-112_16-32 " +
			"240-256_112-128_0-16 240-256_112-128_16-32 240-256_96-112_0-16 240-256_96-112_16-32") {
		want = append(want, "color/precomputed/2-2-1/"+chunk)
	}
	want = append(want, "color/precomputed/info", "datasource-properties.json")
	if !slices.Equal(names, want) {
		t.Errorf("the tree is\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	original, _ := os.ReadFile(filepath.Join(source, "datasource-properties.json"))
	if passed, err := os.ReadFile(filepath.Join(dir, "datasource-properties.json")); err != nil ||
		string(passed) != string(original) {
		t.Errorf("metadata: %q, %v", passed, err)
	}
}

// omeNames returns the names of an OME-Zarr view in TestTree, in the order of a walk: metadata, and the chunks of cube
// 7,3,0.
func omeNames(dir string, metadata ...string) []string {
	names := []string{dir}
	chunks := "2-2-1"
	for _, name := range metadata {
		names = append(names, dir+"/"+name)
		if name == "2-2-1/c" {
			chunks = name
		}
	}
	names = append(names, dir+"/"+chunks+"/0") // both blocks on z
	for y := 6; y < 8; y++ {
		names = append(names, fmt.Sprintf("%s/%s/0/%d", dir, chunks, y))
		for x := 14; x < 16; x++ {
			names = append(names, fmt.Sprintf("%s/%s/0/%d/%d", dir, chunks, y, x))
		}
	}
	slices.SortFunc(names,
		func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) })
	return names
}

// TestAttributes checks that times, owners and permissions are those of the source.
func TestAttributes(t *testing.T) {
	source := t.TempDir()
	cube := small.write(t, source, 0, 0, 0)
	when := time.Date(2019, 11, 29, 1, 2, 3, 456789000, time.UTC)
	if err := errors.Join(os.Chmod(cube, 0o640), os.Chtimes(cube, when, when)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(cube, 1234, 5678); err != nil {
			t.Fatal(err)
		}
	}
	var below, st syscall.Stat_t
	if err := syscall.Stat(cube, &below); err != nil {
		t.Fatal(err)
	}
	dir := mount(t, source)
	for name, mode := range map[string]uint32{
		"z0/y0/x0.raw": syscall.S_IFREG | 0o440, "z0/y0/x0.blocks": syscall.S_IFDIR | 0o550,
		"z0/y0/x0.blocks/z1/y1/x0.raw": syscall.S_IFREG | 0o440,
	} {
		if err := syscall.Stat(filepath.Join(dir, name), &st); err != nil {
			t.Fatal(err)
		}
		if st.Mode != mode || st.Uid != below.Uid || st.Gid != below.Gid || st.Mtim != below.Mtim ||
			st.Ctim != below.Ctim {
			t.Errorf("%s: mode %o, owner %d:%d, times %v %v; want %o, %d:%d, %v %v",
				name, st.Mode, st.Uid, st.Gid, st.Mtim, st.Ctim, mode, below.Uid, below.Gid, below.Mtim, below.Ctim)
		}
	}
}

// TestNothingCanBeWritten checks that all calls that would write fail with EROFS.
func TestNothingCanBeWritten(t *testing.T) {
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	dir := mount(t, source)
	name, absent := filepath.Join(dir, "z0/y0/x0.raw"), filepath.Join(dir, "z0/y0/new")
	open := func(flags int, name string) error {
		fd, err := unix.Open(name, flags, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	for call, err := range map[string]error{
		"open to write":      open(unix.O_WRONLY, name),
		"open read-write":    open(unix.O_RDWR, name),
		"open to truncate":   open(unix.O_RDONLY|unix.O_TRUNC, name),
		"create":             open(unix.O_WRONLY|unix.O_CREAT, absent),
		"truncate":           unix.Truncate(name, 0),
		"unlink":             unix.Unlink(name),
		"rmdir":              unix.Rmdir(filepath.Join(dir, "z0")),
		"rename":             unix.Rename(name, absent),
		"link":               unix.Link(name, absent),
		"symlink":            unix.Symlink("x0.raw", absent),
		"mkdir":              unix.Mkdir(absent, 0o755),
		"mknod":              unix.Mknod(absent, unix.S_IFIFO|0o644, 0),
		"chmod":              unix.Chmod(name, 0o644),
		"chown":              unix.Chown(name, 1, 1),
		"set times":          unix.Utimes(name, make([]unix.Timeval, 2)),
		"set xattr":          unix.Setxattr(name, "user.x", []byte("y"), 0),
		"remove xattr":       unix.Removexattr(name, "user.x"),
		"write access":       unix.Access(name, unix.W_OK),
		"create at the root": open(unix.O_WRONLY|unix.O_CREAT, filepath.Join(dir, "new")),
	} {
		if !errors.Is(err, unix.EROFS) {
			t.Errorf("%s: %v, want EROFS", call, err)
		}
	}
}

// TestMountFlags checks that the mount is read-only, nosuid, nodev and noexec.
func TestMountFlags(t *testing.T) {
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	var st unix.Statfs_t
	if err := unix.Statfs(mount(t, source), &st); err != nil {
		t.Fatal(err)
	}
	if want := int64(unix.ST_RDONLY | unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC); st.Flags&want != want {
		t.Errorf("the mount has the flags %#x, want %#x among them", st.Flags, want)
	}
}

// TestReadAhead checks the kernel's readahead of a mount.
func TestReadAhead(t *testing.T) {
	requireRoot(t)
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	for _, c := range []struct {
		args []string
		want string
	}{{nil, "64"}, {[]string{"--read-ahead", "1024"}, "1024"}, {[]string{"--read-ahead", "0"}, "128"}} {
		var st unix.Stat_t
		if err := unix.Stat(mount(t, source, c.args...), &st); err != nil {
			t.Fatal(err)
		}
		kib, err := os.ReadFile(fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(st.Dev),
			unix.Minor(st.Dev)))
		if got := strings.TrimSpace(string(kib)); err != nil || got != c.want {
			t.Errorf("%v: %s KiB, want %s; %v", c.args, got, c.want, err)
		}
	}
}

// TestListingIsQuick lists 100,000 cubes, and a cube of 32,768 blocks. The cubes are empty files, so opening
// one would fail. They are links to one file in each directory, because these are made faster.
func TestListingIsQuick(t *testing.T) {
	source := t.TempDir()
	m := model{blockLog: 5, cubeLog: 5, blockType: 2, voxelType: 1, channels: 1}
	m.writeHeader(t, source)
	for y := range 100 {
		dir := filepath.Join(source, "z0", "y"+itoa(y))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		first := writeFile(t, filepath.Join(dir, "x0.wkw"), nil)
		for x := range 999 {
			if err := os.Link(first, filepath.Join(dir, "x"+itoa(x+1)+".wkw")); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := mount(t, source)
	start := time.Now()
	n := 0
	for y := range 100 {
		entries, err := os.ReadDir(filepath.Join(dir, "z0", "y"+itoa(y)))
		if err != nil {
			t.Fatal(err)
		}
		n += len(entries)
	}
	cubes := time.Since(start)
	if n != 2*100_000 {
		t.Errorf("%d entries, want a file and a directory for each of 100,000 cubes", n)
	}
	start, n = time.Now(), 0
	for z := range 32 {
		for y := range 32 {
			entries, err := os.ReadDir(filepath.Join(dir, fmt.Sprintf("z0/y0/x0.blocks/z%d/y%d", z, y)))
			if err != nil {
				t.Fatal(err)
			}
			n += len(entries)
		}
	}
	if n != 32_768 {
		t.Errorf("%d blocks listed, want 32,768", n)
	}
	t.Logf("100,000 cubes in %v, 32,768 blocks in %v", cubes, time.Since(start))
	// The limit is high because the machine may be busy.
	if cubes > deadline || time.Since(start) > deadline {
		t.Errorf("100,000 cubes took %v, 32,768 blocks %v", cubes, time.Since(start))
	}
	if info, err := os.Stat(filepath.Join(dir, "z0/y7/x9.raw")); err != nil || info.Size() != 1<<30 {
		t.Errorf("stat of a cube: %v, or not 1 GiB", err)
	}
}
