package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// ngState is the part of Neuroglancer's JSON state that opens layers. It omits what is not known.
type ngState struct {
	Title      string            `json:"title,omitempty"`
	Dimensions map[string][2]any `json:"dimensions,omitempty"` // of x, y, z: size of a unit, and "m"
	Position   []float64         `json:"position,omitempty"`   // in these units
	Scale      float64           `json:"crossSectionScale,omitempty"`
	View3D     [4]float64        `json:"projectionOrientation"` // a quaternion: x, y, z, w
	Layers     []ngLayer         `json:"layers"`
	Selected   ngSelected        `json:"selectedLayer"`
	Layout     string            `json:"layout"`
	// Annotations are the boxes of the layers. They are those of whole blocks, larger than the data.
	Annotations bool `json:"showDefaultAnnotations"`
}

type ngLayer struct {
	Type     string             `json:"type"`
	Source   string             `json:"source"`
	Tab      string             `json:"tab"` // of the panel at the side
	Shader   string             `json:"shader,omitempty"`
	Controls map[string]ngRange `json:"shaderControls,omitempty"`
	Opacity  float64            `json:"opacity,omitempty"`
	Blend    string             `json:"blend,omitempty"`
	Visible  *bool              `json:"visible,omitempty"` // nil: true
	Name     string             `json:"name"`
}

// ngRange is what a control of a shader maps to 0 and 1.
type ngRange struct {
	Range [2]json.RawMessage `json:"range"`
}

type ngSelected struct {
	Layer   string `json:"layer"`
	Visible bool   `json:"visible"`
}

// viewerState is a state, and what the page needs to finish it.
type viewerState struct {
	State ngState `json:"state"`
	// Extent is the size of the box of all layers on x, y, z, in sides of the smallest voxel. The page zooms so that
	// the cross sections show all of it. It is nil if it is not known.
	Extent []float64 `json:"extent,omitempty"`
	// Unshown has a sentence for each layer that Neuroglancer cannot show.
	Unshown []string `json:"unshown,omitempty"`
}

// oblique looks from above and from the side, so that all three cross sections are visible in the view of the space.
var oblique = [4]float64{-0.28, 0.36, 0.11, 0.88}

// maxVisible is how many layers are visible at first. Only these are read to find their contrast.
const maxVisible = 16

// state returns the state that shows the layers of the names, or all layers if there are no names.
func (h *handler) state(ctx context.Context, link linker, names []string) (*viewerState, error) {
	layers, err := h.layers(ctx)
	if err != nil {
		return nil, err
	}
	v := &viewerState{State: ngState{Title: hint.Escape(h.options.Name), Layers: []ngLayer{}, Layout: "4panel",
		View3D: oblique}}
	var space space
	var shown []*precomputed // the layers of the state
	for _, l := range layers {
		name := h.nameOf(l.dir)
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		pre, err := h.readPrecomputed(l)
		if err != nil {
			v.Unshown = append(v.Unshown, hint.Escape(fmt.Sprintf("%s: %v", name, err)))
			continue
		}
		space.add(pre.box())
		v.State.Layers = append(v.State.Layers, viewerLayer(link, pre, v.State.Layers))
		shown = append(shown, pre)
	}
	h.setContrast(ctx, shown, v.State.Layers)
	if len(v.State.Layers) == 0 {
		return nil, refuse(http.StatusNotFound, fmt.Sprintf("there is no layer that Neuroglancer can show. %v",
			v.Unshown))
	}
	v.State.Selected = ngSelected{v.State.Layers[0].Name, true}
	space.centre(v)
	return v, nil
}

// setContrast sets the controls of the visible layers, as far as that takes no longer than maxMeasuredTime.
func (h *handler) setContrast(ctx context.Context, shown []*precomputed, layers []ngLayer) {
	ctx, cancel := context.WithTimeout(ctx, maxMeasuredTime)
	defer cancel()
	var all sync.WaitGroup
	for i, p := range shown {
		if l := &layers[i]; l.Visible == nil && l.Shader != "" && l.Shader != rgbShader {
			all.Go(guard.FuncElse("web.contrast", func() {
				guard.Pass("web.contrast")
				l.Controls = h.controls(ctx, p)
			}, func(err error) { guard.Report(err, "path", p.dir) }))
		}
	}
	all.Wait()
}

// viewerLayer returns the state of a layer above others.
func viewerLayer(link linker, p *precomputed, below []ngLayer) ngLayer {
	// Neuroglancer sends the query with each request below the source.
	source := url.URL{Path: "/" + p.dir + "/", RawQuery: link.query()}
	v := ngLayer{Type: p.info.Type, Source: source.String(), Tab: "rendering", Name: hint.Escape(p.name)}
	visible := len(below) < maxVisible
	if !visible {
		v.Visible = &visible
	}
	if v.Type != "image" {
		return v
	}
	v.Opacity = 1
	if slices.ContainsFunc(below, func(l ngLayer) bool { return l.Type == "image" }) {
		v.Opacity, v.Blend = 0.5, "additive"
	}
	if p.info.Channels == 3 && p.info.DataType == volume.Uint8.String() {
		v.Shader = rgbShader
		return v
	}
	v.Shader = shader(p.info.Channels)
	return v
}

// serveState replies with the state for the page of the viewer. Sources are paths of this server.
func (h *handler) serveState(w *response, r *http.Request) error {
	v, err := h.state(r.Context(), linker(h.linkToken(r)), r.URL.Query()[layerParameter])
	if err != nil {
		return err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h.serveBytes(w, r, "application/json", b)
	return nil
}

// redirectToViewer sends the browser to the Neuroglancer of the options, with the state in the fragment of its URL.
func (h *handler) redirectToViewer(w *response, r *http.Request) error {
	v, err := h.state(r.Context(), linker(h.linkToken(r)), r.URL.Query()[layerParameter])
	if err != nil {
		return err
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	for i := range v.State.Layers {
		// The name of the format is at the end: only then does Neuroglancer send the query.
		l := &v.State.Layers[i]
		l.Source = scheme + "://" + r.Host + l.Source + "|neuroglancer-precomputed:"
	}
	b, err := json.Marshal(v.State)
	if err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer") // the URL may have the token
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", h.options.Neuroglancer+"#!"+url.PathEscape(string(b)))
	w.WriteHeader(http.StatusFound)
	return nil
}
