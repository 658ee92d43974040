package arrayfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// readPosition reads spacing and origin. A spacing without a unit is not used. That of an axis is the length of its
// direction, also if the axes are rotated or mirrored.
func (h *nrrdHeader) readPosition(a *Array, channels bool, axes int) error {
	words := vectorsOf(h.fields["space directions"])
	if channels {
		axes--
		if len(words) > 0 && words[0] == "none" {
			words = words[1:]
		}
	}
	switch len(words) {
	case 0:
		return h.readSpacings(a, channels, axes)
	case axes:
	default:
		return h.bad("space directions", fmt.Sprintf("%d vectors", axes))
	}
	units := strings.Fields(h.fields["space units"])
	pitch := [3]float64{1, 1, 1} // in the unit of the origin
	aligned := true
	for axis, word := range words {
		direction, err := parseVector(word, axes)
		if err != nil {
			return h.bad("space directions", fmt.Sprintf("%d vectors of as many numbers", axes))
		}
		for other, v := range direction {
			aligned = aligned && (other != axis && v == 0 || other == axis && v > 0)
		}
		pitch[axis] = direction[axis]
		if len(units) == axes {
			a.Grid.Spacing[axis] = validSpacing(lengthOf(direction, units))
		}
	}
	if !aligned {
		a.PositionErr = fmt.Errorf("%s: the axes are rotated or mirrored: %w", h.file, ErrPosition)
		return nil
	}
	if h.fields["space origin"] == "" {
		return nil
	}
	origin, err := parseVector(h.fields["space origin"], axes)
	if err != nil {
		return h.bad("space origin", fmt.Sprintf("a vector of %d numbers", axes))
	}
	a.setPosition(h.file, [3]float64(append(origin, 0)[:3]), pitch)
	return nil
}

// lengthOf returns the length of a direction in nm. Units are those of its numbers. With an unknown unit, the length is
// 0.
func lengthOf(direction []float64, units []string) float64 {
	length := 0.0
	for axis, v := range direction {
		unit := unitOf(strings.Trim(units[axis], `"`))
		if v != 0 && unit == 0 {
			return 0
		}
		length = math.Hypot(length, v*unit)
	}
	return length
}

// readSpacings reads the older form of spacing and origin.
func (h *nrrdHeader) readSpacings(a *Array, channels bool, axes int) error {
	spacings, err := h.perAxis("spacings", channels, axes)
	if spacings == nil {
		return err
	}
	units := strings.Fields(h.fields["units"])
	if channels && len(units) == axes+1 {
		units = units[1:]
	}
	if len(units) == axes {
		for axis, v := range spacings {
			a.Grid.Spacing[axis] = validSpacing(v * unitOf(strings.Trim(units[axis], `"`)))
		}
	}
	// A minimum is the centre of a sample or the edge of a cell. Either way it is whole voxels from 0.
	mins, err := h.perAxis("axis mins", channels, axes)
	if mins == nil || slices.ContainsFunc(slices.Concat(mins, spacings), math.IsNaN) {
		return err
	}
	pitch := [3]float64{1, 1, 1}
	copy(pitch[:], spacings)
	a.setPosition(h.file, [3]float64(append(mins, 0)[:3]), pitch)
	return nil
}

// perAxis reads a number for each axis in space. Unknown ones are NaN. Without the field, it returns nil.
func (h *nrrdHeader) perAxis(field string, channels bool, axes int) ([]float64, error) {
	words := strings.Fields(h.fields[field])
	if channels && len(words) == axes+1 {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return nil, nil
	case len(words) != axes:
		return nil, h.bad(field, fmt.Sprintf("%d numbers", axes))
	}
	all := make([]float64, 0, axes+1)
	for _, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, h.bad(field, "a number for each axis")
		}
		all = append(all, v)
	}
	return all, nil
}

// vectorsOf splits a list of vectors. Teem accepts blanks in them.
func vectorsOf(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth == 0 && unicode.IsSpace(c)
	})
}

// parseVector parses a vector of n numbers, "(x,y,z)". All must be finite.
func parseVector(s string, n int) ([]float64, error) {
	inner, open := strings.CutPrefix(s, "(")
	inner, shut := strings.CutSuffix(inner, ")")
	words := strings.Split(inner, ",")
	if !open || !shut || len(words) != n {
		return nil, fmt.Errorf("not a vector: %q", s)
	}
	return parseNumbers(words)
}

// parseNumbers parses finite numbers.
func parseNumbers(words []string) ([]float64, error) {
	all := make([]float64, 0, len(words)+1)
	for _, word := range words {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("not a number: %q", word)
		}
		all = append(all, v)
	}
	return all, nil
}
