package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// facts is what volume.json says of a mag, as far as it is needed here.
type facts struct {
	Name      string      `json:"name"`
	Category  string      `json:"category"`
	Dtype     string      `json:"dtype"`
	Shape     [3]int      `json:"shape"` // voxels on x, y, z
	Channels  int         `json:"channels"`
	Bytes     int64       `json:"bytes"`
	Origin    [3]int      `json:"origin"`     // voxels of the mag
	VoxelSize *[3]float64 `json:"voxel_size"` // nil: not known
	Unit      string      `json:"unit"`
	Error     string      `json:"error"` // why there is no volume
}

// factsFile is the name that makes a directory a mag.
const factsFile = "volume.json"

// maxFacts is how long a volume.json may be, in bytes.
const maxFacts = 1 << 20

// readFacts reads the volume.json of a directory, and how its version is called.
func (h *handler) readFacts(dir string) (v facts, tag string, err error) {
	name := path.Join(dir, factsFile)
	f, err := h.fsys.Open(name)
	if err != nil {
		return v, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return v, "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFacts))
	if err != nil {
		return v, "", err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, "", fmt.Errorf("%s: %w", name, err)
	}
	if v.Error != "" {
		return v, "", fmt.Errorf("%s: %s", name, v.Error)
	}
	return v, fileTag(info), v.check(name)
}

// check makes sure that there can be such an array.
func (v *facts) check(name string) error {
	voxel, known := voxelTypes[v.Dtype]
	switch {
	case !known:
		return fmt.Errorf("%s: dtype %q is not known", name, v.Dtype)
	case v.Channels < 1 || v.Channels > maxVoxelBytes/voxel.bytes:
		return fmt.Errorf("%s: %d channels of %s: expected 1 to %d bytes a voxel", name, v.Channels, v.Dtype, maxVoxelBytes)
	case min(v.Shape[0], v.Shape[1], v.Shape[2]) < 1:
		return fmt.Errorf("%s: shape %v is empty", name, v.Shape)
	}
	return nil
}

// mag is a directory with a volume.json.
type mag struct {
	dir   string
	facts facts
	err   error // what prevents that it is read
}

// layer is mags of the same thing.
type layer struct {
	dir  string
	mags []mag // the finest first
	// err is what prevents that it is listed.
	err error
}

// maxDirectories is how many directories are looked into on each level: the tree may
// be of cubes, not of layers.
const maxDirectories = 1000

// layers finds the mags in the root, one level down, or two.
func (h *handler) layers(ctx context.Context) ([]layer, error) {
	if h.isMag(".") {
		return []layer{{dir: ".", mags: []mag{h.magAt(".")}}}, nil
	}
	top, err := h.directories(".")
	if err != nil {
		return nil, err
	}
	root := layer{dir: "."}
	var all []layer
	for _, dir := range top {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if h.isMag(dir) {
			root.mags = append(root.mags, h.magAt(dir))
			continue
		}
		if l := h.layerAt(dir); len(l.mags) > 0 || l.err != nil {
			all = append(all, l)
		}
	}
	if len(root.mags) > 0 {
		root.sort()
		all = slices.Insert(all, 0, root)
	}
	return all, nil
}

// layerAt finds the mags in a directory.
func (h *handler) layerAt(dir string) layer {
	l := layer{dir: dir}
	var below []string
	below, l.err = h.directories(dir)
	for _, d := range below {
		if h.isMag(d) {
			l.mags = append(l.mags, h.magAt(d))
		}
	}
	l.sort()
	return l
}

func (l *layer) sort() {
	slices.SortStableFunc(l.mags, func(a, b mag) int { return cmp.Compare(b.facts.Bytes, a.facts.Bytes) })
}

func (h *handler) isMag(dir string) bool {
	_, err := fs.Stat(h.fsys, path.Join(dir, factsFile))
	return err == nil
}

func (h *handler) magAt(dir string) mag {
	v, _, err := h.readFacts(dir)
	return mag{dir, v, err}
}

// directories are the paths of the directories in a directory.
func (h *handler) directories(dir string) ([]string, error) {
	entries, err := fs.ReadDir(h.fsys, dir)
	var found []string
	for _, e := range entries {
		if e.IsDir() && len(found) < maxDirectories {
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	return found, err
}

// overview returns the mag whose picture stands for the layer: the coarsest that is
// wide enough, else the finest that can be read.
func (l *layer) overview() (mag, bool) {
	const wide = 256
	var best mag
	found := false
	for _, m := range l.mags {
		if m.err == nil && (!found || m.facts.Shape[0] >= wide) {
			best, found = m, true
		}
	}
	return best, found
}

// volumes are the names of the files in a mag that have the whole volume.
func (h *handler) volumes(m mag) []string {
	entries, err := fs.ReadDir(h.fsys, m.dir)
	if err != nil {
		return nil // the page says so already where it matters
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "volume.") {
			names = append(names, e.Name())
		}
	}
	return names
}
