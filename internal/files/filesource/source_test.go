package filesource

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestBlocks: a block has whole rows of a flat file, then whole planes; tiles stay apart.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ size, unit, want volume.Vec }{
		{volume.Vec{8, 8, 8}, volume.Vec{8, 1, 1}, volume.Vec{8, 8, 4}}, // 256 bytes
		{volume.Vec{100, 8, 8}, volume.Vec{100, 1, 1}, volume.Vec{100, 2, 1}},
		{volume.Vec{1000, 8, 8}, volume.Vec{1000, 1, 1}, volume.Vec{1000, 1, 1}},
		{volume.Vec{8, 8, 2}, volume.Vec{8, 1, 1}, volume.Vec{8, 8, 2}},
		{volume.Vec{64, 64, 8}, volume.Vec{8, 8, 1}, volume.Vec{8, 8, 4}},
		{volume.Vec{64, 64, 8}, volume.Vec{64, 64, 1}, volume.Vec{64, 64, 1}},
		{volume.Vec{64, 64, 8}, volume.Vec{1, 1, 1}, volume.Vec{64, 64, 8}},
	} {
		g := volume.Grid{Size: c.size, Type: volume.Uint8, Channels: 1}
		if got := blockOf(g, c.unit, 256); got != c.want {
			t.Errorf("%v in units of %v: got blocks of %v, want %v", c.size, c.unit, got, c.want)
		}
	}
}

// npy returns an .npy file of bytes in C order. Byte i is i modulo 251.
func npy(size volume.Vec) (file, voxels []byte) {
	header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d), }", size[2], size[1],
		size[0])
	header += string(bytes.Repeat([]byte{' '}, 117-len(header))) + "\n"
	voxels = make([]byte, size[0]*size[1]*size[2])
	for i := range voxels {
		voxels[i] = byte(i % 251)
	}
	return append([]byte("\x93NUMPY\x01\x00\x76\x00"+header), voxels...), voxels
}

// open opens the only mag of a file in a directory.
func open(t *testing.T, dir, name string, blockBytes int) volume.Mag {
	t.Helper()
	root, err := Recognise(os.DirFS(dir), name, Options{Unpack: t.TempDir(), blockBytes: blockBytes})
	if err != nil {
		t.Fatal(err)
	}
	m, err := root.Layer.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// readAll reads all voxels of a cube, block by block, in some order.
func readAll(t *testing.T, c volume.CubeFile) ([]byte, error) {
	t.Helper()
	g := c.Grid()
	all := make([]byte, g.Bytes())
	count := g.Blocks()
	for i := count[0]*count[1]*count[2] - 1; i >= 0; i-- { // the last one first
		at := volume.Vec{i % count[0], i / count[0] % count[1], i / count[0] / count[1]}
		b, err := volume.ReadBlock(t.Context(), c, at)
		if err != nil {
			return nil, err
		}
		box := g.BlockBox(at)
		for v := range box.All() {
			in := v.Sub(box.Min)
			all[v.Index(g.Size)] = b[in.Index(g.Block)]
		}
	}
	return all, nil
}

// TestAllShapes reads arrays of all small sizes in blocks of all small sizes.
func TestAllShapes(t *testing.T) {
	dir := t.TempDir()
	for x := 1; x <= 4; x++ {
		for y := 1; y <= 4; y++ {
			for z := 1; z <= 4; z++ {
				file, want := npy(volume.Vec{x, y, z})
				if err := os.WriteFile(filepath.Join(dir, "a.npy"), file, 0o666); err != nil {
					t.Fatal(err)
				}
				for bytes := 1; bytes <= 9; bytes++ {
					c, err := open(t, dir, "a.npy", bytes).OpenCube(volume.Vec{})
					if err != nil {
						t.Fatal(err)
					}
					if got, err := readAll(t, c); err != nil || string(got) != string(want) {
						t.Errorf("%d × %d × %d in blocks of %v: got %v, %v, want %v", x, y, z, c.Grid().Block, got, err,
							want)
					}
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// TestChanged: an open cube fails when its file changes; a new one has the new voxels, and another version.
func TestChanged(t *testing.T) {
	dir, size := t.TempDir(), volume.Vec{3, 4, 5}
	file, want := npy(size)
	path := filepath.Join(dir, "a.npy")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir, "a.npy", 8)
	before, err := m.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	file[len(file)-1]++
	want[len(want)-1]++
	if err := errors.Join(os.WriteFile(path, append(file, 0), 0o666), os.Truncate(path, int64(len(file)))); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, before); !errors.Is(err, volume.ErrChanged) {
		t.Errorf("got %v, want an error that the file has changed", err)
	}
	after, err := m.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if got, err := readAll(t, after); err != nil || string(got) != string(want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if info, err := m.StatCubes(0, 0, 0); err != nil || after.Version() == before.Version() ||
		volume.VersionOf(info) != after.Version() {
		t.Errorf("versions %v, %v, %v: want a new one, as the file has it", before.Version(), after.Version(), err)
	}
}

// TestUnpacked reads a compressed stream from its end to its start, by several cubes.
func TestUnpacked(t *testing.T) {
	dir, size := t.TempDir(), volume.Vec{7, 6, 5}
	header := make([]byte, 352)
	header[1], header[0] = 348>>8, 348&255
	header[40], header[42], header[44], header[46] = 3, byte(size[0]), byte(size[1]), byte(size[2])
	header[70], header[72] = 2, 8 // uint8
	header[108+2], header[108+3] = 0xB0, 0x43
	copy(header[344:], "n+1\x00")
	_, want := npy(size)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(append(header, want...)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), os.WriteFile(filepath.Join(dir, "a.nii.gz"), packed.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir, "a.nii.gz", 20)
	for range 2 {
		c, err := m.OpenCube(volume.Vec{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, c); err != nil || string(got) != string(want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFolder: each file of a folder is a layer. One that cannot be read is left out with the reason.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	file, _ := npy(volume.Vec{3, 4, 5})
	for name, content := range map[string][]byte{"a.npy": file, "b.npy": file[:100], "notes.txt": nil, ".c.npy": file} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	root, err := Recognise(os.DirFS(dir), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := root.Dataset.Layers()
	left := root.Dataset.(volume.Omitter).Omitted()
	if fmt.Sprint(names) != "[a]" || err != nil || len(left) != 1 || left[0].Name != "b.npy" || !left[0].Fault {
		t.Errorf("got layers %v, %v, left out %+v", names, err, left)
	}
	if _, err := Recognise(os.DirFS(t.TempDir()), ".", Options{}); !errors.Is(err, ErrNotRecognised) {
		t.Errorf("an empty folder: got %v", err)
	}
}
