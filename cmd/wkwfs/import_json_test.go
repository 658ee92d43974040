package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/write/importer"
	"github.com/wkwfs/wkwfs/volume"
)

// TestImportJSONNames: the names in the JSON of wkwfs import are an interface. docs/import.md lists them.
func TestImportJSONNames(t *testing.T) {
	docs, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of   any
		want string
	}{
		{planJSON{}, "layer category why offset shape voxel_size mags axes why_axes array_shape array_order"},
		{progressJSON{},
			"bytes all_bytes kept_bytes plane planes cubes_written cubes_kept cubes_empty seconds bytes_per_second seconds_left"},
		{dryRunJSON{}, "creates_dataset removes_layer resumes_from files"},
		{magFileJSON{}, "mag offset shape voxel_bytes most_files existing_files existing_bytes"},
		{importErrorJSON{}, "error hint missing file what offset expected found"},
	} {
		var got []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(test.of)) {
			if field.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			got = append(got, name)
			if !bytes.Contains(docs, []byte("`"+name+"`")) {
				t.Errorf("docs/import.md lacks `%s`", name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%T: got %v, want %s", test.of, got, test.want)
		}
	}
}

// importJSON runs wkwfs import --json, and returns the objects that it prints.
func importJSON(t *testing.T, wantCode int, args ...string) (lines []map[string]map[string]any) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"import", "--json"}, args...), &stdout, &stderr); code != wantCode {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	for line := range bytes.Lines(stdout.Bytes()) {
		var object map[string]map[string]any
		if err := json.Unmarshal(line, &object); err != nil || len(object) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, object)
	}
	return lines
}

// TestImportJSON: the first line has the plan, and the last one the result.
func TestImportJSON(t *testing.T) {
	dir := t.TempDir()
	name, out := filepath.Join(dir, "v.raw"), filepath.Join(dir, "out")
	if err := os.WriteFile(name, bytes.Repeat([]byte{7}, 40*30*20), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{name, out, "--layer", "labels", "--dtype", "uint8", "--offset", "10,0,0", "--cube", "32", "--mags",
		"1"}
	failed := importJSON(t, 1, args...)
	missing := []any{"voxel-size", "shape"}
	if len(failed) != 1 || !reflect.DeepEqual(failed[0]["error"]["missing"], missing) ||
		!strings.Contains(failed[0]["error"]["hint"].(string), " --shape X,Y,Z --voxel-size X,Y,Z") {
		t.Errorf("got %v, want %v as missing", failed, missing)
	}
	args = append(args, "--shape", "40,30,20", "--voxel-size", "4,4,8")
	lines := importJSON(t, 0, args...)
	// if it takes a second
	lines = slices.DeleteFunc(lines, func(l map[string]map[string]any) bool { return l["progress"] != nil })
	if len(lines) != 2 {
		t.Fatalf("got %v, want a plan and a summary", lines)
	}
	plan := map[string]any{
		"layer": "labels", "category": "segmentation", "why": "the layer is named labels", "offset": []any{10., 0., 0.},
		"shape":      []any{40., 30., 20.},
		"voxel_size": []any{4., 4., 8.}, "mags": []any{"1", "2-2-1"},
		"axes": "zyx", "array_shape": []any{20., 30., 40.}, "array_order": "C",
	}
	if !reflect.DeepEqual(lines[0]["plan"], plan) {
		t.Errorf("got %v, want %v", lines[0], plan)
	}
	for key, want := range map[string]float64{"bytes": 24000, "all_bytes": 24000, "kept_bytes": 0, "plane": 20,
		"planes": 20, "cubes_written": 3, "cubes_kept": 0, "cubes_empty": 0, "seconds_left": 0} {
		if got := lines[1]["summary"][key]; got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	if again := importJSON(t, 1, args...); again[len(again)-1]["error"]["hint"] != "--force replaces it" {
		t.Errorf("of a layer that exists: got %v", again)
	}
}

// TestImportJSONOffset: an error whose text has a byte offset has it as a number, too.
func TestImportJSONOffset(t *testing.T) {
	dir := t.TempDir()
	const nrrd = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\n"
	for name, test := range map[string]struct {
		file   string
		what   string
		offset float64
	}{
		"a header": {nrrd + "encoding: hex\n\n", "encoding", 47.},
		"voxels":   {nrrd + "encoding: raw\n\n123", "voxels", 62.},
		"a stream": {nrrd + "encoding: gzip\n\n123456789012345", "compressed voxels", 63.},
		"HDF5":     {"\x89HDF\r\n\x1a\n", "HDF5 superblock: version", 8.},
	} {
		path := filepath.Join(dir, "labels")
		if err := os.WriteFile(path, []byte(test.file), 0o666); err != nil {
			t.Fatal(err)
		}
		got := importJSON(t, 1, path, filepath.Join(dir, "out"), "--layer", "l", "--voxel-size", "4,4,40")[0]["error"]
		if got["file"] != path || got["what"] != test.what || got["offset"] != test.offset {
			t.Errorf("%s: got %v", name, got)
		}
	}
	got := importJSON(t, 1, filepath.Join(dir, "absent"), filepath.Join(dir, "out"), "--layer", "l")[0]["error"]
	if _, ok := got["offset"]; ok || got["error"] == nil {
		t.Errorf("a file that does not exist: got %v", got)
	}
}

// TestImportProgress: rate and time left are those of what this import has done.
func TestImportProgress(t *testing.T) {
	s := newImportScreen(nil, nil, true, false)
	s.plan = importer.Plan{Part: volume.Box{Min: volume.Vec{0, 0, 100}, Max: volume.Vec{10, 10, 200}}}
	s.stats.AllBytes.Store(10 << 30)
	s.stats.KeptBytes.Store(4 << 30)
	s.stats.DoneBytes.Store(4 << 30)
	if got := progressText(s.progressAfter(10)); got != "4.0 GiB of 10 GiB imported, plane 0 of 100" {
		t.Errorf("at first: got %s", got)
	}
	s.stats.DoneBytes.Store(6 << 30)
	s.stats.Plane.Store(160)
	p := s.progressAfter(10)
	if got, want := progressText(p), "6.0 GiB of 10 GiB imported, plane 60 of 100, 205 MiB/s, 20s left"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := importSummary(p), "imported 2.0 GiB in 10s (205 MiB/s): wrote 0 files; kept 4.0 GiB"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
