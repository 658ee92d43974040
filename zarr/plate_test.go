package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestPlates reads plates that another program wrote: each field is a layer of its own, voxel for voxel. A row or a
// well that is a source has the same fields.
func TestPlates(t *testing.T) {
	root, sources := refdata.Sources(t, "zarr")
	for _, s := range sources {
		if !strings.HasPrefix(s.Name, "plate_") {
			continue
		}
		r, err := Recognise(openDir(t, filepath.Join(root, s.Mount)), ".")
		if err != nil || r.Dataset == nil {
			t.Fatalf("%s: %+v, %v", s.Name, r, err)
		}
		names, err := r.Dataset.Layers()
		if err != nil || len(names) != len(s.Volumes) {
			t.Errorf("%s: got %q, %v, expected %d layers", s.Name, names, err, len(s.Volumes))
		}
		for _, v := range s.Volumes {
			wantField(t, r.Dataset, v.Layer, v.SHA256)
		}
		well, err := Recognise(openDir(t, filepath.Join(root, s.Mount)), path.Dir(s.Volumes[0].Layer))
		if err != nil || well.Dataset == nil {
			t.Fatalf("%s: %+v, %v", s.Name, well, err)
		}
		wantField(t, well.Dataset, path.Base(s.Volumes[0].Layer), s.Volumes[0].SHA256)
		row, err := Recognise(openDir(t, filepath.Join(root, s.Mount)), path.Dir(path.Dir(s.Volumes[0].Layer)))
		if err != nil || row.Dataset == nil {
			t.Fatalf("%s: %+v, %v", s.Name, row, err)
		}
		_, inRow, _ := strings.Cut(s.Volumes[0].Layer, "/")
		wantField(t, row.Dataset, inRow, s.Volumes[0].SHA256)
	}
}

func wantField(t *testing.T, d volume.Dataset, name, sha256 string) {
	t.Helper()
	l, err := d.Layer(name)
	if err != nil {
		t.Error(err)
		return
	}
	mags, _ := l.Mags()
	m, err := l.Mag(mags[0])
	if err != nil {
		t.Error(err)
		return
	}
	box, _ := m.Bounds()
	voxels, err := volume.ReadBox(t.Context(), m, box)
	if got := sum(voxels); err != nil || got != sha256 {
		t.Errorf("%s: %v, got voxels with the checksum %s, expected %s", name, err, got, sha256)
	}
}

// madePlate is a plate of 384 wells with 30 fields each, with labels in each field. It is made as it is read, and
// counts.
type madePlate struct{ reads, wells, fields atomic.Int64 }

func (p *madePlate) Open(name string) (fs.File, error) {
	content, parts := "", strings.Split(name, "/")
	switch {
	case name == ".zattrs":
		var wells []string
		for i := range 384 {
			wells = append(wells, fmt.Sprintf(`{"path":"%c/%d","rowIndex":%d,"columnIndex":%d}`, 'A'+i/24, i%24+1, i/24,
				i%24))
		}
		content = `{"plate":{"wells":[` + strings.Join(wells, ",") + `]}}`
	case path.Base(name) == ".zgroup":
		content = `{"zarr_format":2}`
	case len(parts) == 3 && parts[2] == ".zattrs":
		var images []string
		for i := range 30 {
			images = append(images, fmt.Sprintf(`{"path":"%d"}`, i))
		}
		p.wells.Add(1)
		content = `{"well":{"images":[` + strings.Join(images, ",") + `]}}`
	case path.Base(name) == ".zattrs":
		p.fields.Add(1)
		content = `{"multiscales":[{"axes":["c","z","y","x"],"datasets":[{"path":"0"}]}]}`
	case path.Base(name) == ".zarray":
		content = `{"zarr_format":2,"shape":[1,1,4,4],"chunks":[1,1,4,4],"dtype":"|u1","compressor":null,"filters":null,"fill_value":7,"order":"C"}`
	case name == "." || !strings.Contains(path.Base(name), "."):
		return fstest.MapFS{name: {Mode: fs.ModeDir | 0o755}}.Open(name)
	}
	if content == "" || len(parts) == 1 && path.Base(name) == ".zarray" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	p.reads.Add(1)
	return fstest.MapFS{name: {Data: []byte(content), Mode: 0o644}}.Open(name)
}

// TestLargePlate: a plate of 384 wells with 30 fields is listed with its own metadata alone, a row with those of its
// wells, and a well with those of its fields. The fields that are kept are bounded, and a walk over all layers reads no
// well long before it is there.
func TestLargePlate(t *testing.T) {
	p := &madePlate{}
	r, err := Recognise(p, ".")
	if err != nil {
		t.Fatal(err)
	}
	tree := r.Dataset.(volume.LayerTree)
	rows, err := tree.ListLayers("")
	if err != nil || len(rows) != 16 || p.wells.Load() > 0 || p.fields.Load() > 0 || p.reads.Load() > 6 {
		t.Errorf("got %q, %v, after %d files, %d of wells, %d of fields", rows, err, p.reads.Load(), p.wells.Load(),
			p.fields.Load())
	}
	if wells, err := tree.ListLayers("B"); err != nil || len(wells) != 24 || p.wells.Load() > 24 {
		t.Errorf("got %q, %v, after reading %d wells", wells, err, p.wells.Load())
	}
	before := p.fields.Load()
	if fields, err := tree.ListLayers("B/7"); err != nil || len(fields) != 30 || p.fields.Load()-before > 30 {
		t.Errorf("got %q, %v, after reading %d fields", fields, err, p.fields.Load())
	}
	first, err := r.Dataset.Layer("B/7/12")
	if again, _ := r.Dataset.Layer("B/7/12"); err != nil || again != first {
		t.Errorf("got %v and %v, %v: expected the same layer", first, again, err)
	}
	const kept, walked = 100, 1000
	opened := r.Dataset.(*plate).opened
	opened.Resize(kept)
	found := 0
	for name, err := range volume.EachLayer(r.Dataset) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if found++; found == walked {
			break
		}
	}
	if found != walked || opened.Len() > kept || opened.Cost() > kept || p.wells.Load() > 24*9 {
		t.Errorf("got %d layers, %d fields of cost %d are kept, metadata of wells were opened %d times", found,
			opened.Len(), opened.Cost(), p.wells.Load())
	}
}

// TestDamagedPlate: a well or a field that is damaged costs only itself. Absent ones are not listed.
func TestDamagedPlate(t *testing.T) {
	root, _ := refdata.Sources(t, "zarr")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "plate_4"))); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"A/1/0/.zattrs": `{"multiscales":`,
		"A/2/.zattrs": `{"well":{"images":7}}`, "A/1/1/0/.zarray": `{}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"B/2", "B/3/1"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Recognise(openDir(t, dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	var sound, damaged []string
	for name, err := range volume.EachLayer(r.Dataset) {
		if _, again := r.Dataset.Layer(name); (err == nil) != (again == nil) {
			t.Errorf("%s: got %v and %v", name, err, again)
		}
		if err != nil {
			damaged = append(damaged, name)
			if !strings.Contains(err.Error(), "A/") {
				t.Errorf("%s: the error names no file: %v", name, err)
			}
			continue
		}
		sound = append(sound, name)
	}
	if !slices.Equal(sound, []string{"A/3/0", "A/3/1", "B/3/0"}) ||
		!slices.Equal(damaged, []string{"A/1/0", "A/1/1", "A/2"}) {
		t.Errorf("got %q, and the damaged %q", sound, damaged)
	}
	for _, name := range []string{"A", "A/3", "B/2", "B/2/0", "B/3/1", "C", "A/3/7", "A/3/0/labels", "A/3/0/0", "",
		"."} {
		if _, err := r.Dataset.Layer(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

// TestFieldsOfPlate: a field with several times has a directory for each, and labels of a field lie in labels/NAME: the
// path of its image is the same with them.
func TestFieldsOfPlate(t *testing.T) {
	files := fstest.MapFS{}
	write := func(name, content string) { files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644} }
	array := func(times int) string {
		return fmt.Sprintf(
			`{"zarr_format":2,"shape":[%d,1,4,4],"chunks":[1,1,4,4],"dtype":"|u1","compressor":null,"filters":null,"fill_value":7,"order":"C"}`, times)
	}
	const image = `{"multiscales":[{"axes":["t","z","y","x"],"datasets":[{"path":"s0"}]}]}`
	write(".zgroup", `{"zarr_format":2}`)
	write(".zattrs", `{"plate":{"wells":[{"path":"A/1"},{"path":"../x"},{"path":"A/1"},{"path":"A"}]}}`)
	write("A/1/.zattrs", `{"well":{"images":[{"path":"0"},{"path":"movie"},{"path":"../../x"}]}}`)
	for at, times := range map[string]int{"A/1/0": 1, "A/1/0/labels/cells": 1, "A/1/0/labels/tracks": 2,
		"A/1/movie": 2} {
		write(at+"/.zgroup", `{"zarr_format":2}`)
		write(at+"/.zattrs", image)
		write(at+"/s0/.zarray", array(times))
	}
	write("A/1/0/labels/.zgroup", `{"zarr_format":2}`)
	write("A/1/0/labels/.zattrs", `{"labels":["cells","tracks"]}`)
	r, err := Recognise(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.Dataset.Layers()
	want := []string{"A/1/0", "A/1/0/labels/cells", "A/1/0/labels/tracks/t0000", "A/1/0/labels/tracks/t0001",
		"A/1/movie/t0000", "A/1/movie/t0001"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, expected %q", names, err, want)
	}
	if left := r.Dataset.(volume.Omitter).Omitted(); len(left) != 3 {
		t.Errorf("got the omissions %+v, expected 3", left)
	}
	tree := r.Dataset.(volume.LayerTree)
	for dir, want := range map[string]string{"": "A", "A": "1", "A/1": "0 movie", "A/1/0": "labels",
		"A/1/0/labels": "cells tracks", "A/1/movie": "t0000 t0001"} {
		if got, err := tree.ListLayers(dir); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, %v, expected %q", dir, got, err, want)
		}
		if info, err := tree.StatLayers(dir); err != nil || !info.IsDir() {
			t.Errorf("%q: got %v, %v", dir, info, err)
		}
	}
	for _, dir := range []string{"B", "A/2", "A/1/1", "A/1/0/x", "A/1/0/labels/x", "A/1/movie/t0002"} {
		if _, err := tree.StatLayers(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v", dir, err)
		}
		if _, err := tree.ListLayers(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: listed: got %v", dir, err)
		}
	}
}

// TestGroupOfPlates: plates in a group are directories of layers beside the other layers of the group, and list what
// they have as a plate that is a source does.
func TestGroupOfPlates(t *testing.T) {
	files := fstest.MapFS{}
	add := func(name, content string) { files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644} }
	array := `{"zarr_format":2,"shape":[%s],"chunks":[%s],"dtype":"|u1","compressor":null,"fill_value":7,"order":"C","filters":null}`
	image := `{"multiscales":[{"version":"0.4","axes":[{"name":"y"},{"name":"x"}],"datasets":[{"path":"0"}]}]}`
	add(".zgroup", `{"zarr_format":2}`)
	for _, plate := range []string{"first", "second"} {
		add(plate+"/.zgroup", `{"zarr_format":2}`)
		add(plate+"/.zattrs", `{"plate":{"wells":[{"path":"A/1"},{"path":"B/2"},{"path":"bad"}]}}`)
		for _, well := range []string{"A/1", "B/2"} {
			at := plate + "/" + well
			add(path.Dir(at)+"/.zgroup", `{"zarr_format":2}`)
			add(at+"/.zgroup", `{"zarr_format":2}`)
			add(at+"/.zattrs", `{"well":{"images":[{"path":"0"}]}}`)
			add(at+"/0/.zgroup", `{"zarr_format":2}`)
			add(at+"/0/.zattrs", image)
			add(at+"/0/0/.zarray", fmt.Sprintf(array, "2,2", "2,2"))
		}
	}
	add("film/.zgroup", `{"zarr_format":2}`)
	add("film/.zattrs",
		`{"multiscales":[{"version":"0.4","axes":[{"name":"t"},{"name":"y"},{"name":"x"}],"datasets":[{"path":"0"}]}]}`)
	add("film/0/.zarray", fmt.Sprintf(array, "2,2,2", "1,2,2"))
	r, err := Recognise(files, ".")
	if err != nil || r.Dataset == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	want := []string{"film/t0000", "film/t0001", "first/A/1/0", "first/B/2/0", "second/A/1/0", "second/B/2/0"}
	names, err := r.Dataset.Layers()
	if slices.Sort(names); err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, expected %q", names, err, want)
	}
	names = nil
	for name, err := range volume.EachLayer(r.Dataset) {
		if names = append(names, name); err != nil {
			t.Error(err)
		}
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("got %q, expected %q", names, want)
	}
	for _, name := range want {
		l, err := r.Dataset.Layer(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if mags, err := l.Mags(); err != nil || len(mags) != 1 {
			t.Errorf("%s: got %q, %v", name, mags, err)
		}
	}
	tree := r.Dataset.(volume.LayerTree)
	for dir, want := range map[string]string{"": "first second film", "first": "A B", "second/B": "2",
		"film": "t0000 t0001", "first/A/1": "0"} {
		if names, err := tree.ListLayers(dir); err != nil || strings.Join(names, " ") != want {
			t.Errorf("%q: got %q, %v, expected %s", dir, names, err, want)
		}
		if _, err := tree.StatLayers(dir); err != nil {
			t.Errorf("%q: %v", dir, err)
		}
	}
	for _, name := range []string{"first", "first/A", "first/C/1/0", "third", "film/t0002", "film"} {
		if l, err := r.Dataset.Layer(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, %v", name, l, err)
		}
	}
	omitted := r.Dataset.(volume.Omitter).Omitted()
	if len(omitted) != 2 || omitted[0].Name != "first/bad" || omitted[1].Name != "second/bad" {
		t.Errorf("got %+v", omitted)
	}
}
