package web

import (
	"fmt"
	"net/http"
	"path"

	"github.com/wkwfs/wkwfs/volume"
)

// serveStartPage replies with the page that shows the layers.
func (h *handler) serveStartPage(w *response, r *http.Request) error {
	layers, err := h.layers(r.Context())
	if err != nil {
		return err
	}
	entries, more, err := h.list(r.Context(), ".")
	if err != nil {
		return err
	}
	link := linker(h.linkToken(r))
	page := startPage{Title: h.options.Name, Listing: listing{link.entries(".", entries), more}}
	shown := 0
	for _, l := range layers {
		s := h.startLayer(link, l)
		if h.hasViewer() && h.isViewable(l) {
			s.Viewer = link.toViewer(s.Name)
			shown++
		}
		page.Layers = append(page.Layers, s)
	}
	if shown > 1 {
		page.Viewer = link.toViewer()
	}
	page.HasViewer = h.options.Viewer != nil
	return h.servePage(w, r, "start.html", page)
}

// startPage is the data of start.html.
type startPage struct {
	Title   string
	Viewer  string // link that opens all layers in Neuroglancer; may be empty
	Layers  []startLayer
	Listing listing

	HasViewer bool // Neuroglancer is built in
}

type startLayer struct {
	Name     string
	Link     string
	Error    string
	Category string
	Type     string    // such as "uint8" or "3 × uint8"
	Viewer   string    // link that opens the layer in Neuroglancer; may be empty
	Preview  *imageTag // nil: there is none
	Mags     []startMag
}

type startMag struct {
	Name      string
	Link      string
	Error     string
	Shape     volume.Vec
	VoxelSize string // with its unit; empty: not known
	Bytes     int64
	Preview   imageTag
	Volumes   []namedLink
}

// imageTag is an image on a page.
type imageTag struct {
	Link          string
	Width, Height int // pixels on the page, with the proportions of the voxels
	Alt           string
}

func (h *handler) startLayer(link linker, l layer) startLayer {
	s := startLayer{Name: h.nameOf(l.dir), Link: link.to(l.dir, true)}
	if l.err != nil {
		s.Error = l.err.Error()
	}
	for _, m := range l.mags {
		s.Mags = append(s.Mags, h.startMag(link, m))
	}
	if m, ok := l.overview(); ok {
		s.Category, s.Type = m.info.Category, m.info.valueType()
		tag := m.preview(link, 352)
		s.Preview = &tag
	}
	return s
}

func (h *handler) startMag(link linker, m mag) startMag {
	s := startMag{Name: h.nameOf(m.dir), Link: link.to(m.dir, true)}
	if m.err != nil {
		s.Error = m.err.Error()
		return s
	}
	s.Shape, s.Bytes, s.Preview = m.info.Shape, m.info.Bytes, m.preview(link, 64)
	if v := m.info.VoxelSize; v != nil {
		s.VoxelSize = fmt.Sprintf("%s × %s × %s %s", formatNumber(v[0]), formatNumber(v[1]), formatNumber(v[2]),
			m.info.Unit)
	}
	for _, name := range h.volumeFiles(m) {
		s.Volumes = append(s.Volumes, namedLink{path.Ext(name), link.to(path.Join(m.dir, name), false)})
	}
	return s
}

// nameOf returns the name of a directory. The root has the name of the options.
func (h *handler) nameOf(dir string) string {
	if dir == "." {
		return h.options.Name
	}
	return path.Base(dir)
}

// valueType returns the type of a voxel for people, such as "3 × uint8".
func (v *volumeInfo) valueType() string {
	if v.Channels == 1 {
		return v.Dtype
	}
	return fmt.Sprintf("%d × %s", v.Channels, v.Dtype)
}

// preview returns the image of the middle plane, on a page in at most side × side pixels.
func (m *mag) preview(link linker, side int) imageTag {
	box := m.info.previewBox()
	width, height := box.Size()[0], box.Size()[1]
	x, y := float64(width), float64(height)
	if v := m.info.VoxelSize; v != nil && v[0] > 0 && v[1] > 0 {
		x, y = x*v[0], y*v[1]
	}
	scale := float64(side) / max(x, y)
	part := "plane"
	if width < m.info.Shape[0] || height < m.info.Shape[1] {
		part = fmt.Sprintf("middle %d × %d voxels of plane", width, height)
	}
	return imageTag{
		Link: link.to(previewPath(m.dir), false), Width: max(1, int(x*scale)), Height: max(1, int(y*scale)),
		Alt: fmt.Sprintf("%s z = %d of %s", part, box.Min[2], m.dir),
	}
}
