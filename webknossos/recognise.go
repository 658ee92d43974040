package webknossos

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"path"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Options adds to what a source contains. All fields are optional.
type Options struct {
	// Name is the name of the source, if fsys has it as ".". A mag has its factor in its name.
	Name string
	// Parent returns the dataset that is the given number of directories above the source: 1 for a layer,
	// 2 for a mag. Without it, a layer or a mag has no metadata.
	Parent func(levels int) Parent
	// Formats open the mags of layers of other data formats, by the name of the format in the metadata.
	Formats map[string]Opener
	// Points list the volumes of an array of such a format that has other axes than x, y, z and channels, such as time.
	// Without one, layers of these arrays are left out.
	Points map[string]PointLister
	// Foreign opens a layer of a data format that is not in Formats, in directory dir. format is its name in the
	// metadata. The error for a format that Foreign does not know is fs.ErrNotExist. Without Foreign, such layers are
	// left out.
	Foreign func(format string, fsys fs.FS, dir string) (volume.Layer, error)
	// Outside opens the directory of a mag if its path in the metadata leads out of the dataset: the path is
	// absolute, contains "..", or is a URI. Without it, such mags are left out.
	Outside func(path string) (fs.FS, error)
	// Log receives warnings about damaged or missing metadata.
	Log *slog.Logger
}

// Parent is the dataset that a layer or a mag belongs to.
type Parent struct {
	Properties *Properties // of the dataset; nil if there are none
	Layer      string      // the directory of the layer, relative to the dataset
}

// ErrNotRecognised is the error for a directory or file that is not WKW.
var ErrNotRecognised = errors.New("not a WKW dataset, layer, mag or cube file")

// Recognise opens what is at name in fsys: a cube file, or the directory of a mag, a layer or a dataset.
// It finds out by the content. Metadata files need not exist.
//
// The files of fsys must be readable at any offset: see [wkw.OpenFile]. If nothing is recognised, the error is
// ErrNotRecognised.
func Recognise(fsys fs.FS, name string, o Options) (volume.Root, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Parent == nil {
		o.Parent = func(int) Parent { return Parent{} }
	}
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return volume.Root{}, err
	case !info.IsDir():
		cube, err := singleCube(fsys, name)
		return volume.Root{Cube: cube}, err
	case exists(fsys, path.Join(name, PropertiesFile)):
		return volume.Root{Dataset: newDataset(fsys, name, o)}, nil
	case isMag(fsys, name):
		return volume.Root{Mag: standaloneMag(fsys, name, o)}, nil
	case isLayer(fsys, name):
		parent := o.Parent(1)
		props := parent.Properties
		return volume.Root{Layer: newLayer(fsys, name, "", props.layer(parent.Layer), props.scale(), o)}, nil
	case hasLayer(fsys, name):
		return volume.Root{Dataset: newDataset(fsys, name, o)}, nil
	}
	for _, err := range vfs.ListDir(fsys, name) {
		if err != nil && !vfs.CannotList(err) {
			return volume.Root{}, err // the directory may be WKW, but cannot be listed
		}
	}
	return volume.Root{}, ErrNotRecognised
}

// standaloneMag opens a mag that is the source itself. Its name is its factor. Without the factor, the box and scale of
// the dataset, which are those of mag 1, cannot be used.
func standaloneMag(fsys fs.FS, dir string, o Options) *mag {
	factor, ok := volume.ParseFactor(o.Name)
	if !ok {
		return newMag(fsys, dir, volume.Factor{1, 1, 1}, nil, Scale{}, o.Log)
	}
	parent := o.Parent(2)
	props := parent.Properties
	return newMag(fsys, dir, factor, props.layer(parent.Layer), props.scale(), o.Log)
}

// singleCube opens one cube file to check its header.
func singleCube(fsys fs.FS, name string) (*volume.SingleCube, error) {
	f, err := wkw.OpenFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return &volume.SingleCube{
		Name: strings.TrimSuffix(path.Base(name), cubeSuffix),
		Grid: f.Grid(),
		Stat: func() (fs.FileInfo, error) { return fs.Stat(fsys, name) },
		Open: func() (volume.CubeFile, error) { return wkw.OpenFile(fsys, name) },
	}, nil
}

// isMag reports whether dir has a header.wkw or at least one cube file, of whatever kind. If an error leaves that open,
// it returns true: the mag must not be treated as absent, and its readers get the error.
func isMag(fsys fs.FS, dir string) bool {
	_, err := fs.Lstat(fsys, path.Join(dir, headerFile))
	if err == nil || inconclusive(err) {
		return true
	}
	for range cubeFiles(fsys, dir) {
		return true
	}
	return false
}

// inconclusive reports whether an error of the operating system leaves open if a file exists.
func inconclusive(err error) bool {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return false
	}
	switch number {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG:
		return false
	}
	return true
}

// isLayer reports whether dir has at least one mag.
func isLayer(fsys fs.FS, dir string) bool {
	found, _ := findMag(fsys, dir)
	return found
}

// findMag reports whether dir has at least one mag. It fails if dir cannot be listed.
func findMag(fsys fs.FS, dir string) (bool, error) {
	for name, err := range subdirs(fsys, dir) {
		if err != nil {
			return false, err
		}
		if _, ok := volume.ParseFactor(name); ok && isMag(fsys, path.Join(dir, name)) {
			return true, nil
		}
	}
	return false, nil
}

// hasLayer reports whether dir has at least one layer.
func hasLayer(fsys fs.FS, dir string) bool {
	for name := range subdirs(fsys, dir) {
		if isLayer(fsys, path.Join(dir, name)) {
			return true
		}
	}
	return false
}

// subdirs yields the names of the directories in dir, and of the links to directories. It leaves out links that are
// broken or lead out of the source. An error is the last item. It yields nothing if the source has no listings: then
// only the metadata tell what there is.
func subdirs(fsys fs.FS, dir string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for entries, err := range vfs.ListDir(fsys, dir) {
			for _, e := range entries {
				isLink := e.Type()&fs.ModeSymlink != 0
				if (e.IsDir() || isLink && isDir(fsys, path.Join(dir, e.Name()))) && !yield(e.Name(), nil) {
					return
				}
			}
			if err != nil && !vfs.CannotList(err) {
				yield("", err)
				return
			}
		}
	}
}

// upTo returns the names that are wanted. It fails if there are more than limit. what names them in the error.
func upTo(limit int, names iter.Seq2[string, error], dir, what string, wanted func(string) bool) (found []string,
	err error) {
	for name, err := range names {
		switch {
		case err != nil:
			return nil, err
		case !wanted(name):
			continue
		case len(found) == limit:
			return nil, fmt.Errorf("%s: expected at most %d %s, found more", dir, limit, what)
		}
		found = append(found, name)
	}
	return found, nil
}

// exists reports whether there is a file of any kind, or a link, even if it cannot be followed.
func exists(fsys fs.FS, name string) bool {
	_, err := fs.Lstat(fsys, name)
	return err == nil
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// brokenLinks lists the symbolic links in dir that cannot be followed, and why, up to maxLayers of them.
func brokenLinks(fsys fs.FS, dir string) (all []volume.Omission) {
	for entries := range vfs.ListDir(fsys, dir) {
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			if len(all) == maxLayers {
				return all
			}
			if reason := vfs.LinkFault(fsys, path.Join(dir, e.Name())); reason != "" {
				all = append(all, volume.Omission{Name: e.Name(), Reason: reason})
			}
		}
	}
	return all
}
