package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
)

// region is a part of the cube in whole blocks, and the files that have its voxels.
type region struct {
	blocks volume.Box
	files  []string // below the mount; voxels are at the end of each file, after a header
}

// Sizes of regions in blocks.
const (
	boxBlocks  = 8 // side of a box: 256 voxels
	maxBoxes   = 8
	sliceSlabs = 2 // slabs whose slices are read
)

// boxes returns boxes of the image that do not overlap.
func (m mag) boxes() []region {
	blocks := m.header.CubeBlocks
	side := min(boxBlocks, blocks)
	places := volume.Cube(blocks / side)
	var regions []region
	for at := range (volume.Box{Max: places}).All() {
		corner := at.Mul(volume.Cube(side))
		r := region{blocks: volume.Box{Min: corner, Max: corner.Add(volume.Cube(side))}}
		voxels := r.blocks.Mul(volume.Cube(blockSide))
		r.files = []string{filepath.Join("box", voxels.String()+".raw")}
		regions = append(regions, r)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(regions), func(i, j int) { regions[i], regions[j] = regions[j], regions[i] })
	return regions[:min(maxBoxes, len(regions))]
}

// slices returns the planes of some slabs, one file each.
func (m mag) slices() []region {
	blocks := m.header.CubeBlocks
	var regions []region
	for slab := range min(sliceSlabs, blocks) {
		r := region{blocks: volume.Box{Min: volume.Vec{0, 0, slab}, Max: volume.Vec{blocks, blocks, slab + 1}}}
		for z := range blockSide {
			r.files = append(r.files, fmt.Sprintf("slices/z%07d.tif", slab*blockSide+z))
		}
		regions = append(regions, r)
	}
	return regions
}

// ddName is the contender that reads the flat file of the same cube with dd.
const ddName = "wkwfs, dd"

// regions returns a job that reads files with parts of the image. It compares them with decoding the same
// blocks, and with dd of the whole cube.
func (b *bench) regions(name string, choose func(mag) []region, bounds ...bound) job {
	return job{
		name:    name + ", decoded-cold",
		figures: []figure{{"GB/s", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataE)
			if err != nil {
				return nil, err
			}
			regions := choose(c.mag)
			contenders := read(b.pair(c.mag, ""), decodedCold, func(_ context.Context, r reading) (turn, error) {
				return b.measureRegions(c, regions, func(x region, voxels []byte) error { return x.read(r.path, voxels) })
			})
			flat := b.wkwfs(c.mag, cubeFile, b.cache)
			flat.name = ddName
			memory := contender{name: oneThread, turn: func(ctx context.Context) (turn, error) {
				if err := cacheFiles(ctx, c.files()); err != nil {
					return turn{}, err
				}
				return b.measureRegions(c, regions, func(x region, voxels []byte) error { return decodeFlat(ctx, c.file, x.blocks, voxels) })
			}}
			return append(contenders, flat.reads(decodedCold, dd), memory), nil
		},
	}
}

// measureRegions measures how fast all regions are read.
func (b *bench) measureRegions(c *cube, regions []region, read func(region, []byte) error) (turn, error) {
	var t turn
	var bytes int
	var sum float64
	for _, x := range regions {
		size := x.blocks.Size()
		voxels := b.buffer(int64(size[0] * size[1] * size[2] * c.file.Grid().BlockBytes()))
		seconds, _, err := timed(func() error { return read(x, voxels) })
		if err != nil {
			return t, err
		}
		sum += seconds
		bytes += len(voxels)
		t.sum = crc32.Update(t.sum, crc32.IEEETable, voxels)
	}
	t.values = []float64{float64(bytes) / 1e9 / sum}
	return t, nil
}

// read fills voxels from the files of the region. voxels has exactly the size of the region.
func (x region) read(mount string, voxels []byte) error {
	each := len(voxels) / len(x.files)
	for i, name := range x.files {
		if err := readLast(filepath.Join(mount, name), voxels[i*each:(i+1)*each]); err != nil {
			return err
		}
	}
	return nil
}

// readLast reads a file from start to end and fills p with its last bytes.
func readLast(path string, p []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, f, info.Size()-int64(len(p))); err != nil {
		return err
	}
	_, err = io.ReadFull(f, p)
	return err
}
