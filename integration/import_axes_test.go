package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// numpyPython returns a python that has numpy. The test is skipped if there is none.
func numpyPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import numpy").Run() == nil {
			return python
		}
	}
	t.Skip("needs python3 with numpy (apt install python3-numpy)")
	return ""
}

// labelScript changes labels that it reads from a mount, and saves them.
//
//	BOX RESULT ORDER: F, C, or T for a transposed array in C order; or tofile, or tofile of a transposed array
const labelScript = `
import sys, numpy
box, result, order = sys.argv[1:]
a = numpy.load(box)
x, y, z = numpy.indices(a.shape)
labels = numpy.where(a > 3, a + 1000 * x + 10 * y, 7 * z).astype("u4")
try:
    import scipy.ndimage
    assert scipy.ndimage.label(labels)[0].flags.c_contiguous  # as scipy returns arrays
except ImportError:
    pass
numpy.save("expected.npy", labels)
if order == "F":
    numpy.save(result, numpy.asfortranarray(labels))
elif order == "C":
    numpy.save(result, numpy.ascontiguousarray(labels))
elif order == "T":
    numpy.save(result, numpy.ascontiguousarray(labels.T))
elif order == "tofile":
    labels.tofile(result)
else:
    labels.T.tofile(result)
`

const compareScript = `
import sys, numpy
got, want = numpy.load(sys.argv[1]), numpy.load("expected.npy")
assert got.shape == want.shape, (got.shape, want.shape)
assert (got == want).all(), "%d voxels differ" % (got != want).sum()
`

// TestImportNumpy: labels that numpy reads from a mount, changes and saves in any order go back to their place, in a
// mount that stays. If nothing shows the order of the axes, nothing is written, and the command that the hint has is
// right with the axes.
func TestImportNumpy(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	python := numpyPython(t)
	dir := tempDir(t)
	dataset := filepath.Join(dir, "cortex")
	writeSample(t, dataset)
	root := mount(t, dataset)
	run := func(script string, args ...string) {
		t.Helper()
		cmd := exec.Command(python, append([]string{"-c", script}, args...)...)
		cmd.Dir = dir
		if r := runCommand(t, cmd); r.code != 0 {
			t.Fatalf("%v: %s", args, r.stderr)
		}
	}
	const oblong, cube = "140-180_130-190_40-60", "200-240_130-170_40-80"
	for _, test := range []struct {
		box, result, order string
		args               string
		asked              string // these are in doubt without them
	}{
		{oblong, oblong + ".npy", "F", "", ""},
		{oblong, oblong + ".npy", "C", "", ""},
		{oblong, oblong + ".npy", "T", "", ""},
		{oblong, "labels.npy", "F", "", ""},
		{oblong, "labels.npy", "C", "", "xyz"},
		{oblong, "labels.npy", "T", "", "zyx"},
		{cube, cube + ".npy", "F", "", ""},
		{cube, cube + ".npy", "C", "", "xyz"},
		{cube, "labels.npy", "T", "", "zyx"},
		{oblong, "labels.raw", "tofile", "--shape 40,60,20 --dtype uint32 --axes xyz", ""},
		{oblong, "labels.raw", "tofile, turned", "--shape 40,60,20 --dtype uint32", ""},
	} {
		box := filepath.Join(root, "segmentation/1/box", test.box+".npy")
		result := filepath.Join(dir, test.result)
		run(labelScript, box, result, test.order)
		corner := strings.NewReplacer("140-180_130-190_40-60", "140,130,40", "200-240_130-170_40-80",
			"200,130,40").Replace(test.box)
		args := append([]string{"import", result, dataset, "--layer", "segmentation", "--update", "--offset", corner},
			strings.Fields(test.args)...)
		r := wkwfs(t, args...)
		if test.asked != "" {
			before := contents(t, dataset)
			hint := strings.Join(args[1:], " ") + " --axes AXES"
			if r.code != 1 || !strings.Contains(r.stderr, "--axes is missing") ||
				!strings.Contains(r.stderr, "hint: wkwfs import "+hint) {
				t.Errorf("%v: exit code %d, stderr %q", test, r.code, r.stderr)
			}
			r = wkwfs(t, append(args, "--axes", test.asked)...)
			if len(contents(t, dataset)) != len(before) {
				t.Errorf("%v: the number of files is not the same", test)
			}
		}
		if r.code != 0 || !strings.Contains(r.stderr, "layer segmentation, box "+test.box+": ") ||
			!strings.Contains(r.stderr, "wkwfs: axes ") {
			t.Errorf("%v: exit code %d, stderr %q", test, r.code, r.stderr)
		}
		run(compareScript, box)
	}
	// A layer beside the others.
	run(labelScript, filepath.Join(root, "segmentation/1/volume.npy"), filepath.Join(dir, "whole.npy"), "C")
	r := wkwfs(t, "import", filepath.Join(dir, "whole.npy"), dataset, "--layer", "whole", "--offset", "100,70,34",
		"--category", "segmentation")
	if r.code != 0 ||
		!strings.Contains(r.stderr,
			"axes x, y, z of the shape (210, 180, 92) in C order: its size is that of layer color") {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
	run(compareScript, filepath.Join(mount(t, dataset), "whole/1/volume.npy"))
}

// TestDryRunOfUser: what an ordinary user may not write is an error of a dry run, as it is of the import, the update
// and the copy.
func TestDryRunOfUser(t *testing.T) {
	skipOneByOne(t)
	requireRoot(t)
	dir := tempDir(t)
	dataset, closed := filepath.Join(dir, "cortex"), filepath.Join(dir, "closed")
	writeSample(t, dataset)
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	open := userDir(t)
	box := filepath.Join(open, "box.nrrd")
	if r := asUser(t, "cp", "-q", dataset, "segmentation/1/box/120-160_80-130_40-60.nrrd", box); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, args := range [][]string{
		{"import", box, dataset, "--layer", "segmentation", "--update"},
		{"import", box, dataset, "--layer", "labels"},
		{"import", box, filepath.Join(closed, "new"), "--layer", "labels"},
		{"cp", dataset, "color/1", filepath.Join(closed, "out")},
		{"cp", dataset, "color/1/volume.json", closed},
	} {
		for _, more := range [][]string{{"--dry-run"}, nil} {
			r := asUser(t, append(args, more...)...)
			if r.code != 1 || !strings.Contains(r.stderr, "permission denied") {
				t.Errorf("%v %v: exit code %d, stderr %q", args, more, r.code, r.stderr)
			}
		}
	}
	for _, args := range [][]string{{"import", box, filepath.Join(open, "new/new"), "--layer", "labels"},
		{"cp", dataset, "color/1", filepath.Join(open, "out")}} {
		if r := asUser(t, append(args, "--dry-run")...); r.code != 0 {
			t.Errorf("%v: exit code %d, stderr %q", args, r.code, r.stderr)
		}
	}
	if left := contents(t, open); len(left) != 1 {
		t.Errorf("dry runs have written %d files", len(left))
	}
}
