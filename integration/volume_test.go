package integration

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestVolume compares all forms of the volume, and volume.json, with the model.
func TestVolume(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1")
	want := sparse.box(sparse.min, sparse.max())
	compareRanges(t, filepath.Join(dir, "volume.raw"), want)
	for suffix, header := range map[string]int{"npy": 4096, "nrrd": 4096, "nii": 4096, "tif": 4096} {
		got, err := os.ReadFile(filepath.Join(dir, "volume."+suffix))
		if err != nil || len(got) < header+len(want) || !bytes.Equal(got[header:header+len(want)], want) {
			t.Errorf("volume.%s: got %d bytes, error %v; want the model's voxels after the header", suffix, len(got),
				err)
		}
	}
	var description struct {
		Dtype, Unit   string
		Shape, Origin [3]int
		VoxelSize     [3]float64 `json:"voxel_size"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "volume.json"))
	if err := errors.Join(err, json.Unmarshal(b, &description)); err != nil {
		t.Fatal(err)
	}
	if description.Dtype != "uint16" || description.Shape != sparse.size || description.Origin != sparse.min ||
		description.VoxelSize != [3]float64{4, 5, 60} || description.Unit != "nm" {
		t.Errorf("volume.json: %+v", description)
	}
}

// TestSlices checks the names and the voxels of slices.
func TestSlices(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1/slices")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != sparse.size[2] || entries[0].Name() != "z0000002.tif" ||
		entries[69].Name() != "z0000071.tif" {
		t.Fatalf("%d slices: %v; error %v", len(entries), entries, err)
	}
	for z := sparse.min[2]; z < sparse.max()[2]; z += 7 {
		lo, hi := sparse.min, sparse.max()
		lo[2], hi[2] = z, z+1
		want := sparse.box(lo, hi)
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("z%07d.tif", z)))
		if err != nil || !bytes.Equal(got[:4], []byte("II*\x00")) || !bytes.Equal(got[len(got)-len(want):], want) {
			t.Errorf("slice %d: got %d bytes, error %v; want the model's voxels", z, len(got), err)
		}
	}
	for _, name := range []string{"z0000001.tif", "z0000072.tif", "z2.tif", "z+000002.tif", "z0000002.raw",
		"0000002.tif"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBoxes compares random boxes with the model, and checks that invalid names do not exist.
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
			if !sparse.overlaps(lo, hi) {
				if !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s%s lies outside of the layer: got %d bytes, error %v; expected ENOENT", name, suffix,
						len(got), err)
				}
				continue
			}
			if err != nil || !bytes.Contains(got, want) || suffix == ".raw" && len(got) != len(want) {
				t.Errorf("%s%s: got %d bytes, error %v; want the model's voxels", name, suffix, len(got), err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the directory box lists %v, error %v; want nothing", entries, err)
	}
	for _, name := range []string{
		"0-1_0-1_0-1", "0-1_0-1_0-1.mhd", "0-1_0-1_0-1.json", "0-1_0-1.raw", "1-0_0-1_0-1.raw", "0-0_0-1_0-1.raw",
		"00-1_0-1_0-1.raw", "+0-1_0-1_0-1.raw",
		"0-1_0-1_0-1_0-1.raw", "0-1_0-1_0-1.raw.raw", "a-b_c-d_e-f.raw", ".raw", "0-1 0-1 0-1.raw",
		"0-99999999999999999999_0-1_0-1.raw",
		"0-1000000000000_0-1000000000000_0-1000000000000.raw", " 0-1_0-1_0-1.raw", "0-1_0-1_0-1.RAW",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v, want ENOENT", name, err)
		}
	}
}

// TestVolumeChanges checks that a volume shows a changed, a new and a removed cube at the next open. A volume
// that is open keeps the old content or fails.
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
		t.Fatalf("before the change: %v", err)
	}
	inode := inodeOf(t, name)
	for _, change := range []struct {
		name string
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
			t.Errorf("%s: the next open does not show it, or error %v", change.name, err)
		}
		old := make([]byte, len(before))
		if _, err := open.ReadAt(old, 0); err == nil && !bytes.Equal(old, before) {
			t.Errorf("%s: the open file is a mixture", change.name)
		}
		if inodeOf(t, name) != inode {
			t.Errorf("%s: the inode changed", change.name)
		}
	}
}

// TestAttributesOfArrays checks the extended attributes of files of voxels.
func TestAttributesOfArrays(t *testing.T) {
	dir := filepath.Join(mount(t, sparse.write(t)), "color/1")
	for name, want := range map[string]string{
		"volume.raw":                   "uint16 50,40,70 1 F 5,3,2 4,5,60 nm",
		"volume.nii":                   "uint16 50,40,70 1 F 5,3,2 4,5,60 nm",
		"slices/z0000009.tif":          "uint16 50,40,1 1 F 5,3,9 4,5,60 nm",
		"box/-3-6_0-4_2-5.raw":         "uint16 9,4,3 1 F -3,0,2 4,5,60 nm",
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
		if n, err := unix.Listxattr(filepath.Join(dir, name), b); err != nil ||
			strings.Count(string(b[:n]), "\x00") != attributesOf(name) {
			t.Errorf("%s: lists %q, %v", name, b[:n], err)
		}
		if _, err := unix.Getxattr(filepath.Join(dir, name), "user.other", b); !errors.Is(err, unix.ENODATA) {
			t.Errorf("%s: an absent attribute: %v, want ENODATA", name, err)
		}
	}
}

// attributesOf returns how many attributes a file of voxels has. A header with lengths adds their unit.
func attributesOf(name string) int {
	if strings.HasSuffix(name, ".raw") {
		return 6
	}
	return 7
}

// TestUnit checks the unit of lengths in headers, and the attribute and the field of volume.json that state it.
func TestUnit(t *testing.T) {
	source := sparse.write(t)
	for _, c := range []struct {
		unit                   string
		mhd                    string // spacing
		ofMHD, ofNIfTI, ofNRRD string
		spacing                float32 // of NIfTI on z
	}{
		{"", "4 5 60", "nm", "mm", "nm", 6e-5},
		{"nm", "4 5 60", "nm", "nm", "nm", 60},
		{"um", "0.004 0.005 0.06", "um", "um", "um", 0.06},
	} {
		var args []string
		if c.unit != "" {
			args = []string{"-o", "unit=" + c.unit}
		}
		dir := filepath.Join(mount(t, source, args...), "color/1")
		mhd, err := os.ReadFile(filepath.Join(dir, "volume.mhd"))
		if want := "ElementSpacing = " + c.mhd + "\n"; err != nil || !strings.Contains(string(mhd), want) {
			t.Errorf("unit %q: %v: expected %s in\n%s", c.unit, err, want, mhd)
		}
		nii, err := os.ReadFile(filepath.Join(dir, "volume.nii"))
		if err != nil || math.Float32frombits(binary.LittleEndian.Uint32(nii[88:])) != c.spacing {
			t.Errorf("unit %q: volume.nii: %v, %x", c.unit, err, nii[76:92])
		}
		var about struct {
			Unit        string            `json:"unit"`
			HeaderUnits map[string]string `json:"header_units"`
		}
		b, err := os.ReadFile(filepath.Join(dir, "volume.json"))
		if err := errors.Join(err, json.Unmarshal(b, &about)); err != nil || about.Unit != "nm" {
			t.Errorf("unit %q: volume.json: %v, %q", c.unit, err, about.Unit)
		}
		for suffix, want := range map[string]string{".mhd": c.ofMHD, ".nii": c.ofNIfTI, ".nrrd": c.ofNRRD,
			".nhdr": c.ofNRRD, ".xmf": c.ofNRRD, ".tif": "nm", ".npy": "", ".raw": ""} {
			attribute := make([]byte, 10)
			n, _ := unix.Getxattr(filepath.Join(dir, "volume"+suffix), "user.wkwfs.unit", attribute)
			if got := string(attribute[:max(n, 0)]); got != want || about.HeaderUnits[suffix] != want {
				t.Errorf("unit %q: volume%s has the attribute %q, and %q in volume.json; expected %q", c.unit, suffix,
					got, about.HeaderUnits[suffix], want)
			}
		}
	}
}

// TestTIFFPages follows the image file directories of volume.tif to the last page.
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
