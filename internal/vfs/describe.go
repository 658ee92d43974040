package vfs

import (
	"io/fs"
	"iter"
	"path"
	"slices"
)

// Described is an entry of a directory with the result of [fs.Stat].
type Described struct {
	fs.DirEntry
	Info fs.FileInfo // of the target, if the entry is a link
	Err  error       // of fs.Stat; Info is nil
}

// DescribeFS is a file system that lists a directory with the attributes of its entries. That takes less time
// than a stat of the path of each entry.
type DescribeFS interface {
	// Describe is [Describe] for this file system.
	Describe(dir string, wanted func(name string) bool) iter.Seq2[[]Described, error]
}

// describedSize is the largest number of entries that [Describe] yields at once. Their attributes take more
// memory than their names.
const describedSize = 1024

// Describe yields the entries of a directory whose names are wanted, with their attributes, in batches of up
// to 1,024 entries, in the order of [List]. An error is the last item.
func Describe(fsys fs.FS, dir string, wanted func(name string) bool) iter.Seq2[[]Described, error] {
	if d, ok := fsys.(DescribeFS); ok {
		return d.Describe(dir, wanted)
	}
	return func(yield func([]Described, error) bool) {
		DescribeBatches(ListDir(fsys, dir), wanted, func(found []Described) {
			for i := range found {
				found[i].Info, found[i].Err = fs.Stat(fsys, path.Join(dir, found[i].Name()))
			}
		})(yield)
	}
}

// DescribeBatches yields the wanted entries of batches as [Describe] does. describe sets Info and Err.
func DescribeBatches(batches iter.Seq2[[]fs.DirEntry, error], wanted func(name string) bool,
	describe func([]Described)) iter.Seq2[[]Described, error] {
	return describeBatches(batches, describedSize, wanted, describe)
}

func describeBatches(batches iter.Seq2[[]fs.DirEntry, error], size int, wanted func(name string) bool,
	describe func([]Described)) iter.Seq2[[]Described, error] {
	return func(yield func([]Described, error) bool) {
		for batch, err := range batches {
			for part := range slices.Chunk(batch, size) {
				found := wantedOf(part, wanted)
				if describe(found); len(found) > 0 && !yield(found, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// wantedOf returns the entries whose names are wanted, without their attributes.
func wantedOf(entries []fs.DirEntry, wanted func(name string) bool) []Described {
	found := make([]Described, 0, len(entries))
	for _, e := range entries {
		if wanted(e.Name()) {
			found = append(found, Described{DirEntry: e})
		}
	}
	return found
}
