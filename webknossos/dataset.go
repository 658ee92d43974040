package webknossos

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// dataset is a directory of layers. It implements volume.Dataset.
type dataset struct {
	fsys  fs.FS
	dir   string
	props *Properties // nil if there are none, or they cannot be read
	o     Options

	mu     sync.Mutex
	layers map[string]volume.Layer // that Layer returned
	series map[string][]string     // the points of layers that have several, by name; guarded by seriesMu

	seriesMu sync.Mutex
}

func newDataset(fsys fs.FS, dir string, o Options) *dataset {
	props, err := ReadValidProperties(fsys, dir)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
	case props != nil:
		o.Log.Warn("layers left out, or shown without their metadata", "err", err)
	default:
		o.Log.Warn("dataset shown without its metadata", "err", err)
	}
	return &dataset{fsys: fsys, dir: dir, props: props, o: o, layers: map[string]volume.Layer{},
		series: map[string][]string{}}
}

func (d *dataset) Stat() (fs.FileInfo, error) { return fs.Stat(d.fsys, d.dir) }

// Layers returns the names of the directories that contain mags, and of the layers whose mags the
// metadata locates elsewhere.
func (d *dataset) Layers() ([]string, error) {
	names, err := upTo(maxLayers, subdirs(d.fsys, d.dir), d.dir, "directories in a dataset",
		func(string) bool { return true })
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
	var all []string
	for _, name := range names {
		if d.omissionReason(name) != "" {
			continue
		}
		points := d.knownPoints(name)
		for _, p := range points {
			all = append(all, name+"/"+p)
		}
		if points == nil {
			all = append(all, name)
		}
	}
	return all, nil
}

// knownPoints returns what the arrays of a layer have on other axes than x, y, z and channels, if that are several
// volumes, and find has found them: the layer is a directory of them.
func (d *dataset) knownPoints(name string) []string {
	d.seriesMu.Lock()
	defer d.seriesMu.Unlock()
	return d.series[name]
}

// readPoints reads what knownPoints returns.
func (d *dataset) readPoints(name string, l *layer) []string {
	points := l.points()
	if len(points) > 0 {
		d.seriesMu.Lock()
		defer d.seriesMu.Unlock()
		d.series[name] = points
	}
	return points
}

// Layer returns a layer. It searches the source on the first call with a name.
func (d *dataset) Layer(name string) (volume.Layer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.layers[name]; ok {
		return l, nil
	}
	l, reason, err := d.find(name)
	switch {
	case l != nil && err != nil: // it may be no layer when the source is well again
		return l, nil
	case err != nil:
		return nil, err
	case reason != "":
		return nil, notExist("layer", name)
	}
	d.layers[name] = l
	return l, nil
}

// find searches the source for a layer. If there is none, it returns the reason. If an error leaves open if there is
// one, it returns the error, and the layer if its readers get an error: it must not be treated as absent. If something
// else than a directory has the place of the layer, find returns a *vfs.KindError and the reason.
func (d *dataset) find(name string) (l volume.Layer, reason string, err error) {
	if of, point, ok := strings.Cut(name, "/"); ok && plainName(of) {
		return d.findPoint(of, point)
	}
	if !plainName(name) {
		return nil, "the name cannot be that of a directory entry", nil
	}
	props, dir := d.props.layer(name), path.Join(d.dir, name)
	own := newLayer(d.fsys, dir, d.dir, props, d.props.scale(), d.o)
	switch {
	case props != nil && !props.isWKW() && own.opener == nil:
		return d.foreign(props, dir)
	case d.knownPoints(name) != nil:
		return nil, severalVolumes, nil
	}
	found, err := own.hasMag()
	switch {
	case !found && own.opener != nil && d.readPoints(name, own) != nil:
		return nil, severalVolumes, nil
	case !found && own.opener != nil:
		return nil, "data format " + props.DataFormat + own.reasons(), nil
	case err != nil && inconclusive(err):
		return own, "", err
	case props != nil && isKindError(err): // a file in the place of the layer, or of its only mags
		return nil, err.Error(), err
	case !found:
		return nil, "no mags found" + own.firstOutside(), nil
	}
	return own, "", nil
}

// severalVolumes is why a layer is none: it is a directory of its points.
const severalVolumes = "several volumes"

// findPoint is find for a point of a layer, such as NAME/t0000.
func (d *dataset) findPoint(name, point string) (volume.Layer, string, error) {
	if d.knownPoints(name) == nil {
		if _, reason, err := d.find(name); reason != severalVolumes {
			return nil, "the name cannot be that of a directory entry", err
		}
	}
	if !slices.Contains(d.knownPoints(name), point) {
		return nil, "no such volume", nil
	}
	l := newLayer(d.fsys, path.Join(d.dir, name), d.dir, d.props.layer(name), d.props.scale(), d.o)
	l.point = point
	return l, "", nil
}

// foreign opens a layer of another data format that has a description of its own, as find does.
func (d *dataset) foreign(props *LayerProperties, dir string) (l volume.Layer, reason string, err error) {
	reason = "data format " + jsonlimit.Abbreviate(props.DataFormat)
	if d.o.Foreign == nil {
		return nil, reason, nil
	}
	if !isDir(d.fsys, dir) && len(props.Mags) > 0 { // the path of a mag is below that of the layer
		if p, ok := localPath(props.Mags[0].Path); ok {
			dir = path.Dir(path.Join(d.dir, p))
		}
	}
	l, err = d.o.Foreign(props.DataFormat, d.fsys, dir)
	switch {
	case err == nil:
		return l, "", nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, reason, nil
	case inconclusive(err):
		return nil, fmt.Sprintf("%s: %v", reason, err), err
	}
	return nil, fmt.Sprintf("%s: %v", reason, err), nil
}

// Files returns a file system with only the metadata file.
func (d *dataset) Files() fs.FS { return metadata{d.fsys, d.dir} }

// metadata is an fs.FS with the metadata file of a dataset, if there is one, and nothing else.
type metadata struct {
	fsys fs.FS
	dir  string
}

func (m metadata) Open(name string) (fs.File, error) {
	if name != PropertiesFile {
		return nil, notExist("open", name)
	}
	file := path.Join(m.dir, name)
	f, _, err := vfs.OpenRegular(m.fsys, file)
	return f, vfs.CheckAbsent(m.fsys, m.dir, file, err)
}

// Stat does not open the file: some sources describe a path with fewer permissions than its file has.
func (m metadata) Stat(name string) (fs.FileInfo, error) {
	if name != PropertiesFile {
		return nil, notExist("stat", name)
	}
	return fs.Stat(m.fsys, path.Join(m.dir, name))
}

func (m metadata) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, notExist("readdir", name)
	}
	info, err := fs.Lstat(m.fsys, path.Join(m.dir, PropertiesFile))
	if err != nil {
		return nil, nil
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}
