package importer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestResume cancels an import, as a signal does, and resumes it.
func TestResume(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint32, 1)
	voxels := voxeltest.Pattern(a.Grid)
	name := voxeltest.Export(t, dir, a, voxels, ".nrrd")
	out := filepath.Join(dir, "out")
	o := small("ids")
	o.Category = Segmentation
	o.Mags, o.Jobs, o.Memory, o.Stats = 2, 1, 1, &Stats{}

	ctx, stop := context.WithCancel(t.Context())
	var reads atomic.Int64
	interrupted := o
	interrupted.onRead = func() {
		if reads.Add(1) == 20 { // of 24: the first of two slabs is written
			stop()
		}
	}
	if err := Import(ctx, mustOpen(t, name), out, interrupted); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	written := o.Stats.Written.Load()
	if written == 0 {
		t.Fatal("canceled before the first cube")
	}
	if _, err := os.Stat(filepath.Join(out, webknossos.PropertiesFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the layer is in the metadata before it is complete: %v", err)
	}
	noLocks(t, out)

	// Cubes that were written are not written again. The temporary file of a killed process is removed.
	cubes := names(t, out, ".wkw")
	past := time.Unix(1e9, 0)
	for _, name := range cubes {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(out, "ids/1/.x0.wkw.ABC.tmp"), nil)

	for setting, change := range otherSettings {
		other := o
		change(&other)
		if err := Import(t.Context(), mustOpen(t, name), out, other); !errors.Is(err, ErrUnfinished) {
			t.Errorf("with another %s: got %v, want %v", setting, err, ErrUnfinished)
		}
	}
	o.Stats = &Stats{}
	if err := Import(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	if kept := o.Stats.Kept.Load(); kept != written {
		t.Errorf("kept %d cubes, want the %d that were written", kept, written)
	}
	for _, name := range cubes {
		if info, err := os.Stat(name); err != nil ||
			!info.ModTime().Equal(past) && filepath.Base(name) != "header.wkw" {
			t.Errorf("%s was written again: %v", name, err)
		}
	}
	if left := append(names(t, out, ".tmp"), names(t, out, journalFile)...); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	if !bytes.Equal(read(t, tree(t, out), "ids/1/volume.raw"), voxels) {
		t.Error("the voxels differ")
	}

	// An uninterrupted import writes the same metadata, with the same largest id.
	whole := filepath.Join(dir, "whole", "out")
	o.Stats = nil
	if err := Import(t.Context(), mustOpen(t, name), whole, o); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(filepath.Join(out, webknossos.PropertiesFile))
	want, _ := os.ReadFile(filepath.Join(whole, webknossos.PropertiesFile))
	if !bytes.Equal(got, want) {
		t.Errorf("metadata: got %s, want %s", got, want)
	}
}

// otherSettings has a change of each setting that determines the cubes of TestResume.
var otherSettings = map[string]func(*Options){
	"block":       func(o *Options) { o.Block *= 2 },
	"cube":        func(o *Options) { o.Cube *= 2 },
	"format":      func(o *Options) { o.Format = pyramid.Zarr3 },
	"compression": func(o *Options) { o.Compression = wkw.LZ4HC },
	"offset":      func(o *Options) { o.Offset = &volume.Vec{1, 0, 0} },
	"mags":        func(o *Options) { o.Mags = 1 },
	"downsample":  func(o *Options) { o.Downsample = "max" },
	"category":    func(o *Options) { o.Category, o.Downsample = Color, "mode" },
}

// TestInputChanges: the import fails if the input has changed.
func TestInputChanges(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nrrd")
	in := mustOpen(t, name)
	if err := os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := Import(t.Context(), in, dir, small("l")); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("got %v", err)
	}
	if err := Import(t.Context(), mustOpen(t, name), dir, small("l")); !errors.Is(err, ErrUnfinished) {
		t.Errorf("the import of the changed input resumed the other one: %v", err)
	}
	part := small("part")
	part.Part = batch.Part{I: 1, N: 2}
	if err := Import(t.Context(), in, dir, part); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a part: got %v", err)
	}
}
