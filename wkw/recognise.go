package wkw

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/volume"
)

// Options says what is known about a source beyond the directory itself.
type Options struct {
	// Name is what the source is called where its directory is known as ".".
	Name string
	// Above finds the dataset so many directories above the source: a layer lies one
	// below its dataset, a mag two. Nil where there is nothing to be found.
	Above func(levels int) Place
	// Foreign opens a layer of another data format, as the metadata calls that, in the
	// directory of the name; fs.ErrNotExist where it does not know the format. Nil
	// where none is known.
	Foreign func(format string, fsys fs.FS, dir string) (volume.Layer, error)
	// Outside opens a directory that the path of a mag in the metadata leads to when
	// that is not one in the dataset: absolute, with "..", or a URI. Nil where such
	// paths are not followed.
	Outside func(path string) (fs.FS, error)
	// Log receives warnings about what is wrong but does not stop us.
	Log *slog.Logger
}

// Place says where in a dataset a source lies.
type Place struct {
	Properties *Properties // of the dataset; nil where there is none
	Layer      string      // the name of the directory just below the dataset
}

// ErrNotRecognised says that a directory or file is nothing that WKW knows.
var ErrNotRecognised = errors.New("not a WKW dataset, layer, mag or cube file")

// Recognise finds out by its content what lies at name in fsys: a cube file or
// the directory of a mag, a layer or a dataset. Names and metadata files help
// but none is needed.
func Recognise(fsys fs.FS, name string, o Options) (volume.Root, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Above == nil {
		o.Above = func(int) Place { return Place{} }
	}
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return volume.Root{}, err
	case !info.IsDir():
		cube, err := singleCube(fsys, name)
		return volume.Root{Cube: cube}, err
	case isRegular(fsys, path.Join(name, PropertiesFile)):
		return volume.Root{Dataset: newDataset(fsys, name, o)}, nil
	case isMag(fsys, name):
		return volume.Root{Mag: soleMag(fsys, name, o)}, nil
	case isLayer(fsys, name):
		place := o.Above(1)
		props := place.Properties
		return volume.Root{Layer: newLayer(fsys, name, props.layer(place.Layer), props.scale(), o)}, nil
	case hasLayer(fsys, name):
		return volume.Root{Dataset: newDataset(fsys, name, o)}, nil
	}
	if _, err := fs.ReadDir(fsys, name); err != nil {
		return volume.Root{}, err // nothing was recognised because nothing was seen
	}
	return volume.Root{}, ErrNotRecognised
}

// soleMag is a mag that was named itself as the source. Its factor is in its name,
// if anywhere; without it the dataset's box and scale, given for mag 1, say nothing.
func soleMag(fsys fs.FS, dir string, o Options) *mag {
	factor, ok := volume.ParseFactor(o.Name)
	if !ok {
		return newMag(fsys, dir, volume.Factor{1, 1, 1}, nil, Scale{}, o.Log)
	}
	place := o.Above(2)
	props := place.Properties
	return newMag(fsys, dir, factor, props.layer(place.Layer), props.scale(), o.Log)
}

// singleCube recognises one cube file by its header.
func singleCube(fsys fs.FS, name string) (*volume.SingleCube, error) {
	f, err := OpenFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return &volume.SingleCube{
		Name: strings.TrimSuffix(path.Base(name), cubeSuffix),
		Grid: f.Grid(),
		Stat: func() (fs.FileInfo, error) { return fs.Stat(fsys, name) },
		Open: func() (volume.CubeFile, error) { return OpenFile(fsys, name) },
	}, nil
}

// isMag reports whether dir has a header.wkw or at least one cube file in its place.
// Where that cannot be told, it may well be one: it must not pass for absent, and
// whoever reads from it is told what is wrong.
func isMag(fsys fs.FS, dir string) bool {
	info, err := fs.Stat(fsys, path.Join(dir, headerFile))
	if err == nil && info.Mode().IsRegular() {
		return true
	}
	if undecided(err) {
		return true
	}
	for range cubeFiles(fsys, dir) {
		return true
	}
	return false
}

// undecided reports whether an error leaves open what there is.
func undecided(err error) bool {
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
	names, _ := subdirs(fsys, dir)
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := volume.ParseFactor(name)
		return ok && isMag(fsys, path.Join(dir, name))
	})
}

// hasLayer reports whether dir has at least one layer.
func hasLayer(fsys fs.FS, dir string) bool {
	names, _ := subdirs(fsys, dir)
	return slices.ContainsFunc(names, func(name string) bool { return isLayer(fsys, path.Join(dir, name)) })
}

// subdirs lists the directories in dir, links to directories included, sorted by
// name. Links that lead nowhere, or out of the source, are left out.
func subdirs(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 && isDir(fsys, path.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func isRegular(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// brokenLinks lists the symbolic links in dir that are not shown, and why.
func brokenLinks(fsys fs.FS, dir string) []volume.Omission {
	entries, _ := fs.ReadDir(fsys, dir)
	var all []volume.Omission
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			if why := unfollowed(fsys, path.Join(dir, e.Name())); why != "" {
				all = append(all, volume.Omission{Name: e.Name(), Reason: why})
			}
		}
	}
	return all
}

// unfollowed says why a symbolic link that is not shown is not, or nothing.
func unfollowed(fsys fs.FS, name string) string {
	_, err := fs.Stat(fsys, name)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return "a symbolic link that leads nowhere"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Sprintf("a symbolic link that is not followed: %v", err)
}
