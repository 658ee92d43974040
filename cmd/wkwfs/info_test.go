package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/inspect"
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

var update = flag.Bool("update", false, "write testdata/info/* instead of comparing with it")

// TestInfo compares the text with golden files, for the sample and for data of other programs.
func TestInfo(t *testing.T) {
	written := filepath.Join(t.TempDir(), "sample")
	if err := sample.Write(t.Context(), written, smallSample()); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ golden, source string }{
		{"sample", written},
		{"sample_layer", filepath.Join(written, "color")},
		{"sample_mag", filepath.Join(written, "color", "2")},
		{"sample_cube", filepath.Join(written, "segmentation", "1", "z0", "y0", "x1.wkw")},
		{"absent_mags", "forms/absent_mags"},
		{"annotation", "forms/annotation"},
		{"rgb", "wkw/rgb"},
		{"sparse", "wkw/sparse"},
	}
	for _, test := range tests {
		t.Run(test.golden, func(t *testing.T) {
			if !filepath.IsAbs(test.source) {
				test.source = refdata.Dir(t, test.source)
			}
			got := strings.ReplaceAll(runInfo(t, test.source), test.source, "SOURCE")
			golden := filepath.Join("testdata", "info", test.golden+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// smallSample is a sample that is written quickly.
func smallSample() sample.Options {
	o := sample.Defaults()
	o.Box = volume.Box{Min: volume.Vec{70, 40, 20}, Max: volume.Vec{150, 100, 60}}
	o.Unrecorded = volume.Box{Min: volume.Vec{128, 64, 0}, Max: volume.Vec{192, 128, 64}}
	o.Mags = []int{1, 2}
	return o
}

// runInfo runs the command, which must succeed.
func runInfo(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newInfoCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	if err := cmd.Execute(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return stdout.String()
}

// TestInfoUnreadable: a mag with cubes that cannot be read is shown, and the cubes are named.
func TestInfoUnreadable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	broken, link := filepath.Join(dir, "color/1/z0/y0/x1.wkw"), filepath.Join(dir, "color/2/z0/y0/x0.wkw")
	if err := os.WriteFile(broken, []byte("garbage"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("/elsewhere.wkw", link)); err != nil {
		t.Fatal(err)
	}
	for source, names := range map[string][]string{
		dir:                              {"color/1/z0/y0/x1.wkw", "color/2/z0/y0/x0.wkw"},
		filepath.Join(dir, "color"):      {"1/z0/y0/x1.wkw", "2/z0/y0/x0.wkw"},
		filepath.Join(dir, "color", "2"): {"z0/y0/x0.wkw"},
	} {
		var got struct {
			Layers   []struct{ Mags []any }
			NotShown []struct{ Name, Reason string } `json:"not_shown"`
		}
		if err := json.Unmarshal([]byte(runInfo(t, "--json", source)), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Layers[0].Mags) != len(names) {
			t.Errorf("%s: %d mags, want %d", source, len(got.Layers[0].Mags), len(names))
		}
		var found []string
		for _, n := range got.NotShown {
			found = append(found, n.Name)
			if strings.Contains(n.Name, "2/") && !strings.Contains(n.Reason, "--follow-links") {
				t.Errorf("%s: the reason is %q", n.Name, n.Reason)
			}
		}
		if !slices.Equal(found, names) {
			t.Errorf("%s: got %q, want %q", source, found, names)
		}
	}
}

// TestInfoJSON checks the keys that programs read.
func TestInfoJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind   string
		Layers []struct {
			Name string
			Mags []map[string]any
		}
		NotShown []any `json:"not_shown"`
	}
	if err := json.Unmarshal([]byte(runInfo(t, "--json", dir)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "dataset" || len(got.Layers) != 2 || len(got.Layers[0].Mags) != 2 || len(got.NotShown) != 0 {
		t.Fatalf("got %+v", got)
	}
	mag := got.Layers[0].Mags[1]
	for key, want := range map[string]string{
		"name":          `"2"`,
		"factor":        `[2,2,2]`,
		"voxel_size_nm": `[22.48,22.48,50]`,
		"box":           `{"max":[75,50,30],"min":[35,20,10]}`,
		"box_mag1":      `{"max":[150,100,60],"min":[70,40,20]}`,
		"dtype":         `"uint8"`,
		"channels":      `1`,
		"block":         `[32,32,32]`,
		"cube":          `[64,64,64]`,
		"compression":   `"lz4"`,
		"cubes":         `2`,
		"flat_bytes":    `24000`,
	} {
		found, err := json.Marshal(mag[key])
		if err != nil {
			t.Fatal(err)
		}
		if string(found) != want {
			t.Errorf("%s: got %s, want %s", key, found, want)
		}
	}
}

// TestInfoProblems: damaged parts are listed with the reason, the others are shown.
func TestInfoProblems(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	damage := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("nonsense of 16 B"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	damage("color/1/z0/y0/x1.wkw")
	if err := os.RemoveAll(filepath.Join(dir, "color/2/z0")); err != nil {
		t.Fatal(err)
	}
	damage("color/2/header.wkw")
	if err := os.Symlink("nowhere", filepath.Join(dir, "lost")); err != nil {
		t.Fatal(err)
	}
	got := runInfo(t, dir)
	for _, want := range []string{
		"not shown\n",
		`color/1/z0/y0/x1.wkw: magic at byte 0: expected "WKW", found "non"`,
		`color/2/header.wkw: magic at byte 0: expected "WKW", found "non"`,
		"lost", "leads nowhere",
		"segmentation\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestControlCharacters: no output has control or format characters of the names of files, which a terminal would obey
// or hide. A name with several lines is on one. JSON has the name as it is.
func TestControlCharacters(t *testing.T) {
	const name = "a\n\x1b[31mred\u009b1m\u202egnp\u200b"
	dir := filepath.Join(t.TempDir(), "sam\u2066ple")
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "color"), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, name, "1/z0/y0/x1.wkw"), 10); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"info", dir}, "\na\\n\\x1b[31mred\\u009b1m\\u202egnp\\u200b\n"},
		{[]string{"check", dir}, "\nerror: a; \\x1b[31mred\\u009b1m\\u202egnp\\u200b/1/z0/y0/x1.wkw: header at byte 0"},
		{[]string{"info", "--json", dir}, `"name": "a\n\u001b[31mred\u009b1m\u202egnp\u200b"`},
		{[]string{"check", "--json", dir}, `"layer":"a\n\u001b[31mred\u009b1m\u202egnp\u200b"`},
		{[]string{"info", "--preview", filepath.Join(dir, name)}, ""},
		{[]string{"info", dir + "\u202e"}, `\u202e`},
		{[]string{"cp", dir, ".", filepath.Join(t.TempDir(), "copy")}, `\u202egnp\u200b/1/`},
	} {
		var stdout, stderr bytes.Buffer
		run(c.command, &stdout, &stderr)
		got := "\n" + stdout.String() + stderr.String()
		if hint.EscapeLines(got) != got && c.command[1] != "--preview" ||
			strings.ContainsAny(got, "\u202e\u200b\u2066\u009b") || !strings.Contains(got, c.want) {
			t.Errorf("%q: no %q in %q", c.command, c.want, got)
		}
	}
}

func TestInfoFails(t *testing.T) {
	cmd := newInfoCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{filepath.Join(t.TempDir(), "missing")})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
}

func TestSampleCommand(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := newSampleCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{dir})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v", err)
	}
}

// TestUnknownFactor: a mag whose factor is not known does not tell the size of a voxel of mag 1.
func TestUnknownFactor(t *testing.T) {
	odd := inspect.Mag{Name: "s1", VoxelSize: &[3]float64{10, 10, 10}}
	known := inspect.Mag{Name: "s2", VoxelSize: &[3]float64{8, 8, 16}, Factor: volume.Factor{2, 2, 4}}
	for want, mags := range map[string][]inspect.Mag{"": {odd}, ", voxels of 4 × 4 × 4 nm": {odd, known}} {
		if got := voxelSizeText(&inspect.Report{Layers: []inspect.Layer{{Mags: mags}}}); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}
