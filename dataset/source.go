// Package dataset opens what lies at a path or a URL: a dataset, a layer, a mag, a cube file or a
// Precomputed volume. It recognises the format, opens the directories and stores that the source
// consists of, and measures how they answer.
package dataset

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/object"
	"github.com/wkwfs/wkwfs/internal/paths"
	"github.com/wkwfs/wkwfs/internal/remote"
	"github.com/wkwfs/wkwfs/internal/store"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// Options say how to read a source.
type Options struct {
	// FollowLinks follows links and paths that lead out of the source.
	FollowLinks bool
	// Shared says that other users than that of this process will reach the source through it. Then files have the
	// permissions of users who may search the directories on the way to them, too: see [store.Dir.Guard].
	Shared bool
	// Depth is how many requests may be in flight while the source is late. Zero means
	// [store.DefaultDepth].
	Depth int
	// Remote says how to reach object stores. Its Depth and Log are not used.
	Remote remote.Options
	// Wrap returns a bucket that stands before one of the source, such as a disk cache. Nil means none.
	Wrap func(object.Bucket) (object.Bucket, error)
	// Log gets warnings about metadata and stores. Nil means none.
	Log *slog.Logger
}

// Source is an open source. It is never closed.
type Source struct {
	volume.Root
	directories
}

// Open opens the source at the path or the URL. Unless the options allow it, nothing outside the path can
// be reached through the result. One thing outside is read here, once: the metadata of the
// dataset that the path lies in.
func Open(path string, o Options) (*Source, error) {
	o.Depth = cmp.Or(o.Depth, store.DefaultDepth)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if paths.IsURL(path) {
		return openRemote(path, o)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
	}
	s := &Source{directories: directories{options: o, opened: map[string]*store.Scheduled{}}}
	fsys, err := s.open(dir)
	if err != nil {
		return nil, err
	}
	if s.Root, err = s.recognise(fsys, path, name, o.Log); err != nil {
		err = s.explain(fsys, path, err)
		fsys.Close()
		return nil, err
	}
	return s, nil
}

// ErrNotRecognised is the error of a path where no format is found.
var ErrNotRecognised = errors.New("not a WKW, Zarr, N5 or Precomputed dataset, layer, mag or cube file")

// explain adds the path to an error of recognise, and a hint if there is no source at the path.
func (d *directories) explain(fsys fs.FS, path string, err error) error {
	if info, stat := fs.Stat(fsys, baseOf(path)); stat == nil && info.Mode().IsRegular() && filepath.Ext(path) != ".wkw" {
		return hint.Errorf("a file that is a SOURCE is a .wkw file, or an archive .ozx or .zip; wkwfs import writes other files into a dataset", "%w", located(path, err))
	}
	if !errors.Is(err, wkw.ErrNotRecognised) {
		return located(path, err)
	}
	if found := d.sourcesIn(fsys, path); found != nil {
		return hint.Errorf("name a source in it: "+hint.List(found), "%s: %w", remote.Display(path), ErrNotRecognised)
	}
	return hint.Errorf("name a directory with datasource-properties.json, header.wkw, z0/y0/x0.wkw, info, .zarray, zarr.json or attributes.json in it or below it", "%s: %w", remote.Display(path), ErrNotRecognised)
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
	o := wkw.Options{
		Name:    baseOf(path),
		Parent:  d.parentsOf(path, log),
		Formats: formats,
		Foreign: d.foreign(path),
		Outside: d.outside(path),
		Log:     log,
	}
	if name != "." && isArchive(name) {
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return recogniseArchive(fsys, name)
		}
	}
	arrays, isArrays, fault := recogniseArrays(fsys, name, o)
	if isArrays && fault == nil {
		return arrays, nil
	}
	root, err := wkw.Recognise(fsys, name, o)
	switch {
	case err != nil && isArrays:
		return arrays, fault
	case !errors.Is(err, wkw.ErrNotRecognised):
		return root, err
	}
	root, other := precomputed.Recognise(fsys, name, precomputed.Options{Outside: d.outside(path)})
	if errors.Is(other, precomputed.ErrNotRecognised) {
		return root, err
	}
	return root, other
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
func (d *directories) parentsOf(path string, log *slog.Logger) func(levels int) wkw.Parent {
	parents := map[int]wkw.Parent{}
	return func(levels int) wkw.Parent {
		p, ok := parents[levels]
		if !ok {
			p = d.parentOf(path, levels, log)
			parents[levels] = p
		}
		return p
	}
}

// parentOf returns the dataset that is the given number of directories above a path.
func (d *directories) parentOf(path string, levels int, log *slog.Logger) wkw.Parent {
	var parent wkw.Parent
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
	parent.Properties, err = wkw.ReadValidProperties(fsys, ".")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("metadata of the dataset not used", "dataset", remote.Display(up), "err", err)
	}
	return parent
}
