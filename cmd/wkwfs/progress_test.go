package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/write/importer"
	"github.com/wkwfs/wkwfs/volume"
)

// TestBarHasOneMoment: the text and the percentage of a bar belong together, from the first time that it is drawn.
func TestBarHasOneMoment(t *testing.T) {
	var out bytes.Buffer
	b := barOn(&out)
	b.draw(0, 100, "plane 0")
	if b.clear(); strings.Contains(out.String(), "%") {
		t.Errorf("before anything is done: got %q, want no bar", out.String())
	}
	for _, test := range []struct {
		done int64
		want string
	}{{10, "plane 10 10%"}, {20, "plane 20 20%"}} {
		text, _, _ := strings.Cut(test.want, " "+test.want[6:8]+"%")
		out.Reset()
		b.draw(test.done, 100, text)
		lines := strings.Split(out.String(), "\r")
		if last := strings.Join(strings.Fields(lines[len(lines)-1]), " "); !strings.HasPrefix(last, test.want) {
			t.Errorf("got %q, want %q", last, test.want)
		}
	}
}

// TestDoubts: an import warns of lengths in µm, and of a layer in very many files.
func TestDoubts(t *testing.T) {
	box := volume.Box{Min: volume.Vec{1, 0, 0}, Max: volume.Vec{101, 100, 100}}
	nm := [3]float64{8, 8, 30}
	for _, test := range []struct {
		plan importer.Plan
		want string
	}{
		{importer.Plan{Part: box, VoxelSize: nm, Cube: 32}, ""},
		{importer.Plan{Part: box, VoxelSize: nm, Cube: 1}, "up to 1,000,000 files of mag 1, each of 1 voxels a side"},
		{importer.Plan{Part: volume.Box{Max: volume.Cube(1 << 16)}, VoxelSize: nm, Cube: 1024}, ""},
		{importer.Plan{Part: box}, ""}, // an update
		{importer.Plan{Part: box, VoxelSize: [3]float64{0.008, 0.008, 0.03}, Cube: 32},
			"voxels of 0.008 × 0.008 × 0.03 nm are smaller than atoms"},
	} {
		if got := strings.Join(doubts(test.plan), "; "); !strings.HasPrefix(got, test.want) ||
			(got == "") != (test.want == "") {
			t.Errorf("%+v: got %q, want %q", test.plan, got, test.want)
		}
	}
}
