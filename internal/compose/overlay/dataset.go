package overlay

import (
	"io/fs"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// Added is a layer that is added to a dataset, or why it cannot be.
type Added struct {
	Name  string
	Layer volume.Layer // nil if Err is set
	Err   error
}

// Dataset is a dataset with more layers. An added layer takes the place of one of the same name, also if it cannot be
// shown: what is below it would be taken for it.
type Dataset struct {
	volume.Dataset
	added []Added
	files fs.FS // besides those of the dataset
}

var (
	_ volume.Omitter         = (*Dataset)(nil)
	_ volume.MetadataChecker = (*Dataset)(nil)
)

// Add adds layers and files to a dataset. Files may be nil, and may be a [volume.MetadataChecker].
func Add(d volume.Dataset, added []Added, files fs.FS) *Dataset { return &Dataset{d, added, files} }

func (d *Dataset) find(name string) *Added {
	i := slices.IndexFunc(d.added, func(a Added) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &d.added[i]
}

// Layers returns the layers of the dataset, and those that are added.
func (d *Dataset) Layers() ([]string, error) {
	names, err := d.Dataset.Layers()
	if err != nil {
		return nil, err
	}
	names = slices.Clone(names)
	for _, a := range d.added {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		a := d.find(name)
		return a != nil && a.Err != nil
	}), nil
}

// Layer returns a layer.
func (d *Dataset) Layer(name string) (volume.Layer, error) {
	a := d.find(name)
	switch {
	case a == nil:
		return d.Dataset.Layer(name)
	case a.Err != nil:
		return nil, &fs.PathError{Op: "layer", Path: name, Err: fs.ErrNotExist}
	}
	return a.Layer, nil
}

// Omitted lists the layers that cannot be shown.
func (d *Dataset) Omitted() (all []volume.Omission) {
	if o, ok := d.Dataset.(volume.Omitter); ok {
		all = slices.Clone(o.Omitted())
	}
	for _, a := range d.added {
		if a.Err != nil {
			all = append(all, volume.Omission{Name: a.Name, Reason: a.Err.Error(), Fault: true})
		}
	}
	return all
}

// CheckMetadata implements [volume.MetadataChecker].
func (d *Dataset) CheckMetadata() (all []error) {
	for _, of := range []any{d.Dataset, d.files} {
		if c, ok := of.(volume.MetadataChecker); ok {
			all = append(all, c.CheckMetadata()...)
		}
	}
	return all
}

// Files returns the files of the dataset, and those that are added.
func (d *Dataset) Files() fs.FS {
	if d.files == nil {
		return d.Dataset.Files()
	}
	return both{d.Dataset.Files(), d.files}
}

// both is the files of two file systems. Those at the top of the first one win.
type both [2]fs.FS

func (b both) Open(name string) (fs.File, error) {
	f, err := b[0].Open(name)
	if err != nil {
		if f, second := b[1].Open(name); second == nil {
			return f, nil
		}
	}
	return f, err
}

// Stat implements [fs.StatFS].
func (b both) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(b[0], name)
	if err != nil {
		if info, second := fs.Stat(b[1], name); second == nil {
			return info, nil
		}
	}
	return info, err
}

// ReadDir implements [fs.ReadDirFS].
func (b both) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(b[0], name)
	if err != nil && name != "." {
		return fs.ReadDir(b[1], name)
	}
	if err != nil {
		return nil, err
	}
	more, err := fs.ReadDir(b[1], name)
	for _, e := range more {
		if !slices.ContainsFunc(all, func(o fs.DirEntry) bool { return o.Name() == e.Name() }) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return slices.Compare([]byte(a.Name()), []byte(b.Name())) })
	return all, err
}
