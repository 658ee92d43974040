package importer

import (
	"bytes"
	"compress/gzip"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// sampledSize is the size of the arrays whose category these tests ask for.
var sampledSize = volume.Vec{120, 110, 30}

// blobs returns whether voxels are in balls with a radius of 12 voxels, and an id for each ball from 1 to n.
func blobs(p volume.Vec, n int) int {
	center := p.Div(volume.Cube(30))
	d := p.Sub(center.Mul(volume.Cube(30))).Sub(volume.Cube(15))
	if d[0]*d[0]+d[1]*d[1]+d[2]*d[2] > 12*12 {
		return 0
	}
	return 1 + (center[0]*7+center[1]*3+center[2])*37%n
}

// TestChooseByValues: labels have large areas of one value, and images have noise. All else is in doubt.
func TestChooseByValues(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, test := range map[string]struct {
		value func(p volume.Vec) int
		want  string
	}{
		"mask":          {func(p volume.Vec) int { return 255 * min(1, blobs(p, 1)) }, Segmentation},
		"mask of 1":     {func(p volume.Vec) int { return min(1, blobs(p, 1)) }, Segmentation},
		"inverted mask": {func(p volume.Vec) int { return 255 - 255*min(1, blobs(p, 1)) }, Segmentation},
		"labels":        {func(p volume.Vec) int { return blobs(p, 200) }, Segmentation},
		"cells without gaps": {func(p volume.Vec) int { return 1 + (p[0]/15*7+p[1]/15*11+p[2]/15*13)%100 },
			Segmentation},
		"walls of cells": {func(p volume.Vec) int {
			if p[0]%15 == 0 || p[1]%15 == 0 {
				return 0
			}
			return 1 + (p[0]/15*7+p[1]/15*11)%100
		}, Segmentation},
		"noise":             {func(volume.Vec) int { return 100 + int(20*r.NormFloat64()) }, Color},
		"noise of 12 grays": {func(volume.Vec) int { return 100 + int(2*r.NormFloat64()) }, Color},
		"nearly black":      {func(volume.Vec) int { return max(0, int(3*r.NormFloat64())) }, Color},
		"half saturated":    {func(volume.Vec) int { return min(255, 250+int(20*r.NormFloat64())) }, Color},
		"saturated":         {func(volume.Vec) int { return min(255, 300+int(20*r.NormFloat64())) }, ""},
		"black with dust":   {func(volume.Vec) int { return max(0, r.IntN(1000)-950) }, ""},
		"empty":             {func(volume.Vec) int { return 0 }, ""},
		"white":             {func(volume.Vec) int { return 255 }, ""},
		"smooth":            {func(p volume.Vec) int { return (p[0] + p[1] + p[2]) / 6 }, ""},
		"two gray values":   {func(volume.Vec) int { return r.IntN(2) }, ""},
	} {
		for _, typ := range []volume.Type{volume.Uint8, volume.Uint16, volume.Int64} {
			voxels := make([]byte, sampledSize[0]*sampledSize[1]*sampledSize[2]*typ.Size())
			rest := voxels
			for p := range (volume.Box{Max: sampledSize}).All() {
				v := test.value(p)
				rest[0] = byte(v)
				rest = rest[typ.Size():]
			}
			want := test.want
			switch {
			case isWide(typ) && test.want == "":
				want = Segmentation // the type decides
			case isWide(typ) && test.want == Color:
				want = "" // the type contradicts
			}
			file := filepath.Join(t.TempDir(), "v.raw")
			write(t, file, voxels)
			in := mustOpenRaw(t, file, volume.Grid{Size: sampledSize, Type: typ, Channels: 1})
			if c, err := sampleValues(t.Context(), in); err != nil || c.Category != want || c.Why == "" {
				t.Errorf("%s, %v: got %+v, %v, want %q", name, typ, c, err, want)
			}
		}
	}
}

// TestSampleForms: compressed streams and planes that can only be decoded as a whole show the same as flat files, and a
// stream can still be read from its start.
func TestSampleForms(t *testing.T) {
	dir := t.TempDir()
	a := header.Array{Grid: volume.Grid{Size: sampledSize, Block: volume.Cube(1), Type: volume.Uint8, Channels: 1,
		Spacing: spacing}, Data: "volume.raw"}
	var voxels []byte
	for p := range (volume.Box{Max: sampledSize}).All() {
		voxels = append(voxels, byte(blobs(p, 200)))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(read(t, os.DirFS(dir), filepath.Base(voxeltest.Export(t, dir, a, voxels,
		".nii")))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "v.nii.gz"), packed.Bytes())
	planes := filepath.Join(dir, "planes")
	writePlanes(t, planes, voxels)

	for _, name := range []string{"v.nii.gz", "planes"} {
		in := mustOpen(t, filepath.Join(dir, name))
		if !in.Sequential() && !in.WholePlanes() {
			t.Fatalf("%s can be read in any order", name)
		}
		if c, err := sampleValues(t.Context(), in); err != nil || c.Category != Segmentation {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
		got := make([]byte, len(voxels))
		if err := in.Read(t.Context(), volume.Box{Max: sampledSize}, got); err != nil || !bytes.Equal(got, voxels) {
			t.Errorf("%s: the voxels differ after the sample: %v", name, err)
		}
	}
	write(t, filepath.Join(dir, "v.nii.gz"), packed.Bytes()[:packed.Len()/2])
	if c, err := sampleValues(t.Context(), mustOpen(t, filepath.Join(dir, "v.nii.gz"))); err == nil {
		t.Errorf("of a stream that is cut: got %+v", c)
	}
}

// writePlanes writes each plane as a PNG.
func writePlanes(t *testing.T, dir string, voxels []byte) {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	n := sampledSize[0] * sampledSize[1]
	for z := range sampledSize[2] {
		var b bytes.Buffer
		plane := &image.Gray{Pix: voxels[z*n:][:n], Stride: sampledSize[0],
			Rect: image.Rect(0, 0, sampledSize[0], sampledSize[1])}
		if err := png.Encode(&b, plane); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "z"+string(rune('A'+z))+".png"), b.Bytes())
	}
}

// TestSpread: samples are spread over the whole array.
func TestSpread(t *testing.T) {
	most := volume.Vec{999, 0, 9}
	var seen [3]map[int]bool
	for axis := range seen {
		seen[axis] = map[int]bool{}
	}
	for i := range 64 {
		at := spread(i, most)
		for axis := range at {
			if at[axis] < 0 || at[axis] > most[axis] {
				t.Fatalf("box %d is at %v", i, at)
			}
			seen[axis][at[axis]*10/(most[axis]+1)] = true
		}
	}
	if len(seen[0]) != 10 || len(seen[2]) != 10 {
		t.Errorf("tenths of the axes with a sample: %d, %d", len(seen[0]), len(seen[2]))
	}
}

// TestCategoryOfReferenceData: layers of other programs have the category that their values show, also if ids have few
// bits.
func TestCategoryOfReferenceData(t *testing.T) {
	for _, set := range []string{"l4_sample", "l4_blocks", "annotation"} {
		dir, ok := refdata.Path(set)
		if !ok {
			t.Logf("no %s: data of microscopes is not part of the module", set)
			continue
		}
		fsys := tree(t, dir)
		for _, pattern := range []string{"*/*/volume.raw", "*/volume.raw"} {
			names, err := fs.Glob(fsys, pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				checkReference(t, set, fsys, name)
			}
		}
	}
}

func checkReference(t *testing.T, set string, fsys fs.FS, name string) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 64<<20 {
		return // as l4_sample's whole layers, whose mags are the same tissue
	}
	file := filepath.Join(t.TempDir(), "v.nrrd")
	write(t, file, read(t, fsys, filepath.Dir(name)+"/volume.nrrd"))
	in := mustOpen(t, file)
	if in.Grid.Type == volume.Uint8 {
		if c, err := sampleValues(t.Context(), in); err != nil || c.Category != Color {
			t.Errorf("%s/%s: got %+v, %v", set, name, c, err)
		}
		return
	}
	if c, err := sampleValues(t.Context(), in); err != nil || c.Category != Segmentation {
		t.Errorf("%s/%s: got %+v, %v", set, name, c, err)
	}
	voxels := read(t, fsys, name)
	for width := 1; width <= 2; width++ { // the low bytes of ids
		var low []byte
		for i := 0; i < len(voxels); i += in.Grid.Type.Size() {
			low = append(low, voxels[i:i+width]...)
		}
		write(t, file, low)
		typ := []volume.Type{volume.Uint8, volume.Uint16}[width-1]
		small, err := arrayfile.OpenRaw(file, arrayfile.RawShape{Size: in.Grid.Size, Type: typ, Channels: 1})
		if err != nil {
			t.Fatal(err)
		}
		c, err := sampleValues(t.Context(), small)
		small.Close()
		if err != nil || c.Category == Color || c.Category == "" && set != "annotation" { // most of which are empty
			t.Errorf("%s/%s as %v: got %+v, %v", set, name, typ, c, err)
		}
	}
}
