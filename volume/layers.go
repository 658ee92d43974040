package volume

import (
	"errors"
	"io/fs"
	"iter"
	"path"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// LayerTree is a Dataset whose layers lie in directories of their own, such as the fields of a plate in ROW/COLUMN.
// Their names are slash-separated paths. It lists one directory without reading the others: Layers would have to find
// all layers first.
type LayerTree interface {
	// StatLayers describes a directory of layers, or a layer. If there is none of that path, the error is
	// fs.ErrNotExist.
	StatLayers(dir string) (fs.FileInfo, error)
	// ListLayers returns the names in a directory of layers that exist now: those of layers, and of other such
	// directories. The dataset is "". A layer may be such a directory, too. If the path is none, the error is
	// fs.ErrNotExist.
	ListLayers(dir string) ([]string, error)
}

// EachLayer yields the names of the layers of a dataset. For a [LayerTree], it finds them while it yields them, and an
// error comes with the path of the directory that cannot be listed, or of the layer that cannot be opened. Otherwise an
// error of Layers is the last item.
func EachLayer(d Dataset) iter.Seq2[string, error] {
	if t, ok := d.(LayerTree); ok {
		return func(yield func(string, error) bool) { eachBelow(d, t, "", true, yield) }
	}
	return func(yield func(string, error) bool) {
		names, err := d.Layers()
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

// eachBelow yields the layers in a directory of layers. It opens several layers at a time. It returns false if yield
// does. isSound is false if an error of the directory was yielded.
func eachBelow(d Dataset, t LayerTree, dir string, isSound bool, yield func(string, error) bool) bool {
	names, err := t.ListLayers(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true // a layer, or removed
	}
	open := func(name string) error {
		_, err := d.Layer(path.Join(dir, name))
		return err
	}
	for name, err := range parallel.Each(names, open) {
		at := path.Join(dir, name)
		if !errors.Is(err, fs.ErrNotExist) && !yield(at, err) {
			return false
		}
		if !eachBelow(d, t, at, err == nil || errors.Is(err, fs.ErrNotExist), yield) {
			return false
		}
	}
	return err == nil || !isSound || yield(dir, err)
}
