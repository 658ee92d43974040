package filesource

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestTimes reads the points in time of a file, voxel for voxel: each is a layer, t0000 and so on. In a folder of files
// they are those of the layer of the file. Their cubes have different versions, so that none is taken for another.
func TestTimes(t *testing.T) {
	root, cases := refdata.Sources(t, "file")
	dir := t.TempDir()
	want := map[string]refdata.SourceVolume{}
	for _, c := range cases {
		if c.Name != "ij_hyper" && c.Name != "nii_4d" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(root, c.Mount))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, c.Mount), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := Recognise(os.DirFS(dir), c.Mount, Options{})
		if err != nil || r.Dataset == nil {
			t.Fatalf("%s: %+v, %v", c.Name, r, err)
		}
		names, err := r.Dataset.Layers()
		if err != nil || len(names) != len(c.Volumes) || names[1] != "t0001" {
			t.Errorf("%s: got %q, %v", c.Name, names, err)
		}
		for i, v := range c.Volumes {
			want[stemOf(c.Mount)+"/"+names[i]] = v
		}
	}
	r, err := Recognise(os.DirFS(dir), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.Dataset.Layers()
	if err != nil || len(names) != 7 || len(want) != 7 {
		t.Errorf("got %q, %v, want %d layers", names, err, len(want))
	}
	var versions []volume.Version
	for name, v := range want {
		l, err := r.Dataset.Layer(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		cube, err := m.OpenCube(volume.Vec{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(versions, cube.Version()) {
			t.Errorf("%s has the version of another time", name)
		}
		versions = append(versions, cube.Version())
		cube.Close()
		box, _ := m.Bounds()
		voxels, err := volume.ReadBox(t.Context(), m, box)
		if got := fmt.Sprintf("%x", sha256.Sum256(voxels)); err != nil || box.Size() != volume.Vec(v.Size) ||
			got != v.SHA256 {
			t.Errorf("%s: %v, %v, got voxels with hash %s, want %s", name, box, err, got, v.SHA256)
		}
	}
}

// TestSetOfFiles: a folder with an OME-TIFF in several files has one layer for them, and each of the files shows all
// planes. Without one of the files, the folder says which is missing.
func TestSetOfFiles(t *testing.T) {
	dir := t.TempDir()
	description := `<OME><Image><Pixels DimensionOrder="XYZCT" SizeZ="1" SizeC="1" SizeT="2"><TiffData><UUID FileName="a.ome.tif">u:a</UUID></TiffData>` +
		`<TiffData FirstT="1"><UUID FileName="b.ome.tif">u:b</UUID></TiffData></Pixels></Image></OME>`
	for name, value := range map[string]byte{"a.ome.tif": 1, "b.ome.tif": 2} {
		if err := os.WriteFile(filepath.Join(dir, name), pixelTIFF(description, value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Recognise(os.DirFS(dir), ".", Options{})
	if err != nil || r.Dataset == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	if names, err := r.Dataset.Layers(); err != nil || !slices.Equal(names, []string{"a.ome/t0000", "a.ome/t0001"}) {
		t.Errorf("got %q, %v", names, err)
	}
	for _, file := range []string{"a.ome.tif", "b.ome.tif"} {
		r, err := Recognise(os.DirFS(dir), file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range []byte{1, 2} {
			l, err := r.Dataset.Layer(fmt.Sprintf("t%04d", at))
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Mag("1")
			if err != nil {
				t.Fatal(err)
			}
			c, err := m.OpenCube(volume.Vec{})
			if err != nil {
				t.Fatal(err)
			}
			blocks := []volume.Block{{}}
			c.Fill(t.Context(), blocks, func(volume.Vec) []byte { return make([]byte, c.Grid().BlockBytes()) })
			if blocks[0].Err != nil || blocks[0].Voxels[0] != want {
				t.Errorf("%s: time %d: got %+v, want %d", file, at, blocks[0], want)
			}
			c.Close()
		}
	}
	if err := os.Remove(filepath.Join(dir, "b.ome.tif")); err != nil {
		t.Fatal(err)
	}
	if _, err := Recognise(os.DirFS(dir), "a.ome.tif", Options{}); err == nil ||
		!strings.Contains(err.Error(), "b.ome.tif") {
		t.Errorf("got %v without one of the files", err)
	}
}

// pixelTIFF returns a TIFF of one pixel with a description.
func pixelTIFF(description string, value byte) []byte {
	b := []byte{'I', 'I', 42, 0, 8, 0, 0, 0, 6, 0}
	le := binary.LittleEndian
	at := uint32(8 + 2 + 6*12 + 4)
	for _, f := range [][4]uint32{
		{tiff.TagImageWidth, tiff.Long, 1, 1}, {tiff.TagImageLength, tiff.Long, 1, 1},
		{tiff.TagBitsPerSample, tiff.Short, 1, 8},
		{tiff.TagImageDescription, tiff.ASCII, uint32(len(description)), at + 1},
		{tiff.TagStripOffsets, tiff.Long, 1, at}, {tiff.TagStripByteCounts, tiff.Long, 1, 1},
	} {
		b = le.AppendUint16(le.AppendUint16(b, uint16(f[0])), uint16(f[1]))
		b = le.AppendUint32(le.AppendUint32(b, f[2]), f[3])
	}
	return append(append(le.AppendUint32(b, 0), value), description...)
}
