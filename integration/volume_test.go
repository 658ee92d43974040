package integration

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// layer is a mag with some cubes of one model and some absent, as a naive volume.
type layer struct {
	model
	min, size [3]int // bounding box
	cubes     map[[3]int]bool
}

// sparse is four cubes of 16³ voxels in a box that is aligned to nothing.
var sparse = layer{
	model: model{blockLog: 2, cubeLog: 2, blockType: 2, voxelType: 2, channels: 1},
	min:   [3]int{5, 3, 2},
	size:  [3]int{50, 40, 70},
	cubes: map[[3]int]bool{{0, 0, 0}: true, {2, 1, 0}: true, {1, 2, 1}: true, {3, 0, 4}: true},
}

// write makes a dataset with the layer "color", whose mag 1 it is.
func (l layer) write(t *testing.T) (source string) {
	t.Helper()
	source = t.TempDir()
	for c := range l.cubes {
		l.model.write(t, filepath.Join(source, "color/1"), c[0], c[1], c[2])
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), fmt.Appendf(nil,
		`{"scale":{"factor":[4,5,60],"unit":"nanometer"},"dataLayers":[{"name":"color","category":"color","boundingBox":{"topLeft":[%d,%d,%d],"width":%d,"height":%d,"depth":%d}}]}`,
		l.min[0], l.min[1], l.min[2], l.size[0], l.size[1], l.size[2]))
	return source
}

// box is the voxels of a box, zeros where there is no cube and outside of the layer.
func (l layer) box(lo, hi [3]int) []byte {
	var b []byte
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			for x := lo[0]; x < hi[0]; x++ {
				b = append(b, l.voxel(x, y, z)...)
			}
		}
	}
	return b
}

func (l layer) voxel(x, y, z int) []byte {
	v := make([]byte, l.voxelSize())
	for axis, at := range [3]int{x, y, z} {
		if at < l.min[axis] || at >= l.min[axis]+l.size[axis] {
			return v
		}
	}
	s := l.side()
	if l.cubes[[3]int{x / s, y / s, z / s}] {
		for i := range v {
			v[i] = l.byteAt(x%s, y%s, z%s, i)
		}
	}
	return v
}

func (l layer) max() [3]int {
	return [3]int{l.min[0] + l.size[0], l.min[1] + l.size[1], l.min[2] + l.size[2]}
}

func TestVolume(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1")
	want := sparse.box(sparse.min, sparse.max())
	compareRanges(t, filepath.Join(dir, "volume.raw"), want)
	for suffix, head := range map[string]int{"npy": 4096, "nrrd": 4096, "nii": 4096, "tif": 4096} {
		got, err := os.ReadFile(filepath.Join(dir, "volume."+suffix))
		if err != nil || len(got) < head+len(want) || !bytes.Equal(got[head:head+len(want)], want) {
			t.Errorf("volume.%s: %d bytes, voxels not the model's; error %v", suffix, len(got), err)
		}
	}
	var about struct {
		Dtype, Unit   string
		Shape, Origin [3]int
		VoxelSize     [3]float64 `json:"voxel_size"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "volume.json"))
	if err := errors.Join(err, json.Unmarshal(b, &about)); err != nil {
		t.Fatal(err)
	}
	if about.Dtype != "uint16" || about.Shape != sparse.size || about.Origin != sparse.min || about.VoxelSize != [3]float64{4, 5, 60} || about.Unit != "nm" {
		t.Errorf("volume.json: %+v", about)
	}
}

func TestSlices(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1/slices")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != sparse.size[2] || entries[0].Name() != "z0000002.tif" || entries[69].Name() != "z0000071.tif" {
		t.Fatalf("%d slices, %v; %v", len(entries), entries, err)
	}
	for z := sparse.min[2]; z < sparse.max()[2]; z += 7 {
		lo, hi := sparse.min, sparse.max()
		lo[2], hi[2] = z, z+1
		want := sparse.box(lo, hi)
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("z%07d.tif", z)))
		if err != nil || !bytes.Equal(got[:4], []byte("II*\x00")) || !bytes.Equal(got[len(got)-len(want):], want) {
			t.Errorf("slice %d: not the model's voxels; error %v", z, err)
		}
	}
	for _, name := range []string{"z0000001.tif", "z0000072.tif", "z2.tif", "z+000002.tif", "z0000002.raw", "0000002.tif"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBoxes(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1/box")
	r := rand.New(rand.NewPCG(5, 5))
	for range 40 {
		var lo, hi [3]int
		for axis := range 3 {
			lo[axis] = r.IntN(90) - 15
			hi[axis] = lo[axis] + 1 + r.IntN(30)
		}
		name := fmt.Sprintf("%d-%d_%d-%d_%d-%d", lo[0], hi[0], lo[1], hi[1], lo[2], hi[2])
		want := sparse.box(lo, hi)
		for _, suffix := range []string{".raw", ".npy", ".nrrd", ".nii", ".tif"} {
			got, err := os.ReadFile(filepath.Join(dir, name+suffix))
			if err != nil || !bytes.Contains(got, want) || suffix == ".raw" && len(got) != len(want) {
				t.Errorf("%s%s: %d bytes, not the model's voxels; error %v", name, suffix, len(got), err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the directory lists %v; %v", entries, err)
	}
	for _, name := range []string{
		"0-1_0-1_0-1", "0-1_0-1_0-1.mhd", "0-1_0-1_0-1.json", "0-1_0-1.raw", "1-0_0-1_0-1.raw", "0-0_0-1_0-1.raw", "00-1_0-1_0-1.raw", "+0-1_0-1_0-1.raw",
		"0-1_0-1_0-1_0-1.raw", "0-1_0-1_0-1.raw.raw", "a-b_c-d_e-f.raw", ".raw", "0-1 0-1 0-1.raw", "0-99999999999999999999_0-1_0-1.raw",
		"0-1000000000000_0-1000000000000_0-1000000000000.raw", " 0-1_0-1_0-1.raw", "0-1_0-1_0-1.RAW",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v, want that it does not exist", name, err)
		}
	}
}

// TestVolumeChanges holds that a volume shows a changed, a new and a removed cube at
// the next open, while one that is open is what it was or fails.
func TestVolumeChanges(t *testing.T) {
	l := sparse
	l.cubes = map[[3]int]bool{{0, 0, 0}: true, {2, 1, 0}: true}
	source := l.write(t)
	name := filepath.Join(mount(t, source), "color/1/volume.raw")
	before := l.box(l.min, l.max())
	open, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if got, err := io.ReadAll(open); err != nil || !bytes.Equal(got, before) {
		t.Fatalf("before: %v", err)
	}
	inode := inodeOf(t, name)
	for _, change := range []struct {
		what string
		do   func() error
	}{
		{"a new cube", func() error {
			l.cubes[[3]int{1, 1, 1}] = true
			l.model.write(t, filepath.Join(source, "color/1"), 1, 1, 1)
			return nil
		}},
		{"a removed cube", func() error {
			delete(l.cubes, [3]int{2, 1, 0})
			return os.Remove(filepath.Join(source, "color/1/z0/y1/x2.wkw"))
		}},
		{"a cube written in place", func() error {
			l.seed = 99
			for c := range l.cubes {
				l.model.write(t, filepath.Join(source, "color/1"), c[0], c[1], c[2])
			}
			return nil
		}},
	} {
		if err := change.do(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, l.box(l.min, l.max())) {
			t.Errorf("%s: the next open does not show it; error %v", change.what, err)
		}
		old := make([]byte, len(before))
		if _, err := open.ReadAt(old, 0); err == nil && !bytes.Equal(old, before) {
			t.Errorf("%s: the open file is a mixture", change.what)
		}
		if inodeOf(t, name) != inode {
			t.Errorf("%s: another inode", change.what)
		}
	}
}

// holey is a tall layer in which most rows of cubes are absent.
var holey = layer{
	model: model{blockLog: 4, cubeLog: 2, blockType: 2, voxelType: 1, channels: 1}, // cubes of 64³
	size:  [3]int{64, 64 * 40, 64 * 5},
	cubes: map[[3]int]bool{{0, 3, 1}: true, {0, 4, 1}: true, {0, 25, 1}: true, {0, 0, 3}: true},
}

// TestHoles holds SEEK_HOLE and SEEK_DATA to the model: what is in a hole is zero, and
// what is absent for long is in a hole.
func TestHoles(t *testing.T) {
	dir := filepath.Join(mount(t, holey.write(t)), "color/1")
	for name, head := range map[string]int64{"volume.raw": 0, "volume.npy": 4096} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		size, _ := f.Seek(0, io.SeekEnd)
		var data int64
		for off := int64(0); off < size; {
			from, err := f.Seek(off, unix.SEEK_DATA)
			if errors.Is(err, syscall.ENXIO) {
				break
			}
			to, err2 := f.Seek(from, unix.SEEK_HOLE)
			if err != nil || err2 != nil || from < off || to <= from {
				t.Fatalf("%s: at %d: data from %d to %d; %v, %v", name, off, from, to, err, err2)
			}
			hole := make([]byte, from-off)
			if _, err := f.ReadAt(hole, off); err != nil || len(bytes.Trim(hole, "\x00")) != 0 {
				t.Errorf("%s: the hole from %d to %d is not zeros; %v", name, off, from, err)
			}
			data, off = data+to-from, to
		}
		if want := int64(4*64*64*64) + head; data < want || data > want+want/4 {
			t.Errorf("%s: %d bytes outside of holes, want the %d of four cubes or little more", name, data, want)
		}
		if _, err := f.Seek(size, unix.SEEK_DATA); !errors.Is(err, syscall.ENXIO) {
			t.Errorf("%s: SEEK_DATA at the end: %v", name, err)
		}
	}
	cube, err := os.Open(filepath.Join(dir, "z1/y3/x0.raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer cube.Close()
	if end, err := cube.Seek(0, unix.SEEK_HOLE); err != nil || end != 64*64*64 {
		t.Errorf("a cube has a hole at %d; %v", end, err)
	}
}

// TestStoredSize holds that st_blocks is what is stored, so that du tells the truth.
func TestStoredSize(t *testing.T) {
	source := holey.write(t)
	dir := filepath.Join(mount(t, source), "color/1")
	var st, cube syscall.Stat_t
	var stored int64
	for c := range holey.cubes {
		below := filepath.Join(source, "color/1", fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
		above := filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.raw", c[2], c[1], c[0]))
		if err := errors.Join(syscall.Stat(below, &st), syscall.Stat(above, &cube)); err != nil {
			t.Fatal(err)
		}
		if cube.Blocks != st.Blocks {
			t.Errorf("%s: %d blocks, want %d", above, cube.Blocks, st.Blocks)
		}
		stored += st.Blocks
	}
	if err := syscall.Stat(filepath.Join(dir, "volume.raw"), &st); err != nil || st.Blocks != stored {
		t.Errorf("volume.raw: %d blocks, want %d; %v", st.Blocks, stored, err)
	}
}

func TestAttributesOfArrays(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1")
	for name, want := range map[string]string{
		"volume.raw":                   "uint16 50,40,70 1 F 5,3,2 4,5,60 nm",
		"volume.nii":                   "uint16 50,40,70 1 F 5,3,2 4,5,60 nm",
		"slices/z0000009.tif":          "uint16 50,40,1 1 F 5,3,9 4,5,60 nm",
		"box/-3-4_0-1_2-5.raw":         "uint16 7,1,3 1 F -3,0,2 4,5,60 nm",
		"z0/y1/x2.raw":                 "uint16 16,16,16 1 F 32,16,0 4,5,60 nm",
		"z0/y1/x2.blocks/z1/y2/x3.raw": "uint16 4,4,4 1 F 44,24,4 4,5,60 nm",
	} {
		var got []string
		for _, key := range []string{"dtype", "shape", "channels", "order", "origin", "voxel_size"} {
			b := make([]byte, 100)
			n, err := unix.Getxattr(filepath.Join(dir, name), "user.wkwfs."+key, b)
			if err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
				continue
			}
			got = append(got, string(b[:n]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		b := make([]byte, 1000)
		if n, err := unix.Listxattr(filepath.Join(dir, name), b); err != nil || strings.Count(string(b[:n]), "\x00") != 6 {
			t.Errorf("%s: lists %q, %v", name, b[:n], err)
		}
		if _, err := unix.Getxattr(filepath.Join(dir, name), "user.other", b); !errors.Is(err, unix.ENODATA) {
			t.Errorf("%s: an attribute that is not there: %v", name, err)
		}
	}
}

// TestHugeLayer mounts a layer of 100,000 × 100,000 × 10,000 voxels with one cube far
// out, and one that is too large for any file.
func TestHugeLayer(t *testing.T) {
	m := model{blockLog: 5, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1} // cubes of 64³
	source := t.TempDir()
	m.write(t, filepath.Join(source, "color/1"), 1500, 1400, 150)
	m.write(t, filepath.Join(source, "vast/1"), 0, 0, 0)
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,4,40],"dataLayers":[
		{"name":"color","boundingBox":{"topLeft":[0,0,0],"width":100000,"height":100000,"depth":10000}},
		{"name":"vast","boundingBox":{"topLeft":[0,0,0],"width":3000000,"height":3000000,"depth":3000000}}]}`))
	start := time.Now()
	dir := mount(t, source)
	entries, err := os.ReadDir(filepath.Join(dir, "color/1"))
	if err != nil || len(entries) != 12 {
		t.Errorf("lists %v; %v", entries, err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("mounting and listing took %v", took)
	}
	x, y, z := int64(1500*64+7), int64(1400*64+33), int64(150*64+63)
	start = time.Now()
	for name, head := range map[string]int64{"volume.raw": 0, "volume.npy": 4096, "volume.nrrd": 4096, "volume.tif": 4096} {
		f, err := os.Open(filepath.Join(dir, "color/1", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p := make([]byte, 2)
		for _, at := range []struct {
			off  int64
			want byte
		}{{x + 100000*(y+100000*z), m.byteAt(7, 33, 63, 0)}, {0, 0}, {100000*100000*10000 - 2, 0}} {
			if _, err := f.ReadAt(p, head+at.off); err != nil || p[0] != at.want {
				t.Errorf("%s at %d: %d, want %d; %v", name, at.off, p[0], at.want, err)
			}
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("reading twelve voxels took %v", took)
	}
	for _, name := range []string{"volume.raw", "volume.npy", "volume.nii"} {
		if _, err := os.Stat(filepath.Join(dir, "vast/1", name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a layer that is too large: %v", name, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "vast/1/volume.json"))
	if err != nil || !bytes.Contains(b, []byte("more than 2^63")) {
		t.Errorf("volume.json of a layer that is too large: %s, %v", b, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "vast/1/box/7-9_33-34_63-64.raw")); err != nil || !bytes.Equal(got, []byte{m.byteAt(7, 33, 63, 0), m.byteAt(8, 33, 63, 0)}) {
		t.Errorf("a box of a layer that is too large: %v, %v", got, err)
	}
}

// TestTIFFPages follows the directories of volume.tif to the last page.
func TestTIFFPages(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(mount(t, sparse.write(t)), "color/1/volume.tif"))
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for at := binary.LittleEndian.Uint32(b[4:]); at != 0; pages++ {
		n := uint32(binary.LittleEndian.Uint16(b[at:]))
		at = binary.LittleEndian.Uint32(b[at+2+12*n:])
	}
	if pages != sparse.size[2] {
		t.Errorf("%d pages, want %d", pages, sparse.size[2])
	}
}
