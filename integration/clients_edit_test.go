//go:build clients

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// editWay is a way of a program to write voxels into a file of a mag.
type editWay struct {
	name    string
	command []string // of which clients/edit.py describes the arguments
	file    string   // a file of the mag; a suffix is that of a box around the voxels
	refused string   // a part of the error of a program that writes another array; "": it can write
}

// editWays are ways that write in place, those that save a whole file, and those that save another array.
var editWays = []editWay{
	{name: "numpy memmap", command: editPython("memmap"), file: "volume.raw"},
	{name: "numpy memmap, not flushed", command: editPython("memmap_without_flush"), file: "volume.raw"},
	{name: "numpy load", command: editPython("open_memmap"), file: "volume.npy"},
	{name: "numpy load, box", command: editPython("open_memmap"), file: ".npy"},
	{name: "numpy tofile", command: editPython("tofile"), file: "volume.raw"},
	{name: "numpy tofile, box", command: editPython("tofile"), file: ".raw"},
	{name: "numpy tofile, rows", command: editPython("tofile_rows"), file: "volume.raw"},
	{name: "numpy save", command: editPython("save"), file: ".npy"},
	{name: "numpy save, C order", command: editPython("save_in_c_order"), file: ".npy"},
	{name: "numpy save, volume", command: editPython("save"), file: "volume.npy"},
	{name: "numpy save, another type", command: editPython("save_floats"), file: ".npy", refused: "Invalid argument"},
	{name: "numpy save, rename", command: editPython("save_and_rename"), file: ".npy"},
	{name: "numpy save, rsync", command: editPython("save_and_rsync"), file: ".npy"},
	{name: "numpy tofile, rsync --inplace", command: editPython("rsync_inplace"), file: ".raw"},
	{name: "numpy save, mv", command: editPython("save_and_move"), file: ".npy"},
	{name: "nibabel and memmap", command: editPython("nibabel_memmap"), file: "volume.nii"},
	{name: "nibabel and memmap, box", command: editPython("nibabel_memmap"), file: ".nii"},
	{name: "nibabel save", command: editPython("nibabel_save"), file: ".nii"},
	{name: "tifffile memmap", command: editPython("tifffile_memmap"), file: ".tif"},
	{name: "tifffile imwrite", command: editPython("tifffile_imwrite"), file: ".tif"},
	{name: "tifffile imwrite, compressed", command: editPython("tifffile_compressed"), file: ".tif"},
	{name: "ITK", command: editPython("itk"), file: ".nrrd"},
	{name: "ITK, NIfTI", command: editPython("itk"), file: ".nii"},
	{name: "Octave fwrite", command: editOctave, file: "volume.raw"},
	{name: "Octave fwrite, box", command: editOctave, file: ".raw"},
	{name: "ImageJ", command: editImageJ, file: "volume.raw"},
	{name: "ImageJ, box", command: editImageJ, file: ".raw"},
}

var (
	editOctave = []string{"octave", "--norc", "--quiet", "edit.m"}
	editImageJ = []string{"java", "-Djava.awt.headless=true", "-cp", "/usr/share/java/ij.jar", "EditImageJ.java"}
)

func editPython(way string) []string { return append(python("edit.py"), way) }

// TestClientEdits has programs write into files of a layer that can be written. All views have what they wrote, also in
// a mount of the annotation over the dataset. Programs that write another array change nothing.
func TestClientEdits(t *testing.T) {
	e := newEdit(t)
	for i, w := range editWays {
		t.Run(w.name, func(t *testing.T) { w.run(t, e, i) })
	}
	e.stop(t)
	e.server = mountServer(t, e.edits, "--over="+e.source)
	e.check(t, "the annotation over the dataset")
}

// run writes a box of voxels that is another one for each i.
func (w editWay) run(t *testing.T, e *editMount, i int) {
	at, n := [3]int{118 + 2*i, 85 + i, 45 + i}, [3]int{37, 33, 5}
	name, corner, size := w.file, editStart, editSize
	if strings.HasPrefix(name, ".") {
		corner, size = [3]int{at[0] - 3, at[1] - 2, at[2] - 1}, [3]int{n[0] + 5, n[1] + 4, n[2] + 3}
		end := [3]int{corner[0] + size[0], corner[1] + size[1], corner[2] + size[2]}
		name = "box/" + boxName([2][3]int{corner, end}) + name
	}
	fresh := labels(n[0]*n[1]*n[2], uint64(100+i))
	input := filepath.Join(t.TempDir(), "voxels")
	writeFile(t, input, fresh)
	cmd := exec.Command(w.command[0], slices.Concat(w.command[1:], []string{e.file(name), input, commas(size),
		commas([3]int{at[0] - corner[0], at[1] - corner[1], at[2] - corner[2]}), commas(n)})...)
	cmd.Dir = "clients"
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	r := runCommand(t, cmd)
	switch {
	case w.refused == "" && r.code != 0:
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	case w.refused == "":
		e.setBox(at, n, fresh)
	case r.code == 0 || !strings.Contains(r.stderr, w.refused):
		t.Errorf("exit code %d, %q, expected %q", r.code, r.stderr, w.refused)
	}
	e.check(t, w.name)
}

func commas(v [3]int) string { return fmt.Sprintf("%d,%d,%d", v[0], v[1], v[2]) }

// TestClientEditFio has fio write pieces with checksums into a volume and a box, and verify them, with the engines and
// patterns that programs use.
func TestClientEditFio(t *testing.T) {
	e := newEdit(t)
	flat := filepath.Join(tempDir(t), "flat")
	if r := fio(t, flat, "--rw=write", "--do_verify=0", "--ioengine=psync"); r.code != 0 {
		t.Fatalf("fio cannot write: %s", r.stderr)
	}
	for _, name := range []string{"volume.raw", "box/120-248_100-228_50-82.raw"} {
		info, err := os.Stat(e.file(name))
		if err != nil {
			t.Fatal(err)
		}
		size := strconv.FormatInt(info.Size()/fioPiece*fioPiece, 10)
		for _, engine := range []string{"sync", "mmap", "libaio", "io_uring"} {
			if engineRefused(t, engine, flat) {
				continue
			}
			for _, way := range []string{"--rw=randwrite --direct=0", "--rw=write --direct=0",
				"--rw=randwrite --direct=1"} {
				if engine == "mmap" && strings.HasSuffix(way, "1") {
					continue
				}
				t.Run(strings.Join([]string{name, engine, way}, "/"), func(t *testing.T) {
					args := append(strings.Fields(way), "--ioengine="+engine, "--size="+size, "--iodepth=8",
						"--fallocate=none",
						"--bsrange=4k-256k", "--bs_unaligned=0", "--do_verify=1", "--allow_file_create=0")
					if r := fio(t, e.file(name), args...); r.code != 0 {
						t.Errorf("fio: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
					}
				})
			}
		}
		e.want = e.read(t, "volume.raw")
		e.check(t, "after fio on "+name)
	}
	e.stop(t)
	e.server = mountServer(t, e.edits, "--over="+e.source)
	e.check(t, "the annotation over the dataset")
}
