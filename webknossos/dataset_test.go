package webknossos

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// magAt is a mag with a header and one cube.
func magAt(dir string) entries {
	return entries{dir + "/header.wkw": soundHeader, dir + "/z0/y0/x0.wkw": soundCube}
}

// described returns a metadata file with the layers.
func described(layers ...string) entries {
	return entries{PropertiesFile: fmt.Sprintf(`{"scale": [4, 4, 40], "dataLayers": [%s]}`, strings.Join(layers, ","))}
}

func datasetOf(t *testing.T, w *warnings, all ...entries) *dataset {
	t.Helper()
	return newDataset(source(t, all...), ".", Options{Log: w.logger()})
}

// omissions returns all omissions as "name: reason".
func omissions(o volume.Omitter) []string {
	var all []string
	for _, omission := range o.Omitted() {
		all = append(all, omission.Name+": "+omission.Reason)
	}
	return all
}

func TestDataset(t *testing.T) {
	const box = `"boundingBox": {"topLeft": [0, 0, 0], "width": 2, "height": 2, "depth": 2}`
	for _, c := range []struct {
		name    string
		in      []entries
		want    []string // layer/mag
		omitted []string
		layers  []string // omissions of the layers, as layer/mag: reason
		warning string
	}{
		{
			name: "without metadata",
			in:   []entries{magAt("color/1"), magAt("color/2-2-1"), magAt("seg/1")},
			want: []string{"color/1", "color/2-2-1", "seg/1"},
		},
		{
			name: "mags from fine to coarse, under all names",
			in: []entries{magAt("color/16"), magAt("color/2"), magAt("color/4-4-1"), magAt("color/1-1-1"),
				magAt("color/1"),
				magAt("color/2-2-1"), magAt("color/1099511627776")},
			want: []string{"color/1", "color/1-1-1", "color/2-2-1", "color/2", "color/4-4-1", "color/16",
				"color/1099511627776"},
		},
		{
			name: "layers named in digits, without metadata",
			in:   []entries{magAt("1/1"), magAt("2/1"), magAt("2/2")},
			want: []string{"1/1", "2/1", "2/2"},
		},
		{
			name: "mags without header.wkw, or without cubes",
			in:   []entries{{"color/1/z7/y8/x9.wkw": soundCube, "color/2/header.wkw": soundHeader}},
			want: []string{"color/1", "color/2"},
		},
		{
			name: "other directories of a layer, other files of a dataset",
			in: []entries{magAt("color/1"), {
				"color/agglomerates/view.hdf5": "", "color/meshes/1": folder{}, "color/mappings/1/x.json": "{}",
				"color/segmentIndex/a": "",
				"color/connectomes":    folder{}, "color/1a": folder{}, "color/4": folder{}, "color/8/z0/y0": folder{},
				"color/2": "a file",
				"empty":   folder{}, "meshes/lod0": "", "thumbnail.png": "", "1.wkw": soundCube, "fifo": fifo{},
			}},
			want: []string{"color/1"},
		},
		{
			name: "layers and mags that are only in the metadata",
			in: []entries{magAt("color/1"), magAt("seg/1"), described(
				`{"name": "color", `+box+
					`, "mags": [{"mag": [1, 1, 1], "path": "./color/1"}, {"mag": [2, 2, 1], "path": "./color/2-2-1"}]}`,
				`{"name": "gone", "wkwResolutions": [{"resolution": 1}]}`,
			)},
			want:    []string{"color/1", "seg/1"},
			omitted: []string{"gone: no mags found"},
			layers:  []string{"color/2-2-1: not in the source"},
		},
		{
			name: "layers and mags in the metadata that are no directories",
			in: []entries{magAt("color/1"), {"color/2": "a file", "color/8": fifo{}, "other": fifo{},
				"elsewhere": "a file", "only/1": "a file", "color/4": link("2")}, described(
				`{"name": "color", "mags": [{"mag": 1}, {"mag": 2}, {"mag": 4}, {"mag": 8}, {"mag": 16, "path": "elsewhere"}]}`,
				`{"name": "elsewhere", "mags": [{"mag": 1}]}`, `{"name": "only", "mags": [{"mag": 1}]}`,
				`{"name": "other"}`,
			)},
			want: []string{"color/1"},
			omitted: []string{
				"elsewhere: elsewhere: expected a directory, found a regular file",
				"only: only/1: expected a directory, found a regular file",
				"other: other: expected a directory, found a FIFO",
			},
			layers: []string{
				"color/2: color/2: expected a directory, found a regular file",
				"color/4: color/4: expected a directory, found a regular file",
				"color/8: color/8: expected a directory, found a FIFO",
				"color/16: elsewhere: expected a directory, found a regular file",
			},
		},
		{
			name: "wkwResolutions, as a number and as a list",
			in: []entries{magAt("color/1"), magAt("color/2"), described(
				`{"name": "color", "wkwResolutions": [{"resolution": 1}, {"resolution": [2, 2, 2]}, {"resolution": [4, 4, 2]}, {"resolution": 8}]}`,
			)},
			want:   []string{"color/1", "color/2"},
			layers: []string{"color/4-4-2: not in the source", "color/8: not in the source"},
		},
		{
			name: "mag 1 is called 1-1-1",
			in: []entries{magAt("color/1-1-1"), magAt("seg/1-1-1"), described(
				`{"name": "color", "mags": [{"mag": [1, 1, 1], "path": "./color/1-1-1"}]}`,
				`{"name": "seg", "mags": [{"mag": 1}]}`,
			)},
			want: []string{"color/1-1-1", "seg/1-1-1"},
		},
		{
			name: "layers of other formats",
			in: []entries{magAt("color/1"), magAt("z/1"), {"n5/1/attributes.json": "{}"}, described(
				`{"name": "color", "dataFormat": "wkw"}`, `{"name": "z", "dataFormat": "zarr3"}`,
				`{"name": "n5", "dataFormat": "n5"}`,
				`{"name": "p", "dataFormat": "neuroglancerPrecomputed"}`,
			)},
			want:    []string{"color/1"},
			omitted: []string{"n5: data format n5", "p: data format neuroglancerPrecomputed", "z: data format zarr3"},
		},
		{
			name: "names that no directory can have",
			in: []entries{magAt("color/1"), magAt("a/b/1"), described(
				`{"name": "../source/color"}`, `{"name": ".."}`, `{"name": "a/b"}`, `{"name": ""}`, `{"name": "."}`,
				`{"name": "/color"}`, `{"name": "x\u0000"}`,
			)},
			want: []string{"color/1"},
			omitted: []string{
				": the name cannot be that of a directory entry", ".: the name cannot be that of a directory entry",
				"..: the name cannot be that of a directory entry",
				"../source/color: the name cannot be that of a directory entry",
				"/color: the name cannot be that of a directory entry",
				"a/b: the name cannot be that of a directory entry",
				"x\x00: the name cannot be that of a directory entry",
			},
		},
		{
			name: "links inside the source",
			in: []entries{magAt("data/raw/1"), {
				"color": link("data/raw"), "seg/1": link("../data/raw/1"), "seg/2/z0": link("../../data/raw/1/z0"),
				"again": link("color"),
			}},
			want: []string{"again/1", "color/1", "seg/1", "seg/2"},
		},
		{
			name: "links out of the source, and broken links",
			in: []entries{magAt("color/1"), {
				"out": link("../elsewhere"), "absolute": link("/tmp"), "gone": link("nothing"), "self": link("self"),
				"color/2": link("../../elsewhere/2"), "color/4": link("nothing"), "color/meshes": link("nothing"),
			}, described(`{"name": "color", "mags": [{"mag": 1}, {"mag": 2}, {"mag": 8}]}`, `{"name": "gone"}`)},
			want: []string{"color/1"},
			omitted: []string{
				"absolute: a symbolic link leads out of SOURCE; --follow-links follows it",
				"gone: a symbolic link that leads nowhere",
				"out: a symbolic link leads out of SOURCE; --follow-links follows it",
				"self: a symbolic link that is not followed: too many levels of symbolic links",
			},
			layers: []string{
				"color/2: a symbolic link leads out of SOURCE; --follow-links follows it",
				"color/4: a symbolic link that leads nowhere",
				"color/8: not in the source",
			},
		},
		{
			name: "mags elsewhere in the dataset",
			in: []entries{magAt("storage/a"), magAt("storage/b"), magAt("color/1"), magAt("color/2"), described(
				`{"name": "color", "mags": [{"mag": 1, "path": "color/1"}, {"mag": 2, "path": "./storage/../storage//a"}, {"mag": [4, 4, 2], "path": "storage/b"}]}`,
				`{"name": "virtual", "mags": [{"mag": 1, "path": "./storage/b/"}]}`,
			)},
			want: []string{"color/1", "color/2", "color/4-4-2", "virtual/1"},
		},
		{
			name: "mags out of the dataset",
			in: []entries{magAt("color/1"), described(
				`{"name": "color", "mags": [{"mag": 1, "path": "/data/color/1"}, {"mag": 2, "path": "../other/color/2"}, {"mag": 4, "path": "s3://bucket/4"}, {"mag": 8, "path": "/data/color/8"}]}`,
				`{"name": "far", "mags": [{"mag": 1, "path": "https://example.org/far/1"}]}`,
			)},
			want:    []string{"color/1"},
			omitted: []string{`far: no mags found: mag 1: its path "https://example.org/far/1" leads out of the dataset; --follow-links follows it`},
			layers: []string{
				`color/2: its path "../other/color/2" leads out of the dataset; --follow-links follows it`,
				`color/4: its path "s3://bucket/4" leads out of the dataset; --follow-links follows it`,
				`color/8: its path "/data/color/8" leads out of the dataset; --follow-links follows it`,
			},
		},
		{
			name: "invalid factors",
			in: []entries{magAt("color/1"), magAt("color/0"), described(
				`{"name": "color", "mags": [{"mag": 0, "path": "color/0"}, {"mag": -2, "path": "color/0"}, {"path": "color/0"}, {"mag": 1}]}`,
			)},
			want:   []string{"color/1"},
			layers: []string{"color/0: not in the source", "color/-2: not in the source"},
		},
		{
			name:    "broken metadata",
			in:      []entries{magAt("color/1"), {PropertiesFile: `{"dataLayers": [{"name": "far"`}},
			want:    []string{"color/1"},
			warning: "datasource-properties.json: unexpected end of JSON input",
		},
		{
			name:    "metadata file is a link out of the source",
			in:      []entries{magAt("color/1"), {PropertiesFile: link("/etc/hostname")}},
			want:    []string{"color/1"},
			omitted: []string{"datasource-properties.json: a symbolic link leads out of SOURCE; --follow-links follows it"},
			warning: "leads out of SOURCE; --follow-links follows it",
		},
		{name: "nothing", in: []entries{described()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w warnings
			d := datasetOf(t, &w, c.in...)
			var shown, omitted []string
			layers, err := d.Layers()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range layers {
				l, err := d.Layer(name)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if info, err := l.Stat(); err != nil || !info.IsDir() {
					t.Errorf("%s: got %v, %v", name, info, err)
				}
				mags, err := l.Mags()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, mag := range mags {
					shown = append(shown, name+"/"+mag)
					checkMag(t, l, mag)
				}
				for _, o := range omissions(l.(volume.Omitter)) {
					omitted = append(omitted, name+"/"+o)
				}
			}
			check := func(subject string, got, want []string) {
				t.Helper()
				if !slices.Equal(got, want) {
					t.Errorf("%s: got\n\t%s\nexpected\n\t%s", subject, strings.Join(got, "\n\t"),
						strings.Join(want, "\n\t"))
				}
			}
			check("mags", shown, c.want)
			check("omissions of the dataset", omissions(d), c.omitted)
			check("omissions of the layers", omitted, c.layers)
			warned := slices.DeleteFunc(w.lines(),
				func(line string) bool { return strings.Contains(line, "geometry taken from a cube") })
			if len(warned) != min(1, len(c.warning)) || len(warned) == 1 && !strings.Contains(warned[0], c.warning) {
				t.Errorf("got the warnings %q, expected %q", warned, c.warning)
			}
		})
	}
}

// checkMag opens a mag twice and reads its geometry.
func checkMag(t *testing.T, l volume.Layer, name string) {
	t.Helper()
	m, err := l.Mag(name)
	if err != nil {
		t.Errorf("mag %s: %v", name, err)
		return
	}
	if again, err := l.Mag(name); again != m || err != nil {
		t.Errorf("mag %s: another one the second time, %v", name, err)
	}
	if g, err := m.CubeGrid(); err != nil || g.Size != smallCube.Grid().Size {
		t.Errorf("mag %s: got %+v, %v", name, g, err)
	}
	if info, err := m.Stat(); err != nil || !info.IsDir() {
		t.Errorf("mag %s: got %v, %v", name, info, err)
	}
}
