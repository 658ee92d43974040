package omezarr

import (
	"github.com/wkwfs/wkwfs/volume"
)

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
	m.Axes = axes(first, axis{Name: "c", Type: "channel"}, [3]axis{space("x", 0), space("y", 1), space("z", 2)})
	for _, l := range img.Levels {
		scale := axes(l, 1, [3]float64{l.scale(0), l.scale(1), l.scale(2)})
		translation := axes(l, 0, [3]float64{l.translation(0), l.translation(1), l.translation(2)})
		m.Datasets = append(m.Datasets, dataset{l.Name, []transformation{{Type: "scale", Scale: scale}, {Type: "translation", Translation: translation}}})
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

// windows are the ranges of the types whose whole range suits a screen. Images of other types rarely use more than a
// small part of the range. They have no window, so programs choose one from the voxels.
var windows = map[volume.Type]window{volume.Uint8: {0, 255, 0, 255}, volume.Int8: {-128, 127, -128, 127}}

// newOmero returns nil for labels, and for images without a window.
func newOmero(version string, img Image) *omero {
	first := img.Levels[0]
	w, ok := windows[first.Type]
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
