package importer

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"

	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
)

// DryRun is what an import or an update would write. It is found without reading voxels, so that cubes of zeros count,
// which are not written. A full disk and other processes that write at that time are not found.
type DryRun struct {
	Mags    []MagFiles // finest first
	Creates bool       // the dataset does not exist
	Removes bool       // a layer of this name is removed first
	From    int        // plane of mag 1: an interrupted import has written all cubes below it; 0: there is none
	Done    bool       // an earlier call has written the part
}

// MagFiles are the cubes of a mag that would be written.
type MagFiles struct {
	Factor        volume.Factor
	Box           volume.Box // in voxels of the mag
	Bytes         int64      // of the voxels of the box, decoded
	Files         int64      // at most
	Existing      int64      // of these: an update replaces them, an import keeps them
	ExistingBytes int64      // of these files
}

// dryRun finds out what Import would write.
func (l *layer) dryRun(ctx context.Context, meta *metadata) error {
	l.listed = meta.has(l.Layer)
	lines, found, err := l.find()
	if err != nil {
		return err
	}
	d := DryRun{Creates: len(meta.fields) == 0, Removes: !found && (l.listed || !isEmpty(l.dir))}
	switch {
	case found && l.Part.Whole():
		l.resumeFrom(lines)
	case found:
		d.Done, err = l.resumePart()
	}
	if err != nil {
		return err
	}
	d.From = l.from
	box := l.part
	box.Min[2] = max(box.Min[2], l.from)
	if !d.Done {
		err = d.add(ctx, l.mags(), box, found)
	}
	if err := errors.Join(err, paths.CheckCreate(l.dir)); err != nil {
		return err
	}
	l.DryRun(d)
	return nil
}

// dryRun finds out what Update would write.
func (u *update) dryRun(ctx context.Context) error {
	var d DryRun
	if err := u.findAll(ctx, &d); err != nil {
		return err
	}
	for _, m := range u.mags {
		if err := paths.CheckCreate(m.Dir); err != nil {
			return err
		}
	}
	u.DryRun(d)
	return nil
}

// add adds the cubes of mags with voxels of a box of mag 1. exist says that some may exist.
func (d *DryRun) add(ctx context.Context, mags []pyramid.Mag, box volume.Box, exist bool) error {
	for _, m := range mags {
		f := MagFiles{Factor: m.Factor, Box: box.Div(volume.Vec(m.Factor))}
		if box.Empty() {
			f.Box = volume.Box{Min: f.Box.Min, Max: f.Box.Min}
		}
		cubes := f.Box.Div(volume.Cube(m.Header.CubeSide()))
		n, files := f.Box.Size(), cubes.Size()
		voxel := m.Header.Grid().VoxelBytes()
		f.Bytes = int64(n[0]) * int64(n[1]) * int64(n[2]) * int64(voxel)
		f.Files = int64(files[0]) * int64(files[1]) * int64(files[2])
		if exist {
			if err := f.find(ctx, m, cubes.All()); err != nil {
				return err
			}
		}
		d.Mags = append(d.Mags, f)
	}
	return nil
}

// findAll adds the cubes of all mags with voxels that depend on the boxes of an update.
func (u *update) findAll(ctx context.Context, d *DryRun) error {
	if len(u.boxes) == 1 {
		return d.add(ctx, u.mags, u.box, true)
	}
	for _, m := range u.mags {
		f := MagFiles{Factor: m.Factor, Box: u.box.Div(volume.Vec(m.Factor))}
		for _, box := range u.boxes {
			f.Bytes += bytesOf(box.Div(volume.Vec(m.Factor)), m.Header.Grid().VoxelBytes())
		}
		cubes := u.cubes(m)
		f.Files = int64(len(cubes))
		if err := f.find(ctx, m, maps.Keys(cubes)); err != nil {
			return err
		}
		d.Mags = append(d.Mags, f)
	}
	return nil
}

// find counts the cubes that exist.
func (f *MagFiles) find(ctx context.Context, m pyramid.Mag, cubes iter.Seq[volume.Vec]) error {
	for c := range cubes {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := os.Lstat(m.File(c))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		f.Existing++
		f.ExistingBytes += info.Size()
	}
	return nil
}
