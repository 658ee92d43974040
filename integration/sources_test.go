package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// shownFilters are the sources that TestFilteredArrays mounts.
var shownFilters = regexp.MustCompile(`^(half_|f2_|f3_|names_)`)

// TestFilteredArrays reads arrays of Zarr with floats of 16 bits, filters and null names of axes, voxel for voxel,
// through a mount. All of them are layers of one dataset. What is refused is named.
func TestFilteredArrays(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	var sources []refdata.Source
	var layers []any
	for _, s := range all {
		if !shownFilters.MatchString(s.Name) || s.Name == "f3_transpose_F" {
			continue
		}
		sources = append(sources, s)
		format := "zarr3"
		if _, err := os.Stat(filepath.Join(root, s.Mount, ".zarray")); err == nil {
			format = "zarr"
		}
		mag := map[string]any{"mag": []int{1, 1, 1}, "path": filepath.Join(root, s.Mount)}
		if format == "zarr" || s.Name == "names_null_all" || s.Name == "names_empty_names" { // its axes have no names
			mag["axisOrder"] = map[string]int{"z": 0, "y": 1, "x": 2}
		}
		layers = append(layers, map[string]any{
			"name": s.Name, "category": "color", "dataFormat": format,
			"boundingBox": map[string]any{"topLeft": []int{0, 0, 0}, "width": 40, "height": 24, "depth": 12},
			"mags":        []any{mag},
		})
	}
	b, err := json.Marshal(map[string]any{"scale": []int{4, 4, 30}, "dataLayers": layers})
	if err != nil {
		t.Fatal(err)
	}
	source := t.TempDir()
	writeFile(t, filepath.Join(source, "datasource-properties.json"), b)
	dir := mount(t, source, "--follow-links")
	info := wkwfs(t, "info", "--follow-links", source)
	read := 0
	for _, s := range sources {
		if s.Expect == "refused" {
			if _, err := os.Stat(filepath.Join(dir, s.Name)); !os.IsNotExist(err) ||
				!strings.Contains(info.stdout, s.Name) {
				t.Errorf("%s: got %v; want no layer, and its name in:\n%s", s.Name, err, info.stdout)
			}
			continue
		}
		voxels, err := os.ReadFile(filepath.Join(dir, s.Name, "1", "volume.raw"))
		if got := hashOf(voxels); err != nil || got != s.Volumes[0].SHA256 {
			t.Errorf("%s: %v, %d bytes with hash %s, want %s", s.Name, err, len(voxels), got, s.Volumes[0].SHA256)
		}
		read++
	}
	if read < 25 {
		t.Errorf("%d arrays, want at least 25", read)
	}
}

// TestCompressedPrecomputed reads a volume of Precomputed whose chunks are files of several compressions through a
// mount, voxel for voxel.
func TestCompressedPrecomputed(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	for _, s := range all {
		if s.Name != "pre_mixed" && s.Name != "pre_br_cut" {
			continue
		}
		source := filepath.Join(root, s.Mount)
		dir := mount(t, source)
		if s.Expect == "error" {
			if _, err := os.ReadFile(filepath.Join(dir, "8_8_40", "volume.raw")); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: got %v, want EIO", s.Name, err)
			}
			if r := wkwfs(t, "check", source); r.code != 1 || !strings.Contains(r.stdout, ".br: ") {
				t.Errorf("%s: check: exit code %d, %s", s.Name, r.code, r.stdout)
			}
			continue
		}
		voxels, err := os.ReadFile(filepath.Join(dir, "8_8_40", "volume.raw"))
		if got := hashOf(voxels); err != nil || got != s.Volumes[0].SHA256 {
			t.Errorf("%s: %v, %d bytes with hash %s, want %s", s.Name, err, len(voxels), got, s.Volumes[0].SHA256)
		}
		if r := wkwfs(t, "check", source); r.code != 0 {
			t.Errorf("%s: check: exit code %d, %s", s.Name, r.code, r.stdout)
		}
	}
}

// TestTimes reads images with a time axis through a mount, voxel for voxel: each time is a layer, t0000 and so on,
// unless there is only one.
func TestTimes(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	read := 0
	for _, s := range all {
		if !strings.HasPrefix(s.Name, "time_") {
			continue
		}
		source := filepath.Join(root, s.Mount)
		dir := mount(t, source)
		if _, err := os.Stat(filepath.Join(dir, "t0000")); os.IsNotExist(err) != s.NoTime {
			t.Errorf("%s: t0000: got %v, want no such directory: %v", s.Name, err, s.NoTime)
		}
		for _, v := range s.Volumes {
			mag := dir
			if v.Time != nil {
				mag = filepath.Join(dir, fmt.Sprintf("t%04d", *v.Time))
				if _, err := os.Stat(filepath.Join(mag, "ome.zarr", ".zattrs")); err != nil {
					t.Errorf("%s: %v", s.Name, err)
				}
			}
			switch {
			case v.Mag != nil:
				mag = filepath.Join(mag, *v.Mag)
			case v.Time != nil:
				mag = filepath.Join(mag, "1")
			}
			voxels, err := os.ReadFile(filepath.Join(mag, "volume.raw"))
			if got := hashOf(voxels); err != nil || got != v.SHA256 {
				t.Errorf("%s: %s: %v, %d bytes with hash %s, want %s", s.Name, mag, err, len(voxels), got, v.SHA256)
			}
			read++
		}
		if r := wkwfs(t, "check", source); r.code != 0 || r.stderr != "" {
			t.Errorf("%s: check: exit code %d, %s%s", s.Name, r.code, r.stdout, r.stderr)
		}
		if r := wkwfs(t, "info", source); r.code != 0 || strings.Contains(r.stdout, "t0001") == s.NoTime {
			t.Errorf("%s: info: exit code %d, %s", s.Name, r.code, r.stdout)
		}
	}
	if read < 13 {
		t.Errorf("%d volumes, want at least 13", read)
	}
}

// TestTimesOfLayers: the times of a layer of a group are directories of its own. Each can be copied.
func TestTimesOfLayers(t *testing.T) {
	root, _ := refdata.Sources(t, "zarr")
	source := filepath.Join(tempDir(t), "group")
	for link, to := range map[string]string{"movie": "time_v3", "still": "n_null_all"} {
		if err := os.CopyFS(filepath.Join(source, link), os.DirFS(filepath.Join(root, to))); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(source, "zarr.json"), []byte(`{"zarr_format":3,"node_type":"group"}`))
	dir := mount(t, source)
	var names []string
	for _, at := range []string{dir, filepath.Join(dir, "movie"), filepath.Join(dir, "movie", "t0002")} {
		entries, err := os.ReadDir(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if got := strings.Join(names, " "); !strings.Contains(got,
		"movie still ome-v3.zarr ome.zarr s0 t0000 t0001 t0002 ome-v3.zarr ome.zarr precomputed s0") {
		t.Errorf("got the names %s", got)
	}
	want, err := os.ReadFile(filepath.Join(dir, "movie", "t0001", "s0", "volume.raw"))
	if err != nil || len(want) != 2*40*24*12 {
		t.Errorf("got %d bytes, %v", len(want), err)
	}
	copied := filepath.Join(tempDir(t), "t1.raw")
	mustRun(t, "cp", "-q", source, "movie/t0001/s0/volume.raw", copied)
	if got, err := os.ReadFile(copied); err != nil || string(got) != string(want) {
		t.Errorf("copied %d bytes, %v, want %d", len(got), err, len(want))
	}
}

// TestTimesOfDataset: a layer of a WEBKNOSSOS dataset whose arrays have a time axis is a directory of its times. Other
// layers are there, too.
func TestTimesOfDataset(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	source := tempDir(t)
	var volumes []refdata.SourceVolume
	for _, s := range all {
		switch s.Name {
		case "time_v2":
			volumes = s.Volumes
			fallthrough
		case "names_null_all":
			if err := os.CopyFS(filepath.Join(source, s.Name), os.DirFS(filepath.Join(root, s.Mount))); err != nil {
				t.Fatal(err)
			}
		}
	}
	box := map[string]any{"topLeft": []int{0, 0, 0}, "width": 40, "height": 24, "depth": 12}
	layer := func(name, format string, mags ...any) any {
		return map[string]any{"name": name, "category": "color", "dataFormat": format, "boundingBox": box, "mags": mags}
	}
	b, err := json.Marshal(map[string]any{"scale": []int{4, 4, 30}, "dataLayers": []any{
		layer("movie", "zarr",
			map[string]any{"mag": []int{1, 1, 1}, "path": "time_v2/0", "axisOrder": map[string]int{"t": 0, "c": 1,
				"z": 2, "y": 3, "x": 4}},
			map[string]any{"mag": []int{2, 2, 1}, "path": "time_v2/1", "axisOrder": map[string]int{"t": 0, "c": 1,
				"z": 2, "y": 3, "x": 4}}),
		layer("still", "zarr3", map[string]any{"mag": []int{1, 1, 1}, "path": "names_null_all",
			"axisOrder": map[string]int{"z": 0, "y": 1, "x": 2}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), b)
	dir := mount(t, source)
	for _, v := range volumes {
		mag := map[string]string{"0": "1", "1": "2-2-1"}[*v.Mag]
		name := filepath.Join(dir, "movie", fmt.Sprintf("t%04d", *v.Time), mag, "volume.raw")
		voxels, err := os.ReadFile(name)
		if got := hashOf(voxels); err != nil || got != v.SHA256 {
			t.Errorf("%s: %v, %d bytes with hash %s, want %s", name, err, len(voxels), got, v.SHA256)
		}
	}
	if _, err := os.ReadFile(filepath.Join(dir, "still", "1", "volume.raw")); err != nil || len(volumes) < 6 {
		t.Errorf("%v, %d volumes", err, len(volumes))
	}
	for _, name := range []string{"movie/9", "movie/1/slices", "movie/t0099", "still/t0000", "movie/t0000/9"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s: got %v, want no such directory", name, err)
		}
	}
	if i, err := os.Stat(filepath.Join(dir, "movie", "2-2-1", "volume.npy")); err != nil || i.Size() < 4096+3 {
		t.Errorf("movie/2-2-1: got %v, %v, want a file of all times", i, err)
	}
	info := wkwfs(t, "info", source)
	if info.code != 0 || !strings.Contains(info.stdout, "movie/t0001") || strings.Contains(info.stdout, "movie: ") {
		t.Errorf("info: exit code %d, %s%s", info.code, info.stdout, info.stderr)
	}
	if r := wkwfs(t, "check", source); r.code != 0 {
		t.Errorf("check: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestPlatesOfWells reads plates through a mount and by HTTP, voxel for voxel: ROW/COLUMN/FIELD is a layer. A damaged
// field costs only itself.
func TestPlatesOfWells(t *testing.T) {
	root, all := refdata.Sources(t, "zarr")
	for _, s := range all {
		if !strings.HasPrefix(s.Name, "plate_") {
			continue
		}
		source := filepath.Join(tempDir(t), s.Mount)
		if err := os.CopyFS(source, os.DirFS(filepath.Join(root, s.Mount))); err != nil {
			t.Fatal(err)
		}
		damaged := filepath.Join(source, "B", "3", "1", "zarr.json")
		if s.Mount == "plate_4" {
			damaged = filepath.Join(source, "B", "3", "1", ".zattrs")
		}
		writeFile(t, damaged, []byte(`{`))
		server := httptest.NewServer(http.FileServer(http.Dir(source)))
		defer server.Close()
		for _, from := range []string{source, server.URL} {
			dir := mount(t, from)
			if rows, err := filepath.Glob(filepath.Join(dir, "*", "*", "*")); err != nil ||
				len(rows) != len(s.Volumes) {
				t.Errorf("%s: %s: got %q, %v, want %d fields", s.Name, from, rows, err, len(s.Volumes))
			}
			for _, v := range s.Volumes {
				field := filepath.Join(dir, filepath.FromSlash(v.Layer))
				voxels, err := os.ReadFile(filepath.Join(field, "0", "volume.raw"))
				if v.Layer == "B/3/1" {
					if !errors.Is(err, syscall.EIO) {
						t.Errorf("%s: %s: %s: got %v, want EIO", s.Name, from, v.Layer, err)
					}
					continue
				}
				if got := hashOf(voxels); err != nil || got != v.SHA256 {
					t.Errorf("%s: %s: %v, %d bytes with hash %s, want %s", s.Name, field, err, len(voxels), got,
						v.SHA256)
				}
				if _, err := os.Stat(filepath.Join(field, "ome.zarr", ".zattrs")); err != nil {
					t.Errorf("%s: %v", s.Name, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "B", "1")); !os.IsNotExist(err) {
				t.Errorf("%s: got %v of a well that does not exist", s.Name, err)
			}
		}
		r := wkwfs(t, "info", source)
		if r.code != 0 || !strings.Contains(r.stdout, "A/1/0 (color)") || !strings.Contains(r.stdout, "not shown") ||
			!strings.Contains(r.stdout, "B/3/1") {
			t.Errorf("%s: info: exit code %d, %s%s", s.Name, r.code, r.stdout, r.stderr)
		}
		if r := wkwfs(t, "check", source); r.code != 1 || !strings.Contains(r.stdout, "B/3/1") {
			t.Errorf("%s: check: exit code %d, %s%s", s.Name, r.code, r.stdout, r.stderr)
		}
	}
}

// TestPastedLinks mounts what a link of Neuroglancer shows. With several sources, the error names them, without what
// may be secret.
func TestPastedLinks(t *testing.T) {
	root, _ := refdata.Sources(t, "zarr")
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	const viewer = "https://neuroglancer-demo.appspot.com/#!"
	link := viewer + url.PathEscape(`{"layers":[{"name":"times","source":{"url":"zarr3://`+server.URL+`/time_last"}}]}`)
	dir := mount(t, link)
	local, err := os.ReadFile(filepath.Join(mount(t, filepath.Join(root, "time_last")), "t0001", "1", "volume.raw"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "t0001", "1", "volume.raw")); err != nil ||
		string(got) != string(local) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(local))
	}
	mustRun(t, "info", server.URL+"/time_last/|zarr3:")
	two := viewer +
		`{"layers":[{"name":"a","source":"zarr://https://h/a?token=secret"},{"name":"b","source":"n5://s3://b/c"}]}`
	if r := wkwfs(t, "info", two); r.code != 2 || !strings.Contains(r.stderr,
		`https://h/a (layer "a"), s3://b/c (layer "b")`) || strings.Contains(r.stderr, "secret") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}
