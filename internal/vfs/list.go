package vfs

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
)

// BatchSize is the largest number of entries of a directory that [List] and [Describe] yield at once.
const BatchSize = 4096

// ListFS is a file system that lists a directory without holding all of its entries in memory.
type ListFS interface {
	// List is [List] for this file system.
	List(dir string) iter.Seq2[[]fs.DirEntry, error]
}

// List yields the entries of a directory in batches. All but the last have [BatchSize] entries. Each batch is
// sorted by name. The batches are in the order of the directory. So a directory of up to BatchSize entries is
// sorted, and one of any size takes the memory of one batch. An error comes with the last batch, which may be
// empty.
func List(fsys fs.FS, dir string) iter.Seq2[[]fs.DirEntry, error] {
	if l, ok := fsys.(ListFS); ok {
		return l.List(dir)
	}
	return list(fsys, dir, BatchSize)
}

// list is List for a file system that is no ListFS, size entries at a time.
func list(fsys fs.FS, dir string, size int) iter.Seq2[[]fs.DirEntry, error] {
	if _, whole := fsys.(fs.ReadDirFS); !whole {
		return listFile(fsys, dir, size)
	}
	return func(yield func([]fs.DirEntry, error) bool) {
		entries, err := fs.ReadDir(fsys, dir)
		for ; len(entries) > size; entries = entries[size:] {
			if !yield(entries[:size], nil) {
				return
			}
		}
		if len(entries) > 0 || err != nil {
			yield(entries, err)
		}
	}
}

// CannotList reports whether the error of a listing says that the source has no listings at all, as some web servers.
// Then entries are found only by their names.
func CannotList(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// NothingListed reports whether the error of a listing says that there is no directory, and so no file in it. A server
// without listings may answer so for a directory that has files: then NothingListed returns false.
func NothingListed(err error) bool { return errors.Is(err, fs.ErrNotExist) && !CannotList(err) }

// listFile lists a directory by opening it.
func listFile(fsys fs.FS, dir string, size int) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		f, err := fsys.Open(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close() // read-only: an error loses no data
		opened, ok := f.(fs.ReadDirFile)
		if !ok {
			yield(nil, &fs.PathError{Op: "readdir", Path: dir, Err: errors.ErrUnsupported})
			return
		}
		batches(opened, size)(yield)
	}
}

// Batches yields the entries of an open directory as [List] does.
func Batches(dir fs.ReadDirFile) iter.Seq2[[]fs.DirEntry, error] { return batches(dir, BatchSize) }

func batches(dir fs.ReadDirFile, size int) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		for {
			batch, err := readBatch(dir, size)
			last := err != nil || len(batch) < size
			if errors.Is(err, io.EOF) {
				err = nil
			}
			SortByName(batch)
			if (len(batch) > 0 || err != nil) && !yield(batch, err) || last {
				return
			}
		}
	}
}

// readBatch reads size entries. With fewer, it returns the error that ended the listing, or io.EOF.
func readBatch(dir fs.ReadDirFile, size int) (batch []fs.DirEntry, err error) {
	for len(batch) < size && err == nil {
		var more []fs.DirEntry
		more, err = dir.ReadDir(size - len(batch))
		if batch == nil {
			batch = more
		} else {
			batch = append(batch, more...)
		}
		if len(more) == 0 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return batch, err
}

// SortByName sorts entries of a directory.
func SortByName(entries []fs.DirEntry) {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
}
