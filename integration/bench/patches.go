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
	patchSide  = 64 // voxels
	maxPatches = 40
)

// patches returns maxPatches of randomPatches.
func (p piece) patches() []volume.Box { return p.randomPatches(maxPatches) }

// randomPatches returns n small boxes at random positions. They are the same in each run.
func (p piece) randomPatches(n int) []volume.Box {
	r := rand.New(rand.NewPCG(7, 8))
	boxes := make([]volume.Box, n)
	for i := range boxes {
		for axis := range boxes[i].Min {
			boxes[i].Min[axis] = r.IntN(p.side() - patchSide + 1)
		}
		boxes[i].Max = boxes[i].Min.Add(volume.Cube(patchSide))
	}
	return boxes
}

// boxPatches reads small boxes as files of box/. It opens, reads and closes each file.
func (b *bench) boxPatches(data string, bounds ...bound) job {
	return job{
		name:    "64³ patches of " + data + " by box/, decoded-cold",
		figures: []figure{{"ms", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, data)
			if err != nil {
				return nil, err
			}
			contenders := read(b.pair(c.mag, ""), decodedCold, func(_ context.Context, r reading) (turn, error) {
				return c.measureBoxFiles(r.path, c.patches())
			})
			return append(contenders, plain(c.flat).reads(decodedCold, func(_ context.Context, r reading) (turn, error) {
				return c.measurePatches(c.patches(), func(box volume.Box, voxels []byte) error { return c.readRows(r.path, box, voxels) })
			})), nil
		},
	}
}

// measureBoxFiles reads patches as files of box/ in a mount.
func (c *cube) measureBoxFiles(mount string, patches []volume.Box) (turn, error) {
	return c.measurePatches(patches, func(box volume.Box, voxels []byte) error {
		return readFile(filepath.Join(mount, "box", box.String()+".raw"), voxels)
	})
}

// measurePatches measures the median time of the patches.
func (c *cube) measurePatches(patches []volume.Box, read func(box volume.Box, voxels []byte) error) (turn, error) {
	var t turn
	var times []float64
	voxels := make([]byte, patchSide*patchSide*patchSide*c.file.Grid().VoxelBytes())
	for _, box := range patches {
		start := time.Now()
		if err := read(box, voxels); err != nil {
			return t, err
		}
		times = append(times, time.Since(start).Seconds()*1000)
		t.sum = crc32.Update(t.sum, crc32.IEEETable, voxels)
	}
	t.values = []float64{median(times)}
	return t, nil
}

// readFile fills p with the first bytes of a file.
func readFile(path string, p []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(f, p)
	return errors.Join(err, f.Close())
}

// readRows fills voxels with a box of the flat file. It reads one row at a time.
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
