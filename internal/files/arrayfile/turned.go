package arrayfile

import (
	"context"
	"encoding/binary"

	"github.com/wkwfs/wkwfs/volume"
)

// limits are the numbers that only large arrays reach.
type limits struct {
	piece int // bytes that turned reads at a time
	gap   int // most bytes between two rows that are read together
	span  int // most bytes of rows that are read together, if one is not longer

	restart  int64 // plain bytes of a compressed stream between two places to start from, if these are not too many
	restarts int64 // most places of a stream to start from
}

var usual = limits{piece: 4 << 20, gap: 8 << 10, span: 1 << 20, restart: 4 << 20, restarts: 2048}

// turned is voxels that lie in the file in another order of the axes of space.
type turned struct {
	voxels
	order [3]int // of the axes in the file, fastest first
	voxel int    // bytes
	piece int    // most bytes to read at a time, if a row is not longer
}

// read implements voxels.
func (t turned) read(ctx context.Context, box volume.Box, dst []byte) error {
	var in volume.Box // in the order of the file
	var steps volume.Vec
	size := box.Size()
	strides := volume.Vec{t.voxel, t.voxel * size[0], t.voxel * size[0] * size[1]}
	for i, axis := range t.order {
		in.Min[i], in.Max[i], steps[i] = box.Min[axis], box.Max[axis], strides[axis]
	}
	return t.readPart(ctx, in, dst, steps)
}

// readPart reads a box, in the order of the file, to the start of dst. steps has the distances in dst of neighbours on
// the axes of the box. If the box is larger than a piece, readPart cuts it across its slowest axis.
func (t turned) readPart(ctx context.Context, in volume.Box, dst []byte, steps volume.Vec) error {
	n := in.Size()
	bytes := n[0] * n[1] * n[2] * t.voxel
	for axis := 2; axis > 0 && bytes > t.piece; axis-- {
		if n[axis] == 1 {
			continue
		}
		lower, upper := in, in
		lower.Max[axis] -= n[axis] / 2
		upper.Min[axis] = lower.Max[axis]
		if err := t.readPart(ctx, lower, dst, steps); err != nil {
			return err
		}
		return t.readPart(ctx, upper, dst[lower.Size()[axis]*steps[axis]:], steps)
	}
	voxels := scratch(bytes)
	defer recycle(voxels)
	if err := t.voxels.read(ctx, in, voxels); err != nil {
		return err
	}
	for z := range n[2] {
		for y := range n[1] {
			row := voxels[(z*n[1]+y)*n[0]*t.voxel:][:n[0]*t.voxel]
			scatter(dst[z*steps[2]+y*steps[1]:], row, t.voxel, steps[0])
		}
	}
	return nil
}

// scatter copies voxels of some bytes to every step-th byte of dst.
func scatter(dst, voxels []byte, voxel, step int) {
	switch voxel { // a copy of an unknown number of bytes takes several times as long
	case 1:
		for i, v := range voxels {
			dst[i*step] = v
		}
	case 2:
		for at := 0; len(voxels) > 0; at += step {
			binary.LittleEndian.PutUint16(dst[at:], binary.LittleEndian.Uint16(voxels))
			voxels = voxels[2:]
		}
	case 4:
		for at := 0; len(voxels) > 0; at += step {
			binary.LittleEndian.PutUint32(dst[at:], binary.LittleEndian.Uint32(voxels))
			voxels = voxels[4:]
		}
	case 8:
		for at := 0; len(voxels) > 0; at += step {
			binary.LittleEndian.PutUint64(dst[at:], binary.LittleEndian.Uint64(voxels))
			voxels = voxels[8:]
		}
	default:
		for at := 0; len(voxels) > 0; at += step {
			copy(dst[at:at+voxel], voxels)
			voxels = voxels[voxel:]
		}
	}
}

// apart is voxels whose channels are flat arrays that follow each other.
type apart struct {
	flat         // of the first channel
	channels int // of a voxel
	value    int // bytes, when it is read
}

// read implements voxels.
func (a apart) read(ctx context.Context, box volume.Box, dst []byte) error {
	one := scratch(len(dst) / a.channels)
	defer recycle(one)
	for c := range a.channels {
		channel := a.flat
		channel.offset += int64(c) * channel.bytes()
		if err := channel.read(ctx, box, one); err != nil {
			return err
		}
		scatter(dst[c*a.value:], one, a.value, a.value*a.channels)
	}
	return nil
}
