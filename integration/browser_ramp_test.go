//go:build browser

package integration

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// ramp is a layer whose voxels are base and a number below 100 that grows along each axis.
type ramp struct {
	dtype, category string
	channels        int
	base            float64
}

// rampOffset and rampSize are the box of a ramp, in voxels of rampNM.
var (
	rampOffset, rampSize = [3]int{13, 7, 5}, [3]int{40, 30, 12}
	rampNM               = [3]float64{4, 5, 30}
)

// at returns the value of a voxel of the dataset.
func (r ramp) at(x, y, z, channel int) float64 { return r.base + float64((x+2*y+3*z+5*channel)%100) }

// write imports the ramp as a layer of a dataset, in cubes of 32³ voxels.
func (r ramp) write(t *testing.T, dataset, layer string) {
	t.Helper()
	var raw []byte
	for z := range rampSize[2] {
		for y := range rampSize[1] {
			for x := range rampSize[0] {
				for c := range r.channels {
					raw = appendVoxel(raw, r.dtype, r.at(x+rampOffset[0], y+rampOffset[1], z+rampOffset[2], c))
				}
			}
		}
	}
	file := filepath.Join(t.TempDir(), "v.raw")
	writeFile(t, file, raw)
	mustRun(t, "import", "-q", file, dataset, "--layer", layer, "--shape", "40,30,12", "--dtype", r.dtype, "--channels",
		fmt.Sprint(r.channels),
		"--offset", "13,7,5", "--voxel-size", "4,5,30", "--category", r.category, "--cube", "32", "--block", "16",
		"--mags", "0")
}

// compare compares a layer of a view with the ramp.
func (r ramp) compare(t *testing.T, got viewResult, layer int) {
	t.Helper()
	l := got.State.Layers[layer]
	if want := map[string]string{"color": "image", "segmentation": "segmentation"}[r.category]; l.Type != want {
		t.Errorf("%s of %s is a layer of type %s", r.category, r.dtype, l.Type)
	}
	// Red, green and blue are as they are. Others have the percentiles of their channels.
	controls := r.channels
	if r.category != "color" || r.channels == 3 {
		controls = 0
	}
	if len(l.Controls) != controls {
		t.Errorf("%d × %s: %d controls, want %d", r.channels, r.dtype, len(l.Controls), controls)
	}
	if window := l.Controls["channel0"].Range; controls > 0 && (!isNear(window[0], r.base+1) ||
		!isNear(window[1], r.base+98)) {
		t.Errorf("%s from %v on: the range is %v", r.dtype, r.base, window)
	}
	for p, point := range looks {
		var want []string
		for c := range r.channels {
			v := r.at(int(got.State.Position[0])+point[0], int(got.State.Position[1])+point[1],
				int(got.State.Position[2]), c)
			want = append(want, jsonNumber(t, v))
		}
		if got.Values[layer][p] != strings.Join(want, ",") {
			t.Errorf("%d × %s %s at %v: Neuroglancer has %s, want %s", r.channels, r.dtype, r.category, point,
				got.Values[layer][p], want)
		}
	}
}

// isNear reports whether a number in JSON, or a string that has one, is within 1 of want.
func isNear(number any, want float64) bool {
	var v float64
	_, err := fmt.Sscan(fmt.Sprint(number), &v)
	return err == nil && math.Abs(v-want) <= 1
}

// jsonNumber formats a value as JavaScript does.
func jsonNumber(t *testing.T, v float64) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// appendVoxel appends a value of a type, little-endian.
func appendVoxel(raw []byte, dtype string, v float64) []byte {
	switch dtype {
	case "float32":
		return binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
	case "float64":
		return binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	size := map[byte]int{'8': 1, '6': 2, '2': 4, '4': 8}[dtype[len(dtype)-1]]
	return append(raw, binary.LittleEndian.AppendUint64(nil, uint64(int64(v)))[:size]...)
}
