package downsample

import (
	"fmt"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
)

// Pitch says where the rows of an array lie. If the array is part of a larger one, the numbers are larger than its own
// voxels need. Neither number may be negative.
type Pitch struct {
	Row   int // bytes from the start of a row to the start of the next row of the plane
	Plane int // bytes from the start of a plane to the start of the next plane
}

// PitchOf returns the Pitch of an array without gaps. size is in voxels, and voxel in bytes.
func PitchOf(size volume.Vec, voxel int) Pitch {
	return Pitch{Row: size[0] * voxel, Plane: size[0] * size[1] * voxel}
}

// Reducer reduces arrays with one type of voxels by one ratio. It is immutable.
type Reducer struct {
	ratio    volume.Vec
	channels int
	bytes    int // of a value
	reduce   kernel
	passes   int // calls of the kernel per row, each for the next channel
}

// New returns a Reducer for voxels with interleaved, little-endian channels. ratio is the number of finer voxels per
// coarser voxel on each axis, 1 or 2, and not 1 on all of them. New fails if an argument is not valid. Every type has
// every method.
func New(m Method, t volume.Type, channels int, ratio volume.Vec) (*Reducer, error) {
	one, two := volume.Cube(1), volume.Cube(2)
	switch {
	case !m.Valid():
		return nil, fmt.Errorf("unknown downsampling method %v", m)
	case !t.Valid():
		return nil, fmt.Errorf("unknown voxel type %v", t)
	case channels < 1:
		return nil, fmt.Errorf("expected at least 1 channel, found %d", channels)
	case ratio == one || ratio.Min(one) != one || ratio.Max(two) != two:
		return nil, fmt.Errorf("cannot reduce %v voxels to one: expected 1 or 2 on each axis, and 2 on at least one",
			ratio)
	}
	r := &Reducer{ratio: ratio, channels: channels, bytes: t.Size(), passes: 1}
	r.reduce = choose(m, t, r.span(Pitch{}, 0))
	switch colours := ratio[0] == 2 && m == Mean && channels == 3; {
	case colours && t == volume.Uint8:
		r.reduce = meanOfColours[uint8]
	case colours && t == volume.Int8:
		r.reduce = meanOfColours[int8]
	case ratio[0] == 2:
		r.passes = channels
	}
	return r, nil
}

// Reduce computes an array of size/ratio voxels in dst from one of size voxels in src. In both, x is fastest, then y,
// then z. The arrays start where the slices start. Bytes of dst between its rows keep their values. src and dst must
// not overlap.
//
// Reduce panics if size is not a multiple of the ratio, or if a slice or a pitch is too small for its array.
func (r *Reducer) Reduce(dst []byte, dstPitch Pitch, src []byte, srcPitch Pitch, size volume.Vec) {
	out := size.Div(r.ratio)
	if out.Mul(r.ratio) != size {
		panic(fmt.Sprintf("downsample: %v voxels are not a multiple of %v", size, r.ratio))
	}
	if min(out[0], out[1], out[2]) <= 0 {
		return
	}
	r.check("dst", dst, dstPitch, out)
	r.check("src", src, srcPitch, size)
	s := r.span(srcPitch, out[0])
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	for z := range out[2] {
		for y := range out[1] {
			d := z*dstPitch.Plane + y*dstPitch.Row
			f := z*r.ratio[2]*srcPitch.Plane + y*r.ratio[1]*srcPitch.Row
			for c := range r.passes {
				r.reduce(unsafe.Add(to, d+c*r.bytes), unsafe.Add(from, f+c*r.bytes), s)
			}
		}
	}
}

// check panics if b does not hold an array of size voxels. The kernels depend on this, because they check no bounds.
func (r *Reducer) check(name string, b []byte, p Pitch, size volume.Vec) {
	row := size[0] * r.channels * r.bytes
	if p.Row < row && size[1] > 1 || p.Plane < (size[1]-1)*p.Row+row && size[2] > 1 {
		panic(fmt.Sprintf("downsample: %s: the pitches %+v are too small for %v voxels", name, p, size))
	}
	if need := (size[2]-1)*p.Plane + (size[1]-1)*p.Row + row; len(b) < need {
		panic(fmt.Sprintf("downsample: %s: expected at least %d bytes for %v voxels, found %d", name, need, size,
			len(b)))
	}
}

// span returns the span of a row of coarser voxels.
func (r *Reducer) span(p Pitch, voxels int) span {
	voxel := r.channels * r.bytes
	s := span{cells: voxels, from: 2 * voxel, to: voxel}
	if r.ratio[0] == 1 { // every value of a row is reduced in the same way, whatever its channel
		s = span{cells: voxels * r.channels, from: r.bytes, to: r.bytes}
	}
	for axis, distance := range [3]int{voxel, p.Row, p.Plane} {
		if r.ratio[axis] == 2 {
			s.near[s.axes] = distance
			s.axes++
		}
	}
	return s
}
