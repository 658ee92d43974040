package object

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// FS is the objects of a bucket as a read-only file system. A directory is a common prefix of keys. Keys that are not
// valid paths have no file.
//
// What a listing or a request has shown about a name is valid for a second, or for 20 times as long as the answer took,
// up to a minute. So is absence. A file is opened in the version that is known, even if that is older, because each
// read names its version: if the object has changed, the read fails with vfs.ErrChanged, and the next open finds the
// new version. FS is safe for concurrent use.
type FS struct {
	b     Bucket
	id    string // the identity of the bucket
	facts *facts
	spans chan struct{} // has an item for each span of a large directory that is read ahead
	names int64         // most names in an answer to a listing: maxNames, or less in tests
}

var (
	_ fs.StatFS         = (*FS)(nil)
	_ fs.ReadDirFS      = (*FS)(nil)
	_ vfs.ListFS        = (*FS)(nil)
	_ vfs.DescribeFS    = (*FS)(nil)
	_ vfs.KindChecker   = (*FS)(nil)
	_ vfs.SpeedReporter = (*FS)(nil)
)

// Options are the options of an [FS].
type Options struct {
	// TTL is how long answers about objects, and listings, are valid at least. Zero means a second.
	TTL time.Duration
}

// NewFS returns the objects of a bucket as a file system.
func NewFS(b Bucket, o Options) *FS {
	// The indexes of nginx and Apache leave out names that start with ".", such as .zarray.
	isWeb := strings.HasPrefix(b.URL(), "http")
	return &FS{b, b.Identity(), newFacts(isWeb, cmp.Or(o.TTL, ttl.Least)), make(chan struct{}, maxSpans), maxNames}
}

// Speed implements [vfs.SpeedReporter]: stores always answer late.
func (f *FS) Speed() vfs.Speed { return vfs.Speed{Late: true} }

// ChecksKind implements [vfs.KindChecker]: there are only files and directories.
func (f *FS) ChecksKind() bool { return true }

// Open opens a file or a directory. A file is an [io.ReaderAt] and a [vfs.ContextReaderAt]. To open a file that was
// described needs no request.
func (f *FS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	found, ok := f.facts.described(name)
	if !ok {
		var err error
		if found, err = f.resolve(context.Background(), name, toOpen); err != nil {
			return nil, pathError("open", name, err)
		}
	}
	switch found.kind {
	case file:
		return newFile(f, name, found.Object), nil
	case directory:
		return &dir{f: f, name: name}, nil
	}
	return nil, pathError("open", name, fs.ErrNotExist)
}

// Stat describes a file or a directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	found, err := f.resolve(context.Background(), name, toDescribe)
	if err == nil && found.kind == absent {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return f.newInfo(name, found), nil
}

// pathError adds a path of the file system to an error.
func pathError(op, name string, err error) error {
	var already *fs.PathError
	if errors.As(err, &already) {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// ReadDir lists a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	for batch, err := range f.List(name) {
		if all = append(all, batch...); err != nil {
			return all, err
		}
	}
	vfs.SortByName(all)
	return all, nil
}

// List implements [vfs.ListFS].
func (f *FS) List(name string) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		for batch, err := range f.batches(name, vfs.BatchSize) {
			sorted := f.newEntries(batch)
			vfs.SortByName(sorted)
			if !yield(sorted, err) {
				return
			}
		}
	}
}

// newEntries returns facts about the names in a directory as its entries, in memory that they share.
func (f *FS) newEntries(batch []fact) []fs.DirEntry {
	all, found := make([]entry, len(batch)), make([]fs.DirEntry, len(batch))
	for i, b := range batch {
		all[i] = entry{f, b}
		found[i] = &all[i]
	}
	return found
}

// describedSize is the largest number of entries that Describe yields at once.
const describedSize = 1024

// Describe implements [vfs.DescribeFS]. It needs no request for an entry, unless the store lists names only. To open
// what it yields needs no request either, as long as the object has that version.
func (f *FS) Describe(name string, wanted func(name string) bool) iter.Seq2[[]vfs.Described, error] {
	return func(yield func([]vfs.Described, error) bool) {
		for batch, err := range f.batches(name, describedSize) {
			var found []vfs.Described
			for _, listed := range batch {
				if base := path.Base(listed.Key); wanted(base) {
					found = append(found, vfs.Described{DirEntry: &entry{f, listed}})
				}
			}
			f.describeAll(found, f.facts.describeAll(name))
			if (len(found) > 0 || err != nil) && !yield(found, err) {
				return
			}
		}
	}
}

// describeAll sets the attributes of entries, many at a time if they need requests.
func (f *FS) describeAll(found []vfs.Described, kept bool) {
	var asked []*vfs.Described
	for i := range found {
		e := found[i].DirEntry.(*entry)
		if !e.found.complete() {
			asked = append(asked, &found[i])
			continue
		}
		if !kept {
			f.facts.describe(e.found.Key, e.found)
		}
		found[i].Info = f.newInfo(e.found.Key, e.found)
	}
	for range parallel.Each(asked, func(d *vfs.Described) struct{} {
		name := d.DirEntry.(*entry).found.Key
		o, err := f.b.Head(context.Background(), name)
		if err != nil {
			d.Err = pathError("stat", name, err)
			return struct{}{}
		}
		f.facts.describe(name, fact{o, file})
		d.Info = f.newInfo(name, fact{o, file})
		return struct{}{}
	}) {
	}
}

// batches yields the entries of a directory in batches of size: those that are valid, or else a new listing. A
// directory without entries does not exist, unless it is the root.
func (f *FS) batches(name string, size int) iter.Seq2[[]fact, error] {
	return func(yield func([]fact, error) bool) {
		if !fs.ValidPath(name) {
			yield(nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid})
			return
		}
		f.listAhead(name)
		l, err := f.list(context.Background(), name)
		switch {
		case err != nil:
			yield(nil, pathError("readdir", name, err))
		case l.err != nil:
			yield(nil, pathError("readdir", name, l.err))
		case l.entries == nil:
			f.stream(name, l.first, size, yield)
		case len(l.entries) == 0 && name != ".":
			yield(nil, f.noDirectory(name))
		default:
			for batch := range slices.Chunk([]fact(l.entries), size) {
				if !yield(batch, nil) {
					return
				}
			}
		}
	}
}

// stream yields the entries of a directory with too many to keep them, as the store lists them. known is the first of
// them, or nil. What it yields first is kept: programs such as ls ask for the attributes of what they list.
func (f *FS) stream(name string, known []Object, size int, whole func([]fact, error) bool) {
	var batch []fact
	start, streamed := time.Now(), 0
	yield := func(batch []fact, err error) bool {
		if streamed < maxStreamed {
			f.facts.recordAll(batch, start)
			streamed += len(batch)
		}
		return whole(batch, err)
	}
	for objects, err := range f.answers(name, known) {
		for _, o := range objects {
			found, ok := factOf(prefixOf(name), o)
			if !ok {
				continue
			}
			if batch = append(batch, found); len(batch) == size {
				if !yield(batch, nil) {
					return
				}
				batch = nil
			}
		}
		if err != nil {
			yield(batch, pathError("readdir", name, err))
			return
		}
	}
	if len(batch) > 0 {
		yield(batch, nil)
	}
}

// noDirectory returns the error for listing a name that has nothing below it.
func (f *FS) noDirectory(name string) error {
	found, err := f.resolve(context.Background(), name, toOpen)
	switch {
	case err != nil:
		return pathError("readdir", name, err)
	case found.kind == file:
		return pathError("readdir", name, syscall.ENOTDIR)
	}
	return pathError("readdir", name, fs.ErrNotExist)
}

// prefixOf returns the prefix of the keys in a directory.
func prefixOf(name string) string {
	if name == "." {
		return ""
	}
	return name + "/"
}

// dirOf returns the directory whose prefix this is.
func dirOf(prefix string) string {
	if prefix == "" {
		return "."
	}
	return prefix[:len(prefix)-1]
}

// factOf returns what a listing says about a name in a directory. ok is false if the key is no valid path.
func factOf(prefix string, o Object) (found fact, ok bool) {
	base, ok := strings.CutPrefix(o.Key, prefix)
	plain, isDir := strings.CutSuffix(base, "/")
	if !ok || plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "/\x00") {
		return fact{}, false
	}
	found = fact{Object: o, kind: file}
	if isDir {
		found.kind, found.Key = directory, o.Key[:len(o.Key)-1]
	}
	return found, true
}

// Kinds of names.
const (
	absent = iota
	file
	directory
)

// fact is what is known about a name.
type fact struct {
	Object
	kind int
}

// complete reports whether all attributes are known.
func (k fact) complete() bool { return k.kind != file || k.Size >= 0 }

// contradicts reports whether two facts about a name cannot both be true at a time.
func (k fact) contradicts(o fact) bool {
	return k.complete() && o.complete() && (k.kind != o.kind || k.Size != o.Size || k.Version != o.Version)
}
