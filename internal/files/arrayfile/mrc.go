package arrayfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Offsets in an MRC header, in bytes: "MRC2014 file format", and "The MRC file format used by IMOD" for the stamp and
// the flags.
const (
	mrcSize   = 1024
	mrcN      = 0   // nx, ny, nz
	mrcMode   = 12  // type of the values
	mrcStart  = 16  // nxstart, nystart, nzstart: position in voxels
	mrcM      = 28  // mx, my, mz: voxels along the cell
	mrcCell   = 40  // size of the cell in Å
	mrcMap    = 64  // mapc, mapr, maps: the axis of columns, rows and sections
	mrcISPG   = 88  // space group
	mrcNSymbt = 92  // bytes of the extended header
	imodStamp = 152 // "IMOD" as a number
	imodFlags = 156
	mrcOrigin = 196 // of the voxels, in Å
	mrcMagic  = 208 // "MAP "
	mrcOrder  = 212 // the byte order
)

const (
	// imodNumber is the value of imodStamp.
	imodNumber = 1146047817
	// imodSigned is a bit of imodFlags: bytes are signed.
	imodSigned = 1
	// volumeStack is the first space group that means a stack of volumes.
	volumeStack = 401
)

// mrcModes has the types of the modes. Mode 0 may be signed, mode 12 is float16, and mode 16 is RGB.
var mrcModes = map[uint32]volume.Type{
	0: volume.Uint8, 1: volume.Int16, 2: volume.Float32, 6: volume.Uint16, 12: volume.Float32, 16: volume.Uint8,
}

// mrcHeader reads the fields of an MRC header.
type mrcHeader struct {
	file  string
	bytes []byte
	order binary.ByteOrder
}

// isMRC reports whether b starts with an MRC header.
func isMRC(b []byte) bool {
	if len(b) < mrcSize {
		return false
	}
	stamp := b[imodStamp:]
	return string(b[mrcMagic:][:3]) == "MAP" || binary.LittleEndian.Uint32(stamp) == imodNumber ||
		binary.BigEndian.Uint32(stamp) == imodNumber
}

func (h *mrcHeader) number(at int) uint32 { return h.order.Uint32(h.bytes[at:]) }

// signed reads a number that may be negative.
func (h *mrcHeader) signed(at int) int { return int(int32(h.number(at))) }

func (h *mrcHeader) bad(field string, at int, expected string, found any) error {
	return invalid(h.file, field, int64(at), expected, fmt.Sprint(found))
}

var mrcFormat = format{is: isMRC, open: openMRC, packs: true}

// openMRC reads the header of an MRC file.
func openMRC(a *Array, in input) error {
	f, packed := in.file, in.packed
	h := &mrcHeader{file: f.Name(), bytes: in.start, order: binary.LittleEndian}
	if h.isBigEndian() {
		h.order, a.bigEndian = binary.BigEndian, true
	}
	if err := h.describe(a); err != nil {
		return err
	}
	h.readPosition(a)
	s := section{file: f, stream: packed, half: h.number(mrcMode) == 12}
	if packed != nil {
		s.encoding = gzipEncoding
	}
	extended := h.signed(mrcNSymbt)
	if extended < 0 || packed == nil && int64(extended) > f.size-mrcSize {
		return h.bad("nsymbt", mrcNSymbt, "an extended header within the file", extended)
	}
	s.skip = mrcSize + int64(extended)
	if err := a.setVoxels(s); err != nil {
		return err
	}
	if rest := f.size - s.skip - a.voxels.(flat).bytes(); packed == nil && rest > 0 {
		a.warn("%d bytes after the voxels of the MRC file are not read", rest)
	}
	return nil
}

// isBigEndian reports whether the header is big-endian. The axes are numbers of 1 to 3. Files without axes have a
// stamp.
func (h *mrcHeader) isBigEndian() bool {
	switch axis := h.number(mrcMap); {
	case axis >= 1 && axis <= 3:
		return false
	case axis == 0:
		return h.bytes[mrcOrder] == 0x11
	}
	return true
}

func (h *mrcHeader) describe(a *Array) error {
	for axis := range 3 {
		n := h.signed(mrcN + 4*axis)
		if n < 1 {
			return h.bad("n"+"xyz"[axis:axis+1], mrcN+4*axis, "at least 1 voxel", n)
		}
		a.Grid.Size[axis] = n
		if along := h.signed(mrcMap + 4*axis); along != 0 && along != axis+1 {
			return h.bad("map"+"crs"[axis:axis+1], mrcMap+4*axis, fmt.Sprintf("axis %d", axis+1), along)
		}
	}
	mode := h.number(mrcMode)
	var ok bool
	if a.Grid.Type, ok = mrcModes[mode]; !ok {
		return h.bad("mode", mrcMode, "0, 1, 2, 6, 12 or 16", mode)
	}
	a.Grid.Channels = 1
	switch {
	case mode == 16:
		a.Grid.Channels = 3
	case mode == 0 && h.number(imodStamp) != imodNumber:
		a.Grid.Type = volume.Int8
		a.warn("MRC of mode 0 without the stamp of IMOD: its bytes are taken for signed ones")
	case mode == 0 && h.number(imodFlags)&imodSigned != 0:
		a.Grid.Type = volume.Int8
	}
	if group := h.number(mrcISPG); group >= volumeStack {
		return h.bad("ispg", mrcISPG, "one volume", fmt.Sprintf("%d, a stack of them", group))
	}
	return nil
}

// readPosition reads spacing and position. Programs without a voxel size write one of 1 Å.
func (h *mrcHeader) readPosition(a *Array) {
	var pitch [3]float64 // Å
	for axis := range 3 {
		if m := h.signed(mrcM + 4*axis); m > 0 {
			pitch[axis] = float64(math.Float32frombits(h.number(mrcCell+4*axis))) / float64(m)
		}
		a.Grid.Spacing[axis] = validSpacing(pitch[axis] * nanometres["Å"])
	}
	if pitch == [3]float64{1, 1, 1} {
		a.Grid.Spacing = [3]float64{}
		a.warn("MRC with voxels of 1 Å: taken for an unknown voxel size")
	}
	start := volume.Vec{h.signed(mrcStart), h.signed(mrcStart + 4), h.signed(mrcStart + 8)}
	if start != (volume.Vec{}) {
		a.Grid.Origin, a.Positioned = start, true
	}
	for axis := range 3 {
		origin := float64(math.Float32frombits(h.number(mrcOrigin + 4*axis)))
		if at := origin / pitch[axis]; origin != 0 &&
			math.Abs(math.Abs(at)-math.Abs(float64(start[axis]))) > maxDeviation {
			// Programs do not agree on its sign.
			a.warn("MRC with an origin of %v Å on axis %c: not used, but n%cstart", origin, "xyz"[axis], "xyz"[axis])
			return
		}
	}
}
