package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/volume"
)

// fieldLayers are the layers of a field of a plate, by their paths in the field: its image is "", or t0000 and so on if
// it has several times; other images of the group have their names; labels are labels/NAME.
type fieldLayers struct {
	all    []chunked.NamedLayer
	faults map[string]error // of images and labels that cannot be read
	read   time.Time
}

// retryFaults is how long a field counts as read if a part of it could not be read: the source may have had a fault for
// a moment.
const retryFaults = 10 * time.Second

// isStale reports whether the field should be read again.
func (f *fieldLayers) isStale() bool {
	faulty := len(f.faults) > 0
	for _, l := range f.all {
		faulty = faulty || len(l.Layer.(*chunked.Layer).Left) > 0
	}
	return faulty && time.Since(f.read) > retryFaults
}

// field opens the images and the labels of a group. What cannot be read is a fault of its own.
func (n *node) field() *fieldLayers {
	f := &fieldLayers{faults: map[string]error{}, read: time.Now()}
	all, err := images(n.ome())
	if err == nil && len(all) == 0 {
		err = errors.New("no multiscales")
	}
	if err != nil {
		f.faults[""] = inFile(path.Join(n.dir, n.file), err)
	}
	for i, o := range all {
		m, err := parseMultiscale(o)
		name := ""
		if i > 0 {
			name = imageName(m, i)
		}
		var layers []chunked.NamedLayer
		if err == nil {
			layers, err = n.image(m, "color")
		} else {
			err = inFile(path.Join(n.dir, n.file), err)
		}
		f.add(name, layers, err)
	}
	for _, name := range n.labels() {
		label, err := readNode(n.fsys, path.Join(n.dir, labelsDir, name))
		var layers []chunked.NamedLayer
		if err == nil {
			layers, err = label.label()
		}
		f.add(path.Join(labelsDir, name), layers, err)
	}
	return f
}

// add adds an image with its times, or a fault in its place.
func (f *fieldLayers) add(name string, layers []chunked.NamedLayer, err error) {
	if err == nil && (f.faults[name] != nil || f.has(name) && name != "") {
		err = errors.New("another image has this name")
	}
	if err != nil {
		f.faults[name] = err
		return
	}
	for _, l := range layers {
		f.all = append(f.all, chunked.NamedLayer{Name: path.Join(name, l.Name), Layer: l.Layer})
	}
}

// names yields the paths of layers and of faults.
func (f *fieldLayers) names(yield func(string) bool) {
	for _, l := range f.all {
		if !yield(l.Name) {
			return
		}
	}
	for name := range f.faults {
		if !yield(name) {
			return
		}
	}
}

// mags returns the number of mags of all layers.
func (f *fieldLayers) mags() (n int) {
	for _, l := range f.all {
		n += len(l.Layer.(*chunked.Layer).List)
	}
	return n
}

// layer returns a layer. The error of a directory of layers is fs.ErrNotExist.
func (f *fieldLayers) layer(name string) (volume.Layer, error) {
	if err := f.faults[name]; err != nil {
		return nil, fmt.Errorf("field: %w", err)
	}
	for _, l := range f.all {
		if l.Name == name {
			return l.Layer, nil
		}
	}
	return nil, notExist(name)
}

// has reports whether a path is that of a layer, of a fault, or of a directory of them.
func (f *fieldLayers) has(name string) bool {
	for at := range f.names {
		if at == name || strings.HasPrefix(at, name+"/") {
			return true
		}
	}
	return false
}

// list returns the names in a directory of layers, sorted.
func (f *fieldLayers) list(dir string) (names []string, err error) {
	prefix := dir + "/"
	if dir == "" {
		prefix = ""
	}
	for at := range f.names {
		rest, ok := strings.CutPrefix(at, prefix)
		if first, _, _ := strings.Cut(rest, "/"); ok && first != "" {
			names = append(names, first)
		}
	}
	if len(names) == 0 {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
