package web

import (
	"fmt"
	"net/http"
	"path"
)

// startPage replies with the page that shows the layers.
func (h *handler) startPage(w *response, r *http.Request) error {
	layers, err := h.layers(r.Context())
	if err != nil {
		return err
	}
	items, err := h.items(r.Context(), ".")
	if err != nil {
		return err
	}
	link := linker(h.linkToken(r))
	page := startPage{Title: h.options.Name}
	for _, it := range items {
		page.Entries = append(page.Entries, indexEntry{it, link.to(it.Name, it.Type == "directory")})
	}
	var shown []ngLayer
	for _, l := range layers {
		s := h.showLayer(link, l)
		if v, ok := h.viewerLayer(r, link, s.Name, l); ok {
			shown = append(shown, v)
			if s.Viewer, err = h.viewerLink(v); err != nil {
				return err
			}
		}
		page.Layers = append(page.Layers, s)
	}
	if len(shown) > 1 {
		if page.Viewer, err = h.viewerLink(shown...); err != nil {
			return err
		}
	}
	return h.page(w, r, "start.html", page)
}

// startPage is what start.html shows.
type startPage struct {
	Title   string
	Viewer  string // link that opens all layers; may be empty
	Layers  []shownLayer
	Entries []indexEntry
}

type shownLayer struct {
	Name     string
	Link     string
	Error    string
	Category string
	Type     string   // such as "uint8" or "3 × uint8"
	Viewer   string   // link that opens it in Neuroglancer; may be empty
	Picture  *picture // nil: there is none
	Mags     []shownMag
}

type shownMag struct {
	Name    string
	Link    string
	Error   string
	Shape   [3]int
	Voxel   string // its size; empty: not known
	Bytes   int64
	Picture picture
	Volumes []step
}

// picture is an image on a page.
type picture struct {
	Link          string
	Width, Height int // pixels as shown: voxels need not be squares
	Alt           string
}

// showLayer says what there is to say of a layer.
func (h *handler) showLayer(link linker, l layer) shownLayer {
	s := shownLayer{Name: path.Base(l.dir), Link: link.to(l.dir, true)}
	if l.dir == "." {
		s.Name = h.options.Name
	}
	if l.err != nil {
		s.Error = l.err.Error()
	}
	for _, m := range l.mags {
		s.Mags = append(s.Mags, h.showMag(link, m))
	}
	if m, ok := l.overview(); ok {
		s.Category, s.Type = m.facts.Category, m.facts.valueType()
		p := m.picture(link, 352)
		s.Picture = &p
	}
	return s
}

func (h *handler) showMag(link linker, m mag) shownMag {
	s := shownMag{Name: path.Base(m.dir), Link: link.to(m.dir, true)}
	if m.dir == "." {
		s.Name = h.options.Name
	}
	if m.err != nil {
		s.Error = m.err.Error()
		return s
	}
	s.Shape, s.Bytes, s.Picture = m.facts.Shape, m.facts.Bytes, m.picture(link, 64)
	if v := m.facts.VoxelSize; v != nil {
		s.Voxel = fmt.Sprintf("%s × %s × %s %s", formatNumber(v[0]), formatNumber(v[1]), formatNumber(v[2]), m.facts.Unit)
	}
	for _, name := range h.volumes(m) {
		s.Volumes = append(s.Volumes, step{path.Ext(name), link.to(path.Join(m.dir, name), false)})
	}
	return s
}

// valueType names the type of a voxel.
func (v *facts) valueType() string {
	if v.Channels == 1 {
		return v.Dtype
	}
	return fmt.Sprintf("%d × %s", v.Channels, v.Dtype)
}

// picture shows the middle plane in at most side × side pixels.
func (m *mag) picture(link linker, side int) picture {
	at, width, height := m.facts.part()
	x, y := float64(width), float64(height)
	if v := m.facts.VoxelSize; v != nil && v[0] > 0 && v[1] > 0 {
		x, y = x*v[0], y*v[1]
	}
	scale := float64(side) / max(x, y)
	what := "plane"
	if width < m.facts.Shape[0] || height < m.facts.Shape[1] {
		what = fmt.Sprintf("middle %d × %d voxels of plane", width, height)
	}
	return picture{
		Link: link.to(previewPath(m.dir), false), Width: max(1, int(x*scale)), Height: max(1, int(y*scale)),
		Alt: fmt.Sprintf("%s z = %d of %s", what, at[2], m.dir),
	}
}
