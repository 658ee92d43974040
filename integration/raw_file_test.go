package integration

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRawFiles: a file that has only voxels is a source of every command, with the flags of an import, which reads the
// same from it. So are axes, voxel size and offset of a file whose header lacks them.
func TestRawFiles(t *testing.T) {
	dir := tempDir(t)
	source := filepath.Join(dir, "v.raw")
	var big, little []byte
	for i := range 7 * 5 * 3 {
		big = binary.BigEndian.AppendUint16(big, uint16(i*257+1))
		little = binary.LittleEndian.AppendUint16(little, uint16(i*257+1))
	}
	if err := os.WriteFile(source, big, 0o644); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--shape", "7,5,3", "--dtype", "uint16", "--big-endian", "--voxel-size", "8,8,30", "--offset",
		"10,0,2"}
	want := func(what string, got []byte, err error) {
		t.Helper()
		if err != nil || !bytes.Equal(got, little) {
			t.Errorf("%s: got %d bytes that are others, %v", what, len(got), err)
		}
	}
	mounted := mount(t, source, flags...)
	b, err := os.ReadFile(filepath.Join(mounted, "1/volume.raw"))
	want("mount", b, err)
	var about struct {
		Shape, Origin [3]int
		VoxelSize     [3]float64 `json:"voxel_size"`
	}
	readJSON(t, filepath.Join(mounted, "1/volume.json"), &about)
	if about.Shape != [3]int{7, 5, 3} || about.Origin != [3]int{10, 0, 2} || about.VoxelSize != [3]float64{8, 8, 30} {
		t.Errorf("got %+v", about)
	}
	copied := filepath.Join(dir, "copy.raw")
	mustRun(t, append([]string{"cp", "--quiet", source, "1/volume.raw", copied}, flags...)...)
	b, err = os.ReadFile(copied)
	want("cp", b, err)
	_, b = startWeb(t, nil, append([]string{"--listen", "127.0.0.1:0", source}, flags...)...).get(t, "1/volume.raw")
	want("serve", b, nil)
	mustRun(t, append([]string{"check", source}, flags...)...)
	mustRun(t, append([]string{"import", "--quiet", "--layer", "l", "--category", "color", source,
		filepath.Join(dir, "dataset")}, flags...)...)
	b, err = os.ReadFile(filepath.Join(mount(t, filepath.Join(dir, "dataset")), "l/1/volume.raw"))
	want("import", b, err)

	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer files.Close()
	b, err = os.ReadFile(filepath.Join(mount(t, files.URL+"/v.raw", "-o", "shape=7x5x3,dtype=uint16,big_endian"),
		"1/volume.raw"))
	want("by HTTP", b, err)

	if err := os.Truncate(source, 100); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(mounted, "1/volume.raw")); err == nil && !bytes.Equal(b, little) {
		t.Error("a file that was cut off is read as other voxels")
	}
	for text, flags := range map[string][]string{
		"v.raw: voxels at byte 0: expected 210 bytes for 7,5,3 voxels of 1 × uint16, found 100": flags,
		"--shape is for a file without a header, which needs --dtype":                           {"--shape", "7,5,3"},
		"--dtype is for a file without a header, which needs --shape":                           {"--dtype", "uint8"},
		"--channels and --big-endian are for a file without a header":                           {"--big-endian"},
		`--dtype: unknown voxel type "uint15"`: {"--shape", "7,5,3",
			"--dtype", "uint15"},
		"with --shape and --dtype": nil,
	} {
		if got := wkwfs(t, append([]string{"info", source}, flags...)...); got.code == 0 ||
			!strings.Contains(got.stderr, text) {
			t.Errorf("%v: exit code %d, %s; want %q", flags, got.code, got.stderr, text)
		}
	}
}

// TestAxesOfFiles: --axes says how an .npy file is arranged, and is refused where a header says it.
func TestAxesOfFiles(t *testing.T) {
	source := filepath.Join(tempDir(t), "a.npy")
	header := "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00\x76\x00"), header...)
	var voxels []byte
	for i := range 24 {
		voxels = append(voxels, byte(i))
	}
	if err := os.WriteFile(source, append(b, voxels...), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(mount(t, source, "--axes", "xyz", "--voxel-size", "1,2,3"), "1/volume.raw"))
	var want []byte
	for z := range 4 {
		for y := range 3 {
			for x := range 2 {
				want = append(want, voxels[(x*3+y)*4+z])
			}
		}
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got := wkwfs(t, "info", source, "--axes", "xyq"); got.code == 0 {
		t.Errorf("an axis of no known name is taken: %s", got.stdout)
	}
}
