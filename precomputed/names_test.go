package precomputed

import (
	"testing"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/volume"
)

func TestChunkNames(t *testing.T) {
	s := &scaleInfo{bounds: volume.Box{Min: volume.Vec{-1000, 5, 0}, Max: volume.Vec{-980, 30, 9}},
		chunk: volume.Cube(8)}
	var err error
	if s.lattice, err = lattice.New(volume.Vec{3, 4, 2}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]volume.Vec{
		"-1000--992_5-13_0-8":  {0, 0, 0},
		"-984--980_29-30_8-9":  {2, 3, 1},
		"-992--984_13-21_8-9":  {1, 1, 1},
		"-1000--992_13-21_0-8": {0, 1, 0},
	} {
		if c, ok := s.parseChunkName(name); !ok || c != want || s.chunkName(want) != name {
			t.Errorf("%s: got %v, %v, expected %v, named %s", name, c, ok, want, s.chunkName(want))
		}
	}
	for _, name := range []string{
		"", "_", "-", "info", "1000--992_5-13_0-8", "-1000-992_5-13_0-8", "-1000--992_5-13", "-1000--992_5-13_0-8_",
		"-1000--992_5-13_0-8.gz", "-1000--992_5-13_0-08", "-01000--992_5-13_0-8", "-999--991_5-13_0-8",
		"-984--976_29-30_8-9",
		"-1008--1000_5-13_0-8", "-1000--992_5-13_16-24", "+5-1_5-13_0-8", " -1000--992_5-13_0-8",
		"99999999999999999999999-5_5-13_0-8", "-1000--992_5-13_0-99999999999999999999999",
	} {
		if c, ok := s.parseChunkName(name); ok {
			t.Errorf("%q: got chunk %v", name, c)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		key, name string
		leaves    bool
	}{
		{"8_8_30", "8_8_30", false},
		{"s/1/16_16_30", "s_1_16_16_30", false},
		{"../raw_scales_more/32_32_30", "raw_scales_more_32_32_30", true},
		{"./8", "8", false},
		{"a/../b", "a_b", false},
		{"a/../../b", "a_b", true},
		{"/etc", "etc", true},
		{"..", "", true},
		{".", "", false},
		{"", "", false},
		{"..a/b..", "..a_b..", false},
		{"gs://bucket/8", "gs:_bucket_8", true},
	} {
		if name, leaves := directoryName(c.key), leavesVolume(c.key); name != c.name || leaves != c.leaves {
			t.Errorf("%q: got %q, %v, expected %q, %v", c.key, name, leaves, c.name, c.leaves)
		}
	}
}
