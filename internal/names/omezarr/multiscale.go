package omezarr

import "math"

// multiscale is an entry of "multiscales".
type multiscale struct {
	Version  string    `json:"version,omitempty"` // in 0.4 only
	Name     string    `json:"name"`
	Axes     []axis    `json:"axes"`
	Datasets []dataset `json:"datasets"`
}

type axis struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Unit string `json:"unit,omitempty"`
}

type dataset struct {
	Path            string           `json:"path"`
	Transformations []transformation `json:"coordinateTransformations"`
}

// transformation is a scale or a translation. The specification wants the scale first.
type transformation struct {
	Type        string    `json:"type"`
	Scale       []float64 `json:"scale,omitempty"`
	Translation []float64 `json:"translation,omitempty"`
}

func newMultiscale(version string, img Image) multiscale {
	m := multiscale{Version: version, Name: img.Name}
	first := img.Levels[0]
	space := func(name string, i int) axis {
		a := axis{Name: name, Type: "space"}
		if first.Voxel[i] > 0 {
			a.Unit = "nanometer"
		}
		return a
	}
	m.Axes = axes(first, axis{Name: "t", Type: "time"}, axis{Name: "c", Type: "channel"},
		[3]axis{space("x", 0), space("y", 1), space("z", 2)})
	for _, l := range img.Levels {
		scale := axes(l, 1, 1, [3]float64{l.scale(0), l.scale(1), l.scale(2)})
		translation := axes(l, 0, 0, [3]float64{l.translation(0), l.translation(1), l.translation(2)})
		m.Datasets = append(m.Datasets, dataset{l.Name, []transformation{{Type: "scale", Scale: scale},
			{Type: "translation", Translation: translation}}})
	}
	return m
}

// labels is "image-label".
type labels struct {
	Version string `json:"version,omitempty"` // in 0.4 only
}

// omero says how programs show the channels of an image at first.
type omero struct {
	Version   string    `json:"version,omitempty"` // in 0.4 only
	Channels  []channel `json:"channels"`
	Rendering struct {
		Model string `json:"model"`
	} `json:"rdefs"`
}

type channel struct {
	Label  string `json:"label"`
	Color  string `json:"color"`
	Active bool   `json:"active"`
	Window window `json:"window"`
}

// window is the range of a type, and the part of it that is shown, from black to the full color.
type window struct {
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// windowOf returns how values are shown at first. The range of 8 bits suits a screen. Images of other types rarely use
// more than a small part of their range: those whose window is not known have none, so that programs measure the
// voxels. ok is false then.
func windowOf(img Image) (w window, ok bool) {
	t := img.Levels[0].Type
	switch {
	case t.IsFloat():
		w = window{img.Window.Low, img.Window.High, img.Window.Low, img.Window.High}
	case t.IsUnsigned():
		w.Max = math.Ldexp(1, 8*t.Size()) - 1
	default:
		w.Min = -math.Ldexp(1, 8*t.Size()-1)
		w.Max = -w.Min - 1
	}
	if t.Size() == 1 {
		w.Start, w.End = w.Min, w.Max
		return w, true
	}
	w.Start, w.End = max(w.Min, img.Window.Low), min(w.Max, img.Window.High)
	return w, w.Start < w.End
}

// newOmero returns nil for labels, and for images without a window.
func newOmero(version string, img Image) *omero {
	first := img.Levels[0]
	w, ok := windowOf(img)
	if img.Labels || !ok {
		return nil
	}
	colors, names := []string{"FFFFFF"}, []string{img.Name}
	o := &omero{Version: version}
	o.Rendering.Model = "greyscale"
	if first.Channels == 3 {
		o.Rendering.Model = "color"
		colors, names = []string{"FF0000", "00FF00", "0000FF"}, []string{"red", "green", "blue"}
	}
	for c := range first.Channels {
		o.Channels = append(o.Channels, channel{names[c%len(names)], colors[c%len(colors)], true, w})
	}
	return o
}
