package diff

import (
	"bytes"
	"context"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/volume"
)

// run compares the units of a run. If they cannot be read together, it reads each alone, to find the fault.
func (c *comparer) run(ctx context.Context, r run) compared {
	done := compared{run: r, box: c.unitBox(r.units), counts: make([]int64, r.units.Size()[0])}
	if c.read(ctx, &done, r.units) == nil {
		return done
	}
	for i := range done.counts {
		unit := r.units.Min.Add(volume.Vec{0: i})
		if err := c.read(ctx, &done, unit.BoxOfOne()); err != nil && ctx.Err() == nil {
			done.faults = append(done.faults, fault{unit, err})
		}
	}
	return done
}

// read reads some units of both sides, and counts the voxels that differ.
func (c *comparer) read(ctx context.Context, done *compared, units volume.Box) error {
	box := c.unitBox(units)
	n := int(c.bytes(box.Size()))
	a, b := scratch.Get(n), scratch.Get(n)
	defer scratch.Put(a)
	defer scratch.Put(b)
	if err := c.a.read(ctx, box, *a); err != nil {
		return fmt.Errorf("in A: %w", err)
	}
	if err := c.b.read(ctx, box, *b); err != nil {
		return fmt.Errorf("in B: %w", err)
	}
	c.Stats.Compared.Add(int64(n))
	if bytes.Equal(*a, *b) {
		return nil
	}
	for x := units.Min[0]; x < units.Max[0]; x++ {
		at := units.Min
		at[0] = x
		one := c.unitBox(at.BoxOfOne())
		done.counts[x-done.units.Min[0]] = count(*a, *b, box, one, c.voxel)
	}
	return nil
}

// count counts the voxels of a part of a box that differ. a and b have the voxels of the box.
func count(a, b []byte, box, part volume.Box, voxel int) (n int64) {
	row := part.Size()[0] * voxel
	for z := part.Min[2]; z < part.Max[2]; z++ {
		for y := part.Min[1]; y < part.Max[1]; y++ {
			at := (volume.Vec{part.Min[0], y, z}).Sub(box.Min).Index(box.Size()) * voxel
			x, y := a[at:at+row], b[at:at+row]
			if bytes.Equal(x, y) {
				continue
			}
			for i := 0; i < row; i += voxel {
				if !bytes.Equal(x[i:i+voxel], y[i:i+voxel]) {
					n++
				}
			}
		}
	}
	return n
}
