package importer

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/volume"
)

// The size of a sample. It grows while it is in doubt.
const (
	sampleVoxels = 8192 // of a box
	sampleRow    = 512  // voxels of a box on x, at most: each row is a read of its own
	sampleBoxes  = 16   // at first
	sampleMost   = 256  // boxes
	samplePlanes = 16   // boxes at most, if each read decodes a whole plane

	streamFirst = 4 << 20   // bytes at the start of a compressed stream that the first boxes are spread over
	streamMost  = 256 << 20 // bytes that are read of it, at most
)

// sampleValues reads parts of an array of integers, and returns the category that they show.
func sampleValues(ctx context.Context, in *arrayfile.Array) (Choice, error) {
	if in.Sequential() {
		again, err := arrayfile.Open(in.Name()) // each voxel of in can be read only once
		if err != nil {
			return Choice{}, err
		}
		defer again.Close()
		if !bytes.Equal(again.Fingerprint(), in.Fingerprint()) || again.Grid != in.Grid {
			return Choice{}, fmt.Errorf("%s: the file has changed since it was opened", in.Name())
		}
		return sampleStream(ctx, again)
	}
	return sampleBoxesOf(ctx, in)
}

// sampleBoxesOf reads boxes from everywhere in an array.
func sampleBoxesOf(ctx context.Context, in *arrayfile.Array) (c Choice, err error) {
	s := newTally(in.Grid.Type)
	size := sampleSize(in.Grid.Size, sampleRow)
	first, most := sampleBoxes, sampleMost
	if in.WholePlanes() {
		first, most = samplePlanes/4, samplePlanes
		size = sampleSize(in.Grid.Size, sampleVoxels)
		size[2] = 1
	}
	room := in.Grid.Size.CeilDiv(size)
	b := make([]byte, size[0]*size[1]*size[2]*in.Grid.VoxelBytes())
	for i := range min(most, room[0]*room[1]*room[2]) {
		at := spread(i, in.Grid.Size.Sub(size))
		if err := in.Read(ctx, volume.Box{Min: at, Max: at.Add(size)}, b); err != nil {
			return c, err
		}
		s.add(b, size[0])
		if i+1 == first {
			if c = chooseByValues(in.Grid.Type, s); c.Category != "" {
				return c, nil
			}
			first *= 4
		}
	}
	return chooseByValues(in.Grid.Type, s), nil
}

// sampleSize returns the size of a box of about sampleVoxels, with at most row voxels on x.
func sampleSize(in volume.Vec, row int) (size volume.Vec) {
	size[0] = min(in[0], row)
	size[1] = min(in[1], max(1, sampleVoxels/size[0]))
	size[2] = min(in[2], max(1, sampleVoxels/(size[0]*size[1])))
	return size
}

// spread returns position i of a sequence that fills the box from 0 to most evenly, however long it is: multiples of
// irrational numbers, modulo 1.
func spread(i int, most volume.Vec) (at volume.Vec) {
	const g = 1.2207440846057596 // g⁴ = g + 1
	step := 1.0
	for axis := 2; axis >= 0; axis-- {
		step /= g
		_, part := math.Modf(0.5 + step*float64(i))
		at[axis] = min(int(part*float64(most[axis]+1)), most[axis])
	}
	return at
}

// sampleStream reads rows at the start of a sequential array.
func sampleStream(ctx context.Context, in *arrayfile.Array) (c Choice, err error) {
	s := newTally(in.Grid.Type)
	row := in.Grid.Size[0] * in.Grid.VoxelBytes()
	if row > streamFirst {
		return chooseByValues(in.Grid.Type, s), nil
	}
	n := max(1, min(sampleVoxels/in.Grid.Size[0], in.Grid.Size[1])) // rows of a box
	b := make([]byte, n*row)
	rows := in.Grid.Size[1] * in.Grid.Size[2]
	y := 0 // of all rows
	for end := streamFirst; end <= streamMost; end *= 4 {
		last := min(end/row, rows)
		step := max(n, (last-y)/sampleBoxes)
		for y+n <= last {
			plane, from := y/in.Grid.Size[1], y%in.Grid.Size[1]
			if from+n > in.Grid.Size[1] {
				y = (plane + 1) * in.Grid.Size[1]
				continue
			}
			box := volume.Box{Min: volume.Vec{0, from, plane}, Max: volume.Vec{in.Grid.Size[0], from + n, plane + 1}}
			if err := in.Read(ctx, box, b); err != nil {
				return c, err
			}
			s.add(b, in.Grid.Size[0])
			y += step
		}
		if c = chooseByValues(in.Grid.Type, s); c.Category != "" || last == rows {
			break
		}
	}
	return c, nil
}
