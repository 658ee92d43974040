package arrayfile

import (
	"fmt"

	"github.com/wkwfs/wkwfs/internal/fileformat/nifti"
)

// readPosition reads spacing and position, from the sform if there is one, else from the qform. If the axes are
// rotated or mirrored, the spacing is that of pixdim.
func (h *niftiHeader) readPosition(a *Array) {
	unit, ok := niftiUnits[h.code(h.units)&7]
	if !ok {
		unit = niftiUnits[nifti.UnitMM] // as NIfTI's own tools do
		a.warn("NIfTI without a unit of length: taken for mm")
	}
	var pitch, origin [3]float64
	for axis := range 3 {
		pitch[axis] = h.float(h.pixdim + (1+axis)*h.width)
		a.Grid.Spacing[axis] = validSpacing(pitch[axis] * unit)
		origin[axis] = h.float(h.qoffset + axis*h.width)
	}
	aligned := h.float(h.pixdim) != -1 // qfac
	for i := range 3 {
		aligned = aligned && h.float(h.quatern+i*h.width) == 0
	}
	switch {
	case h.code(h.sformCode) != 0:
		pitch, origin, aligned = h.sform()
	case h.code(h.qformCode) == 0:
		return
	}
	if !aligned {
		a.PositionErr = fmt.Errorf("%s: the axes are rotated or mirrored: %w", h.file, ErrPosition)
		return
	}
	for axis := range 3 {
		a.Grid.Spacing[axis] = validSpacing(pitch[axis] * unit)
	}
	a.setPosition(h.file, origin, pitch)
}

// sform reads the affine matrix srow. aligned is false if it rotates or mirrors the axes. Then pitch is not valid.
func (h *niftiHeader) sform() (pitch, origin [3]float64, aligned bool) {
	aligned = true
	for row := range 3 {
		at := h.srow + 4*row*h.width
		for column := range 3 {
			v := h.float(at + column*h.width)
			aligned = aligned && (row != column && v == 0 || row == column && v > 0)
		}
		pitch[row], origin[row] = h.float(at+row*h.width), h.float(at+3*h.width)
	}
	return pitch, origin, aligned
}
