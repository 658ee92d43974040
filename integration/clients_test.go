//go:build clients

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestClients opens the files of mounts with the programs and libraries that users have. They have to find the
// voxels, type, spacing and position that the reference data has. A missing program fails the test:
// clients/install.sh installs them.
func TestClients(t *testing.T) {
	arrays := slices.Concat(referenceArrays(t), modelArrays(t))
	if len(arrays) == 0 {
		t.Fatal("there are no arrays to open")
	}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			var files []expectation
			for _, a := range arrays {
				files = append(files, c.files(a)...)
			}
			answers := c.open(t, files)
			for i, f := range files {
				t.Run(f.description, func(t *testing.T) { f.compare(t, answers[i]) })
			}
		})
	}
}

// client is a program or library.
type client struct {
	name     string
	command  []string // runs in the directory clients
	readings []reading
}

// reading is how a client reads the files of one suffix.
type reading struct {
	suffix string
	can    func(array) bool // whether the client can read an array
	place  placement
	floats func(uint32s []byte) (float32s []byte) // for clients that convert uint32 to float32
}

// placement is what a client returns as spacing and as the position of voxel 0,0,0.
type placement int

const (
	noPlace        placement = iota // nothing
	numbers                         // numbers without a unit, also if they are unknown
	nanometerPlace                  // nm if they are known, otherwise nothing
)

var clients = []client{
	{"numpy.fromfile,memmap", python("read_raw.py"), []reading{{suffix: ".raw", can: anything, place: nanometerPlace}}},
	{"numpy.load", python("read_npy.py"), []reading{{suffix: ".npy", can: anything, place: noPlace}}},
	{"Octave's fread", []string{"octave-cli", "--norc", "--quiet", "read_raw.m"},
		[]reading{{suffix: ".raw", can: anything, place: noPlace}}},
	{"nibabel", python("read_nii.py"), []reading{{suffix: ".nii", can: grayOrRGB, place: nanometerPlace}}},
	{"tifffile", python("read_tif.py"), []reading{{suffix: ".tif", can: anything, place: nanometerPlace}}},
	{"unu", python("read_nrrd.py"), []reading{{suffix: ".nrrd", can: anything, place: nanometerPlace},
		{suffix: ".nhdr", can: anything, place: nanometerPlace}}},
	{"VTK", python("read_vtk.py"), []reading{
		// It reads a row of up to 9 voxels in an NRRD as the channels of a voxel.
		{suffix: ".nrrd", can: wide, place: numbers}, {suffix: ".nhdr", can: wide, place: numbers},
		{suffix: ".mhd", can: not("int64", "uint64"), place: numbers}, // they crash VTK
		{suffix: ".nii", can: grayOrRGB, place: numbers},
		{suffix: ".xmf", can: not("uint64"), place: numbers}, // XDMF does not have this type
	}},
	{"ITK", python("read_itk.py"), []reading{
		{suffix: ".nrrd", can: toITK, place: numbers}, {suffix: ".nhdr", can: toITK, place: numbers},
		{suffix: ".mhd", can: toITK, place: numbers},
		// it changes NaN to 0
		{suffix: ".nii", can: func(a array) bool { return toITK(a) && a.finite() }, place: numbers},
		// Its TIFF reader returns wrong integers of 32 bits.
		{suffix: ".tif", can: func(a array) bool { return toITK(a) && not("int32", "uint32")(a) }, place: noPlace},
	}},
	{"ImageJ", []string{"java", "-Djava.awt.headless=true", "-cp", "/usr/share/java/ij.jar", "ReadImageJ.java"},
		[]reading{
			{suffix: ".raw", can: toImageJ, place: noPlace, floats: unsignedFloats},
			// It reads uint32 in a TIFF as int32.
			{suffix: ".tif", can: toImageJ, place: nanometerPlace, floats: signedFloats},
			{suffix: sequence, can: toImageJ, place: nanometerPlace, floats: signedFloats},
		}},
	{"zarr and dask", append(python("read_ome.py"), "zarr"),
		[]reading{{suffix: omeImage, can: anything, place: nanometerPlace}}},
	{"xarray", append(python("read_ome.py"), "xarray"),
		[]reading{{suffix: omeImage, can: anything, place: nanometerPlace}}},
	// it has no int8
	{"GDAL", append(python("read_ome.py"), "gdal"),
		[]reading{{suffix: omeImage, can: not("int8"), place: nanometerPlace}}},
}

// omeImage is used as the suffix of ome.zarr.
const omeImage = "ome.zarr"

// sequence is used as the suffix of a directory of slices.
const sequence = "/"

// python returns the command that runs a script with Debian's Python, which has the libraries.
func python(script string) []string { return []string{"/usr/bin/python3", script} }

func anything(array) bool    { return true }
func gray(a array) bool      { return a.channels == 1 }
func rgb(a array) bool       { return a.channels == 3 && a.dtype == "uint8" }
func grayOrRGB(a array) bool { return gray(a) || rgb(a) }
func wide(a array) bool      { return a.channels > 1 || a.size[0] > 9 }
func not(dtypes ...string) func(array) bool {
	return func(a array) bool { return !slices.Contains(dtypes, a.dtype) }
}

// toITK reports whether plastimatch can read an array. ITK itself can read more.
func toITK(a array) bool {
	return gray(a) && slices.Contains([]string{"uint8", "uint16", "int16", "uint32", "int32", "float32"}, a.dtype)
}

// toImageJ reports whether ImageJ can read an array without plugins. It converts integers of 32 bits to floats.
func toImageJ(a array) bool {
	return rgb(a) || gray(a) && slices.Contains([]string{"uint8", "uint16", "uint32", "float32"}, a.dtype)
}

// expectation is a file and what a client has to find in it.
type expectation struct {
	array
	description string
	path        string
	reading
}

// files returns the files of an array that the client opens: volume, boxes, a slice, a sequence of slices, and
// cubes.
func (c client) files(a array) []expectation {
	var files []expectation
	for _, r := range c.readings {
		if !r.can(a) {
			continue
		}
		add := func(part array, path string) {
			files = append(files, expectation{part, a.name + "/" + path, filepath.Join(a.dir, path), r})
		}
		if r.suffix == sequence {
			add(a, "slices")
			continue
		}
		if r.suffix == omeImage {
			add(a, "#"+boxName([2][3]int{a.min, a.max()}))
			continue
		}
		add(a, "volume"+r.suffix)
		for _, box := range a.boxes() {
			part := a.part(box[0], box[1])
			if r.can(part) && slices.Contains([]string{".raw", ".npy", ".nrrd", ".nii", ".tif"}, r.suffix) {
				add(part, "box/"+boxName(box)+r.suffix)
			}
		}
		switch r.suffix {
		case ".tif":
			lo, hi := a.min, a.max()
			lo[2] += a.size[2] / 2
			hi[2] = lo[2] + 1
			add(a.part(lo, hi), fmt.Sprintf("slices/z%07d.tif", lo[2]))
		case ".raw":
			for path, cube := range a.cubes {
				add(cube, path)
			}
		}
	}
	return files
}

func boxName(b [2][3]int) string {
	return fmt.Sprintf("%d-%d_%d-%d_%d-%d", b[0][0], b[1][0], b[0][1], b[1][1], b[0][2], b[1][2])
}

// answer is what a client found in a file. clients/client.py describes the fields.
type answer struct {
	Error           string
	Shape           [3]int
	Channels        int
	Dtype           string
	Spacing, Origin []float64
	Voxels          [][]json.Number
	SHA256          string
}

// open runs the client once for all files.
func (c client) open(t *testing.T, files []expectation) []answer {
	t.Helper()
	var lines strings.Builder
	for _, f := range files {
		lines.WriteString(f.path)
		for _, s := range f.samples {
			fmt.Fprintf(&lines, "\t%d,%d,%d", s.at[0]-f.min[0], s.at[1]-f.min[1], s.at[2]-f.min[2])
		}
		lines.WriteByte('\n')
	}
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Dir = "clients"
	// Python must not write files into the checkout.
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = strings.NewReader(lines.String())
	r := runCommand(t, cmd)
	var answers []answer
	for d := json.NewDecoder(strings.NewReader(r.stdout)); ; {
		var a answer
		err := d.Decode(&a)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v printed %q: %v; stderr %s", c.command, r.stdout, err, r.stderr)
		}
		answers = append(answers, a)
	}
	if r.code != 0 || len(answers) != len(files) {
		t.Fatalf("%v exited with %d after %d of %d files: %s", c.command, r.code, len(answers), len(files), r.stderr)
	}
	if r.stderr != "" {
		t.Log(r.stderr)
	}
	return answers
}

// compare compares what a client found with what the file has.
func (f expectation) compare(t *testing.T, got answer) {
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	dtype, voxels := f.dtype, f.voxels
	if f.floats != nil && dtype == "uint32" {
		dtype, voxels = "float32", f.floats(voxels)
	}
	if got.Shape != f.size || got.Channels != f.channels || got.Dtype != dtype {
		t.Errorf("%v voxels, %d channels, type %s; want %v, %d, %s", got.Shape, got.Channels, got.Dtype, f.size,
			f.channels, dtype)
	}
	if want := sum(voxels); got.SHA256 != want {
		t.Errorf("voxels with hash %s, want %s", got.SHA256, want)
	}
	for i, s := range f.samples {
		if !slices.EqualFunc(got.Voxels[i], s.value, sameNumber) {
			t.Errorf("voxel %v is %v, want %v", s.at, got.Voxels[i], s.value)
		}
	}
	f.comparePlace(t, got)
}

// comparePlace compares spacing and position.
func (f expectation) comparePlace(t *testing.T, got answer) {
	switch {
	case f.place == noPlace || f.nm == nil && f.place == nanometerPlace:
		if got.Spacing != nil || got.Origin != nil {
			t.Errorf("spacing %v and origin %v nm, want none", got.Spacing, got.Origin)
		}
	case f.nm != nil:
		origin := []float64{float64(f.min[0]) * f.nm[0], float64(f.min[1]) * f.nm[1], float64(f.min[2]) * f.nm[2]}
		if !slices.EqualFunc(got.Spacing, f.nm, near) || !slices.EqualFunc(got.Origin, origin, near) {
			t.Errorf("spacing %v and origin %v nm, want %v and %v", got.Spacing, got.Origin, f.nm, origin)
		}
	}
}

// near compares lengths with the precision of a 32-bit float, which is the precision of NIfTI.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// sameNumber compares numbers that may be written in different ways, such as 7 and 7.0.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	_, err := strconv.ParseUint(strings.TrimPrefix(string(a), "-"), 10, 64)
	if err == nil && !strings.ContainsAny(string(b), ".e") { // two different integers
		return false
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

// TestClientTiffinfo checks that libtiff reads all pages without a warning.
func TestClientTiffinfo(t *testing.T) {
	for _, a := range slices.Concat(referenceArrays(t), modelArrays(t)) {
		t.Run(a.name, func(t *testing.T) {
			r := runCommand(t, exec.Command("tiffinfo", "-D", filepath.Join(a.dir, "volume.tif")))
			if r.code != 0 || r.stderr != "" {
				t.Fatalf("exit code %d, %s", r.code, r.stderr)
			}
			for _, line := range []string{
				"TIFF Directory at offset",
				fmt.Sprintf("Image Width: %d Image Length: %d", a.size[0], a.size[1]),
				fmt.Sprintf("Bits/Sample: %d", 8*typeBytes[a.dtype]),
				fmt.Sprintf("Samples/Pixel: %d", a.channels),
			} {
				if n := bytes.Count([]byte(r.stdout), []byte(line+"\n")) + strings.Count(r.stdout,
					line+" 0x"); n != a.size[2] {
					t.Errorf("%q %d times, want one for each of %d planes", line, n, a.size[2])
				}
			}
		})
	}
}
