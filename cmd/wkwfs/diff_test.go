package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// runDiff runs wkwfs diff --json. It returns the objects before the summary, and the summary.
func runDiff(t *testing.T, wantCode int, args ...string) (found []diffJSON, sum diffSummaryJSON) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"diff", "--json"}, args...), &stdout, &stderr); code != wantCode {
		t.Errorf("%q: exit code %d, want %d: %s%s", args, code, wantCode, stdout.String(), stderr.String())
	}
	for line := range bytes.Lines(stdout.Bytes()) {
		object := struct {
			diffJSON
			Summary *diffSummaryJSON `json:"summary"`
		}{diffJSON: diffJSON{formatJSON: &formatJSON{}}}
		if err := json.Unmarshal(line, &object); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if object.Summary != nil {
			return found, *object.Summary
		}
		found = append(found, object.diffJSON)
	}
	t.Fatalf("%q: no summary in %s", args, stdout.String())
	return nil, sum
}

// magOf reads a mag of a source as a whole.
func magOf(t *testing.T, path, over, layer, mag string) (voxels []byte, box volume.Box, g volume.Grid) {
	t.Helper()
	d, err := dataset.Open(t.Context(), path, dataset.Options{Over: over})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err := d.Layer(layer)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Mag(mag)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = m.CubeGrid(); err == nil {
		box, err = m.Bounds()
	}
	if err == nil {
		voxels, err = volume.ReadBox(t.Context(), m, box)
	}
	if err != nil {
		t.Fatal(err)
	}
	return voxels, box, g
}

// TestDiffReferenceData compares annotations of all formats with their dataset, of two formats. Each voxel that differs
// is in one box, and the numbers are those of a comparison voxel by voxel.
func TestDiffReferenceData(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	in := func(name string) string { return filepath.Join(dir, name) }
	compared := 0
	for _, test := range []struct{ base, annotation string }{
		{"base_wkw", "wkw.zip"}, {"base_zarr3", "wkw.zip"}, {"base_wkw", "z2.zip"}, {"base_zarr3", "zl.zip"},
		{"base_wkw", "unpacked_both"},
		{"base_wkw", "outside.zip"}, {"base_wkw", "samename.zip"}, {"base_wkw", "noheader.zip"},
	} {
		found, sum := runDiff(t, 1, in(test.base), in(test.annotation))
		total := int64(0)
		for _, mag := range []string{"1", "2-2-1", "4-4-2"} {
			i := slices.IndexFunc(found, func(d diffJSON) bool { return d.Mag == mag && d.Box != "" })
			if i < 0 {
				t.Errorf("%v: nothing differs in mag %s", test, mag)
				continue
			}
			other := found[i].Other
			if other == "" {
				other = found[i].Layer
			}
			a, box, g := magOf(t, in(test.base), "", found[i].Layer, mag)
			b, boxB, _ := magOf(t, in(test.annotation), in(test.base), other, mag)
			if box != boxB {
				t.Fatalf("%v: boxes %v and %v", test, box, boxB)
			}
			differ := map[volume.Vec]bool{}
			for v := range box.All() {
				at := v.Sub(box.Min).Index(box.Size()) * g.VoxelBytes()
				if !bytes.Equal(a[at:at+g.VoxelBytes()], b[at:at+g.VoxelBytes()]) {
					differ[v] = true
				}
			}
			total += int64(len(differ))
			for _, f := range found {
				if f.Mag != mag {
					continue
				}
				boxOf, ok := tree.ParseBox(f.Box)
				n := int64(0)
				for v := range boxOf.All() {
					if differ[v] {
						n++
						delete(differ, v)
					}
				}
				if !ok || n != f.Voxels {
					t.Errorf("%v: %s: got %d voxels, want %d", test, f.Box, f.Voxels, n)
				}
			}
			if len(differ) > 0 {
				t.Errorf("%v, mag %s: %d voxels differ and are in no box", test, mag, len(differ))
			}
			compared++
		}
		if sum.Voxels != total || sum.Boxes != int64(len(found)) || sum.IsEqual {
			t.Errorf("%v: got %+v, want %d voxels in %d boxes", test, sum, total, len(found))
		}
	}
	if compared < 20 {
		t.Errorf("%d mags were compared", compared)
	}
	runDiff(t, 0, in("base_wkw"), in("base_zarr3"))
	runDiff(t, 0, in("base_wkw"), in("emptyzip.zip"))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	runDiff(t, 0, in("base_wkw"), server.URL+"/base_zarr3")
	_, local := runDiff(t, 1, in("base_wkw"), in("wkw.zip"))
	if _, sum := runDiff(t, 1, in("base_wkw"), server.URL+"/wkw.zip"); sum.Voxels != local.Voxels {
		t.Errorf("by URL: got %+v, want %+v", sum, local)
	}
	runDiff(t, 0, "--over", in("base_wkw"), in("unpacked_both"), in("unpacked_both"))
	runDiff(t, 0, in("wkw.zip"), in("wkw.zip"), "--layer", "Volume", "--mag", "4-4-2")
}

// TestDiffOfDamage: a block that cannot be read is an error of its box, with the exit code 2. All else is compared.
func TestDiffOfDamage(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	base := filepath.Join(dir, "base_wkw")
	for _, name := range []string{"cutbucket.zip", "crc.zip"} {
		found, sum := runDiff(t, 2, base, filepath.Join(dir, name))
		i := slices.IndexFunc(found, func(d diffJSON) bool { return d.Error != "" })
		if i < 0 || found[i].Box == "" || found[i].Mag == "" || sum.Faults == 0 || sum.Boxes == 0 || sum.IsEqual {
			t.Errorf("%s: got %+v, %+v", name, found, sum)
		}
	}
}

// TestDiff checks the lines, which programs read, and the exit codes.
func TestDiff(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, dir := range []string{a, b} {
		if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
			t.Fatal(err)
		}
	}
	cube := filepath.Join(b, "color/1/z0/y0/x1.wkw")
	for _, step := range []struct {
		name   string
		change func() error
		args   []string
		code   int
		want   []string // a pattern for each line
	}{
		{"equal", nil, []string{a, b}, 0, []string{`^equal$`}},
		{"layers alone", nil, []string{a + "/color", b + "/color"}, 0, []string{`^equal$`}},
		{"two layers", nil, []string{a + "/color", b + "/segmentation"}, 2, []string{
			`^error: color=segmentation/1: expected voxels of one type`, `^error: color=segmentation/2: expected`,
			`^different: .* errors: 2$`,
		}},
		{"a damaged cube", func() error { return os.Truncate(cube, 10) }, []string{a, b, "--layer", "color", "--mag",
			"1"}, 2, []string{
			`^error: color/1: [0-9-]+_[0-9-]+_[0-9-]+: in B: .*z0/y0/x1\.wkw: header at byte 0: expected 16 bytes, found 10$`,
			`^different: boxes: 0, voxels: 0, errors: 1$`,
		}},
		{"a cube that is absent", func() error { return os.Remove(cube) }, []string{a, b, "--layer=color"}, 1, []string{
			`^color/1: [0-9-]+_[0-9-]+_[0-9-]+: \d+ of \d+ voxels differ$`, `^different: boxes: 1, voxels: \d+$`,
		}},
		{"a layer that is absent", func() error { return os.RemoveAll(filepath.Join(b, "segmentation")) },
			[]string{a, b, "--layer=segmentation"}, 2, nil},
		{"layers", nil, []string{a, b, "--jobs=1"}, 1, []string{`^only in A: segmentation`, `^color/1: `,
			`^different: .* layers or mags of one source: 1$`}},
		{"a layer of another name", nil, []string{a, b, "--layer=colour"}, 2, nil},
		{"a mag of another name", nil, []string{a, b, "--layer=color", "--mag=8"}, 2, nil},
		{"no jobs", nil, []string{a, b, "--jobs=0"}, 2, nil},
		{"nothing there", nil, []string{a, filepath.Join(b, "nowhere")}, 2, nil},
		{"no annotation", nil, []string{a, b, "--over", filepath.Join(b, "nowhere"), "--layer=color"}, 1,
			[]string{`^color/1: `, `^different: `}},
	} {
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"diff"}, step.args...), &stdout, &stderr); code != step.code ||
			(len(step.want) == 0) != (stderr.Len() > 0) {
			t.Errorf("%s: exit code %d, want %d; %s", step.name, code, step.code, stderr.String())
		}
		if lines := bytes.Count(stdout.Bytes(), []byte("\n")); lines != len(step.want) {
			t.Errorf("%s: %d lines, want %d:\n%s", step.name, lines, len(step.want), stdout.String())
		}
		for _, pattern := range step.want {
			if !regexp.MustCompile("(?m)" + pattern).Match(stdout.Bytes()) {
				t.Errorf("%s: no line like %s in\n%s", step.name, pattern, stdout.String())
			}
		}
	}
}

// TestDiffJSONNames: the names in the JSON of wkwfs diff are an interface.
func TestDiffJSONNames(t *testing.T) {
	for _, test := range []struct {
		of   any
		want string
	}{
		{diffJSON{}, "layer other mag box voxels only bounds error"},
		{diffBoundsJSON{}, "a b"},
		{diffSummaryJSON{}, "equal boxes voxels only bounds errors compared_bytes seconds failed"},
	} {
		var got []string
		typ := reflect.TypeOf(test.of)
		for i := range typ.NumField() {
			if f := typ.Field(i); !f.Anonymous {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%T: got %v, want %s", test.of, got, test.want)
		}
	}
}
