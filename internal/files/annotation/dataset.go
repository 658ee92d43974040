package annotation

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

var (
	_ volume.Dataset = (*Dataset)(nil)
	_ volume.Omitter = (*Dataset)(nil)

	_ volume.MetadataChecker = (*Dataset)(nil)
	_ volume.MetadataChecker = files{}
)

// Stat describes the directory of the NML file.
func (d *Dataset) Stat() (fs.FileInfo, error) { return fs.Stat(d.fsys, d.dir) }

// Layers returns the names of the volumes that have blocks.
func (d *Dataset) Layers() ([]string, error) {
	var names []string
	for _, l := range d.Volumes {
		if l.why() == nil {
			names = append(names, l.As)
		}
	}
	slices.Sort(names)
	return names, nil
}

// errNothing is the reason for a volume in which nothing was painted.
var errNothing = errors.New("the volume has no blocks: nothing was painted, or its data were left out")

// why returns why a volume is not shown alone.
func (l *Layer) why() error {
	if l.Err != nil {
		return l.Err
	}
	names, err := l.Data.Mags()
	if err == nil && len(names) == 0 {
		return errNothing
	}
	return nil
}

// Layer returns a volume.
func (d *Dataset) Layer(name string) (volume.Layer, error) {
	for _, l := range d.Volumes {
		if l.As == name && l.why() == nil {
			return l.Data, nil
		}
	}
	return nil, fmt.Errorf("layer %s: %w", name, fs.ErrNotExist)
}

// Omitted lists the volumes that cannot be shown.
func (d *Dataset) Omitted() (all []volume.Omission) {
	for _, l := range d.Volumes {
		if err := l.why(); err != nil {
			all = append(all, volume.Omission{Name: l.As, Reason: err.Error(), Fault: l.Err != nil})
		}
	}
	return all
}

// Files has the NML file, as it is, and the directory [SkeletonsDir].
func (d *Dataset) Files() fs.FS { return files{only{d.fsys, d.dir, d.file}, d.skeletons, d.leftovers} }

// CheckMetadata implements [volume.MetadataChecker].
func (d *Dataset) CheckMetadata() []error {
	return files{skeletons: d.skeletons, leftovers: d.leftovers}.CheckMetadata()
}

// SetSpacing sets the size of a voxel of mag 1, in nm, for the trees of later calls of Files. It is that of the
// dataset: that in the NML file counts only without one. No other method may be called at the same time.
func (d *Dataset) SetSpacing(nm [3]float64) {
	if s := d.skeletons; s != nil {
		d.skeletons = &skeletons{of: s.of, read: s.read, trees: s.trees, spacing: nm}
	}
}

// only is an fs.FS with one file of a directory.
type only struct {
	fsys      fs.FS
	dir, file string
}

func (o only) Open(name string) (fs.File, error) {
	if name != o.file {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return o.fsys.Open(path.Join(o.dir, name))
}

// Stat implements [fs.StatFS].
func (o only) Stat(name string) (fs.FileInfo, error) {
	if name != o.file {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fs.Stat(o.fsys, path.Join(o.dir, name))
}

// ReadDir implements [fs.ReadDirFS].
func (o only) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	info, err := o.Stat(o.file)
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}
