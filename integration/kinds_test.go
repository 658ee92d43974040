package integration

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// kinds makes a file of each kind that the place of a cube, or of a directory of cubes, must not have.
var kinds = []struct {
	name    string
	make    func(t *testing.T, path string) error
	forDir  bool // wrong where a directory belongs
	forFile bool // wrong where a file belongs
}{
	{"fifo", func(t *testing.T, path string) error { return unix.Mkfifo(path, 0o644) }, true, true},
	{"socket", makeSocket, true, true},
	{"device", func(t *testing.T, path string) error {
		return unix.Mknod(path, unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))) // /dev/zero: as a cube, it would have bytes
	}, true, true},
	{"file", func(t *testing.T, path string) error { return os.WriteFile(path, []byte("text"), 0o644) }, true, false},
	{"directory", func(t *testing.T, path string) error { return os.Mkdir(path, 0o755) }, false, true},
	{"link-fifo", func(t *testing.T, path string) error {
		return errors.Join(unix.Mkfifo(path+".fifo", 0o644), os.Symlink(filepath.Base(path)+".fifo", path))
	}, true, true},
	{"link-file", func(t *testing.T, path string) error {
		return errors.Join(os.WriteFile(path+".file", nil, 0o644), os.Symlink(filepath.Base(path)+".file", path))
	}, true, false},
	{"link-directory", func(t *testing.T, path string) error {
		return errors.Join(os.Mkdir(path+".d", 0o755), os.Symlink(filepath.Base(path)+".d", path))
	}, false, true},
}

// makeSocket makes a socket. Its path may be longer than a socket's address.
func makeSocket(t *testing.T, path string) error {
	short := filepath.Join(tempDir(t), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(l.Close(), os.Rename(short, path))
}

// wrongKinds writes a dataset with a layer for each kind at each place. A layer has 2 × 2 × 2 cubes, of which cube
// 0,0,0 is sound, and one file or directory has the wrong kind. It returns the place of each layer.
func wrongKinds(t *testing.T) (source string, places map[string]string) {
	t.Helper()
	source, places = tempDir(t), map[string]string{}
	var layers []string
	side := small.side()
	for _, place := range []string{"z1", "z0/y1", "z0/y0/x1.wkw", "header.wkw"} {
		isDir := !strings.HasSuffix(place, ".wkw")
		for _, kind := range kinds {
			if isDir && !kind.forDir || !isDir && !kind.forFile {
				continue
			}
			layer := strings.NewReplacer("/", "", ".wkw", "").Replace(place) + "-" + kind.name
			mag := filepath.Join(source, layer, "1")
			small.write(t, mag, 0, 0, 0)
			path := filepath.Join(mag, place)
			if place != "header.wkw" {
				small.writeHeader(t, mag)
			}
			if err := kind.make(t, path); err != nil {
				t.Fatal(err)
			}
			places[layer] = place
			layers = append(layers, fmt.Sprintf(
				`{"name": %q, "category": "color", "boundingBox": {"topLeft": [0,0,0], "width": %d, "height": %d, "depth": %d}, "mags": [{"mag": 1}]}`,
				layer, 2*side, 2*side, 2*side))
		}
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"),
		[]byte(`{"dataLayers": [`+strings.Join(layers, ",")+`]}`))
	return source, places
}

// TestWrongKinds puts a FIFO, a directory, a device, a socket, or a link to one, in the place of a cube, and a file in
// the place of a directory of cubes. Reads of voxels that depend on it return EIO, not zeros.
func TestWrongKinds(t *testing.T) {
	requireRoot(t) // devices
	source, places := wrongKinds(t)
	log := filepath.Join(tempDir(t), "log")
	dir := mount(t, source, "--log-file", log)
	side := small.side()
	first := fmt.Sprintf("0-%d_0-%d_0-%d", side, side, side)
	bad := map[string]string{ // a box that has voxels of the cube, or of the directory of cubes
		"z1": fmt.Sprintf("0-4_0-4_%d-%d", side-1, side+1), "z0/y1": fmt.Sprintf("0-4_%d-%d_0-4", side-1, side+1),
		"z0/y0/x1.wkw": fmt.Sprintf("%d-%d_0-4_0-4", side-1, side+1),
	}
	names := map[string][]string{
		"z1": {"z1", "z1/y0/x0.raw"}, "z0/y1": {"z0/y1", "z0/y1/x0.raw"},
		"z0/y0/x1.wkw": {"z0/y0/x1.raw", "z0/y0/x1.blocks", "z0/y0/x1.blocks/z0/y0/x0.raw"},
	}
	firstByte := map[string]int64{"z1": int64(4 * side * side * side), "z0/y1": int64(2 * side * side),
		"z0/y0/x1.wkw": int64(side)}
	for layer, place := range places {
		t.Run(layer, func(t *testing.T) {
			mag := filepath.Join(dir, layer, "1")
			if place == "header.wkw" { // the cubes have the geometry
				if _, err := os.ReadFile(filepath.Join(mag, "volume.raw")); err != nil {
					t.Error(err)
				}
				return
			}
			files := []string{"volume.raw", "volume.npy", "box/" + bad[place] + ".raw", "box/" + bad[place] + ".nii"}
			for _, name := range append(files, names[place]...) {
				if got, err := os.ReadFile(filepath.Join(mag, name)); !errors.Is(err, syscall.EIO) {
					t.Errorf("%s: %d bytes, %v; expected EIO", name, len(got), err)
				}
			}
			if place != "z1" {
				if got, err := os.ReadFile(filepath.Join(mag, "slices/z0000000.tif")); !errors.Is(err, syscall.EIO) {
					t.Errorf("slice: %d bytes, %v; expected EIO", len(got), err)
				}
			}
			if n := unreadableChunks(t, filepath.Join(dir, layer, "precomputed/1")); n == 0 {
				t.Error("all chunks of precomputed can be read")
			}
			for _, name := range []string{"z0/y0/x0.raw", "box/" + first + ".raw"} {
				if got, err := os.ReadFile(filepath.Join(mag, name)); err != nil || !bytes.Equal(got, small.flat()) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			wantNoHole(t, filepath.Join(mag, "volume.raw"), firstByte[place])
			path := layer + "/1/" + place + ": expected a "
			if b, err := os.ReadFile(log); err != nil || !bytes.Contains(b, []byte(path)) {
				t.Errorf("the log does not have %q; %v", path, err)
			}
		})
	}
	t.Run("check", func(t *testing.T) {
		r := wkwfs(t, "check", source)
		for layer, place := range places {
			if want := layer + "/1/" + place + ": expected a "; r.code != 1 ||
				!strings.Contains(r.stdout+r.stderr, want) {
				t.Errorf("exit code %d, without %q", r.code, want)
			}
		}
		if t.Failed() {
			t.Logf("%s%s", r.stdout, r.stderr)
		}
	})
	t.Run("info", func(t *testing.T) {
		out := wkwfs(t, "info", source).stdout
		for layer, place := range places {
			if want := layer + "/1/" + place + ": expected a "; place != "header.wkw" && !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	})
	t.Run("cp", func(t *testing.T) {
		dest := filepath.Join(tempDir(t), "copy")
		r := wkwfs(t, "cp", "--quiet", source, ".", dest)
		for layer, place := range places {
			if _, err := os.Stat(filepath.Join(dest, layer, "1/z0/y0/x0.raw")); err != nil {
				t.Error(err)
			}
			if want := layer + "/1/" + place + ": expected a "; place != "header.wkw" && (r.code != 1 ||
				!strings.Contains(r.stderr, want)) {
				t.Errorf("exit code %d, without %q", r.code, want)
			}
		}
		for _, layer := range []string{"z1-fifo", "z0y1-file", "z0y0x1-directory"} {
			if r := wkwfs(t, "cp", "--quiet", source, layer+"/1/volume.raw",
				filepath.Join(dest, "volume")); r.code != 1 {
				t.Errorf("%s: exit code %d\n%s", layer, r.code, r.stderr)
			}
		}
	})
}

// wantNoHole checks that a byte is not in a hole of the file, and that SEEK_HOLE works.
func wantNoHole(t *testing.T, name string, off int64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Seek(off, unix.SEEK_DATA)
	hole, err2 := f.Seek(off, unix.SEEK_HOLE)
	if err != nil || err2 != nil || data != off || hole <= off {
		t.Errorf("%s at %d: data at %d, hole at %d; %v, %v", name, off, data, hole, err, err2)
	}
}

// unreadableChunks returns the number of chunks in a directory whose reads fail with EIO.
func unreadableChunks(t *testing.T, dir string) (n int) {
	t.Helper()
	side := small.side()
	const chunk = 16 // as a block
	for z := 0; z < 2*side; z += chunk {
		for y := 0; y < 2*side; y += chunk {
			for x := 0; x < 2*side; x += chunk {
				name := fmt.Sprintf("%d-%d_%d-%d_%d-%d", x, x+chunk, y, y+chunk, z, z+chunk)
				if _, err := os.ReadFile(filepath.Join(dir, name)); errors.Is(err, syscall.EIO) {
					n++
					// all blocks of a cube on z
					name = fmt.Sprintf("../../ome.zarr/1/%d/%d/%d", z/side, y/chunk, x/chunk)
					if got, err := os.ReadFile(filepath.Join(dir, name)); !errors.Is(err, syscall.EIO) {
						t.Errorf("%s: %d bytes, %v; expected EIO", name, len(got), err)
					}
				} else if err != nil {
					t.Error(err)
				}
			}
		}
	}
	return n
}

// TestWrongKindOfMetadata: a datasource-properties.json that is no regular file exists and cannot be read. The layers
// are shown without it.
func TestWrongKindOfMetadata(t *testing.T) {
	requireRoot(t)
	for _, kind := range kinds {
		if !kind.forFile {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			source := dataset(t)
			name := "datasource-properties.json"
			if err := kind.make(t, filepath.Join(source, name)); err != nil {
				t.Fatal(err)
			}
			dir := mount(t, source, "--log-file", filepath.Join(source, "..", "log"))
			if _, err := os.ReadFile(filepath.Join(dir, name)); !errors.Is(err, syscall.EIO) {
				t.Errorf("got %v, expected EIO", err)
			}
			if _, err := os.ReadFile(filepath.Join(dir, "color/1/volume.raw")); err != nil {
				t.Error(err)
			}
			if r := wkwfs(t, "check", source); r.code != 1 ||
				!strings.Contains(r.stdout+r.stderr, name+": expected a regular file, found a ") {
				t.Errorf("check: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// TestLayerOfWrongKind: a layer or a mag in the metadata that is no directory exists and cannot be read. Its names are
// EIO, info and check report it, and the rest of the dataset is shown.
func TestLayerOfWrongKind(t *testing.T) {
	source := tempDir(t)
	small.write(t, filepath.Join(source, "color/1"), 0, 0, 0)
	writeFile(t, filepath.Join(source, "color/2"), []byte("a file"))
	writeFile(t, filepath.Join(source, "seg"), []byte("a file"))
	writeFile(t, filepath.Join(source, "color/4"), []byte("not in the metadata"))
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(
		`{"dataLayers": [{"name": "color", "mags": [{"mag": 1}, {"mag": 2}]}, {"name": "seg", "mags": [{"mag": 1}]}]}`))
	dir := mount(t, source)
	for name, want := range map[string]error{
		"color/1/z0/y0/x0.raw": nil, "color/2": syscall.EIO, "color/2/volume.raw": syscall.EIO, "seg": syscall.EIO,
		"seg/1/volume.raw": syscall.EIO,
		"color/4":          syscall.ENOENT, "color/8": syscall.ENOENT,
	} {
		if _, err := os.ReadFile(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, expected %v", name, err, want)
		}
	}
	if got := names(t, filepath.Join(dir, "color")); got != "1 ome-v3.zarr ome.zarr precomputed" {
		t.Errorf("the layer lists %q", got)
	}
	info, check := wkwfs(t, "info", source), wkwfs(t, "check", source)
	for _, fault := range []string{"color/2: expected a directory, found a regular file",
		"seg: expected a directory, found a regular file"} {
		if info.code != 0 || !strings.Contains(info.stdout, fault) {
			t.Errorf("info, exit code %d, without %q:\n%s", info.code, fault, info.stdout)
		}
		if check.code != 1 || !strings.Contains(check.stdout+check.stderr, fault) {
			t.Errorf("check, exit code %d, without %q:\n%s%s", check.code, fault, check.stdout, check.stderr)
		}
	}
}
