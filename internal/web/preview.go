package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"math"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// The picture of a mag is .wkwfs/preview/LAYER/MAG/middle.png.
const (
	previewPrefix = "preview/"
	previewName   = "middle.png"
)

func previewPath(dir string) string { return path.Join(ownPrefix, previewPrefix, dir, previewName) }

// own replies for the paths that are not of the tree.
func (h *handler) own(w *response, r *http.Request, name string) error {
	rest, isPreview := strings.CutPrefix(name, previewPrefix)
	if dir, ok := strings.CutSuffix("/"+rest, "/"+previewName); ok && isPreview {
		dir = strings.TrimPrefix(dir, "/")
		if dir == "" {
			dir = "."
		}
		if fs.ValidPath(dir) {
			return h.preview(w, r, dir)
		}
	}
	return &fs.PathError{Op: "open", Path: ownPrefix + name, Err: fs.ErrNotExist}
}

// preview replies with the picture of a mag.
func (h *handler) preview(w *response, r *http.Request, dir string) error {
	v, tag, err := h.readFacts(dir)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("ETag", tag)
	if r.Method == http.MethodHead {
		return nil // the length would be known when it is painted
	}
	picture, err := h.gallery.get(r.Context(), dir+tag, func() ([]byte, error) { return h.paint(r.Context(), dir, v) })
	if err != nil {
		return err
	}
	h.serve(w, r, time.Time{}, int64(len(picture)), bytes.NewReader(picture))
	return nil
}

// A picture has at most so many voxels, and bytes of voxels.
const (
	maxPixels       = 1 << 19
	maxPictureBytes = 8 << 20
)

// part returns what the picture shows of the middle plane: all of it, or the middle
// of what would be too much. begin is in voxels of the mag.
func (v *facts) part() (begin [3]int, width, height int) {
	most := min(maxPixels, maxPictureBytes/v.voxelBytes())
	side := int(math.Sqrt(float64(most)))
	width, height = v.Shape[0], v.Shape[1]
	if width > most || height > most/width {
		width = min(width, max(side, most/height))
		height = min(height, most/width)
	}
	return [3]int{
		v.Origin[0] + (v.Shape[0]-width)/2,
		v.Origin[1] + (v.Shape[1]-height)/2,
		v.Origin[2] + v.Shape[2]/2,
	}, width, height
}

func (v *facts) voxelBytes() int { return voxelTypes[v.Dtype].bytes * v.Channels }

// paint makes the picture of a mag, as PNG.
func (h *handler) paint(ctx context.Context, dir string, v facts) ([]byte, error) {
	p := plane{facts: v}
	var at [3]int
	at, p.width, p.height = v.part()
	box := fmt.Sprintf("%d-%d_%d-%d_%d-%d.raw", at[0], at[0]+p.width, at[1], at[1]+p.height, at[2], at[2]+1)
	var err error
	if p.voxels, err = h.readAll(ctx, path.Join(dir, "box", box), p.width*p.height*v.voxelBytes()); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, p.picture()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readAll reads a file that has size bytes.
func (h *handler) readAll(ctx context.Context, name string, size int) ([]byte, error) {
	f, err := h.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != int64(size) {
		return nil, fmt.Errorf("%s: expected %d bytes, found %d", name, size, info.Size())
	}
	b := make([]byte, size)
	switch n, err := vfs.ReadAt(ctx, f, b, 0); {
	case n == size:
		return b, nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, &unreadable{fmt.Errorf("%s: expected %d bytes, found %d: %w", name, size, n, io.ErrUnexpectedEOF)}
	default:
		return nil, &unreadable{fmt.Errorf("%s: %w", name, err)}
	}
}

// gallery keeps pictures that were painted, and lets few be painted at a time.
type gallery struct {
	easels chan struct{}

	mu       sync.Mutex
	pictures map[string][]byte
	order    []string // the oldest first
	bytes    int
}

// maxGallery is how many bytes of pictures are kept.
const maxGallery = 32 << 20

func newGallery() *gallery {
	return &gallery{easels: make(chan struct{}, 2), pictures: map[string][]byte{}}
}

// get returns the picture of the key, painted if need be.
func (g *gallery) get(ctx context.Context, key string, paint func() ([]byte, error)) ([]byte, error) {
	if p := g.find(key); p != nil {
		return p, nil
	}
	select {
	case g.easels <- struct{}{}:
		defer func() { <-g.easels }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := g.find(key); p != nil { // somebody painted it while we waited
		return p, nil
	}
	p, err := paint()
	if err == nil {
		g.hang(key, p)
	}
	return p, err
}

func (g *gallery) find(key string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pictures[key]
}

func (g *gallery) hang(key string, p []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pictures[key] != nil {
		return
	}
	g.pictures[key], g.order = p, append(g.order, key)
	g.bytes += len(p)
	for g.bytes > maxGallery {
		g.bytes -= len(g.pictures[g.order[0]])
		delete(g.pictures, g.order[0])
		g.order = g.order[1:]
	}
}
