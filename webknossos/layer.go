package webknossos

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// layer is one array at several mags, in WKW or another format. It implements volume.Layer.
type layer struct {
	fsys  fs.FS
	dir   string
	root  string // directory of the dataset, which paths of mags are relative to; "" if there is no dataset
	props *LayerProperties
	scale Scale
	point string // of arrays that have several volumes
	o     Options

	described []MagProperties            // the mags in the metadata
	byName    map[string][]MagProperties // by nameOf

	opener Opener // of the mags; nil for WKW

	mu   sync.Mutex
	mags map[string]volume.Mag // that Mag returned, by name

	openedMu sync.Mutex
	opened   map[string]volume.Mag // that the opener returned, by path
}

func newLayer(fsys fs.FS, dir, root string, props *LayerProperties, scale Scale, o Options) *layer {
	l := &layer{fsys: fsys, dir: dir, root: root, props: props, scale: scale, o: o, described: props.mags(),
		byName: map[string][]MagProperties{}, mags: map[string]volume.Mag{}, opened: map[string]volume.Mag{}}
	if props != nil && !props.isWKW() {
		l.opener = o.Formats[props.DataFormat]
	}
	for _, m := range l.described {
		name := l.nameOf(m)
		l.byName[name] = append(l.byName[name], m)
	}
	return l
}

// Stat describes the directory of the layer. If there is none, because the metadata locates the mags
// elsewhere, it describes the directory of the dataset.
func (l *layer) Stat() (fs.FileInfo, error) {
	info, err := fs.Stat(l.fsys, l.dir)
	if err != nil && l.hasMagPaths() {
		return fs.Stat(l.fsys, l.root)
	}
	return info, err
}

// Mags returns the names of the mags by rising factor.
func (l *layer) Mags() ([]string, error) {
	isFactor := func(name string) bool { _, ok := volume.ParseFactor(name); return ok }
	names, err := upTo(maxMags, subdirs(l.fsys, l.dir), l.dir, "mags", isFactor)
	if err != nil && !l.hasMagPaths() {
		return nil, err
	}
	names = slices.AppendSeq(names, maps.Keys(l.byName))
	slices.SortFunc(names, byFactor)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { _, err := l.find(name); return err != nil }), nil
}

// hasMag reports whether Mags has any mag. An error may leave that open. If there is none, because one in the metadata
// is no directory, the error is a *vfs.KindError.
func (l *layer) hasMag() (bool, error) {
	var fault error
	for name := range l.byName {
		_, err := l.find(name)
		if err == nil {
			return true, nil
		}
		if isKindError(err) {
			fault = err
		}
	}
	if l.opener != nil {
		names, err := l.Mags()
		return len(names) > 0, err
	}
	found, err := findMag(l.fsys, l.dir)
	if !found && err == nil {
		err = fault
	}
	return found, err
}

// Mag returns a mag. It searches the source on the first call with a name.
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
	var m volume.Mag
	if l.opener != nil {
		m, err = l.open(at)
	} else {
		m = l.newMag(at)
	}
	if err != nil {
		return nil, err
	}
	l.mags[name] = m
	return m, nil
}

// newMag returns a mag of WKW.
func (l *layer) newMag(at location) *mag {
	m := newMag(at.fsys, at.dir, at.factor, l.props, l.scale, l.o.Log)
	if l.root != "" {
		m.properties = l.statProperties
	}
	return m
}

func (l *layer) statProperties() (fs.FileInfo, error) {
	return fs.Stat(l.fsys, path.Join(l.root, PropertiesFile))
}

// location is the directory of a mag.
type location struct {
	fsys   fs.FS
	dir    string
	factor volume.Factor
	path   string        // outside of the dataset; empty for a directory of the dataset
	props  MagProperties // zero if the metadata do not locate the mag
}

// find returns the location of a mag: that in the metadata, else the subdirectory of the layer. If the metadata has the
// mag, and its place has something else than a directory, the error is a *vfs.KindError: the mag exists and cannot be
// read.
func (l *layer) find(name string) (location, error) {
	f, ok := volume.ParseFactor(name)
	if !ok {
		return location{}, notExist("mag", name)
	}
	for _, m := range l.byName[name] {
		if at, ok := l.locationOf(m); ok && l.isMag(at) {
			return at, nil
		}
	}
	at := location{fsys: l.fsys, dir: path.Join(l.dir, name), factor: f}
	if described := l.byName[name]; len(described) > 0 {
		at.props = described[0]
	}
	if l.isMag(at) {
		return at, nil
	}
	if err := l.kindFault(name); err != nil {
		return location{}, err
	}
	return location{}, notExist("mag", name)
}

// locationOf returns the location of a mag in the metadata. It returns false if there is none, or if
// the path must not be followed.
func (l *layer) locationOf(m MagProperties) (location, bool) {
	if dir, ok := l.pathOf(m); ok {
		return location{fsys: l.fsys, dir: dir, factor: m.Factor(), props: m}, true
	}
	if _, local := localPath(m.Path); local || m.Path == "" || l.o.Outside == nil {
		return location{}, false
	}
	fsys, err := l.o.Outside(m.Path)
	return location{fsys, ".", m.Factor(), m.Path, m}, err == nil
}

// nameOf returns the name of a mag in the metadata. It is the name of its directory if the directory is in
// the layer and its name is the factor, such as "1-1-1". Else it is the usual name of the factor.
func (l *layer) nameOf(m MagProperties) string {
	if dir, ok := l.pathOf(m); ok && path.Dir(dir) == path.Clean(l.dir) {
		if f, ok := volume.ParseFactor(path.Base(dir)); ok && f == m.Factor() {
			return path.Base(dir)
		}
	}
	return m.Factor().String()
}

// pathOf returns the directory of a mag in the metadata. It returns false if there is none in the dataset.
func (l *layer) pathOf(m MagProperties) (string, bool) {
	p, ok := localPath(m.Path)
	return path.Join(l.root, p), ok && l.root != ""
}

// hasMagPaths reports whether the metadata has a location for any mag.
func (l *layer) hasMagPaths() bool {
	return slices.ContainsFunc(l.described, func(m MagProperties) bool { _, ok := l.locationOf(m); return ok })
}

// byFactor compares the names of mags, finest first.
func byFactor(a, b string) int {
	return cmp.Or(cmp.Compare(volumeFactor(a), volumeFactor(b)), cmp.Compare(a, b))
}

// volumeFactor returns how many voxels of mag 1 one voxel of the mag covers. It is a float because the
// product of the numbers in a directory name can overflow an int.
func volumeFactor(name string) float64 {
	f, _ := volume.ParseFactor(name)
	return float64(f[0]) * float64(f[1]) * float64(f[2])
}
