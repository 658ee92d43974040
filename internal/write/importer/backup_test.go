package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestBackup: what an update replaces is in its backup, which is a dataset. Updating the box by the voxels of the
// backup undoes the update.
func TestBackup(t *testing.T) {
	for seed := range cases(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		dir := voxeltest.TempDir(t)
		inputs, voxels := different(t, dir, 2)
		clear(voxels[0][:len(voxels[0])/2]) // cubes of zeros are absent
		a := array(volume.Uint32, 1)
		o := small("l")
		o.Mags, o.Compression = r.IntN(3), []wkw.BlockType{wkw.Raw, wkw.LZ4}[seed%2]
		out := filepath.Join(dir, "out")
		for _, layer := range []string{"other", "l"} {
			o.Layer = layer
			if err := Import(t.Context(), mustOpen(t, voxeltest.Export(t, dir, a, voxels[0], ".nrrd")), out,
				o); err != nil {
				t.Fatal(err)
			}
		}
		before := contents(t, out)

		box := randomBox(r, size)
		part := a
		part.Grid.Size, part.Grid.Origin = box.Size(), origin.Add(box.Min)
		o.Backup = filepath.Join(dir, "backup")
		if seed%3 == 0 {
			o.Backup = filepath.Join(t.TempDir(), "backup") // on most machines another disk
		}
		input := voxeltest.Export(t, dir, part, cutBox(voxels[1], box), ".nrrd")
		if seed%4 > 0 { // an update that was interrupted
			interrupted, stop := context.WithCancel(t.Context())
			o.Stats = &Stats{}
			stopped := o
			stopped.Planned = func(Plan) { stop() }
			if err := Update(interrupted, mustOpen(t, input), out, stopped); !errors.Is(err, context.Canceled) &&
				err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // the backup is still that of the first
			if err := Update(t.Context(), mustOpen(t, input), out, o); err != nil {
				t.Fatal(err)
			}
		}
		kept := contents(t, o.Backup)
		for name, now := range contents(t, out) {
			if old := before[name]; now != old && name != "/"+webknossos.PropertiesFile && kept[name] != old {
				t.Errorf("seed %d: %s is not kept", seed, name)
			}
		}
		if err := Update(t.Context(), mustOpen(t, inputs[0]), out, o); !errors.Is(err, ErrBackup) {
			t.Errorf("another update into the same backup: got %v, want %v", err, ErrBackup)
		}

		backup := tree(t, o.Backup)
		o.Backup = ""
		old := read(t, backup, fmt.Sprintf("l/1/box/%v.raw",
			volume.Box{Min: part.Grid.Origin, Max: part.Grid.Origin.Add(box.Size())}))
		if !bytes.Equal(old, cutBox(voxels[0], box)) {
			t.Errorf("seed %d: the box of the backup differs", seed)
		}
		if err := Update(t.Context(), mustOpen(t, voxeltest.Export(t, dir, part, old, ".nrrd")), out, o); err != nil {
			t.Fatal(err)
		}
		for _, f := range factors(spacing, size, o.Mags) {
			whole := filepath.Join(dir, "again")
			if err := os.RemoveAll(whole); err != nil {
				t.Fatal(err)
			}
			if err := Import(t.Context(), mustOpen(t, voxeltest.Export(t, dir, a, voxels[0], ".nrrd")), whole,
				o); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("l/%v/volume.raw", f)
			if !bytes.Equal(read(t, tree(t, out), name), read(t, tree(t, whole), name)) {
				t.Errorf("seed %d: %s differs from that before the update", seed, name)
			}
		}
	}
}

// TestBackupRefused: a directory with something else is refused, and nothing is changed.
func TestBackupRefused(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, _ := different(t, dir, 2)
	out := filepath.Join(dir, "out")
	o := small("l")
	if err := Import(t.Context(), mustOpen(t, inputs[0]), out, o); err != nil {
		t.Fatal(err)
	}
	before := contents(t, out)
	for _, backup := range []string{out, dir} {
		o.Backup = backup
		if err := Update(t.Context(), mustOpen(t, inputs[1]), out, o); !errors.Is(err, ErrBackup) {
			t.Errorf("%s: got %v, want %v", backup, err, ErrBackup)
		}
	}
	after := contents(t, out)
	for name := range after {
		if after[name] != before[name] {
			t.Errorf("%s has changed", name)
		}
	}
}
