package view

import (
	"io/fs"
	"iter"
	"log/slog"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Options configures an FS.
type Options struct {
	// Cache keeps decoded blocks. Nil means a cache that keeps none.
	Cache *cache.Cache
	// Log receives faults of the source that no call returns. Nil discards them.
	Log *slog.Logger
	// Private means that only the user of this process reads the tree. Then files that are made of several cubes need
	// no permissions that hold for all of them.
	Private bool
	// Unit is the unit of lengths in headers. If it is empty, each format has its own.
	Unit header.Unit
	// HideBlocks leaves the directories of blocks out of listings, for clients that walk trees by themselves. They are
	// still found by name.
	HideBlocks bool
	// DurableVersions gives files of a whole mag the same version in all processes, as files of one cube have, while
	// the source is the same. It takes a stat of the metadata for each snapshot.
	DurableVersions bool
}

// FS presents a source as a tree of files. It implements fs.StatFS and fs.ReadDirFS. Its files implement io.ReaderAt,
// io.Seeker and vfs.ContextReaderAt. Owners, times and permissions are those of the source, without write permission.
// All methods may be called by several goroutines at once.
type FS struct {
	root      directory
	log       *slog.Logger
	prefetch  *prefetch.Prefetcher
	snapshots snapshots
	levels    levelCache
	times     timesCache
	limits    limits

	hideBlocks bool // see Options
}

var (
	_ fs.StatFS    = (*FS)(nil)
	_ fs.ReadDirFS = (*FS)(nil)
	_ vfs.ListFS   = (*FS)(nil)
)

// New returns the tree of a source. The caller may close the source when it no longer uses the tree and its files.
func New(root volume.Root, o Options) *FS { return newFS(root, o, usual) }

func newFS(root volume.Root, o Options, l limits) *FS {
	if o.Cache == nil {
		o.Cache = noCache()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := prefetch.New(o.Cache)
	f := &FS{log: o.Log, prefetch: p, limits: l, hideBlocks: o.HideBlocks}
	f.times.last = lru.New[string, *timesState](l.times)
	f.levels.last = lru.New[levelKey, foundLevel](l.levels)
	f.snapshots = snapshots{
		prefetch: p, shared: !o.Private, unit: o.Unit, durable: o.DurableVersions, column: l.column,
		last: lru.New[volume.Mag, *snapshot](l.cubes),
	}
	f.root = f.rootDir(root)
	return f
}

func (f *FS) rootDir(root volume.Root) directory {
	switch {
	case root.Dataset != nil:
		return datasetDir{f, root.Dataset}
	case root.Layer != nil:
		return layerDir{f, "", root.Layer, nil}
	case root.Mag != nil:
		return magDir{f, "", root.Mag}
	}
	return singleDir{f, root.Cube}
}

// noCache returns a cache that keeps nothing, the same one for all trees.
var noCache = sync.OnceValue(func() *cache.Cache { return cache.New(0) })

// A node is an entry of the tree. A node may exist without its entry: stat, list and open return fs.ErrNotExist then.
type node interface {
	stat() (fs.FileInfo, error)
}

type directory interface {
	node
	// list yields the entries that exist, in any order. Entries that are few come first. An error is the last item.
	list(yield func(entry, error) bool)
	// child returns the node of a name. It returns fs.ErrNotExist if there cannot be such an entry.
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
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		var err error
		if n, err = dir.child(part); err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return n, nil
}

// Stat describes an entry. It opens no cube.
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

// Open opens a file or a directory. A file shows the source as it is now. If the source changes later, reads return the
// old voxels or fail with vfs.ErrChanged.
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
		opened, err = openDir(n)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return opened, nil
}

// ReadDir lists a directory, sorted by name. Large directories take less memory with List.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	for batch, err := range f.List(name) {
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = batch
			continue
		}
		all = append(all, batch...)
	}
	vfs.SortByName(all)
	return all, nil
}

// List implements vfs.ListFS.
func (f *FS) List(name string) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		n, err := f.find("readdir", name)
		if err != nil {
			yield(nil, err)
			return
		}
		dir, ok := n.(directory)
		if !ok {
			yield(nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir})
			return
		}
		for batch, err := range batches(dir, vfs.BatchSize) {
			if err != nil {
				err = &fs.PathError{Op: "readdir", Path: name, Err: err}
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}
