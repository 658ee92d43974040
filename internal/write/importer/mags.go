package importer

import (
	"context"
	"math"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// factors returns the factors of mag 1 and of n coarser mags. Each mag doubles the factor of the axis with the shortest
// voxels, and of each axis whose voxels are at most √2 times as long. So the voxels become cubes, as in WEBKNOSSOS. An
// axis with a single voxel is not doubled: there is nothing to reduce. An array of a single voxel has mag 1 only.
func factors(scale [3]float64, size volume.Vec, n int) []volume.Factor {
	all := []volume.Factor{{1, 1, 1}}
	for range n {
		f := all[len(all)-1]
		var side [3]float64
		shortest := math.Inf(1)
		for axis := range 3 {
			side[axis] = scale[axis] * float64(f[axis])
			if size[axis] > 1 {
				shortest = min(shortest, side[axis])
			}
		}
		for axis := range 3 {
			if size[axis] > 1 && side[axis] <= math.Sqrt2*shortest {
				f[axis] *= 2
			}
		}
		if f == all[len(all)-1] {
			break // the array is a single voxel
		}
		all = append(all, f)
	}
	return all
}

// mags returns the mags of a new layer, finest first.
func (l *layer) mags() (all []pyramid.Mag) {
	for _, f := range l.factors {
		all = append(all, pyramid.Mag{Factor: f, Dir: filepath.Join(l.dir, f.String()), Format: l.Format,
			Header: l.header()})
	}
	return all
}

// write writes all mags in one pass over the input.
func (l *layer) write(ctx context.Context) error {
	p := pyramid.Layer{
		Box: l.part, Method: l.method, From: l.from, Memory: l.Memory, Jobs: l.Jobs, Temp: l.dir,
		Checkpoint: l.checkpoint, Stats: l.Stats,
	}
	if l.Category == Segmentation {
		p.Observe = l.raiseLargest
	}
	p.Mags = l.mags()
	for _, m := range p.Mags {
		if err := os.MkdirAll(m.Dir, 0o777); err != nil {
			return err
		}
		if err := l.writeMetadata(m.Dir, m.Factor); err != nil {
			return err
		}
	}
	if l.Format == pyramid.Zarr3 {
		if err := writeZarr(l.dir, l.zarrGroup()); err != nil {
			return err
		}
	}
	if err := atomicfile.SyncDir(l.dir); err != nil { // the names of the mags
		return err
	}
	if l.part.Empty() {
		return nil
	}
	return pyramid.Write(ctx, input{l.in, l.part.Min.Sub(l.box.Min), l.onRead}, p)
}

// headerFile is the name of the metadata of a mag of WKW.
const headerFile = "header.wkw"

// writeMetadata writes the metadata of a mag into its directory.
func (l *layer) writeMetadata(dir string, f volume.Factor) error {
	if l.Format == pyramid.Zarr3 {
		return writeZarr(dir, l.zarrArray(f))
	}
	return wkw.WriteHeader(filepath.Join(dir, headerFile), l.header())
}

// input is the array as pyramid reads it, from a position on.
type input struct {
	*arrayfile.Array
	from   volume.Vec
	onRead func()
}

// Read implements pyramid.Source.
func (s input) Read(ctx context.Context, box volume.Box, dst []byte) error {
	if s.onRead != nil {
		s.onRead()
	}
	return s.Array.Read(ctx, box.Add(s.from), dst)
}
