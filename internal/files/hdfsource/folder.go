package hdfsource

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// maxFiles is the number of files of a folder that are shown. All of them stay open.
const maxFiles = 256

// folder is a directory of files. A layer of it has the name of its file without the suffix, and its own.
type folder struct {
	fsys   fs.FS
	dir    string
	names  []string
	layers map[string]volume.Layer
	left   []volume.Omission
}

var (
	_ volume.Dataset = (*folder)(nil)
	_ volume.Omitter = (*folder)(nil)
)

// RecogniseFolder opens the files of HDF5 in a directory as one dataset. close closes them; it is nil after an error.
// If there are none, the error is [ErrNotRecognised]. A file that cannot be opened is left out, with the reason.
func RecogniseFolder(fsys fs.FS, dir string, o Options) (root volume.Root, close func() error, err error) {
	files, err := filesIn(fsys, dir)
	if err != nil || len(files) == 0 {
		return root, nil, ErrNotRecognised
	}
	f := &folder{fsys: fsys, dir: dir, layers: map[string]volume.Layer{}}
	var closers []func() error
	for i, file := range files {
		if i == maxFiles {
			f.leaveOut(file, fmt.Errorf("%d files: expected at most %d", len(files), maxFiles))
			break
		}
		one, closeOne, err := Recognise(fsys, path.Join(dir, file), o)
		if err != nil {
			f.leaveOut(file, err)
			continue
		}
		closers = append(closers, closeOne)
		f.add(file, one.Dataset)
	}
	closeAll := func() error {
		var all []error
		for _, c := range closers {
			all = append(all, c())
		}
		return errors.Join(all...)
	}
	if slices.Sort(f.names); len(f.names) == 0 {
		return root, nil, errors.Join(fmt.Errorf("%s: no file of HDF5 has a volume%s", dir, reasons(f.left)),
			closeAll())
	}
	return volume.Root{Dataset: f}, closeAll, nil
}

// filesIn returns the names of the files of HDF5 in a directory, sorted.
func filesIn(fsys fs.FS, dir string) (names []string, err error) {
	for entries, err := range vfs.ListDir(fsys, dir) {
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if IsNamed(e.Name()) && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// leaveOut records a file that is not shown, and why.
func (f *folder) leaveOut(file string, err error) {
	f.left = append(f.left, volume.Omission{Name: file, Reason: without(path.Join(f.dir, file), err),
		Fault: isDamage(err)})
}

// add adds the layers of a file. Those of a file with the same name but for its suffix get the whole name of their
// file.
func (f *folder) add(file string, d volume.Dataset) {
	names, err := d.Layers()
	if err != nil {
		f.leaveOut(file, err)
		return
	}
	for _, name := range names {
		l, err := d.Layer(name)
		if err != nil {
			f.leaveOut(file+": "+name, err)
			continue
		}
		at := strings.TrimSuffix(file, path.Ext(file)) + "_" + name
		if f.layers[at] != nil {
			at = file + "_" + name
		}
		f.names, f.layers[at] = append(f.names, at), l
	}
	if o, ok := d.(volume.Omitter); ok {
		for _, left := range o.Omitted() {
			left.Name = file + ": " + left.Name
			f.left = append(f.left, left)
		}
	}
}

// Stat describes the directory.
func (f *folder) Stat() (fs.FileInfo, error) { return fs.Stat(f.fsys, f.dir) }

// Layers returns the names of the layers.
func (f *folder) Layers() ([]string, error) { return slices.Clone(f.names), nil }

// Layer returns the layer with a name.
func (f *folder) Layer(name string) (volume.Layer, error) {
	l, ok := f.layers[name]
	if !ok {
		return nil, fmt.Errorf("layer %s: %w", name, fs.ErrNotExist)
	}
	return l, nil
}

// Omitted returns the files and datasets that are not shown.
func (f *folder) Omitted() []volume.Omission { return f.left }

// Files returns a file system without files.
func (f *folder) Files() fs.FS { return vfs.NoFiles{} }
