package importer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

func TestNamesLabels(t *testing.T) {
	for name, want := range map[string]bool{
		"segmentation": true, "seg": true, "SEG_v2": true, "cells.seg.nrrd": true, "my-labels.tif": true,
		"Label 3": true, "cell_mask.png": true,
		"masks": true, "mask": true, "v2/segments": true, "color": false, "unsegmented": false, "masked": false,
		"mask2": false, "damask": false, "em_raw.tif": false, "": false,
	} {
		if got := namesLabels(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

func TestChooseByDescription(t *testing.T) {
	labelled := func(c arrayfile.Content) arrayfile.Labels { return arrayfile.Labels{Content: c, Why: "palette"} }
	for _, test := range []struct {
		layer, file string
		labels      arrayfile.Labels
		typ         volume.Type
		channels    int
		want        Choice
	}{
		{"l", "a.npy", arrayfile.Labels{}, volume.Uint8, 1, Choice{}},
		{"labels", "mask.npy", labelled(arrayfile.Image), volume.Uint8, 1,
			Choice{Segmentation, "the layer is named labels"}},
		{"l", "dir/mask.npy", labelled(arrayfile.Image), volume.Uint8, 1,
			Choice{Segmentation, "the file is named mask.npy"}},
		{"l", "mask/a.npy", labelled(arrayfile.Image), volume.Uint8, 1, Choice{Color, "the file has palette"}},
		{"l", "a.npy", labelled(arrayfile.Segmentation), volume.Uint32, 1, Choice{Segmentation, "the file has palette"}},
		{"l", "a.npy", arrayfile.Labels{}, volume.Float32, 1, Choice{Color, "values of type float32"}},
		{"l", "a.npy", arrayfile.Labels{}, volume.Uint8, 3, Choice{Color, "3 channels"}},
		{"labels", "a.npy", arrayfile.Labels{}, volume.Float64, 1,
			Choice{Why: "the layer is named labels, but has values of type float64"}},
		{"l", "a.png", labelled(arrayfile.Segmentation), volume.Uint8, 3,
			Choice{Why: "the file has palette, but has 3 channels"}},
	} {
		g := volume.Grid{Type: test.typ, Channels: test.channels}
		if got := chooseByDescription(test.layer, test.file, test.labels, g); got != test.want {
			t.Errorf("layer %s, file %s, %v: got %+v, want %+v", test.layer, test.file, test.labels, got, test.want)
		}
	}
}

// TestCategoryMissing: an import in doubt asks for all that is missing at once, and writes nothing.
func TestCategoryMissing(t *testing.T) {
	dir := t.TempDir()
	a := array(volume.Uint8, 1)
	a.Grid.Spacing = [3]float64{11, 0, 0}
	in := mustOpenRaw(t, voxeltest.Export(t, dir, a, make([]byte, a.Grid.Bytes()), ".raw"), a.Grid)
	out := filepath.Join(dir, "out")
	o := small("")
	o.Category = ""
	planned := false
	o.Planned = func(Plan) { planned = true }
	err := Import(t.Context(), in, out, o)
	var got []Field
	if found, ok := errors.AsType[*MissingError](err); ok {
		for _, n := range found.Needs {
			got = append(got, n.Field)
		}
	}
	if len(got) != 3 || got[0] != FieldLayer || got[1] != FieldVoxelSize || got[2] != FieldCategory {
		t.Errorf("missing: got %v, %v", got, err)
	}
	if !errors.Is(err, ErrNoScale) || !errors.Is(err, ErrCategory) || !strings.Contains(err.Error(), "on axis y, z") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); err == nil || planned {
		t.Errorf("the refused import has made the dataset, or a plan")
	}
	if needs, err := Missing(out, Options{}, false); err != nil || len(needs) != 2 {
		t.Errorf("of any input: got %v, %v", needs, err)
	}
}

// TestPlanned: the import reports what it is about to write.
func TestPlanned(t *testing.T) {
	dir := t.TempDir()
	a := array(volume.Uint8, 1)
	in := mustOpenRaw(t, voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".raw"), a.Grid)
	o := small("labels")
	o.Category, o.Mags = "", 1
	var got Plan
	o.Planned = func(p Plan) { got = p }
	if err := Import(t.Context(), in, dir, o); err != nil {
		t.Fatal(err)
	}
	if got.Choice != (Choice{Segmentation, "the layer is named labels"}) || got.Box.Min != origin ||
		got.VoxelSize != spacing || len(got.Factors) != 2 {
		t.Errorf("got %+v", got)
	}
}
