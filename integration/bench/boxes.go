package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// readBoxes returns work that reads boxes of voxels, one after the other. Each box is read into the same memory.
func (b *bench) readBoxes(choose func(volume.Grid) []volume.Box, read readBox, figure statistic) work {
	return func(_ context.Context, r reading) (turn, error) {
		var t turn
		var seconds []float64
		before := ownTime()
		for _, box := range choose(r.grid) {
			s := box.Size()
			voxels := b.buffer(int64(s[0] * s[1] * s[2] * r.grid.VoxelBytes()))
			start := time.Now()
			if err := read(r, box, voxels); err != nil {
				return t, err
			}
			seconds = append(seconds, time.Since(start).Seconds())
			t.sum = crc32.Update(t.sum, crc32.IEEETable, voxels)
			t.Bytes += int64(len(voxels))
		}
		t.CPU = ownTime() - before
		t.Values = []float64{figure(seconds, t.Bytes)}
		return t, nil
	}
}

// buffer returns memory for n bytes. All jobs share it, so that it is resident before the first round.
func (b *bench) buffer(n int64) []byte {
	if int64(len(b.memory)) < n {
		b.memory = make([]byte, n)
		clear(b.memory) // touches each page
	}
	return b.memory[:n]
}

// statistic is a figure for the times of boxes, in seconds, and their bytes in all.
type statistic func(seconds []float64, bytes int64) float64

// medianMS returns the median time of a box in milliseconds.
func medianMS(seconds []float64, _ int64) float64 { return median(seconds) * 1000 }

// perSecond returns the speed in GB/s.
func perSecond(seconds []float64, bytes int64) float64 {
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	return float64(bytes) / 1e9 / sum
}

// readBox fills voxels with a box of what is read.
type readBox func(r reading, box volume.Box, voxels []byte) error

// byBoxFile reads a file of box/. The path of r is that of the mag.
func byBoxFile(r reading, box volume.Box, voxels []byte) error {
	return readLast(filepath.Join(r.path, "box", box.String()+".raw"), voxels)
}

// bySlice reads a plane across z as a file of slices/.
func bySlice(r reading, box volume.Box, voxels []byte) error {
	return readLast(filepath.Join(r.path, fmt.Sprintf("slices/z%07d.tif", box.Min[2])), voxels)
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

// byRow reads the flat file row by row, and planes that are contiguous in it at once.
func byRow(r reading, box volume.Box, voxels []byte) (err error) {
	f, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size := box.Size()
	piece := volume.Vec{size[0], 1, 1}
	if size[0] == r.grid.Size[0] && size[1] == r.grid.Size[1] {
		piece[1] = size[1]
	}
	n := piece[0] * piece[1] * r.grid.VoxelBytes()
	for i := range (volume.Box{Max: size.Div(piece)}).All() {
		at := box.Min.Add(i.Mul(piece))
		if _, err := f.ReadAt(voxels[:n], int64(at.Index(r.grid.Size)*r.grid.VoxelBytes())); err != nil {
			return err
		}
		voxels = voxels[n:]
	}
	return nil
}

// patchSide is the side of small boxes in voxels.
const patchSide = 64

// patches returns a function that chooses n small boxes at random positions. They are the same in each run.
func patches(n int) func(volume.Grid) []volume.Box {
	return func(g volume.Grid) []volume.Box {
		r := rand.New(rand.NewPCG(7, 8))
		boxes := make([]volume.Box, n)
		for i := range boxes {
			for axis := range boxes[i].Min {
				boxes[i].Min[axis] = r.IntN(g.Size[axis] - patchSide + 1)
			}
			boxes[i].Max = boxes[i].Min.Add(volume.Cube(patchSide))
		}
		return boxes
	}
}

// shuffled returns the first n boxes in an order that is the same in each run.
func shuffled(n int, boxes []volume.Box) []volume.Box {
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(boxes), func(i, j int) { boxes[i], boxes[j] = boxes[j], boxes[i] })
	return boxes[:min(n, len(boxes))]
}

// alignedBoxes returns 8 boxes of 256³ that do not overlap.
func alignedBoxes(g volume.Grid) []volume.Box {
	side := volume.Cube(min(256, g.Size[0]))
	var boxes []volume.Box
	for at := range (volume.Box{Max: g.Size.Div(side)}).All() {
		boxes = append(boxes, at.BoxOfOne().Mul(side))
	}
	return shuffled(8, boxes)
}

// layers returns a function that chooses boxes of all voxels between some z, with a depth.
func layers(from, to, depth int) func(volume.Grid) []volume.Box {
	return func(g volume.Grid) (boxes []volume.Box) {
		for z := from; z < min(to, g.Size[2]); z += depth {
			boxes = append(boxes, volume.Box{Min: volume.Vec{2: z}, Max: volume.Vec{g.Size[0], g.Size[1], z + depth}})
		}
		return boxes
	}
}

// whole is the box of all voxels.
func whole(g volume.Grid) []volume.Box { return []volume.Box{{Max: g.Size}} }

// firstPlanes returns 8 planes across z. No two of them have a block in common.
func firstPlanes(g volume.Grid) []volume.Box {
	planes := shuffled(8, layers(0, g.Size[2], g.Block[2])(g))
	for i := range planes {
		planes[i].Min[2] += 5 * i % g.Block[2]
		planes[i].Max[2] = planes[i].Min[2] + 1
	}
	return planes
}
