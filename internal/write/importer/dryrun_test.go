package importer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
)

// TestDryRun compares dry runs of imports, parts and updates with what these write then. A dry run changes nothing, and
// has their errors.
func TestDryRun(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	a.Grid.Size = volume.Vec{70, 50, 90}
	voxels := voxeltest.Pattern(a.Grid)
	for i := range voxels {
		voxels[i] |= 1 // no cube is left out
	}
	path := voxeltest.Export(t, dir, a, voxels, ".raw")
	out := filepath.Join(dir, "out")
	dry := func(write func(context.Context, Options) error, o Options) DryRun {
		t.Helper()
		before := files(t, dir)
		var d DryRun
		calls := 0
		o.DryRun = func(got DryRun) { d, calls = got, calls+1 }
		err := write(t.Context(), o)
		if after := files(t, dir); after != before {
			t.Fatalf("a dry run has written:\n%s\nbefore:\n%s", after, before)
		}
		if (err == nil) != (calls == 1) {
			t.Errorf("got %d calls, error %v", calls, err)
		}
		return d
	}
	count := func(d DryRun) (n, have int64) {
		for _, m := range d.Mags {
			n, have = n+m.Files, have+m.Existing
		}
		return n, have
	}
	imports := func(ctx context.Context, o Options) error { return Import(ctx, mustOpenRaw(t, path, a.Grid), out, o) }
	updates := func(ctx context.Context, o Options) error { return Update(ctx, mustOpenRaw(t, path, a.Grid), out, o) }
	check := func(what string, d DryRun, write func(context.Context, Options) error, o Options) {
		t.Helper()
		o.Stats = &Stats{}
		if err := write(t.Context(), o); err != nil {
			t.Fatal(what, err)
		}
		if n, have := count(d); n != o.Stats.Written.Load()+o.Stats.Kept.Load() ||
			have != o.Stats.Kept.Load() && have != n {
			t.Errorf("%s: got %d files, of which %d exist; wrote %d and kept %d", what, n, have, o.Stats.Written.Load(),
				o.Stats.Kept.Load())
		}
	}

	o := small("l")
	o.Mags = 2
	d := dry(imports, o)
	if !d.Creates || d.Removes || d.From != 0 || len(d.Mags) != 3 || d.Mags[0].Box.Min != origin ||
		d.Mags[0].Bytes != a.Grid.Bytes() {
		t.Errorf("a new layer: got %+v", d)
	}
	check("a new layer", d, imports, o)
	dry(imports, o)
	o.DryRun = func(DryRun) {}
	if err := imports(t.Context(), o); !errors.Is(err, ErrExists) {
		t.Errorf("a layer that exists: got %v", err)
	}
	o.DryRun = nil
	d = dry(updates, Options{Layer: "l"})
	if n, have := count(d); d.Creates || n != have || d.Mags[0].ExistingBytes == 0 {
		t.Errorf("an update: got %+v", d)
	}
	check("an update", d, updates, Options{Layer: "l"})
	o.Force = true
	if d = dry(imports, o); !d.Removes || d.Creates {
		t.Errorf("with Force: got %+v", d)
	}
	check("with Force", d, imports, o)

	o = small("parts")
	o.Format = pyramid.Zarr3
	for i := range 3 {
		o.Part = batch.Part{I: i + 1, N: 3}
		d = dry(imports, o)
		check("a part", d, imports, o)
		if d = dry(imports, o); !d.Done || len(d.Mags) != 0 {
			t.Errorf("a part that is complete: got %+v", d)
		}
	}

	o = small("stopped")
	o.Memory = 1
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.onRead = func() { // after the first checkpoint
		if b, err := os.ReadFile(filepath.Join(out, o.Layer, journalFile)); err == nil &&
			bytes.Count(b, []byte("\n")) > 1 {
			stop()
		}
	}
	if err := imports(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.onRead = nil
	d = dry(imports, o)
	if n, _ := count(d); d.From <= origin[2] || n == 0 || n >= 6*4*7 || d.Mags[0].Box.Min[2] != d.From {
		t.Errorf("a stopped import: got %+v", d)
	}
	if err := imports(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}
