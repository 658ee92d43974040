// Package shown makes a source of the layers and mags of another source that a mount can show. It leaves out those
// whose names cannot be names in a mount, or are the names of something else there (package tree). Data of other
// formats may have any names.
package shown

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// In returns the root without the layers and mags that a mount cannot show. They are omitted with the reason, and the
// log has each once. A log of nil is none.
func In(root volume.Root, log *slog.Logger) volume.Root {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &hider{log: log}
	switch {
	case root.Dataset != nil:
		root.Dataset = datasetOf(root.Dataset, h)
	case root.Layer != nil:
		root.Layer = &layer{root.Layer, h, "", tree.ForRoot}
	}
	return root
}

// hider leaves names out of lists.
type hider struct {
	log    *slog.Logger
	logged sync.Map // paths
}

// from returns the names of a directory that a mount can show. whyHidden returns why it cannot show one.
func (h *hider) from(names []string, dir string, whyHidden func(name string) string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		why := whyHidden(name)
		if why == "" {
			return false
		}
		if _, logged := h.logged.LoadOrStore(path.Join(dir, name), true); !logged {
			h.log.Warn("not shown", "name", path.Join(dir, jsonlimit.Abbreviate(name)), "err", why)
		}
		return true
	})
}

// hidden returns the omissions of a layer or dataset, and of its names that a mount cannot show.
func hidden(of any, names []string, whyHidden func(name string) string) []volume.Omission {
	var all []volume.Omission
	if o, ok := of.(volume.Omitter); ok {
		all = slices.Clone(o.Omitted())
	}
	for _, name := range names {
		if why := whyHidden(name); why != "" {
			all = append(all, volume.Omission{Name: jsonlimit.Abbreviate(name), Reason: why, Fault: true})
		}
	}
	return all
}

// dataset is a dataset without the layers that a mount cannot show.
type dataset struct {
	volume.Dataset
	hider     *hider
	whyHidden func(name string) string
}

// datasetOf returns a dataset without the layers that a mount cannot show.
func datasetOf(d volume.Dataset, h *hider) volume.Dataset {
	if t, ok := d.(volume.LayerTree); ok {
		return &layerTree{&dataset{d, h, tree.WhyPathHidden}, t}
	}
	return &dataset{d, h, tree.WhyLayerHidden}
}

var (
	_ volume.Omitter         = (*dataset)(nil)
	_ volume.MetadataChecker = (*dataset)(nil)
	_ volume.Omitter         = (*layer)(nil)
)

func (d *dataset) Layers() ([]string, error) {
	names, err := d.Dataset.Layers()
	return d.hider.from(names, "", d.whyHidden), err
}

func (d *dataset) Layer(name string) (volume.Layer, error) {
	if d.whyHidden(name) != "" {
		return nil, fmt.Errorf("layer %q: %w", name, fs.ErrNotExist)
	}
	l, err := d.Dataset.Layer(name)
	if err != nil {
		return nil, err
	}
	return &layer{l, d.hider, name, tree.ForLayer}, nil
}

func (d *dataset) Omitted() []volume.Omission {
	names, _ := d.Dataset.Layers() // callers list the layers, too
	return hidden(d.Dataset, names, d.whyHidden)
}

func (d *dataset) CheckMetadata() []error {
	if c, ok := d.Dataset.(volume.MetadataChecker); ok {
		return c.CheckMetadata()
	}
	return nil
}

// layerTree is a dataset whose layers lie in directories, without those that a mount cannot show.
type layerTree struct {
	*dataset
	tree volume.LayerTree
}

var _ volume.LayerTree = (*layerTree)(nil)

func (t *layerTree) StatLayers(dir string) (fs.FileInfo, error) {
	if dir != "" && t.whyHidden(dir) != "" {
		return nil, fmt.Errorf("layer %q: %w", dir, fs.ErrNotExist)
	}
	return t.tree.StatLayers(dir)
}

func (t *layerTree) ListLayers(dir string) ([]string, error) {
	names, err := t.tree.ListLayers(dir)
	return t.hider.from(names, dir, func(name string) string { return t.whyHidden(path.Join(dir, name)) }), err
}

// Omitted returns the omissions of the dataset, and the names in its directory that a mount cannot show. The log has
// those below.
func (t *layerTree) Omitted() []volume.Omission {
	names, _ := t.tree.ListLayers("") // callers list it, too
	return hidden(t.Dataset, names, t.whyHidden)
}

// layer is a layer without the mags that a mount cannot show.
type layer struct {
	volume.Layer
	hider *hider
	name  string   // "" if it is the source
	taken []string // names that its directory has for something else
}

func (l *layer) whyHidden(name string) string { return tree.WhyHidden(name, l.taken) }

func (l *layer) Mags() ([]string, error) {
	names, err := l.Layer.Mags()
	return l.hider.from(names, l.name, l.whyHidden), err
}

func (l *layer) Mag(name string) (volume.Mag, error) {
	if l.whyHidden(name) != "" {
		return nil, fmt.Errorf("mag %q: %w", name, fs.ErrNotExist)
	}
	return l.Layer.Mag(name)
}

func (l *layer) Omitted() []volume.Omission {
	names, _ := l.Layer.Mags() // callers list the mags, too
	return hidden(l.Layer, names, l.whyHidden)
}
