package web

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"path"
)

// precomputedName is the directory of a layer that Neuroglancer opens, if there is one.
const precomputedName = "precomputed"

// ngState is the part of Neuroglancer's state that opens layers.
type ngState struct {
	Layers   []ngLayer  `json:"layers"`
	Selected ngSelected `json:"selectedLayer"`
	Layout   string     `json:"layout"`
}

type ngLayer struct {
	Type   string `json:"type"`
	Source string `json:"source"`
	Shader string `json:"shader,omitempty"`
	Name   string `json:"name"`
}

type ngSelected struct {
	Layer   string `json:"layer"`
	Visible bool   `json:"visible"`
}

// rgbShader shows three channels as what they are; without it, one is shown.
const rgbShader = `void main() {
  emitRGB(vec3(toNormalized(getDataValue(0)), toNormalized(getDataValue(1)), toNormalized(getDataValue(2))));
}
`

// viewerLayer describes a layer to Neuroglancer; false if it cannot be opened there.
func (h *handler) viewerLayer(r *http.Request, link linker, name string, l layer) (ngLayer, bool) {
	dir := path.Join(l.dir, precomputedName)
	m, ok := l.overview()
	if _, err := fs.Stat(h.fsys, path.Join(dir, "info")); err != nil || !ok {
		return ngLayer{}, false
	}
	// The query is sent with every request for what is below; only in this form of the
	// name does the viewer take one.
	source := url.URL{Scheme: "http", Host: r.Host, Path: "/" + dir + "/", RawQuery: link.query()}
	if r.TLS != nil {
		source.Scheme = "https"
	}
	v := ngLayer{Type: "image", Source: source.String() + "|neuroglancer-precomputed:", Name: name}
	switch {
	case m.facts.Category == "segmentation":
		v.Type = "segmentation"
	case m.facts.Dtype == "uint8" && m.facts.Channels == 3:
		v.Shader = rgbShader
	}
	return v, true
}

// viewerLink opens the layers in Neuroglancer.
func (h *handler) viewerLink(layers ...ngLayer) (string, error) {
	if h.options.Neuroglancer == "" || len(layers) == 0 {
		return "", nil
	}
	state, err := json.Marshal(ngState{layers, ngSelected{layers[0].Name, true}, "4panel"})
	return h.options.Neuroglancer + "#!" + url.PathEscape(string(state)), err
}
