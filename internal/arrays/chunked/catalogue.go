package chunked

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// NamedMag is a mag of a Layer.
type NamedMag struct {
	Name string
	volume.Mag
}

// NamedLayer is a layer of a Dataset.
type NamedLayer struct {
	Name string
	volume.Layer
}

// Layer is a [volume.Layer] whose mags are known.
type Layer struct {
	FS   fs.FS
	Dir  string
	List []NamedMag        // finest first
	Left []volume.Omission // what is not shown
}

var (
	_ volume.Layer   = (*Layer)(nil)
	_ volume.Omitter = (*Layer)(nil)
)

// Stat describes the directory.
func (l *Layer) Stat() (fs.FileInfo, error) { return fs.Stat(l.FS, l.Dir) }

// Mags returns the names of the mags.
func (l *Layer) Mags() ([]string, error) {
	var names []string
	for _, m := range l.List {
		names = append(names, m.Name)
	}
	return names, nil
}

// Mag returns the mag with a name.
func (l *Layer) Mag(name string) (volume.Mag, error) {
	for _, m := range l.List {
		if m.Name == name {
			return m.Mag, nil
		}
	}
	return nil, notExist("mag", name)
}

// Omitted returns what is not shown.
func (l *Layer) Omitted() []volume.Omission { return l.Left }

// Dataset is a [volume.Dataset] whose layers are known. It has no metadata files.
type Dataset struct {
	FS   fs.FS
	Dir  string
	List []NamedLayer
	Left []volume.Omission // what is not shown
}

var (
	_ volume.Dataset = (*Dataset)(nil)
	_ volume.Omitter = (*Dataset)(nil)
)

// Stat describes the directory.
func (d *Dataset) Stat() (fs.FileInfo, error) { return fs.Stat(d.FS, d.Dir) }

// Layers returns the names of the layers.
func (d *Dataset) Layers() ([]string, error) {
	var names []string
	for _, l := range d.List {
		names = append(names, l.Name)
	}
	return names, nil
}

// Layer returns the layer with a name.
func (d *Dataset) Layer(name string) (volume.Layer, error) {
	for _, l := range d.List {
		if l.Name == name {
			return l.Layer, nil
		}
	}
	return nil, notExist("layer", name)
}

// Omitted returns what is not shown.
func (d *Dataset) Omitted() []volume.Omission { return d.Left }

// Files returns a file system without files.
func (d *Dataset) Files() fs.FS { return vfs.NoFiles{} }

func notExist(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// Sort sorts the mags by their factors, finest first.
func (l *Layer) Sort() {
	size := func(m NamedMag) float64 {
		f := m.About().Factor
		return float64(f[0]) * float64(f[1]) * float64(f[2])
	}
	slices.SortStableFunc(l.List, func(a, b NamedMag) int {
		return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a.Name, b.Name))
	})
}

// Reasons returns the text of the first omissions, for an error.
func Reasons(omitted []volume.Omission) string {
	const limit = 3
	var b strings.Builder
	for _, o := range omitted[:min(len(omitted), limit)] {
		fmt.Fprintf(&b, "; %s: %s", o.Name, o.Reason)
	}
	return b.String()
}
