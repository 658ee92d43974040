package dataset

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestAnnotations opens all annotations of the reference data, alone and over their dataset, and compares all volumes
// with their hashes. Damaged ones are refused, or their blocks are errors.
func TestAnnotations(t *testing.T) {
	compared := 0
	for _, kind := range []string{"annotations", "mappings"} {
		dir, cases := composed(t, kind)
		for _, c := range cases {
			if kind == "mappings" && c.Over == nil {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				o := Options{}
				if c.Over != nil {
					o.Over = filepath.Join(dir, *c.Over)
				}
				d, err := Open(t.Context(), filepath.Join(dir, c.Mount), o)
				if err != nil {
					if t.Log(err); c.Expect == "ok" && !c.Optional {
						t.Error("refused")
					}
					return
				}
				defer d.Close()
				names, err := d.Layers()
				if err != nil {
					t.Fatal(err)
				}
				if o, ok := d.Root.Dataset.(volume.Omitter); ok {
					t.Log(names, o.Omitted())
				}
				if c.Expect == "refused" && slices.ContainsFunc(c.Absent,
					func(a string) bool { return slices.Contains(names, a) }) {
					t.Errorf("%q is shown", c.Absent)
				}
				for _, absent := range c.Absent {
					if c.Expect != "error" {
						continue
					}
					if _, _, err := voxelsOfMag(t, d, absent, "1"); err == nil {
						t.Errorf("%s is read", absent)
					} else {
						t.Log(err)
					}
				}
				compared += compareComposed(t, d, c, func(layer string) bool {
					return c.Optional && !slices.Contains(names, layer)
				})
			})
		}
	}
	if compared < 100 {
		t.Errorf("%d volumes were compared", compared)
	}
}

// TestUnpackedData opens the data of a volume that were unpacked and have no NML file: they have the same voxels.
func TestUnpackedData(t *testing.T) {
	dir, cases := composed(t, "annotations")
	c := cases[slices.IndexFunc(cases, func(c refdata.Composed) bool { return c.Name == "z2_alone" })]
	d, err := Open(t.Context(), filepath.Join(dir, "unpacked_zarr3/data_Volume"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	voxels, g, err := voxelsOfMag(t, d, "volumeAnnotationData", "1")
	if err != nil || g.Size != volume.Vec(c.Volumes[0].Size) || bytes.Count(voxels, []byte{0}) == len(voxels) {
		t.Errorf("%v, %v: no voxels, or %v", g, err, len(voxels))
	}
}
