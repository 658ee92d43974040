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

// region is some of the cube, in whole blocks, and the files that show it.
type region struct {
	blocks volume.Box
	files  []string // below the mount; what is in front of their last voxels is a header
}

// Sizes of regions in blocks.
const (
	boxBlocks  = 8 // a side: 256 voxels
	mostBoxes  = 8
	slabsSlice = 2 // layers of blocks whose slices are read
)

// boxes is some boxes of the image that have nothing in common.
func (m mag) boxes() []region {
	blocks := m.header.CubeBlocks
	side := min(boxBlocks, blocks)
	places := volume.Cube(blocks / side)
	var all []region
	for at := range (volume.Box{Max: places}).All() {
		from := at.Mul(volume.Cube(side))
		r := region{blocks: volume.Box{Min: from, Max: from.Add(volume.Cube(side))}}
		voxels := volume.Box{Min: r.blocks.Min.Mul(volume.Cube(blockSide)), Max: r.blocks.Max.Mul(volume.Cube(blockSide))}
		r.files = []string{filepath.Join("box", voxels.String()+".raw")}
		all = append(all, r)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(mostBoxes, len(all))]
}

// slices is the planes of some layers of blocks, one file each.
func (m mag) slices() []region {
	blocks := m.header.CubeBlocks
	var all []region
	for layer := range min(slabsSlice, blocks) {
		r := region{blocks: volume.Box{Min: volume.Vec{0, 0, layer}, Max: volume.Vec{blocks, blocks, layer + 1}}}
		for z := range blockSide {
			r.files = append(r.files, fmt.Sprintf("slices/z%07d.tif", layer*blockSide+z))
		}
		all = append(all, r)
	}
	return all
}

// ddName is dd of the flat file of the same cube.
const ddName = "wkwfs, dd"

// regions reads files that show a part of the image, beside decoding just those blocks, and
// beside dd of all of it.
func (b *bench) regions(name string, choose func(mag) []region, bounds ...bound) job {
	return job{
		name:    name + ", decoded-cold",
		figures: []figure{{"GB/s", bounds}},
		setup: func(ctx context.Context) ([]contender, error) {
			c, err := b.open(ctx, dataE)
			if err != nil {
				return nil, err
			}
			all := choose(c.mag)
			shown := read(b.pair(c.mag, ""), decodedCold, func(_ context.Context, r reading) (turn, error) {
				return b.overRegions(c, all, func(x region, voxels []byte) error { return x.read(r.path, voxels) })
			})
			flat := b.wkwfs(c.mag, cubeFile, b.cache)
			flat.name = ddName
			memory := contender{name: oneThread, turn: func(ctx context.Context) (turn, error) {
				if err := cacheFiles(ctx, c.files()); err != nil {
					return turn{}, err
				}
				return b.overRegions(c, all, func(x region, voxels []byte) error { return decodeFlat(ctx, c.file, x.blocks, voxels) })
			}}
			return append(shown, flat.reads(decodedCold, dd), memory), nil
		},
	}
}

// overRegions measures how fast all regions are read, and what was read.
func (b *bench) overRegions(c *cube, all []region, read func(region, []byte) error) (turn, error) {
	var t turn
	var bytes int
	var sum float64
	for _, x := range all {
		size := x.blocks.Size()
		voxels := b.room(int64(size[0] * size[1] * size[2] * c.file.Grid().BlockBytes()))
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

// read fills voxels, which is as large as the region, from its files.
func (x region) read(mount string, voxels []byte) error {
	each := len(voxels) / len(x.files)
	for i, name := range x.files {
		if err := readLast(filepath.Join(mount, name), voxels[i*each:(i+1)*each]); err != nil {
			return err
		}
	}
	return nil
}

// readLast reads a file from start to end, and keeps its last bytes.
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
