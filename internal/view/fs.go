package view

import (
	"io/fs"
	"log/slog"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// Options says how the tree reads its sources.
type Options struct {
	// Cache keeps decoded blocks. Nil means one that keeps nothing.
	Cache *cache.Cache
	// Log receives what is wrong with a source but has nobody to be returned to.
	Log *slog.Logger
	// Private says that nobody but the user who runs this process reads the tree, so that it does not
	// matter who may read which cube.
	Private bool
}

// FS is a source as a tree of files. It implements fs.StatFS and fs.ReadDirFS; its
// files implement io.ReaderAt, io.Seeker and vfs.ContextReaderAt, its FileInfos have
// the owner, times and permissions of the source, without write permission.
type FS struct{ root directory }

var (
	_ fs.StatFS    = (*FS)(nil)
	_ fs.ReadDirFS = (*FS)(nil)
)

// New arranges the source as files.
func New(root volume.Root, o Options) *FS {
	if o.Cache == nil {
		o.Cache = keepsNothing()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := newTree(o)
	switch {
	case root.Dataset != nil:
		return &FS{datasetDir{t, root.Dataset}}
	case root.Layer != nil:
		return &FS{layerDir{t, "", root.Layer}}
	case root.Mag != nil:
		return &FS{magDir{t, "", root.Mag}}
	}
	return &FS{singleDir{t, root.Cube}}
}

// tree is what all nodes of one FS share.
type tree struct {
	Options
	shelf    shelf
	prefetch *prefetch.Prefetcher
}

func newTree(o Options) *tree {
	p := prefetch.New(o.Cache)
	return &tree{Options: o, prefetch: p, shelf: shelf{prefetch: p, shared: !o.Private, shown: map[volume.Mag]*shown{}}}
}

// keepsNothing is the cache of all trees that are given none.
var keepsNothing = sync.OnceValue(func() *cache.Cache { return cache.New(0) })

// A node is an entry of the tree: a directory or a file. Making one costs nothing;
// whether it exists in the source shows when it is described, listed or opened.
type node interface {
	stat() (fs.FileInfo, error)
}

type directory interface {
	node
	// list returns the entries that exist, in any order.
	list() ([]fs.DirEntry, error)
	// child returns the entry of the name, fs.ErrNotExist where the name says that
	// there can be none.
	child(name string) (node, error)
}

type file interface {
	node
	open() (fs.File, error)
}

// find walks from the root to the node of a path.
func (f *FS) find(op, name string) (node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	var n node = f.root
	if name == "." {
		return n, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		dir, ok := n.(directory)
		if !ok {
			return nil, notExist(op, name)
		}
		var err error
		if n, err = dir.child(part); err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return n, nil
}

// Stat describes an entry without opening any file of the source.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	n, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := n.stat()
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info, nil
}

// Open opens a file or a directory. What is read from a file is the source as it is
// now: when it changes, reads of what has not been read before fail.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	var opened fs.File
	switch n := n.(type) {
	case file:
		opened, err = n.open()
	case directory:
		opened, err = openDir(name, n)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return opened, nil
}

// ReadDir lists a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	dir, ok := n.(directory)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	entries, err := sortedList(dir)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return entries, nil
}

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}
