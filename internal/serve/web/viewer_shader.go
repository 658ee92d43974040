package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/volume"
)

// rgbShader shows three channels as red, green and blue.
const rgbShader = `void main() {
  emitRGB(vec3(toNormalized(getDataValue(0)), toNormalized(getDataValue(1)), toNormalized(getDataValue(2))));
}
`

// channelColours are the colours of channels. Channels above are not shown.
var channelColours = []string{"#ff0000", "#00ff00", "#0000ff", "#00ffff", "#ff00ff", "#ffff00", "#ffffff"}

// shader returns a shader with a control of contrast for each channel, channel0 and so on.
func shader(channels int) string {
	if channels == 1 {
		return "#uicontrol invlerp channel0\nvoid main() {\n  emitGrayscale(channel0());\n}\n"
	}
	var controls, sum strings.Builder
	for i, colour := range channelColours[:min(channels, len(channelColours))] {
		fmt.Fprintf(&controls,
			"#uicontrol invlerp channel%d(channel=%d)\n#uicontrol vec3 colour%d color(default=\"%s\")\n", i, i, i,
			colour)
		fmt.Fprintf(&sum, " + channel%d() * colour%d", i, i)
	}
	return controls.String() + "void main() {\n  emitRGB(vec3(0.0)" + sum.String() + ");\n}\n"
}

// Limits of measuring a layer.
const (
	maxMeasuredBytes = 4 << 20         // of voxels
	maxMeasuredTime  = 5 * time.Second // of all layers of a view
	maxSamples       = 1 << 16         // of each channel
)

// controls returns the ranges of the controls that [shader] declares: percentiles of the coarsest mag, or of what was
// read of it when ctx is done. A layer that cannot be measured has none. Then Neuroglancer maps the whole range of the
// type.
func (h *handler) controls(ctx context.Context, p *precomputed) map[string]ngRange {
	coarsest := p.mags[len(p.mags)-1]
	_, tag, err := h.readInfo(coarsest.dir)
	if err != nil {
		return nil
	}
	var controls map[string]ngRange
	b, err := h.pictures.get(ctx, "contrast of "+coarsest.dir+tag, func() ([]byte, error) {
		controls = h.measure(ctx, coarsest)
		b, err := json.Marshal(controls)
		return b, cmp.Or(ctx.Err(), err) // a part is not cached
	})
	if err == nil && json.Unmarshal(b, &controls) != nil {
		return nil
	}
	return controls
}

// measure reads samples of a mag, and returns the range of each channel. It ignores boxes that cannot be read: the page
// shows their errors.
func (h *handler) measure(ctx context.Context, m mag) map[string]ngRange {
	t, step := m.info.channelType(), m.info.voxelBytes()
	channels := min(m.info.Channels, len(channelColours))
	boxes := m.info.sampleBoxes()
	samples := make([][]float64, channels)
	value := render.Values(t)
	for _, box := range boxes {
		size := box.Size()
		n := size[0] * size[1] * size[2]
		voxels, err := h.readFile(ctx, path.Join(m.dir, tree.Boxes, tree.BoxName(box)+tree.Raw), n*step)
		if err != nil {
			continue
		}
		stride := n*len(boxes)/maxSamples + 1
		for i := 0; i < n; i += stride {
			for c := range channels {
				samples[c] = append(samples[c], value(voxels[i*step+c*t.Size():]))
			}
		}
	}
	controls := map[string]ngRange{}
	for c := range channels {
		if w := render.WindowOf(samples[c]); len(samples[c]) > 0 && w.Low < w.High {
			controls[fmt.Sprintf("channel%d", c)] = ngRange{[2]json.RawMessage{number(t, w.Low), number(t, w.High)}}
		}
	}
	return controls
}

// number returns a value of a type as Neuroglancer reads it: 64-bit integers are strings.
func number(t volume.Type, v float64) json.RawMessage {
	switch {
	case t.IsInteger() && t.Size() == 8:
		return fmt.Appendf(nil, `"%.0f"`, v)
	case t.IsInteger():
		return fmt.Appendf(nil, "%.0f", v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("0") // a window is finite
	}
	return b
}

// sampleBoxes returns boxes of at most maxMeasuredBytes in all, in voxels of the mag: the whole mag if it is small,
// else 27 boxes that are spread evenly over it.
func (v *volumeInfo) sampleBoxes() []volume.Box {
	box := volume.Box{Min: v.Origin, Max: v.Origin.Add(v.Shape)}
	if v.Bytes <= maxMeasuredBytes {
		return []volume.Box{box}
	}
	const places = 3 // on each axis
	side := max(1, int(math.Cbrt(float64(maxMeasuredBytes/v.voxelBytes())))/places)
	boxes := []volume.Box{box}
	for axis, n := range v.Shape {
		if n <= places*side {
			continue // all of it
		}
		var parts []volume.Box
		for _, b := range boxes {
			for i := range places {
				part := b
				part.Min[axis] += n/places*i + (n/places-side)/2
				part.Max[axis] = part.Min[axis] + side
				parts = append(parts, part)
			}
		}
		boxes = parts
	}
	return boxes
}
