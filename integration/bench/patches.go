package main

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	patchSide   = 64 // voxels
	mostPatches = 40
)

// patches returns small boxes at random places.
func (p piece) patches() []volume.Box {
	r := rand.New(rand.NewPCG(7, 8))
	all := make([]volume.Box, mostPatches)
	for i := range all {
		for axis := range all[i].Min {
			all[i].Min[axis] = r.IntN(p.side() - patchSide + 1)
		}
		all[i].Max = all[i].Min.Add(volume.Cube(patchSide))
	}
	return all
}

// boxPatches reads small boxes as files of box/. Each is opened, read and closed.
func (b *bench) boxPatches(data string, bounds ...bound) job {
	return job{
		name:    "64³ patches of " + data + " by box/, decoded-cold",
		figures: []figure{{"ms", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			shown := read(b.pair(c.mag, ""), decodedCold, func(_ context.Context, r reading) (turn, error) {
				return c.overBoxFiles(r.path, c.patches())
			})
			return append(shown, plain(c.flat).reads(decodedCold, func(_ context.Context, r reading) (turn, error) {
				return c.overPatches(c.patches(), func(box volume.Box, voxels []byte) error { return c.readRows(r.path, box, voxels) })
			})), nil
		},
	}
}

// overBoxFiles reads patches as files of box/ in a mount.
func (c *cube) overBoxFiles(mount string, patches []volume.Box) (turn, error) {
	return c.overPatches(patches, func(box volume.Box, voxels []byte) error {
		return readFile(filepath.Join(mount, "box", box.String()+".raw"), voxels)
	})
}

// overPatches measures the median of the times of all patches, and what was read.
func (c *cube) overPatches(patches []volume.Box, read func(box volume.Box, voxels []byte) error) (turn, error) {
	var t turn
	var waits []float64
	voxels := make([]byte, patchSide*patchSide*patchSide*c.file.Grid().VoxelBytes())
	for _, box := range patches {
		start := time.Now()
		if err := read(box, voxels); err != nil {
			return t, err
		}
		waits = append(waits, time.Since(start).Seconds()*1000)
		t.sum = crc32.Update(t.sum, crc32.IEEETable, voxels)
	}
	t.values = []float64{median(waits)}
	return t, nil
}

// readFile fills p from the start of a file.
func readFile(path string, p []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(f, p)
	return errors.Join(err, f.Close())
}

// readRows fills voxels with a box of the flat file, by a read for each row.
func (c *cube) readRows(path string, box volume.Box, voxels []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	g := c.file.Grid()
	row := box.Size()[0] * g.VoxelBytes()
	starts := box
	starts.Max[0] = box.Min[0] + 1
	for at := range starts.All() {
		if _, err := f.ReadAt(voxels[:row], int64(at.Index(g.Size)*g.VoxelBytes())); err != nil {
			return err
		}
		voxels = voxels[row:]
	}
	return nil
}
