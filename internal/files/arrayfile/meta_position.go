package arrayfile

import (
	"fmt"
	"strings"
)

// readPosition reads spacing and origin. Lengths are in mm, as all readers take them, unless DistanceUnits
// says otherwise.
func (h *metaHeader) readPosition(a *Array, axes int) error {
	field := h.first("ElementSpacing", "ElementSize")
	if h.fields[field] == "" {
		return nil
	}
	pitch, err := h.numbers(field, axes)
	if err != nil {
		return err
	}
	name := h.fields["DistanceUnits"]
	if name == "" || name == "?" { // MetaIO writes ? for an unknown one
		name = "mm"
		a.warn("MetaImage without DistanceUnits: lengths taken for mm")
	}
	unit := unitOf(name)
	for axis, v := range pitch {
		a.Grid.Spacing[axis] = validSpacing(v * unit)
		if validSpacing(v) == 0 {
			return h.bad(field, "sizes above 0")
		}
	}
	if aligned, err := h.aligned(axes); err != nil {
		return err
	} else if !aligned {
		a.PositionErr = fmt.Errorf("%s: the axes are rotated or mirrored: %w", h.file, ErrPosition)
		return nil
	}
	field = h.first("Offset", "Position", "Origin")
	if h.fields[field] == "" {
		return nil
	}
	offset, err := h.numbers(field, axes)
	if err != nil {
		return err
	}
	a.setPosition(h.file, [3]float64(append(offset, 0)[:3]), [3]float64(append(pitch, 1)[:3]))
	return nil
}

// aligned reports whether the axes of the voxels are those of space.
func (h *metaHeader) aligned(axes int) (bool, error) {
	field := h.first("TransformMatrix", "Rotation", "Orientation")
	if h.fields[field] == "" {
		return true, nil
	}
	matrix, err := h.numbers(field, axes*axes)
	if err != nil {
		return false, err
	}
	for i, v := range matrix {
		if want := i%(axes+1) == 0; want && v != 1 || !want && v != 0 {
			return false, nil
		}
	}
	return true, nil
}

// numbers reads n numbers.
func (h *metaHeader) numbers(field string, n int) ([]float64, error) {
	words := strings.Fields(h.fields[field])
	all, err := parseNumbers(words)
	if err != nil || len(all) != n {
		return nil, h.bad(field, fmt.Sprintf("%d numbers", n))
	}
	return all, nil
}
