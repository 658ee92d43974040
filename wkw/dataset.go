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
	layers map[string]volume.Layer // those that were asked for; a layer is a few words
}

func newDataset(fsys fs.FS, dir string, o Options) *dataset {
	props, err := ReadProperties(fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.Log.Warn("dataset shown without its metadata", "err", err)
	}
	return &dataset{fsys: fsys, dir: dir, props: props, o: o, layers: map[string]volume.Layer{}}
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
	l, why := d.find(name)
	if why != "" {
		return nil, notExist("layer", name)
	}
	d.layers[name] = l
	return l, nil
}

// reason says why there is no layer of this name; empty where there is one.
func (d *dataset) reason(name string) string {
	_, why := d.find(name)
	return why
}

// find looks for a layer in the source, and says why there is none.
func (d *dataset) find(name string) (l volume.Layer, why string) {
	if !plainName(name) {
		return nil, "the name cannot be that of a directory entry"
	}
	props, dir := d.props.layer(name), path.Join(d.dir, name)
	if props != nil && !props.isWKW() {
		return d.foreign(props.DataFormat, dir)
	}
	own := newLayer(d.fsys, dir, props, d.props.scale(), d.o)
	own.root = d.dir
	if mags, err := own.Mags(); err != nil || len(mags) == 0 {
		return nil, "no mags found"
	}
	return own, ""
}

// foreign opens a layer of another data format, or says why it cannot be.
func (d *dataset) foreign(format, dir string) (l volume.Layer, why string) {
	why = "data format " + format
	if d.o.Foreign == nil {
		return nil, why
	}
	l, err := d.o.Foreign(format, d.fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, why
	case err != nil:
		return nil, fmt.Sprintf("%s: %v", why, err)
	}
	return l, ""
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
	names = slices.DeleteFunc(names, func(name string) bool { _, err := l.find(name); return err != nil })
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
	at, err := l.find(name)
	if err != nil {
		return nil, err
	}
	m := newMag(at.fsys, at.dir, at.factor, l.props, l.scale, l.o.Log)
	l.mags[name] = m
	return m, nil
}

// site is where a mag is.
type site struct {
	fsys   fs.FS
	dir    string
	factor volume.Factor
}

// find returns where the mag of this name is: where the metadata places it, else in
// the layer's subdirectory.
func (l *layer) find(name string) (site, error) {
	f, ok := volume.ParseFactor(name)
	if !ok {
		return site{}, notExist("mag", name)
	}
	for _, m := range l.props.mags() {
		if l.nameOf(m) != name {
			continue
		}
		if at, ok := l.siteOf(m); ok && isMag(at.fsys, at.dir) {
			return at, nil
		}
	}
	if dir := path.Join(l.dir, name); isMag(l.fsys, dir) {
		return site{l.fsys, dir, f}, nil
	}
	return site{}, notExist("mag", name)
}

// siteOf returns where the metadata places a mag, if that may be followed.
func (l *layer) siteOf(m MagProperties) (site, bool) {
	if dir, ok := l.pathOf(m); ok {
		return site{l.fsys, dir, m.Factor()}, true
	}
	if _, local := localPath(m.Path); local || m.Path == "" || l.o.Outside == nil {
		return site{}, false
	}
	fsys, err := l.o.Outside(m.Path)
	return site{fsys, ".", m.Factor()}, err == nil
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

// placed reports whether the metadata gives a path that may be followed to any mag.
func (l *layer) placed() bool {
	return slices.ContainsFunc(l.props.mags(), func(m MagProperties) bool { _, ok := l.siteOf(m); return ok })
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
