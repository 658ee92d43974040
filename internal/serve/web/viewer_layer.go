package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// precomputed is a layer as Neuroglancer sees it.
type precomputed struct {
	name string // of the layer
	dir  string // of the volume
	info precomputedInfo
	mags []mag // of info.Scales
}

// precomputedInfo has the fields of the info file that this package needs.
type precomputedInfo struct {
	Type     string `json:"type"` // image or segmentation
	DataType string `json:"data_type"`
	Channels int    `json:"num_channels"`
	Scales   []struct {
		Key        string     `json:"key"`
		Resolution [3]float64 `json:"resolution"` // nm
	} `json:"scales"`
}

var errNotPrecomputed = errors.New("not shown: Neuroglancer has no such voxels")

// isViewable reports whether a layer has a Precomputed volume, without reading it.
func (h *handler) isViewable(l layer) bool {
	_, err := fs.Stat(h.fsys, path.Join(l.dir, tree.Precomputed, tree.Info))
	return err == nil
}

// readPrecomputed reads and checks the info file of a layer.
func (h *handler) readPrecomputed(l layer) (*precomputed, error) {
	p := &precomputed{name: h.nameOf(l.dir), dir: path.Join(l.dir, tree.Precomputed)}
	f, err := h.fsys.Open(path.Join(p.dir, tree.Info))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, l.whyNotPrecomputed()
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInfoBytes))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &p.info); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", p.dir, tree.Info, err)
	}
	for _, s := range p.info.Scales {
		for _, m := range l.mags {
			if m.err == nil && path.Base(m.dir) == s.Key {
				p.mags = append(p.mags, m)
			}
		}
		if !isLength(s.Resolution) {
			return nil, fmt.Errorf("%s/%s: the voxels of scale %s have the size %v", p.dir, tree.Info, s.Key,
				s.Resolution)
		}
	}
	if len(p.mags) == 0 || len(p.mags) != len(p.info.Scales) {
		return nil, fmt.Errorf("%s/%s: expected the mags of the layer, found %d scales", p.dir, tree.Info,
			len(p.info.Scales))
	}
	return p, nil
}

// whyNotPrecomputed returns why a layer has no Precomputed volume.
func (l *layer) whyNotPrecomputed() error {
	for _, m := range l.mags {
		if t := m.info.channelType(); m.err == nil && (t == volume.Int64 || t == volume.Float64) {
			return fmt.Errorf("%w, %v", errNotPrecomputed, t)
		}
		if m.err != nil {
			return m.err
		}
	}
	return errNotPrecomputed
}

// isLength reports whether each is a finite length above 0.
func isLength(nm [3]float64) bool {
	for _, x := range nm {
		if !(x > 0) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// physicalBox is a box in nm, with the size of a voxel.
type physicalBox struct{ min, max, voxel [3]float64 }

// box returns the box of the finest mag.
func (p *precomputed) box() physicalBox {
	v, voxel := p.mags[0].info, p.info.Scales[0].Resolution
	b := physicalBox{voxel: voxel}
	for i := range 3 {
		b.min[i] = float64(v.Origin[i]) * voxel[i]
		b.max[i] = float64(v.Origin[i]+v.Shape[i]) * voxel[i]
	}
	return b
}

// space is the space of the layers: the box that contains them, and the smallest voxel.
type space struct {
	box   physicalBox
	known bool
}

func (s *space) add(b physicalBox) {
	if !s.known {
		s.box, s.known = b, true
		return
	}
	for i := range 3 {
		s.box.min[i], s.box.max[i] = min(s.box.min[i], b.min[i]), max(s.box.max[i], b.max[i])
		s.box.voxel[i] = min(s.box.voxel[i], b.voxel[i])
	}
}

// assumedPanel is the size of a cross section on the screen, in pixels, for a page that does not zoom itself.
var assumedPanel = [2]float64{700, 400}

// centre lets the state show the middle of the space, and all of it. A single plane is shown alone.
func (s *space) centre(v *viewerState) {
	side := min(s.box.voxel[0], s.box.voxel[1], s.box.voxel[2])
	v.State.Dimensions = map[string][2]any{}
	for i, name := range []string{"x", "y", "z"} {
		lo, hi, voxel := s.box.min[i], s.box.max[i], s.box.voxel[i]
		v.State.Dimensions[name] = [2]any{voxel * 1e-9, "m"}
		// The middle of a voxel: at the border of two, rounding decides which of them is shown.
		v.State.Position = append(v.State.Position, math.Floor((lo+hi)/2/voxel)+0.5)
		v.Extent = append(v.Extent, (hi-lo)/side)
	}
	e := v.Extent
	if s.box.max[2]-s.box.min[2] < 1.5*s.box.voxel[2] {
		v.State.Layout = "xy"
	}
	v.State.Scale = 1.1 * max(e[0]/assumedPanel[0], e[2]/assumedPanel[0], e[1]/assumedPanel[1], e[2]/assumedPanel[1])
}
