package importer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/volume"
)

// reading is one way to read the shape of an input: which of its axes are x, y and z.
type reading struct {
	axes     string
	box      volume.Box // of the input, in voxels of mag 1
	channels int
}

// place is a layer that the input may belong to.
type place struct {
	name     string
	box      volume.Box // in voxels of mag 1
	channels int        // that the input must have; 0: any
}

// sight is all that shows which reading is meant.
type sight struct {
	layout   arrayfile.Layout
	readings []reading  // the usual one first
	named    volume.Box // of which the input has the name; empty: of none
	places   []place
	update   bool // the input must lie in the place
	nowhere  bool // where the input lies is not known
}

// usualChannels is the number of channels of most images with several. With more, the axis may be another one.
const usualChannels = 4

// choose returns the axes that the shape has, and why. The format says it, unless the axes are assumed. If nothing
// shows it, and a wrong choice would do harm, the error is a *MissingError. If only other axes fit, it is an
// *AxesError: a box may fit by chance, and a layer of which every voxel is at a wrong place looks right in a list.
func (s sight) choose() (axes, why string, err error) {
	usual := s.readings[0]
	if len(s.readings) == 1 { // the axes have names
		return usual.axes, "", nil
	}
	if exact, where := s.filter(s.equals); len(exact) == 1 {
		switch {
		case s.layout.Assumed:
			return exact[0].axes, "its size is that of " + where, nil
		case exact[0] == usual:
			return usual.axes, "", nil
		}
		return "", "", &AxesError{usual, exact, "it has the size of " + where, s.update}
	}
	fit, where := s.filter(s.fits)
	switch {
	case len(fit) > 0 && fit[0] != usual:
		return "", "", &AxesError{usual, fit, "it " + where, s.update}
	case !s.layout.Assumed, s.update && len(fit) == 0 && len(s.places) > 0:
		return usual.axes, "", nil
	case len(fit) == 1:
		return usual.axes, "only so it " + where, nil
	case s.update, len(s.places) > 0:
		return usual.axes, "",
			missing(FieldAxes,
				fmt.Errorf("the shape %v may be %s, as that of an array of a mount after scipy or skimage, or %s: %w",
					s.layout, commas(mountAxes(usual.axes)), commas(usual.axes), ErrAxes))
	}
	return usual.axes, "as most programs write C order", nil
}

// filter returns the readings that a test accepts, and what it says about the first of them.
func (s sight) filter(test func(reading) (string, bool)) (all []reading, why string) {
	for _, r := range s.readings {
		if text, ok := test(r); ok {
			if all = append(all, r); len(all) == 1 {
				why = text
			}
		}
	}
	return all, why
}

// equals reports whether the input has the size of the box in its name, or of a layer. Many files do not say where they
// belong.
func (s sight) equals(r reading) (what string, ok bool) {
	if !s.named.Empty() && r.box.Size() == s.named.Size() {
		return "the box of its name", true
	}
	for _, p := range s.places {
		if r.box.Size() == p.box.Size() && (p.channels == 0 || p.channels == r.channels) {
			return "layer " + p.name, true
		}
	}
	return "", false
}

// fits reports whether the input lies in a layer, if there are any, and has a plausible number of channels.
func (s sight) fits(r reading) (what string, ok bool) {
	if len(s.places) == 0 {
		return "has a plausible number of channels", r.channels <= usualChannels
	}
	for _, p := range s.places {
		inside := s.nowhere || r.box.Intersect(p.box) == r.box
		if inside && (p.channels == 0 && r.channels <= usualChannels || p.channels == r.channels) {
			return "fits in layer " + p.name, true
		}
	}
	return "", false
}

// mountAxes returns the axes of an array as a mount shows it.
func mountAxes(axes string) string {
	if strings.Contains(axes, "c") {
		return "cxyz"
	}
	return "xyz"[:len(axes)]
}

// commas returns the letters with commas.
func commas(axes string) string { return strings.Join(strings.Split(axes, ""), ", ") }

// ErrAxes is the error of an array whose shape may have several orders of axes.
var ErrAxes = errors.New("nothing shows which")

// AxesError is the error of an input that does not fit with the axes that its format has, and fits with others.
type AxesError struct {
	usual  reading
	fit    []reading
	why    string
	update bool
}

func (e *AxesError) Error() string {
	return fmt.Sprintf("with the axes %s it is box %v, which does not fit; with %s it is box %v: %s",
		commas(e.usual.axes), e.usual.box, commas(e.fit[0].axes), e.fit[0].box, e.why)
}

// Fit returns the axes that fit.
func (e *AxesError) Fit() string { return e.fit[0].axes }

// Usual returns the axes that the format has, or nothing if the input cannot be written so.
func (e *AxesError) Usual() string {
	if e.update {
		return ""
	}
	return e.usual.axes
}

// setAxes sets the axes of the input: those of the options, else those that its size shows.
func (l *layer) setAxes(places []place, update bool) error {
	if l.Axes != "" {
		return l.in.SetAxes(l.Axes)
	}
	now := l.in.Layout
	s := sight{layout: now, named: l.Named, places: places, update: update}
	s.nowhere = update && l.checkOffset() != nil
	at := l.at()
	if now.Axes == "" { // the header says which axes are x, y and z
		l.suspect(s, at)
		return nil
	}
	for _, axes := range now.Orders() {
		size, channels, err := now.Size(axes)
		if err != nil {
			return err
		}
		s.readings = append(s.readings, reading{axes, volume.Box{Min: at, Max: at.Add(size)}, channels})
	}
	axes, why, err := s.choose()
	if _, wrong := errors.AsType[*AxesError](err); wrong {
		return fmt.Errorf("%s: the shape %v: %w", l.in.Name(), now, err)
	}
	if l.whyAxes = why; err == nil && axes != now.Axes {
		err = l.in.SetAxes(axes)
	}
	return err
}

// suspect notes that the axes of a header may be those of an array in another order: pynrrd writes a z, y, x array as
// sizes x, y, z.
func (l *layer) suspect(s sight, at volume.Vec) {
	g := l.in.Grid
	turned := volume.Vec{g.Size[2], g.Size[1], g.Size[0]}
	s.readings = []reading{{"xyz", volume.Box{Min: at, Max: at.Add(g.Size)}, g.Channels},
		{"zyx", volume.Box{Min: at, Max: at.Add(turned)}, g.Channels}}
	_, _, err := s.choose()
	if wrong, ok := errors.AsType[*AxesError](err); ok {
		l.doubt = fmt.Sprintf("it has %v voxels as its header says; with x and z exchanged, %s", g.Size, wrong.why)
	}
}

// doubtPosition notes that the input has no position, but the size of a layer that is elsewhere.
func (l *layer) doubtPosition(places []place) error {
	if l.Offset != nil || l.in.Positioned {
		return nil
	}
	for _, p := range places {
		if l.doubt == "" && p.box.Size() == l.box.Size() && p.box.Min != l.box.Min {
			l.doubt = fmt.Sprintf(
				"it has the size of layer %s, but no position, so it is at %v: --offset %v puts it there", p.name,
				l.box.Min, p.box.Min)
		}
		if p.box == l.box {
			l.doubt = ""
			return nil
		}
	}
	return nil
}

// at returns the position of the first voxel, as far as it is known.
func (l *layer) at() volume.Vec {
	switch {
	case l.Offset != nil:
		return *l.Offset
	case l.in.Positioned:
		return l.in.Grid.Origin
	}
	return volume.Vec{}
}

// places returns the layers of the dataset.
func (m *metadata) places() (all []place) {
	for _, l := range m.known.Layers {
		if b := l.BoundingBox; b != nil {
			at := volume.Vec(b.TopLeft)
			all = append(all, place{name: l.Name, box: volume.Box{Min: at,
				Max: at.Add(volume.Vec{b.Width, b.Height, b.Depth})}})
		}
	}
	return all
}
