package shown_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/compose/shown"
	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/jobs/copier"
	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/jobs/inspect"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// open opens the part of a source that a mount can show.
func open(t *testing.T, dir string, log io.Writer) volume.Root {
	t.Helper()
	s, err := dataset.Open(t.Context(), dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return shown.In(s.Root, slog.New(slog.NewTextHandler(log, nil)))
}

// writeArray writes a Zarr array of 2³ voxels, all of one value.
func writeArray(t *testing.T, dir string, value byte) {
	t.Helper()
	write(t, filepath.Join(dir, ".zarray"),
		`{"zarr_format":2,"shape":[2,2,2],"chunks":[2,2,2],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}`)
	write(t, filepath.Join(dir, "0.0.0"), strings.Repeat(string(value), 8))
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeLayers writes a group of arrays. Each is a layer with the mag 1.
func writeLayers(t *testing.T, dir string, names []string) {
	write(t, filepath.Join(dir, ".zgroup"), `{"zarr_format":2}`)
	for i, name := range names {
		writeArray(t, filepath.Join(dir, name), byte('a'+i))
	}
}

// writeImage writes an OME-Zarr image whose resolutions have these names.
func writeImage(t *testing.T, dir string, names []string) {
	write(t, filepath.Join(dir, ".zgroup"), `{"zarr_format":2}`)
	type transformation struct {
		Type  string     `json:"type"`
		Scale [3]float64 `json:"scale"`
	}
	type resolution struct {
		Path            string           `json:"path"`
		Transformations []transformation `json:"coordinateTransformations"`
	}
	var all []resolution
	for i, name := range names {
		writeArray(t, filepath.Join(dir, name), byte('a'+i))
		n := float64(int(1) << i)
		all = append(all, resolution{name, []transformation{{"scale", [3]float64{n, n, n}}}})
	}
	axes := []map[string]string{{"name": "z", "type": "space"}, {"name": "y", "type": "space"},
		{"name": "x", "type": "space"}}
	b, err := json.Marshal(map[string]any{"multiscales": []any{map[string]any{"version": "0.4", "axes": axes,
		"datasets": all}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".zattrs"), string(b))
}

// trickyNames are all names that mounts use for something, and some that only look like them. A directory in the place
// of metadata of the source is another fault.
func trickyNames() []string {
	names := []string{
		tree.Slices, tree.Boxes, tree.Chunks, tree.VolumeJSON, tree.VolumeRaw, "volume.npy", tree.Info, "z0",
		"z0000000.tif", "x0.blocks", "c", "0", "1", "2-2-1", "layer",
		"Precomputed", ".WKWFS", "a b", "new\nline", "\u202e", "é", "-", "*", "con", strings.Repeat("n", 255),
		".zmetadata", "header.wkw", "segment_properties",
	}
	return slices.Concat(names, tree.ForRoot, []string{tree.Properties})
}

// TestReservedNames gives a layer, a mag of a layer in a dataset, and a mag of a layer that is the source each name in
// turn. Either everything is shown with its voxels, also in a copy, or that name is not shown: then the log, wkwfs info
// and wkwfs check say so, and the rest is there.
func TestReservedNames(t *testing.T) {
	for level, c := range map[string]struct {
		write  func(t *testing.T, dir string, names []string)
		other  string
		below  string // directory of the names
		mag    string // in each of the names
		hidden []string
	}{
		"layer":             {writeLayers, "1layer", ".", "1", tree.ForDataset},
		"mag of the source": {writeImage, "s0", ".", "", tree.ForRoot},
		"mag": {func(t *testing.T, dir string, names []string) {
			write(t, filepath.Join(dir, ".zgroup"), `{"zarr_format":2}`)
			writeImage(t, filepath.Join(dir, "image"), names)
			writeArray(t, filepath.Join(dir, "other"), 'o')
		}, "s0", "image", "", tree.ForLayer},
	} {
		for _, name := range trickyNames() {
			t.Run(fmt.Sprintf("%s %.30q", level, name), func(t *testing.T) {
				dir := t.TempDir()
				c.write(t, dir, []string{c.other, name})
				var log bytes.Buffer
				root := open(t, dir, &log)
				mounted := view.New(root, view.Options{})
				hidden := slices.Contains(c.hidden, name)
				checkShown(t, mounted, path.Join(c.below, c.other, c.mag), "aaaaaaaa", true)
				checkShown(t, mounted, path.Join(c.below, name, c.mag), "bbbbbbbb", !hidden)
				checkCopy(t, mounted, path.Join(c.below, name, c.mag), !hidden)
				checkListings(t, mounted, ".")
				if shown := strings.Contains(log.String(), "not shown"); shown != hidden {
					t.Errorf("the log says %s", log.String())
				}
				r, err := inspect.Source("source", root, 1, gaps.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if shown := slices.ContainsFunc(r.NotShown,
					func(o inspect.Omitted) bool { return o.Name == path.Join(c.below, name) }); shown != hidden {
					t.Errorf("info says %+v", r.NotShown)
				}
				found := check.Unshown(root)
				if shown := slices.ContainsFunc(found,
					func(f check.Finding) bool { return f.Path == path.Join(c.below, name) }); shown != hidden ||
					len(found) > 1 {
					t.Errorf("check says %+v", found)
				}
			})
		}
	}
}

// TestImpossibleNames: a layer whose name is too long for a file system, or not UTF-8, is not shown, with the reason.
// The rest is.
func TestImpossibleNames(t *testing.T) {
	const notUTF8 = "\xff\xfe"
	long := strings.Repeat("n", 200)
	zarr := func(dir, name string) {
		write(t, filepath.Join(dir, ".zgroup"), `{"zarr_format":2}`)
		write(t, filepath.Join(dir, path.Dir(name), ".zgroup"), `{"zarr_format":2}`)
		writeArray(t, filepath.Join(dir, name), 'n')
		writeArray(t, filepath.Join(dir, "other"), 'o')
	}
	for format, c := range map[string]struct {
		name, want string
		write      func(dir, name string)
	}{
		"long": {long + "/" + long, "its name has 401 bytes, expected at most 255", zarr},
		"zarr": {notUTF8, "its name is not UTF-8", zarr},
		"n5": {notUTF8, "its name is not UTF-8", func(dir, name string) {
			write(t, filepath.Join(dir, "attributes.json"), `{"n5":"2.5.0"}`)
			for at, voxel := range map[string]string{name: "n", "other": "o"} {
				write(t, filepath.Join(dir, at, "attributes.json"),
					`{"dimensions":[2,2,2],"blockSize":[2,2,2],"dataType":"uint8","compression":{"type":"raw"}}`)
				write(t, filepath.Join(dir, at, "0/0/0"),
					"\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x02"+strings.Repeat(voxel, 8))
			}
		}},
		"wkw": {notUTF8, "its name is not UTF-8", func(dir, name string) {
			writeArray(t, filepath.Join(dir, "other/1"), 'o')
			writeArray(t, filepath.Join(dir, name, "1"), 'n')
			write(t, filepath.Join(dir, tree.Properties),
				`{"id":{"name":"x","team":"t"},"scale":[1,1,1],"dataLayers":[`+zarrLayer("other", "./other/1")+`]}`)
		}},
	} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			c.write(dir, c.name)
			root := open(t, dir, io.Discard)
			mounted := view.New(root, view.Options{})
			checkShown(t, mounted, "other/1", "oooooooo", true)
			checkListings(t, mounted, ".")
			r, err := inspect.Source("source", root, 1, gaps.Options{})
			if err != nil || len(r.NotShown) != 1 || r.NotShown[0].Reason != c.want {
				t.Errorf("%q: not shown: %+v, %v", c.name, r.NotShown, err)
			}
		})
	}
}

// zarrLayer describes a layer of a WEBKNOSSOS dataset with one mag, a Zarr array.
func zarrLayer(name, mag string) string {
	return fmt.Sprintf(
		`{"name":%q,"category":"color","dataFormat":"zarr","boundingBox":{"topLeft":[0,0,0],"width":2,"height":2,"depth":2},"elementClass":"uint8","mags":[{"mag":[1,1,1],"path":%q,"axisOrder":{"x":2,"y":1,"z":0}}]}`, name, mag)
}

// TestReservedNamesOfWKW: a layer of a WEBKNOSSOS dataset that has the name of its metadata, or of the files of a
// server, is not shown. The metadata are.
func TestReservedNamesOfWKW(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"color", tree.Server} {
		writeArray(t, filepath.Join(dir, name, "1"), byte('a'+i))
	}
	metadata := `{"id":{"name":"x","team":"t"},"scale":[1,1,1],"dataLayers":[` +
		strings.Join([]string{zarrLayer("color", "./color/1"), zarrLayer(tree.Server, "./.wkwfs/1"),
			zarrLayer(tree.Properties, "./color/1")}, ",") + `]}`
	write(t, filepath.Join(dir, tree.Properties), metadata)
	root := open(t, dir, io.Discard)
	mounted := view.New(root, view.Options{})
	checkShown(t, mounted, "color/1", "aaaaaaaa", true)
	checkShown(t, mounted, tree.Server+"/1", "", false)
	checkListings(t, mounted, ".")
	if b, err := fs.ReadFile(mounted, tree.Properties); err != nil || string(b) != metadata {
		t.Errorf("got the metadata %q, %v", b, err)
	}
	var found []string
	for _, f := range check.Unshown(root) {
		found = append(found, f.Path)
	}
	if want := []string{tree.Server, tree.Properties}; !slices.Equal(found, want) {
		t.Errorf("not shown: %q, expected %q", found, want)
	}
}

// checkShown checks that a mag is shown with its voxels, or not.
func checkShown(t *testing.T, mounted fs.FS, mag, voxels string, want bool) {
	t.Helper()
	b, err := fs.ReadFile(mounted, path.Join(mag, tree.VolumeRaw))
	if want && (err != nil || string(b) != voxels) || !want && err == nil {
		t.Errorf("%q: got %q, %v", mag, b, err)
	}
}

// checkCopy checks that a copy of the source has a mag.
func checkCopy(t *testing.T, mounted fs.FS, mag string, want bool) {
	t.Helper()
	found := false
	forms := copier.Forms{FS: mounted}
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := fs.ReadDir(mounted, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range forms.Select(dir, entries) {
			at := path.Join(dir, e.Name())
			if found = found || at == mag; e.IsDir() {
				walk(at)
			}
			if tree.IsView(path.Base(dir)) && !e.IsDir() {
				t.Errorf("%q is copied", at)
			}
		}
	}
	if walk("."); found != want {
		t.Errorf("%q is copied: %t, expected %t", mag, found, want)
	}
}

// checkListings checks that no directory lists a name twice, and that what is listed exists and is of the kind that is
// listed.
func checkListings(t *testing.T, mounted fs.FS, dir string) {
	t.Helper()
	seen := map[string]bool{}
	for entries, err := range vfs.List(mounted, dir) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			at := path.Join(dir, e.Name())
			info, err := fs.Stat(mounted, at)
			if seen[e.Name()] || err != nil || info.IsDir() != e.IsDir() {
				t.Errorf("%q: listed twice: %t; %v", at, seen[e.Name()], err)
			}
			if seen[e.Name()] = true; e.IsDir() {
				checkListings(t, mounted, at)
			}
		}
	}
}
