package web

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io/fs"
	"math"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// A mag has its picture at .wkwfs/preview/LAYER/MAG/middle.png.
const (
	previewPrefix = "preview/"
	previewName   = "middle.png"
)

func previewPath(dir string) string { return path.Join(ownPrefix, previewPrefix, dir, previewName) }

// serveOwn replies to requests for paths that belong to the server. name is the path below ownPrefix.
func (h *handler) serveOwn(w *response, r *http.Request, name string) error {
	if rest, ok := strings.CutPrefix(r.URL.Path, ViewerPath); ok {
		return h.serveViewer(w, r, rest)
	}
	rest, isPreview := strings.CutPrefix(name, previewPrefix)
	if dir, ok := strings.CutSuffix("/"+rest, "/"+previewName); ok && isPreview {
		dir = strings.TrimPrefix(dir, "/")
		if dir == "" {
			dir = "."
		}
		if fs.ValidPath(dir) {
			return h.servePreview(w, r, dir)
		}
	}
	return &fs.PathError{Op: "open", Path: ownPrefix + name, Err: fs.ErrNotExist}
}

// servePreview replies with the picture of a mag.
func (h *handler) servePreview(w *response, r *http.Request, dir string) error {
	info, tag, err := h.readInfo(dir)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("ETag", tag)
	if r.Method == http.MethodHead {
		return nil // the length is not known before the picture is drawn
	}
	picture, err := h.pictures.get(r.Context(), dir+tag,
		func() ([]byte, error) { return h.draw(r.Context(), dir, info) })
	if err != nil {
		return err
	}
	h.serveContent(w, r, time.Time{}, int64(len(picture)), bytes.NewReader(picture))
	return nil
}

// Limits of a picture.
const (
	maxPictureVoxels = 1 << 19
	maxPictureBytes  = 8 << 20 // of its voxels, with all channels
)

// previewBox returns the box of the preview in voxels of the mag: the middle plane on z or, if that is too large, the
// middle of the plane.
func (v *volumeInfo) previewBox() volume.Box {
	limit := min(maxPictureVoxels, maxPictureBytes/v.voxelBytes())
	side := int(math.Sqrt(float64(limit)))
	width, height := v.Shape[0], v.Shape[1]
	if width > limit || height > limit/width {
		width = min(width, max(side, limit/height))
		height = min(height, limit/width)
	}
	first := v.Origin.Add(volume.Vec{(v.Shape[0] - width) / 2, (v.Shape[1] - height) / 2, v.Shape[2] / 2})
	return volume.Box{Min: first, Max: first.Add(volume.Vec{width, height, 1})}
}

func (v *volumeInfo) voxelBytes() int { return v.channelType().Size() * v.Channels }

// draw returns the picture of a mag as PNG.
func (h *handler) draw(ctx context.Context, dir string, info volumeInfo) ([]byte, error) {
	box := info.previewBox()
	size := box.Size()
	voxels, err := h.readFile(ctx, path.Join(dir, tree.Boxes, tree.BoxName(box)+tree.Raw),
		size[0]*size[1]*info.voxelBytes())
	if err != nil {
		return nil, err
	}
	p := plane{info, size[0], size[1], voxels}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, p.picture()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readFile reads a file of exactly size bytes.
func (h *handler) readFile(ctx context.Context, name string, size int) ([]byte, error) {
	f, err := h.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if stat.Size() != int64(size) {
		return nil, fmt.Errorf("%s: expected %d bytes, found %d", name, size, stat.Size())
	}
	b := make([]byte, size)
	if err := vfs.ReadFull(ctx, f, b, 0); err != nil {
		return nil, &readError{fmt.Errorf("%s: %w", name, err)}
	}
	return b, nil
}
