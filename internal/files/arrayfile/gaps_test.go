package arrayfile

import "testing"

// TestGaps: a warning names the planes around a number that is missing.
func TestGaps(t *testing.T) {
	for want, names := range map[string][]string{
		"":      {"z1.tif", "z2.tif", "z3.tif"},
		"steps": {"z0.tif", "z10.tif", "z20.tif"},
		"the numbers of the planes have a gap: s2_z9.png and s2_z12.png are taken for neighbours": {"s2_z8.png",
			"s2_z9.png", "s2_z12.png", "s2_z99.png"},
		"two numbers":  {"a1_1.tif", "a2_4.tif", "a3_9.tif"},
		"other names":  {"a1.tif", "a2.tif", "b9.tif"},
		"two planes":   {"a1.tif", "a7.tif"},
		"no numbers":   {"a.tif", "b.tif", "c.tif"},
		"large":        {"99999999999999999999999.tif", "99999999999999999999998.tif", "1.tif"},
		"the same two": {"z1.tif", "z01.tif", "z2.tif"},
	} {
		a := &Array{}
		warnOfGaps(a, names)
		if wanted := len(want) > 20; wanted != (len(a.Warnings) == 1 && a.Warnings[0] == want) ||
			!wanted && len(a.Warnings) > 0 {
			t.Errorf("%q: got %q, want %q", names, a.Warnings, want)
		}
	}
}
