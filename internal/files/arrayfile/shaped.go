package arrayfile

import (
	"encoding/json"
	"strings"
)

// shaped is the description that tifffile writes into TIFF files that are not of ImageJ or OME. Axes are slowest first.
type shaped struct {
	Shape     []int
	Axes      string // a letter for each axis; may be empty
	Truncated bool   // only the first page has a directory
}

// parseShaped reports whether a description is one of tifffile.
func parseShaped(description string) (s shaped, ok bool) {
	if !strings.HasPrefix(description, "{") || len(description) > maxHeader {
		return s, false
	}
	err := json.Unmarshal([]byte(description), &s)
	return s, err == nil && len(s.Shape) > 0
}

// arrange implements [arrangement]. It returns the planes of a file of tifffile. If the description is not one of these
// pages, as after an edit by another program, each page is a plane.
func (s shaped) arrange(a *Array, d *tiffDirectory, pages []plane) ([]plane, error) {
	images, ok := s.images(pages[0])
	if ok && s.Truncated && len(pages) == 1 && images > 1 {
		var err error
		if pages, err = repeat(pages[0], images); err != nil {
			return nil, err
		}
	}
	if !ok || images != len(pages) {
		return pages, nil
	}
	times, channels, fastest, order := 1, 1, false, ""
	for i, n := range s.Shape {
		if n == 1 || i >= len(s.Axes) || strings.IndexByte("YXS", s.Axes[i]) >= 0 {
			continue // of one voxel, or of a page
		}
		if order += s.Axes[i : i+1]; s.Axes[i] == 'C' {
			channels = n
		}
		fastest = s.Axes[i] == 'C'
	}
	switch {
	case strings.Count(order, "C") > 1, strings.LastIndex(order, "T") > 0:
		return nil, d.bad("axes in the description", d.at, "times, planes and channels", s.Axes)
	case len(order) > 1 && order[0] == 'T':
		times = s.Shape[strings.IndexByte(s.Axes, 'T')]
	case order == "T":
		a.warn("TIFF of %d points in time: taken for planes", images)
	case len(strings.ReplaceAll(order, "C", "")) > 1, s.Axes == "" && s.severalAxes(pages[0]):
		a.warn("TIFF of the shape %v: taken for %d planes", s.Shape, images/channels)
	}
	return a.withTimes(d, pages, times, channels, fastest)
}

// images returns the number of pages that the shape has. It reports false if these cannot be its pages.
func (s shaped) images(page plane) (int, bool) {
	g := page.shape()
	values := int64(1)
	for _, n := range s.Shape {
		if n < 1 || values > (1<<62)/int64(n) {
			return 0, false
		}
		values *= int64(n)
	}
	per := int64(g.Size[0]) * int64(g.Size[1]) * int64(g.Channels)
	return int(values / per), values%per == 0
}

// severalAxes reports whether the pages of the shape have more than one axis.
func (s shaped) severalAxes(page plane) bool {
	inPage := 2
	if page.shape().Channels > 1 {
		inPage++
	}
	several := 0
	for _, n := range s.Shape[:max(0, len(s.Shape)-inPage)] {
		if n > 1 {
			several++
		}
	}
	return several > 1
}
