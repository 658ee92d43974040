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

// history has all versions of a cube file, the newest last.
type history struct {
	path     string // of the file in the source
	layer    *randomLayer
	at       [3]int
	versions []version
}

// version is one state of a cube. The zero version is an absent cube, which reads as zeros.
type version struct {
	exists bool     // the directory has an entry with its name
	blocks [][]byte // in Morton order; nil: reading it is an error
	flat   []byte   // zeros in bad blocks
	until  time.Time
}

// now returns the current version.
func (h *history) now() version { return h.versions[len(h.versions)-1] }

// add appends a version with the content of the file.
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

// byteAt returns byte i of the flat cube.
func (v version) byteAt(i int) byte {
	if !v.exists {
		return 0
	}
	return v.flat[i]
}

// allBad reports whether no block can be read. Such a cube may fail to open.
func (v version) allBad() bool {
	return v.exists && !slices.ContainsFunc(v.blocks, func(b []byte) bool { return b != nil })
}

// randomLayer is a layer of one mag with all cubes that can exist.
type randomLayer struct {
	model
	name     string
	mag      string // directory in the source
	count    [3]int // number of cubes on each axis that can exist
	min, max [3]int // the bounding box; if max is 0, the box of all cubes
	cubes    []*history
	header   bool // whether header.wkw exists; without it the first cube must not change
}

// newRandomLayer chooses a layer and writes it.
func newRandomLayer(t testing.TB, r *rand.Rand, source string, n int) *randomLayer {
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

// changeable returns the cubes that may change.
func (l *randomLayer) changeable() []*history { return l.cubes[1:] }

// write replaces the file by a new cube.
func (h *history) write(t testing.TB, r *rand.Rand) {
	m := h.layer.model
	m.seed = r.Uint32()
	m.blockType = 1 + r.IntN(3)
	h.replace(t, r, m.file(t))
}

// replace replaces the file by rename.
func (h *history) replace(t testing.TB, r *rand.Rand, file []byte) {
	t.Helper()
	temp := writeFile(t, h.path+".tmp", file)
	h.setTime(t, temp)
	if err := os.Rename(temp, h.path); err != nil {
		t.Fatal(err)
	}
	h.add(true, file)
}

// setTime sets a time of modification that no other version has.
func (h *history) setTime(t testing.TB, name string) {
	t.Helper()
	when := time.Unix(1_000_000_000+int64(len(h.versions)), 0)
	if err := os.Chtimes(name, when, when); err != nil {
		t.Fatal(err)
	}
}

// overwrite changes the file in place.
func (h *history) overwrite(t testing.TB, file []byte) {
	t.Helper()
	writeFile(t, h.path, file)
	h.setTime(t, h.path)
	h.add(true, file)
}

// box returns the voxels that volume.raw covers now.
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

// cubeAt returns the cube that has voxel v, and the index of the voxel in the cube. It returns nil if no cube
// can exist there, or if v is outside of the box from lo to hi.
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

// randomSource writes a dataset of up to four layers, with or without datasource-properties.json.
func randomSource(t testing.TB, r *rand.Rand) (source string, layers []*randomLayer) {
	source = tempDir(t)
	type jsonBox struct {
		TopLeft              [3]int `json:"topLeft"`
		Width, Height, Depth int
	}
	type jsonLayer struct {
		Name        string  `json:"name"`
		BoundingBox jsonBox `json:"boundingBox"`
	}
	var jsonLayers []jsonLayer
	hasMetadata := r.IntN(2) == 0
	for n := range 1 + r.IntN(4) {
		l := newRandomLayer(t, r, source, n)
		layers = append(layers, l)
		if !hasMetadata {
			continue
		}
		for axis := range 3 {
			l.min[axis] = r.IntN(l.side())
			l.max[axis] = l.min[axis] + 1 + r.IntN((l.count[axis]+1)*l.side())
		}
		jsonLayers = append(jsonLayers, jsonLayer{l.name, jsonBox{l.min, l.max[0] - l.min[0], l.max[1] - l.min[1],
			l.max[2] - l.min[2]}})
	}
	if hasMetadata {
		b, err := json.Marshal(map[string]any{"dataLayers": jsonLayers})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`"Width"`, `"width"`, `"Height"`, `"height"`, `"Depth"`,
			`"depth"`).Replace(string(b))
		writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(text))
	}
	return source, layers
}

// cacheTime is how long a removed name may still be listed or described.
const cacheTime = 1200 * time.Millisecond

// existedLately reports whether the cube existed within the cacheTime before a request was made. The answer may take
// long.
func (h *history) existedLately(asked time.Time) bool {
	return slices.ContainsFunc(h.versions, func(v version) bool { return v.exists && asked.Sub(v.until) < cacheTime })
}

// wasAbsentLately reports whether the cube was absent within the cacheTime before a request was made.
func (h *history) wasAbsentLately(asked time.Time) bool {
	return slices.ContainsFunc(h.versions, func(v version) bool { return !v.exists && asked.Sub(v.until) < cacheTime })
}

// change changes a random cube file.
func (s *session) change() error {
	l := randomOf(s.r, s.layers)
	if len(l.changeable()) == 0 {
		return nil
	}
	h := randomOf(s.r, l.changeable())
	isFile := h.now().exists
	if info, err := os.Lstat(h.path); err == nil && !info.Mode().IsRegular() {
		isFile = false
	}
	kind := s.r.IntN(7)
	s.log("change %s in way %d, after %d versions", h.path, kind, len(h.versions))
	switch {
	case kind <= 1 || !isFile:
		h.write(s.t, s.r)
	case kind == 2:
		if err := os.Remove(h.path); err != nil {
			return err
		}
		h.add(false, nil)
	case kind == 3: // cut off
		b, err := os.ReadFile(h.path)
		if err != nil {
			return err
		}
		n := s.r.IntN(len(b) + 1)
		if err := os.Truncate(h.path, int64(n)); err != nil {
			return err
		}
		h.setTime(s.t, h.path)
		h.add(true, b[:n])
	case kind == 4: // one byte, in place
		b, err := os.ReadFile(h.path)
		if err != nil || len(b) == 0 {
			return err
		}
		b[s.r.IntN(len(b))] ^= byte(1 + s.r.IntN(255))
		h.overwrite(s.t, b)
	case kind == 5: // the whole file, in place
		m := l.model
		m.seed = s.r.Uint32()
		h.overwrite(s.t, m.file(s.t))
	case kind == 6: // a link that leads nowhere
		if err := errors.Join(os.Remove(h.path), os.Symlink("/nowhere", h.path)); err != nil {
			return err
		}
		h.add(true, nil)
	}
	return nil
}
