package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// history is all that a cube file has been since the begin, the latest last.
type history struct {
	path     string // of the file in the source
	layer    *randomLayer
	at       [3]int
	versions []version
}

// version is a cube at one time. The zero version: there is none, and it reads as zeros.
type version struct {
	exists bool     // there is an entry of its name
	blocks [][]byte // in Morton order, nil for each that is an error
	flat   []byte   // zeros in bad blocks
	until  time.Time
}

func (h *history) now() version { return h.versions[len(h.versions)-1] }

// add enters what the file has become.
func (h *history) add(exists bool, file []byte) {
	v := version{exists: exists}
	if exists {
		v.blocks = h.layer.read(file)
		v.flat = h.layer.assemble(v.blocks)
	}
	if n := len(h.versions); n > 0 {
		h.versions[n-1].until = time.Now()
	}
	h.versions = append(h.versions, v)
}

// bad reports whether byte i of the flat cube cannot be read.
func (v version) bad(m model, i int) bool { return v.exists && v.blocks[m.blockAt(i)] == nil }

func (v version) byteAt(i int) byte {
	if !v.exists {
		return 0
	}
	return v.flat[i]
}

// allBad reports whether nothing of the cube can be read: then it need not open.
func (v version) allBad() bool {
	return v.exists && !slices.ContainsFunc(v.blocks, func(b []byte) bool { return b != nil })
}

// randomLayer is a layer of one mag and its possible cubes.
type randomLayer struct {
	model
	name     string
	mag      string // its directory in the source
	count    [3]int // possible cubes on each axis
	min, max [3]int // the bounding box; max 0: the extent of the cubes
	cubes    []*history
	header   bool // there is a header.wkw; else the first cube always stays as it is
}

// newRandomLayer makes up a layer and writes it.
func newRandomLayer(t *testing.T, r *rand.Rand, source string, n int) *randomLayer {
	l := &randomLayer{
		model: model{
			blockLog: r.IntN(4), cubeLog: r.IntN(3), blockType: 1 + r.IntN(3),
			voxelType: 1 + r.IntN(10), channels: 1 + r.IntN(3), seed: r.Uint32(),
		},
		name:   fmt.Sprintf("layer%d", n),
		header: r.IntN(2) == 0,
	}
	l.mag = filepath.Join(source, l.name, "1")
	if l.header {
		l.writeHeader(t, l.mag)
	}
	for axis := range 3 {
		l.count[axis] = 1 + r.IntN(3)
	}
	for i := range l.count[0] * l.count[1] * l.count[2] {
		at := [3]int{i % l.count[0], i / l.count[0] % l.count[1], i / l.count[0] / l.count[1]}
		h := &history{layer: l, at: at, path: filepath.Join(l.mag, fmt.Sprintf("z%d/y%d/x%d.wkw", at[2], at[1], at[0]))}
		if err := os.MkdirAll(filepath.Dir(h.path), 0o755); err != nil {
			t.Fatal(err)
		}
		h.add(false, nil)
		l.cubes = append(l.cubes, h)
		if i == 0 || r.IntN(3) > 0 {
			h.write(t, r)
		}
	}
	return l
}

// changeable are the cubes that may become something else.
func (l *randomLayer) changeable() []*history { return l.cubes[1:] }

// write puts a new cube in the place of what was there. Times of modification are
// years apart, as far as clocks can tell.
func (h *history) write(t *testing.T, r *rand.Rand) {
	m := h.layer.model
	m.seed = r.Uint32()
	m.blockType = 1 + r.IntN(3)
	h.replace(t, r, m.file(t))
}

func (h *history) replace(t *testing.T, r *rand.Rand, file []byte) {
	t.Helper()
	temp := writeFile(t, h.path+".tmp", file)
	h.stamp(t, temp)
	if err := os.Rename(temp, h.path); err != nil {
		t.Fatal(err)
	}
	h.add(true, file)
}

// stamp gives the file a time of modification that no other version has.
func (h *history) stamp(t *testing.T, name string) {
	t.Helper()
	when := time.Unix(1_000_000_000+int64(len(h.versions)), 0)
	if err := os.Chtimes(name, when, when); err != nil {
		t.Fatal(err)
	}
}

// overwrite changes the file in place.
func (h *history) overwrite(t *testing.T, file []byte) {
	t.Helper()
	writeFile(t, h.path, file)
	h.stamp(t, h.path)
	h.add(true, file)
}

// box is what volume.raw covers now.
func (l *randomLayer) box() (lo, hi [3]int) {
	if l.max != [3]int{} {
		return l.min, l.max
	}
	for axis := range 3 {
		lo[axis], hi[axis] = l.count[axis], 0
		for _, h := range l.cubes {
			if h.now().exists {
				lo[axis], hi[axis] = min(lo[axis], h.at[axis]), max(hi[axis], h.at[axis]+1)
			}
		}
		lo[axis], hi[axis] = lo[axis]*l.side(), hi[axis]*l.side()
	}
	return lo, hi
}

// cubeAt returns the cube that holds a voxel of the layer and the voxel's place in it;
// nil where there can be none, or the voxel lies outside of the layer's box.
func (l *randomLayer) cubeAt(v, lo, hi [3]int) (*history, int) {
	s := l.side()
	for axis := range 3 {
		if v[axis] < lo[axis] || v[axis] >= hi[axis] || v[axis] >= l.count[axis]*s {
			return nil, 0
		}
	}
	cube := v[0]/s + l.count[0]*(v[1]/s+l.count[1]*(v[2]/s))
	return l.cubes[cube], v[0]%s + s*(v[1]%s+s*(v[2]%s))
}

// randomSource writes a dataset of some layers, with metadata or without.
func randomSource(t *testing.T, r *rand.Rand) (source string, layers []*randomLayer) {
	source = tempDir(t)
	type jsonBox struct {
		TopLeft              [3]int `json:"topLeft"`
		Width, Height, Depth int
	}
	type jsonLayer struct {
		Name        string  `json:"name"`
		BoundingBox jsonBox `json:"boundingBox"`
	}
	var all []jsonLayer
	isDescribed := r.IntN(2) == 0
	for n := range 1 + r.IntN(4) {
		l := newRandomLayer(t, r, source, n)
		layers = append(layers, l)
		if !isDescribed {
			continue
		}
		for axis := range 3 {
			l.min[axis] = r.IntN(l.side())
			l.max[axis] = l.min[axis] + 1 + r.IntN((l.count[axis]+1)*l.side())
		}
		all = append(all, jsonLayer{l.name, jsonBox{l.min, l.max[0] - l.min[0], l.max[1] - l.min[1], l.max[2] - l.min[2]}})
	}
	if isDescribed {
		b, err := json.Marshal(map[string]any{"dataLayers": all})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`"Width"`, `"width"`, `"Height"`, `"height"`, `"Depth"`, `"depth"`).Replace(string(b))
		writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(text))
	}
	return source, layers
}

// believed is for how long a name that is gone may still be listed or described.
const believed = 1200 * time.Millisecond

// wasLately reports whether the cube was there a moment ago.
func (h *history) wasLately() bool {
	return slices.ContainsFunc(h.versions, func(v version) bool { return v.exists && time.Since(v.until) < believed })
}

// wasMissingLately reports whether the cube was not there a moment ago.
func (h *history) wasMissingLately() bool {
	return slices.ContainsFunc(h.versions, func(v version) bool { return !v.exists && time.Since(v.until) < believed })
}

// change makes something else of a cube file.
func (s *session) change() error {
	l := pickOf(s.r, s.layers)
	if len(l.changeable()) == 0 {
		return nil
	}
	h := pickOf(s.r, l.changeable())
	isFile := h.now().exists
	if info, err := os.Lstat(h.path); err == nil && !info.Mode().IsRegular() {
		isFile = false
	}
	what := s.r.IntN(7)
	s.note("change %s: %d, of %d versions", h.path, what, len(h.versions))
	switch {
	case what <= 1 || !isFile:
		h.write(s.t, s.r)
	case what == 2:
		if err := os.Remove(h.path); err != nil {
			return err
		}
		h.add(false, nil)
	case what == 3: // cut off
		b, err := os.ReadFile(h.path)
		if err != nil {
			return err
		}
		n := s.r.IntN(len(b) + 1)
		if err := os.Truncate(h.path, int64(n)); err != nil {
			return err
		}
		h.stamp(s.t, h.path)
		h.add(true, b[:n])
	case what == 4: // one byte, in place
		b, err := os.ReadFile(h.path)
		if err != nil || len(b) == 0 {
			return err
		}
		b[s.r.IntN(len(b))] ^= byte(1 + s.r.IntN(255))
		h.overwrite(s.t, b)
	case what == 5: // all of it, in place
		m := l.model
		m.seed = s.r.Uint32()
		h.overwrite(s.t, m.file(s.t))
	case what == 6: // there, and out of reach
		if err := errors.Join(os.Remove(h.path), os.Symlink("/nowhere", h.path)); err != nil {
			return err
		}
		h.add(true, nil)
	}
	return nil
}
