package wkw

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// dataset is a directory of layers. It implements volume.Dataset.
type dataset struct {
	fsys  fs.FS
	dir   string
	props *Properties // nil where there is none, or none that can be read
	o     Options

	mu     sync.Mutex
	layers map[string]*layer // those that were asked for; a layer is a few words
}

func newDataset(fsys fs.FS, dir string, o Options) *dataset {
	props, err := ReadProperties(fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.Log.Warn("dataset shown without its metadata", "err", err)
	}
	return &dataset{fsys: fsys, dir: dir, props: props, o: o, layers: map[string]*layer{}}
}

func (d *dataset) Stat() (fs.FileInfo, error) { return fs.Stat(d.fsys, d.dir) }

// Layers lists the directories that are layers by their content, and the layers
// that the metadata places elsewhere in the dataset.
func (d *dataset) Layers() ([]string, error) {
	names, err := subdirs(d.fsys, d.dir)
	if err != nil {
		return nil, err
	}
	if d.props != nil {
		for _, l := range d.props.Layers {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { return d.reason(name) != "" }), nil
}

// Layer returns the layer, which is looked for in the source when it is new to us.
func (d *dataset) Layer(name string) (volume.Layer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.layers[name]; ok {
		return l, nil
	}
	if d.reason(name) != "" {
		return nil, notExist("layer", name)
	}
	l := newLayer(d.fsys, path.Join(d.dir, name), d.props.layer(name), d.props.scale(), d.o)
	l.root = d.dir
	d.layers[name] = l
	return l, nil
}

// reason says why there is no layer of this name; empty where there is one.
func (d *dataset) reason(name string) string {
	if !plainName(name) {
		return "the name cannot be that of a directory entry"
	}
	props := d.props.layer(name)
	if props != nil && !props.isWKW() {
		return "data format " + props.DataFormat
	}
	l := newLayer(d.fsys, path.Join(d.dir, name), props, Scale{}, d.o)
	l.root = d.dir
	if mags, err := l.Mags(); err != nil || len(mags) == 0 {
		return "no mags found"
	}
	return ""
}

// Omitted lists what looks like a layer, or is called one, and is not shown.
func (d *dataset) Omitted() []volume.Omission {
	var all []volume.Omission
	named := map[string]bool{}
	if d.props != nil {
		for _, l := range d.props.Layers {
			named[l.Name] = true
		}
	}
	for _, o := range brokenLinks(d.fsys, d.dir) {
		if d.reason(o.Name) != "" {
			all = append(all, o)
			delete(named, o.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if why := d.reason(name); why != "" {
			all = append(all, volume.Omission{Name: name, Reason: why})
		}
	}
	return all
}

// Files is the dataset's metadata file alone.
func (d *dataset) Files() fs.FS { return metadata{d.fsys, d.dir} }

// metadata is an fs.FS that holds the metadata file of a dataset, if there is one,
// and nothing else.
type metadata struct {
	fsys fs.FS
	dir  string
}

func (m metadata) Open(name string) (fs.File, error) {
	if name != PropertiesFile {
		return nil, notExist("open", name)
	}
	return m.fsys.Open(path.Join(m.dir, name))
}

func (m metadata) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, notExist("readdir", name)
	}
	info, err := fs.Stat(m.fsys, path.Join(m.dir, PropertiesFile))
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

// layer is one array at several mags. It implements volume.Layer.
type layer struct {
	fsys  fs.FS
	dir   string
	root  string // the dataset's directory, for mags[].path; "" where there is no dataset
	props *LayerProperties
	scale Scale
	o     Options

	mu   sync.Mutex
	mags map[string]*mag
}

func newLayer(fsys fs.FS, dir string, props *LayerProperties, scale Scale, o Options) *layer {
	return &layer{fsys: fsys, dir: dir, props: props, scale: scale, o: o, mags: map[string]*mag{}}
}

// Stat describes the layer's directory; a layer that has none of its own, because
// the metadata places its mags elsewhere, looks like its dataset.
func (l *layer) Stat() (fs.FileInfo, error) {
	info, err := fs.Stat(l.fsys, l.dir)
	if err != nil && l.placed() {
		return fs.Stat(l.fsys, l.root)
	}
	return info, err
}

// Mags lists the mags by rising factor.
func (l *layer) Mags() ([]string, error) {
	names, err := subdirs(l.fsys, l.dir)
	if err != nil && !l.placed() {
		return nil, err
	}
	for _, m := range l.props.mags() {
		names = append(names, l.nameOf(m))
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, _, err := l.find(name); return err != nil })
	slices.SortFunc(names, byFactor)
	return slices.Compact(names), nil
}

// Mag returns the mag, which is looked for in the source when it is new to us.
func (l *layer) Mag(name string) (volume.Mag, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.mags[name]; ok {
		return m, nil
	}
	dir, factor, err := l.find(name)
	if err != nil {
		return nil, err
	}
	m := newMag(l.fsys, dir, factor, l.props, l.scale, l.o.Log)
	l.mags[name] = m
	return m, nil
}

// find returns the directory of the mag of this name: where the metadata places
// it, else the layer's subdirectory.
func (l *layer) find(name string) (dir string, f volume.Factor, err error) {
	f, ok := volume.ParseFactor(name)
	if !ok {
		return "", f, notExist("mag", name)
	}
	for _, m := range l.props.mags() {
		if dir, ok := l.pathOf(m); ok && l.nameOf(m) == name && isMag(l.fsys, dir) {
			return dir, m.Factor(), nil
		}
	}
	if dir := path.Join(l.dir, name); isMag(l.fsys, dir) {
		return dir, f, nil
	}
	return "", f, notExist("mag", name)
}

// nameOf returns the name of a mag in the metadata: that of its directory where this
// is one of the layer and tells the factor, such as "1-1-1", else the usual name.
func (l *layer) nameOf(m MagProperties) string {
	if dir, ok := l.pathOf(m); ok && path.Dir(dir) == path.Clean(l.dir) {
		if f, ok := volume.ParseFactor(path.Base(dir)); ok && f == m.Factor() {
			return path.Base(dir)
		}
	}
	return m.Factor().String()
}

// pathOf returns the directory that the metadata gives to a mag, if that is one in
// the dataset.
func (l *layer) pathOf(m MagProperties) (string, bool) {
	p, ok := localPath(m.Path)
	return path.Join(l.root, p), ok && l.root != ""
}

// placed reports whether the metadata gives a path in the dataset to any mag.
func (l *layer) placed() bool {
	return slices.ContainsFunc(l.props.mags(), func(m MagProperties) bool { _, ok := l.pathOf(m); return ok })
}

// Omitted lists the mags that the metadata, or a link, names and that are not shown.
func (l *layer) Omitted() []volume.Omission {
	var all []volume.Omission
	omitted := map[volume.Factor]bool{}
	for _, o := range brokenLinks(l.fsys, l.dir) {
		if f, ok := volume.ParseFactor(o.Name); ok && !l.has(f) {
			all = append(all, o)
			omitted[f] = true
		}
	}
	for _, m := range l.props.mags() {
		if f := m.Factor(); !omitted[f] && !l.has(f) {
			all = append(all, volume.Omission{Name: l.nameOf(m), Reason: whyNot(m)})
			omitted[f] = true
		}
	}
	return all
}

// has reports whether a mag of the factor is shown, under any of its names.
func (l *layer) has(f volume.Factor) bool {
	names, _ := l.Mags()
	return slices.ContainsFunc(names, func(name string) bool {
		shown, _ := volume.ParseFactor(name)
		return shown == f
	})
}

// whyNot says why a mag in the metadata is not shown.
func whyNot(m MagProperties) string {
	if _, ok := localPath(m.Path); m.Path != "" && !ok {
		return fmt.Sprintf("its path %q leads out of the dataset", m.Path)
	}
	return "not in the source"
}

// byFactor orders the names of mags from fine to coarse.
func byFactor(a, b string) int {
	return cmp.Or(cmp.Compare(voxels(a), voxels(b)), cmp.Compare(a, b))
}

// voxels returns how many voxels of mag 1 make one of the mag; as a float, because
// there is no limit to what somebody may call a directory.
func voxels(name string) float64 {
	f, _ := volume.ParseFactor(name)
	return float64(f[0]) * float64(f[1]) * float64(f[2])
}
