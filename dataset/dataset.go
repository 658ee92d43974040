package dataset

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/files/filesource"
	"github.com/wkwfs/wkwfs/internal/files/hdfsource"
	"github.com/wkwfs/wkwfs/internal/files/knossos"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// Options say how to read a dataset. The zero value is useful.
type Options struct {
	// FollowLinks follows links, paths and URLs that lead out of the place that is opened.
	FollowLinks bool
	// Allow is asked before requests are sent to a URL, also to one that metadata lead to later. The URL has no
	// credentials. An error refuses it. Nil allows all URLs, as far as FollowLinks does.
	Allow func(url string) error
	// Depth is how many requests may be in flight while the source answers late. Zero means 64.
	Depth int

	// Timeout is how long requests to a URL are repeated before they fail. Zero means a minute.
	Timeout time.Duration
	// Anonymous uses no credentials for a URL.
	Anonymous bool
	// Endpoint is the URL of the server of s3://. Region is its region. By default they are found as the tools of AWS
	// find them.
	Endpoint, Region string
	// UserAgent names the program to servers.
	UserAgent string
	// DiskCache keeps what is read from URLs. Nil keeps nothing.
	DiskCache *DiskCache

	// Over is the path or URL of a dataset. What is opened must be a volume annotation of WEBKNOSSOS. Then the result
	// is the dataset, with each volume of the annotation as a layer: laid over the layer of the dataset that it names.
	Over string
	// Relabel are tables of ids, each as LAYER=FILE: an .npy file whose entry i is what id i becomes, a .csv file with
	// two ids in each line, a JSON mapping of WEBKNOSSOS, or the directory of an agglomerate attachment. Each becomes a
	// layer LAYER@NAME, where NAME is the name of the file without its suffix. FILE is a path or a URL.
	Relabel []string

	// File describes a source that is a file of voxels, as far as its header does not.
	File File

	// Formats recognise other formats than those of this package, and are tried first. name is a directory or a file in
	// fsys, "." for the directory that was opened. An error that is not [ErrNotRecognised] ends the search.
	Formats []func(fsys fs.FS, name string) (volume.Root, error)
	// Shared says that other users than that of this process will read voxels through it. Then files have the
	// permissions of users who may search the directories on the way to them, too.
	Shared bool
	// Log gets warnings about metadata and stores. Nil means none.
	Log *slog.Logger
}

// Dataset is an open dataset, or a part of one that was opened alone. It may be used by many goroutines at once.
type Dataset struct {
	// Dataset has what was opened. If that is a layer, a mag or a cube file, it is a dataset of one layer, which has
	// the last element of the path as its name. See [volume.Root.AsDataset].
	volume.Dataset
	// Root says what was opened.
	Root volume.Root

	directories
	path string // or URL
}

// Open opens what lies at a path or a URL. Unless the options allow it, nothing outside of it can be reached through
// the result. One thing outside is read here, once: the metadata of the dataset that the path lies in.
//
// If ctx is done before Open returns, requests to a URL end, and the error is that of ctx. Later, ctx has no effect. A
// local file system that does not answer cannot be interrupted.
func Open(ctx context.Context, path string, o Options) (*Dataset, error) {
	d := &Dataset{}
	d.init(o)
	stop := context.AfterFunc(ctx, guard.Func("dataset.opening", func() {
		defer func() { d.end(context.Cause(ctx)) }()
		guard.Pass("dataset.opening")
	}))
	var err error
	if path, d.inside = paths.CutArchive(path); paths.IsURL(path) {
		d.Root, err = d.openRemote(path)
	} else if path, err = filepath.Abs(path); err == nil {
		d.Root, err = d.openLocal(path)
	}
	if !stop() { // what failed then was perhaps taken for absent
		err = context.Cause(ctx)
	}
	if err != nil {
		d.Close() // read-only: nothing can be lost
		return nil, err
	}
	d.Dataset, d.path = d.Root.AsDataset(baseOf(path)), path
	return d, nil
}

// Volumes returns nil if no volume annotation was opened. Else it has the name of the layer that each volume lies over,
// by the name of the volume; it is "" for a volume that lies over none. Volumes that cannot be shown are there, too.
func (d *Dataset) Volumes() map[string]string { return d.volumes }

// openLocal recognises what lies at a path.
func (d *directories) openLocal(path string) (root volume.Root, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return root, err
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
	}
	fsys, err := d.open(dir)
	if err != nil {
		return root, err
	}
	if info.IsDir() {
		d.fsys = fsys
	}
	if root, err = d.recogniseSource(fsys, path, name); err != nil {
		return root, d.explain(fsys, path, err)
	}
	return d.compose(root, fsys, name, path)
}

// ErrNotRecognised is the error of a path where no format is found.
var ErrNotRecognised = errors.New(
	"not a WKW, Zarr, N5, Precomputed or HDF5 dataset, nor an array or pictures (NPY, NRRD, MetaImage, NIfTI, MRC, TIFF, PNG, JPEG)")

// explain adds the path to an error of recognise, and a hint if there is no source at the path.
func (d *directories) explain(fsys fs.FS, path string, err error) error {
	if d.options.File != (File{}) {
		return located(path, err)
	}
	if known, ok := errors.AsType[*hint.Error](err); ok && len(known.Hint) > 0 && paths.IsArchive(path) {
		return hint.Errorf(known.Hint, "%w", located(path, known.Err))
	}
	if info, stat := fs.Stat(fsys, baseOf(path)); stat == nil && info.Mode().IsRegular() &&
		filepath.Ext(path) != ".wkw" {
		return hint.Errorf(
			"a file that is a SOURCE is a .wkw file, an archive .ozx or .zip, HDF5, a configuration of KNOSSOS, an array such as .npy, .nrrd, .nii, .mrc or .tif, or has only voxels, with --shape and --dtype", "%w", located(path, err))
	}
	if !errors.Is(err, webknossos.ErrNotRecognised) {
		return located(path, err)
	}
	if found := d.sourcesIn(fsys, path); found != nil {
		return hint.Errorf("name a source in it: "+hint.List(found), "%s: %w", remote.Display(path), ErrNotRecognised)
	}
	return hint.Errorf(
		"name a directory with datasource-properties.json, header.wkw, z0/y0/x0.wkw, info, .zarray, zarr.json or attributes.json in it or below it, or a file of HDF5, of an array or of pictures", "%s: %w", remote.Display(path), ErrNotRecognised)
}

// locatedError is an error whose text starts with the path of the source.
type locatedError struct {
	error
	text string
}

func (e *locatedError) Error() string { return e.text }
func (e *locatedError) Unwrap() error { return e.error }

// located adds the path of the source to an error. It takes the place of the name of a source that is a file.
func located(path string, err error) error {
	text := strings.TrimPrefix(err.Error(), baseOf(path)+": ")
	return &locatedError{err, remote.Display(path) + ": " + text}
}

// recognise tries one format after the other. The error is that of WKW, unless another format
// recognises the source.
func (d *directories) recognise(fsys fs.FS, path, name string, log *slog.Logger) (volume.Root, error) {
	for _, recognise := range d.options.Formats {
		if root, err := recognise(fsys, name); !errors.Is(err, ErrNotRecognised) {
			return root, err
		}
	}
	o := webknossos.Options{
		Name:    baseOf(path),
		Parent:  d.parentsOf(path, log),
		Formats: formats,
		Points:  points,
		Foreign: d.foreign(path),
		Outside: d.outside(path),
		Log:     log,
	}
	if info, err := fs.Stat(fsys, name); name != "." && err == nil && info.Mode().IsRegular() {
		return d.recogniseFile(fsys, path, name, o)
	}
	if root, ok, err := d.recogniseUnpacked(fsys, name, false, log); ok || err != nil {
		return root, err
	}
	arrays, isArrays, fault := recogniseArrays(fsys, name, o)
	if isArrays && fault == nil {
		return arrays, nil
	}
	root, err := webknossos.Recognise(fsys, name, o)
	switch {
	case err != nil && isArrays:
		return arrays, fault
	case !errors.Is(err, webknossos.ErrNotRecognised):
		return root, err
	}
	root, other := precomputed.Recognise(fsys, name, precomputed.Options{Outside: d.outside(path)})
	if !errors.Is(other, precomputed.ErrNotRecognised) {
		return root, other
	}
	root, other = knossos.Recognise(fsys, name, log)
	if !errors.Is(other, knossos.ErrNotRecognised) {
		return root, other
	}
	root, other = d.recogniseFolder(fsys, path, name, log)
	if errors.Is(other, filesource.ErrNotRecognised) {
		trees, ok, fault := d.recogniseUnpacked(fsys, name, true, log)
		if !ok || name == "." && d.sourcesIn(fsys, path) != nil {
			return root, err
		}
		return trees, fault
	}
	refused := errors.As(other, new(*volume.UnsupportedError))
	if (root.Dataset != nil || refused) && name == "." && d.sourcesIn(fsys, path) != nil {
		return volume.Root{}, err // these are more likely to be meant than a file beside them
	}
	return root, other
}

// recogniseFolder opens the files of other programs in a directory: those of HDF5 if there are any, else arrays and
// pictures.
func (d *directories) recogniseFolder(fsys fs.FS, path, name string, log *slog.Logger) (volume.Root, error) {
	root, closeFiles, err := hdfsource.RecogniseFolder(fsys, name, hdfsource.Options{Log: log})
	if errors.Is(err, hdfsource.ErrNotRecognised) {
		return filesource.Recognise(fsys, name, d.fileOptions(path, filesource.As{}, log))
	}
	if err == nil {
		d.onClose(closeFiles)
	}
	return root, err
}

// recogniseFile opens a file: an archive, a file of another program, or a cube of WKW.
func (d *directories) recogniseFile(fsys fs.FS, path, name string, o webknossos.Options) (volume.Root, error) {
	if paths.IsArchive(name) {
		return d.recogniseArchive(fsys, name, o.Log)
	}
	if annotation.IsFile(name) {
		return d.recogniseNML(fsys, name, o.Log)
	}
	if knossos.IsConfig(name) {
		return knossos.Recognise(fsys, name, o.Log)
	}
	if filepath.Ext(name) != ".wkw" {
		root, closeFile, err := hdfsource.Recognise(fsys, name, hdfsource.Options{Log: o.Log})
		if !errors.Is(err, hdfsource.ErrNotRecognised) {
			if err == nil {
				d.onClose(closeFile)
			}
			return root, err
		}
		root, err = filesource.Recognise(fsys, name, d.fileOptions(path, filesource.As{}, o.Log))
		if !errors.Is(err, filesource.ErrNotRecognised) {
			return root, err
		}
	}
	return webknossos.Recognise(fsys, name, o)
}

// maxTried is the number of entries of a directory that are tried as sources.
const maxTried = 100

// sourcesIn returns the sources in a directory that is not a source, as words for a shell.
func (d *directories) sourcesIn(fsys fs.FS, path string) []string {
	var entries []fs.DirEntry
	for first := range vfs.List(fsys, ".") {
		entries = first[:min(len(first), maxTried)]
		break
	}
	var found []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		child := join(path, e.Name())
		if _, err := d.recognise(fsys, child, e.Name(), slog.New(slog.DiscardHandler)); err == nil {
			found = append(found, hint.Quote(remote.Display(child)))
		}
	}
	return found
}

// foreign returns a function that opens those layers of a WKW dataset that have another format.
func (d *directories) foreign(dataset string) func(string, fs.FS, string) (volume.Layer, error) {
	return func(format string, fsys fs.FS, dir string) (volume.Layer, error) {
		if format != "neuroglancerPrecomputed" {
			return nil, fs.ErrNotExist
		}
		root, err := precomputed.Recognise(fsys, dir, precomputed.Options{Outside: d.outside(join(dataset, dir))})
		return root.Layer, err
	}
}

// parentsOf returns a function that calls parentOf, once for each number of levels.
func (d *directories) parentsOf(path string, log *slog.Logger) func(levels int) webknossos.Parent {
	parents := map[int]webknossos.Parent{}
	return func(levels int) webknossos.Parent {
		p, ok := parents[levels]
		if !ok {
			p = d.parentOf(path, levels, log)
			parents[levels] = p
		}
		return p
	}
}

// parentOf returns the dataset that is the given number of directories above a path.
func (d *directories) parentOf(path string, levels int, log *slog.Logger) webknossos.Parent {
	var parent webknossos.Parent
	up := path
	for range levels {
		parent.Layer, up = baseOf(up), dirOf(up)
	}
	fsys, err := d.openParent(up)
	if err != nil {
		return parent
	}
	if c, ok := fsys.(io.Closer); ok {
		defer c.Close() // read-only: an error loses no data
	}
	parent.Properties, err = webknossos.ReadValidProperties(fsys, ".")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("metadata of the dataset not used", "dataset", remote.Display(up), "err", err)
	}
	return parent
}
