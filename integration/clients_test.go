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

// TestClients holds that the programs and libraries that people have open what a
// mount shows, and see the voxels, the type, the spacing and the place that other
// programs than ours say are there. A program that is missing fails the test:
// clients/install.sh installs them.
func TestClients(t *testing.T) {
	arrays := slices.Concat(referenceArrays(t), modelArrays(t))
	if len(arrays) == 0 {
		t.Fatal("nothing to open")
	}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			var files []shown
			for _, a := range arrays {
				files = append(files, c.files(a)...)
			}
			answers := c.open(t, files)
			for i, f := range files {
				t.Run(f.what, func(t *testing.T) { f.compare(t, answers[i]) })
			}
		})
	}
}

// client is a program or library, and what opens files with it.
type client struct {
	name     string
	command  []string // in the directory clients
	readings []reading
}

// reading is how a client reads files of some suffix.
type reading struct {
	suffix string
	can    func(array) bool
	place  place
	floats func(uint32s []byte) (float32s []byte) // where uint32 becomes float32
}

// place is what a client says of the spacing and of where voxel 0,0,0 lies.
type place int

const (
	nowhere  place = iota // nothing
	numbers               // numbers, also where they are unknown
	somewhat              // numbers, and that they are nm where they are known
)

var clients = []client{
	{"numpy.fromfile,memmap", python("read_raw.py"), []reading{{suffix: ".raw", can: anything, place: somewhat}}},
	{"numpy.load", python("read_npy.py"), []reading{{suffix: ".npy", can: anything, place: nowhere}}},
	{"Octave's fread", []string{"octave-cli", "--norc", "--quiet", "read_raw.m"}, []reading{{suffix: ".raw", can: anything, place: nowhere}}},
	{"nibabel", python("read_nii.py"), []reading{{suffix: ".nii", can: grayOrRGB, place: somewhat}}},
	{"tifffile", python("read_tif.py"), []reading{{suffix: ".tif", can: anything, place: somewhat}}},
	{"unu", python("read_nrrd.py"), []reading{{suffix: ".nrrd", can: anything, place: somewhat}, {suffix: ".nhdr", can: anything, place: somewhat}}},
	{"VTK", python("read_vtk.py"), []reading{
		// It takes rows of up to 9 voxels in a NRRD for so many channels.
		{suffix: ".nrrd", can: wide, place: numbers}, {suffix: ".nhdr", can: wide, place: numbers},
		{suffix: ".mhd", can: not("int64", "uint64"), place: numbers}, // which crash it
		{suffix: ".nii", can: grayOrRGB, place: numbers},
		{suffix: ".xmf", can: not("uint64"), place: numbers}, // XDMF has none
	}},
	{"ITK", python("read_itk.py"), []reading{
		{suffix: ".nrrd", can: toITK, place: numbers}, {suffix: ".nhdr", can: toITK, place: numbers},
		{suffix: ".mhd", can: toITK, place: numbers},
		{suffix: ".nii", can: func(a array) bool { return toITK(a) && a.finite() }, place: numbers}, // NaN becomes 0
		// Its TIFF reader gets integers of 32 bits wrong.
		{suffix: ".tif", can: func(a array) bool { return toITK(a) && not("int32", "uint32")(a) }, place: nowhere},
	}},
	{"ImageJ", []string{"java", "-Djava.awt.headless=true", "-cp", "/usr/share/java/ij.jar", "ReadImageJ.java"}, []reading{
		{suffix: ".raw", can: toImageJ, place: nowhere, floats: unsignedFloats},
		// In a TIFF it takes uint32 for int32.
		{suffix: ".tif", can: toImageJ, place: somewhat, floats: signedFloats},
		{suffix: sequence, can: toImageJ, place: somewhat, floats: signedFloats},
	}},
}

// sequence stands for the suffix of a directory of slices.
const sequence = "/"

// python runs a script with Debian's Python, whose libraries these are.
func python(script string) []string { return []string{"/usr/bin/python3", script} }

func anything(array) bool    { return true }
func gray(a array) bool      { return a.channels == 1 }
func rgb(a array) bool       { return a.channels == 3 && a.dtype == "uint8" }
func grayOrRGB(a array) bool { return gray(a) || rgb(a) }
func wide(a array) bool      { return a.channels > 1 || a.size[0] > 9 }
func not(dtypes ...string) func(array) bool {
	return func(a array) bool { return !slices.Contains(dtypes, a.dtype) }
}

// toITK is what plastimatch lets through of what ITK reads.
func toITK(a array) bool {
	return gray(a) && slices.Contains([]string{"uint8", "uint16", "int16", "uint32", "int32", "float32"}, a.dtype)
}

// toImageJ is what ImageJ reads by itself; integers of 32 bits become floats.
func toImageJ(a array) bool {
	return rgb(a) || gray(a) && slices.Contains([]string{"uint8", "uint16", "uint32", "float32"}, a.dtype)
}

// shown is a file and what a client has to see in it.
type shown struct {
	array
	what string // in words
	path string
	reading
}

// files returns all that the client opens of an array: the volume, boxes, a slice, a
// sequence of slices, cubes.
func (c client) files(a array) []shown {
	var all []shown
	for _, r := range c.readings {
		if !r.can(a) {
			continue
		}
		add := func(part array, path string) {
			all = append(all, shown{part, a.name + "/" + path, filepath.Join(a.dir, path), r})
		}
		if r.suffix == sequence {
			add(a, "slices")
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
	return all
}

func boxName(b [2][3]int) string {
	return fmt.Sprintf("%d-%d_%d-%d_%d-%d", b[0][0], b[1][0], b[0][1], b[1][1], b[0][2], b[1][2])
}

// answer is what a client sees; clients/client.py says in which words.
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
func (c client) open(t *testing.T, files []shown) []answer {
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
	// No traces of Python in the checkout.
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
			t.Fatalf("%v answers %q: %v; %s", c.command, r.stdout, err, r.stderr)
		}
		answers = append(answers, a)
	}
	if r.code != 0 || len(answers) != len(files) {
		t.Fatalf("%v ended with %d after %d of %d files: %s", c.command, r.code, len(answers), len(files), r.stderr)
	}
	if r.stderr != "" {
		t.Log(r.stderr)
	}
	return answers
}

func (f shown) compare(t *testing.T, got answer) {
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	dtype, voxels := f.dtype, f.voxels
	if f.floats != nil && dtype == "uint32" {
		dtype, voxels = "float32", f.floats(voxels)
	}
	if got.Shape != f.size || got.Channels != f.channels || got.Dtype != dtype {
		t.Errorf("%v voxels of %d channels of %s, want %v of %d of %s", got.Shape, got.Channels, got.Dtype, f.size, f.channels, dtype)
	}
	if want := sum(voxels); got.SHA256 != want {
		t.Errorf("voxels of hash %s, want %s", got.SHA256, want)
	}
	for i, s := range f.samples {
		if !slices.EqualFunc(got.Voxels[i], s.value, sameNumber) {
			t.Errorf("voxel %v is %v, want %v", s.at, got.Voxels[i], s.value)
		}
	}
	f.comparePlace(t, got)
}

func (f shown) comparePlace(t *testing.T, got answer) {
	switch {
	case f.place == nowhere || f.nm == nil && f.place == somewhat:
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

// near compares lengths to what a 32-bit float holds, which is all NIfTI has.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// sameNumber compares numbers that may be written differently, as 7 and 7.0.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	_, err := strconv.ParseUint(strings.TrimPrefix(string(a), "-"), 10, 64)
	if err == nil && !strings.ContainsAny(string(b), ".e") { // two integers, not the same
		return false
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

// TestClientTiffinfo holds that libtiff sees all pages, and reads them to the end
// without a warning.
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
				if n := bytes.Count([]byte(r.stdout), []byte(line+"\n")) + strings.Count(r.stdout, line+" 0x"); n != a.size[2] {
					t.Errorf("%q %d times, want one for each of %d planes", line, n, a.size[2])
				}
			}
		})
	}
}
