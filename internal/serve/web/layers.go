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

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// volumeInfo has the fields of volume.json that this package needs.
type volumeInfo struct {
	Name      string      `json:"name"`
	Category  string      `json:"category"`
	Dtype     string      `json:"dtype"`
	Shape     volume.Vec  `json:"shape"` // voxels on x, y, z
	Channels  int         `json:"channels"`
	Bytes     int64       `json:"bytes"`
	Origin    volume.Vec  `json:"origin"`     // voxels of the mag
	VoxelSize *[3]float64 `json:"voxel_size"` // nil: not known
	Unit      string      `json:"unit"`
	Times     int         `json:"times"` // 0: the volume has no axis of time
	Error     string      `json:"error"` // why there is no volume
}

// maxInfoBytes is the greatest length of a volume.json.
const maxInfoBytes = 1 << 20

// readInfo reads the volume.json of a mag and validates it. It also returns the ETag of that file.
func (h *handler) readInfo(dir string) (v volumeInfo, tag string, err error) {
	name := path.Join(dir, tree.VolumeJSON)
	f, err := h.fsys.Open(name)
	if err != nil {
		return v, "", err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return v, "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxInfoBytes))
	if err != nil {
		return v, "", err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, "", fmt.Errorf("%s: %w", name, err)
	}
	if v.Error != "" {
		return v, "", fmt.Errorf("%s: %s", name, v.Error)
	}
	return v, fileTag(stat), v.validate(name)
}

// validate checks that an array of this type and shape can exist.
func (v *volumeInfo) validate(name string) error {
	t := v.channelType()
	switch {
	case !t.Valid():
		return fmt.Errorf("%s: unknown dtype %q", name, v.Dtype)
	case v.Channels < 1 || v.Channels > maxVoxelBytes/t.Size():
		return fmt.Errorf("%s: %d channels of %s: expected 1 to %d bytes per voxel", name, v.Channels, v.Dtype,
			maxVoxelBytes)
	case min(v.Shape[0], v.Shape[1], v.Shape[2]) < 1:
		return fmt.Errorf("%s: shape %v is empty", name, v.Shape)
	}
	return nil
}

// mag is a directory with a volume.json. Other directories have none.
type mag struct {
	dir  string
	info volumeInfo
	err  error // of reading volume.json
}

// layer is a directory of mags.
type layer struct {
	dir  string
	mags []mag // finest first
	err  error // of listing dir
}

// maxDirectories is how many directories of each level are searched for mags. The tree may be one of cubes, not of
// layers.
const maxDirectories = 1000

// layers finds the mags in the root and up to two levels below.
func (h *handler) layers(ctx context.Context) ([]layer, error) {
	if h.isMag(".") {
		return []layer{{dir: ".", mags: []mag{h.magAt(".")}}}, nil
	}
	dirs, err := h.directories(".")
	if err != nil {
		return nil, err
	}
	root := layer{dir: "."}
	var layers []layer
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if h.isMag(dir) {
			root.mags = append(root.mags, h.magAt(dir))
			continue
		}
		if l := h.layerAt(dir); len(l.mags) > 0 || l.err != nil {
			layers = append(layers, l)
		}
	}
	if len(root.mags) > 0 {
		root.sort()
		layers = slices.Insert(layers, 0, root)
	}
	return layers, nil
}

// layerAt finds the mags in a directory.
func (h *handler) layerAt(dir string) layer {
	l := layer{dir: dir}
	var dirs []string
	dirs, l.err = h.directories(dir)
	for _, d := range dirs {
		if h.isMag(d) {
			l.mags = append(l.mags, h.magAt(d))
		}
	}
	first := slices.IndexFunc(dirs, func(d string) bool { return tree.IsPoint(path.Base(d)) })
	if len(l.mags) == 0 && first >= 0 {
		return h.layerAt(dirs[first]) // the first time stands for all of them
	}
	l.sort()
	return l
}

func (l *layer) sort() {
	slices.SortStableFunc(l.mags, func(a, b mag) int { return cmp.Compare(b.info.Bytes, a.info.Bytes) })
}

// isMag reports whether a directory is a mag, and not one at all times.
func (h *handler) isMag(dir string) bool {
	if _, err := fs.Stat(h.fsys, path.Join(dir, tree.VolumeJSON)); err != nil {
		return false
	}
	info, _, _ := h.readInfo(dir) // an error is found again when the mag is used
	return info.Times == 0
}

func (h *handler) magAt(dir string) mag {
	info, _, err := h.readInfo(dir)
	return mag{dir, info, err}
}

// directories returns the paths of the directories in dir, at most maxDirectories.
func (h *handler) directories(dir string) ([]string, error) {
	var dirs []string
	for entries, err := range vfs.List(h.fsys, dir) {
		for _, e := range entries {
			if e.IsDir() && len(dirs) < maxDirectories {
				dirs = append(dirs, path.Join(dir, e.Name()))
			}
		}
		if err != nil || len(dirs) == maxDirectories {
			return dirs, err
		}
	}
	return dirs, nil
}

// overview returns the mag whose picture represents the layer: the coarsest one with at least 256 voxels on x, else the
// finest one. It ignores mags with errors, and returns false if all have.
func (l *layer) overview() (mag, bool) {
	const minWidth = 256
	var best mag
	found := false
	for _, m := range l.mags {
		if m.err == nil && (!found || m.info.Shape[0] >= minWidth) {
			best, found = m, true
		}
	}
	return best, found
}

// volumeFiles returns the names of the files in a mag that hold or describe the whole volume.
func (h *handler) volumeFiles(m mag) []string {
	for entries, err := range vfs.List(h.fsys, m.dir) {
		if err != nil {
			return nil // the page links to the directory, which shows the error
		}
		var names []string
		for _, e := range entries {
			if tree.IsVolume(e.Name()) {
				names = append(names, e.Name())
			}
		}
		return names // they are listed first
	}
	return nil
}
