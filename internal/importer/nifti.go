package importer

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// niftiTypes are the DT_ codes; they are the same in both versions.
var niftiTypes = map[uint16]volume.Type{
	2: volume.Uint8, 4: volume.Int16, 8: volume.Int32, 16: volume.Float32, 64: volume.Float64,
	256: volume.Int8, 512: volume.Uint16, 768: volume.Uint32, 1024: volume.Int64, 1280: volume.Uint64,
	niftiRGB24: volume.Uint8,
}

const niftiRGB24 = 128 // DT_RGB24

// niftiUnits are the lengths that the lower three bits of xyzt_units stand for, in nm.
var niftiUnits = map[uint32]float64{1: 1e9, 2: 1e6, 3: 1e3}

// niftiLayout is where one of the two versions has its fields, as nifti1.h and nifti2.h say.
type niftiLayout struct {
	size                                                       int64 // of the header, in bytes
	magicAt                                                    int
	magic                                                      string
	datatype, dim, pixdim, voxOffset, slope, inter             int
	qformCode, sformCode, quatern, qoffset, srow, units, width int // width: bytes of a float
}

var niftiVersions = [...]niftiLayout{
	{348, 344, "n+1\x00", 70, 40, 76, 108, 112, 116, 252, 254, 256, 268, 280, 123, 4},
	{540, 4, "n+2\x00\r\n\x1a\n", 12, 16, 104, 168, 176, 184, 344, 348, 352, 376, 400, 500, 8},
}

// isNIfTI reports whether the bytes begin a NIfTI header in either order of bytes.
func isNIfTI(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	little, big := binary.LittleEndian.Uint32(b), binary.BigEndian.Uint32(b)
	return little == 348 || little == 540 || big == 348 || big == 540
}

// niftiHeader reads fields.
type niftiHeader struct {
	niftiLayout
	file  string
	bytes []byte
	order binary.ByteOrder
}

func (h *niftiHeader) float(at int) float64 {
	if h.width == 4 {
		return float64(math.Float32frombits(h.order.Uint32(h.bytes[at:])))
	}
	return math.Float64frombits(h.order.Uint64(h.bytes[at:]))
}

// extent reads dim[i].
func (h *niftiHeader) extent(i int) int64 {
	if h.width == 4 {
		return int64(int16(h.order.Uint16(h.bytes[h.dim+2*i:])))
	}
	return int64(h.order.Uint64(h.bytes[h.dim+8*i:]))
}

// code reads qform_code, sform_code or xyzt_units.
func (h *niftiHeader) code(at int) uint32 {
	switch {
	case h.width == 8:
		return h.order.Uint32(h.bytes[at:])
	case at == h.units:
		return uint32(h.bytes[at])
	}
	return uint32(h.order.Uint16(h.bytes[at:]))
}

// offset reads vox_offset, which is a float in version 1.
func (h *niftiHeader) offset() float64 {
	if h.width == 4 {
		return h.float(h.voxOffset)
	}
	return float64(int64(h.order.Uint64(h.bytes[h.voxOffset:])))
}

func (h *niftiHeader) bad(field string, at int, expected string, found any) error {
	return &FormatError{h.file, field, int64(at), expected, fmt.Sprint(found)}
}

// openNIfTI reads the header of a single-file NIfTI-1 or NIfTI-2 image.
func (in *Input) openNIfTI(f *inputFile, start []byte) error {
	h := &niftiHeader{file: f.Name(), bytes: start, order: binary.LittleEndian}
	if n := binary.BigEndian.Uint32(start); n == 348 || n == 540 {
		h.order, in.bigEndian = binary.BigEndian, true
	}
	for _, version := range niftiVersions {
		if int64(h.order.Uint32(start)) == version.size {
			h.niftiLayout = version
		}
	}
	if int64(len(start)) < h.size {
		return h.bad("header", 0, fmt.Sprintf("%d bytes", h.size), len(start))
	}
	if found := string(start[h.magicAt:][:len(h.magic)]); found != h.magic {
		return h.bad("magic", h.magicAt, fmt.Sprintf("%q: header and voxels in one file", h.magic), fmt.Sprintf("%q", found))
	}
	if err := in.describeNIfTI(h); err != nil {
		return err
	}
	in.placeNIfTI(h)
	at := h.offset()
	if !(at >= float64(h.size)) || at > float64(f.size) || at != math.Trunc(at) {
		return h.bad("vox_offset", h.voxOffset, fmt.Sprintf("%d to %d", h.size, f.size), at)
	}
	return in.setVoxels(f, int64(at), false)
}

func (in *Input) describeNIfTI(h *niftiHeader) error {
	code := h.order.Uint16(h.bytes[h.datatype:])
	var ok bool
	if in.Grid.Type, ok = niftiTypes[code]; !ok {
		return h.bad("datatype", h.datatype, "numbers of 8 to 64 bits, or RGB24", code)
	}
	in.Grid.Channels = 1
	if code == niftiRGB24 {
		in.Grid.Channels = 3
	}
	axes := h.extent(0)
	if axes < 1 || axes > 7 {
		return h.bad("dim[0]", h.dim, "1 to 7", axes)
	}
	in.Grid.Size = volume.Cube(1)
	for i := 1; i <= int(axes); i++ {
		n := h.extent(i)
		if n < 1 || i > 3 && n != 1 {
			return h.bad(fmt.Sprintf("dim[%d]", i), h.dim, "three axes of at least 1 voxel", n)
		}
		if i <= 3 {
			in.Grid.Size[i-1] = int(n)
		}
	}
	slope, inter := h.float(h.slope), h.float(h.inter)
	if slope != 0 && (slope != 1 || inter != 0) {
		return h.bad("scl_slope", h.slope, "values that stand for themselves", fmt.Sprintf("%v × value + %v", slope, inter))
	}
	return nil
}

// placeNIfTI takes spacing and place, from the sform if there is one, else the qform.
func (in *Input) placeNIfTI(h *niftiHeader) {
	unit := niftiUnits[h.code(h.units)&7]
	var pitch, origin [3]float64
	for axis := range 3 {
		pitch[axis] = h.float(h.pixdim + (1+axis)*h.width)
		in.Grid.Spacing[axis] = usable(pitch[axis] * unit)
		origin[axis] = h.float(h.qoffset + axis*h.width)
	}
	straight := h.float(h.pixdim) != -1 // qfac
	for i := range 3 {
		straight = straight && h.float(h.quatern+i*h.width) == 0
	}
	switch {
	case h.code(h.sformCode) != 0:
		straight = true
		for row := range 3 {
			at := h.srow + 4*row*h.width
			for column := range 3 {
				v := h.float(at + column*h.width)
				straight = straight && (row != column && v == 0 || row == column && v > 0)
			}
			pitch[row], origin[row] = h.float(at+row*h.width), h.float(at+3*h.width)
			in.Grid.Spacing[row] = usable(pitch[row] * unit)
		}
	case h.code(h.qformCode) == 0:
		return
	}
	if !straight {
		in.Misplaced = fmt.Errorf("%s: the axes are turned or mirrored: %w", h.file, ErrPlace)
		return
	}
	in.place(h.file, origin, pitch)
}
