package wkw

import (
	"errors"
	"fmt"
	"io/fs"
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
	entries, _ := fs.ReadDir(d.fsys, d.dir)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			if why := unfollowed(d.fsys, path.Join(d.dir, e.Name())); why != "" {
				all = append(all, volume.Omission{Name: e.Name(), Reason: why})
			}
		}
	}
	if d.props == nil {
		return all
	}
	for _, l := range d.props.Layers {
		listed := slices.ContainsFunc(all, func(o volume.Omission) bool { return o.Name == l.Name })
		if why := d.reason(l.Name); why != "" && !listed {
			all = append(all, volume.Omission{Name: l.Name, Reason: why})
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
	if errors.Is(err, fs.ErrNotExist) && l.root != "" && l.placed() {
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
		names = append(names, m.Factor().String())
	}
	slices.SortFunc(names, byFactor)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { _, _, err := l.find(name); return err != nil }), nil
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
	if own := path.Join(l.dir, name); isMag(l.fsys, own) {
		return own, f, nil
	}
	for _, m := range l.props.mags() {
		if m.Factor() == f && f.String() == name && l.root != "" {
			if p, ok := localPath(m.Path); ok && isMag(l.fsys, path.Join(l.root, p)) {
				return path.Join(l.root, p), f, nil
			}
		}
	}
	return "", f, notExist("mag", name)
}

// placed reports whether the metadata gives a path of its own to any mag.
func (l *layer) placed() bool {
	return slices.ContainsFunc(l.props.mags(), func(m MagProperties) bool { return m.Path != "" })
}

// Omitted lists the mags that the metadata names and that are not shown.
func (l *layer) Omitted() []volume.Omission {
	var all []volume.Omission
	for _, m := range l.props.mags() {
		name := m.Factor().String()
		if _, _, err := l.find(name); err == nil {
			continue
		}
		why := "not in the source"
		if _, ok := localPath(m.Path); m.Path != "" && !ok {
			why = fmt.Sprintf("its path %q leads out of the dataset", m.Path)
		}
		all = append(all, volume.Omission{Name: name, Reason: why})
	}
	return all
}

// byFactor orders names of mags from fine to coarse; what is none comes last.
func byFactor(a, b string) int {
	fa, oka := volume.ParseFactor(a)
	fb, okb := volume.ParseFactor(b)
	if !oka || !okb {
		return slices.Compare([]string{a}, []string{b})
	}
	if c := fa[0]*fa[1]*fa[2] - fb[0]*fb[1]*fb[2]; c != 0 {
		return c
	}
	return slices.Compare([]string{a}, []string{b})
}
