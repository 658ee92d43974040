package header

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestUnits checks the numbers and the unit in each header, for each unit that an array can have. A voxel of gray is
// 11.24 × 11.24 × 25 nm, and its origin is at z −30.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit                                   Unit
		nrrd, mhd, xmf                         string
		nii                                    float32 // spacing on z
		niiUnit                                byte
		ofNRRD, ofMHD, ofNIfTI, ofXDMF, ofTIFF Unit
	}{
		{"", "(0,0,25)|\"nm\" \"nm\" \"nm\"|,-750)", "DistanceUnits = nm\n|11.24 11.24 25|-750\n", ">25 11.24 11.24<",
			2.5e-5, 2, "nm", "nm", "mm", "nm", "nm"},
		{Nanometre, "(0,0,25)|\"nm\" \"nm\" \"nm\"|,-750)", "DistanceUnits = nm\n|11.24 11.24 25|-750\n",
			">25 11.24 11.24<", 25, 0, "nm", "nm", "nm", "nm", "nm"},
		{Micrometre, "(0,0,0.025)|\"um\" \"um\" \"um\"|,-0.75)", "DistanceUnits = um\n|0.01124 0.01124 0.025|-0.75\n",
			">0.025 0.01124 0.01124<", 0.025, 3, "um", "um", "um", "um", "nm"},
		{Millimetre, "(0,0,2.5e-05)|\"mm\" \"mm\" \"mm\"|,-0.00075)",
			"DistanceUnits = mm\n|1.124e-05 1.124e-05 2.5e-05|-0.00075\n", ">2.5e-05 1.124e-05 1.124e-05<", 2.5e-5, 2,
			"mm", "mm", "mm", "mm", "nm"},
	} {
		a := with(func(a *Array) { a.Unit = c.unit })
		want := map[string]string{".nrrd": c.nrrd, ".nhdr": c.nrrd, ".mhd": c.mhd, ".xmf": c.xmf,
			".tif": "unit=nm|spacing=25\n"}
		units := map[string]Unit{".npy": "", ".nrrd": c.ofNRRD, ".nhdr": c.ofNRRD, ".mhd": c.ofMHD, ".nii": c.ofNIfTI,
			".xmf": c.ofXDMF, ".tif": c.ofTIFF}
		for _, f := range Formats() {
			l, err := f.Layout(a)
			if err != nil {
				t.Fatal(err)
			}
			for part := range strings.SplitSeq(want[f.Suffix], "|") {
				if !strings.Contains(string(l.Head), part) {
					t.Errorf("unit %q: %s lacks %q: %.400s", c.unit, f.Suffix, part, l.Head)
				}
			}
			if f.Suffix == ".nii" {
				pitch := math.Float32frombits(binary.LittleEndian.Uint32(l.Head[76+12:]))
				z := math.Float32frombits(binary.LittleEndian.Uint32(l.Head[276:]))
				if pitch != c.nii || l.Head[123] != c.niiUnit || math.Abs(float64(z/pitch)+30) > 1e-5 {
					t.Errorf("unit %q: NIfTI has the spacing %v, origin %v, unit %d", c.unit, pitch, z, l.Head[123])
				}
			}
			if got := f.UnitOf(a); got != units[f.Suffix] {
				t.Errorf("unit %q: unit of %s is %q, expected %q", c.unit, f.Suffix, got, units[f.Suffix])
			}
			if got := f.UnitOf(unplaced); got != "" {
				t.Errorf("%s without a spacing has the unit %q", f.Suffix, got)
			}
		}
		checkHeaderUnits(t, a, units)
	}
	if _, err := NRRD(with(func(a *Array) { a.Unit = "inch" })); err == nil {
		t.Error("inch is a unit")
	}
}

// checkHeaderUnits compares header_units in volume.json. voxel_size stays in nm.
func checkHeaderUnits(t *testing.T, a Array, want map[string]Unit) {
	t.Helper()
	b, err := VolumeJSON(a, Storage{})
	if err != nil {
		t.Fatal(err)
	}
	var v volumeJSON
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for suffix, unit := range want {
		if v.HeaderUnits[suffix] != unit {
			t.Errorf("volume.json: %s has the unit %q, expected %q", suffix, v.HeaderUnits[suffix], unit)
		}
	}
	if *v.VoxelSize != gray.Grid.Spacing || *v.Unit != "nm" {
		t.Errorf("volume.json: %v %s", *v.VoxelSize, *v.Unit)
	}
}
