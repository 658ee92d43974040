package filesource

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// layer is a stack as a layer. Its mags are named by their factors.
type layer struct {
	*stack
	mags []*mag
}

var _ volume.Layer = (*layer)(nil)

// Mags returns the names of the mags.
func (l *layer) Mags() ([]string, error) {
	names := make([]string, len(l.mags))
	for i, m := range l.mags {
		names[i] = m.about.Factor.String()
	}
	return names, nil
}

// Mag returns the mag with a name.
func (l *layer) Mag(name string) (volume.Mag, error) {
	for _, m := range l.mags {
		if m.about.Factor.String() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
}

// dataset is a folder of files, each of which is a layer.
type dataset struct {
	fsys   fs.FS
	dir    string
	names  []string // of the layers, sorted
	layers map[string]*layer
	left   []volume.Omission
}

var (
	_ volume.Dataset = (*dataset)(nil)
	_ volume.Omitter = (*dataset)(nil)
)

// newDataset opens the files of a folder. A file with planes of a layer before it is not a layer of its own. Those that
// cannot be opened are left out, with the reason.
func newDataset(fsys fs.FS, dir string, files []string, o Options) *dataset {
	d := &dataset{fsys: fsys, dir: dir, layers: map[string]*layer{}}
	stems := map[string]int{}
	for _, file := range files {
		stems[stemOf(file)]++
	}
	shown := map[string]bool{} // files of layers of several files
	for _, file := range files {
		if shown[path.Join(dir, file)] {
			continue
		}
		layers, err := openLayers(fsys, path.Join(dir, file), o)
		if err != nil {
			d.left = append(d.left, volume.Omission{Name: file, Reason: err.Error(), Fault: true})
			continue
		}
		for _, name := range layers[0].current.Load().Names() {
			shown[name] = true
		}
		name := stemOf(file)
		if stems[name] > 1 {
			name = file
		}
		d.add(name, layers)
	}
	slices.Sort(d.names)
	return d
}

// add adds a layer with a name; or the times of a file, as NAME/t0000 and so on.
func (d *dataset) add(name string, layers []*layer) {
	for t, l := range layers {
		at := name
		if len(layers) > 1 {
			at = path.Join(name, fmt.Sprintf("t%04d", t))
		}
		d.layers[at] = l
		d.names = append(d.names, at)
	}
}

// stemOf returns the name of a file without its suffix.
func stemOf(file string) string {
	for _, suffix := range suffixes {
		if n := len(file) - len(suffix); n > 0 && strings.EqualFold(file[n:], suffix) {
			return file[:n]
		}
	}
	return file
}

// Stat describes the folder.
func (d *dataset) Stat() (fs.FileInfo, error) { return fs.Stat(d.fsys, d.dir) }

// Layers returns the names of the files without their suffixes.
func (d *dataset) Layers() ([]string, error) { return slices.Clone(d.names), nil }

// Layer returns the layer with a name.
func (d *dataset) Layer(name string) (volume.Layer, error) {
	l, ok := d.layers[name]
	if !ok {
		return nil, fmt.Errorf("layer %s: %w", name, fs.ErrNotExist)
	}
	return l, nil
}

// Omitted returns the files that cannot be opened.
func (d *dataset) Omitted() []volume.Omission { return d.left }

// Files returns a file system without files.
func (d *dataset) Files() fs.FS { return vfs.NoFiles{} }
