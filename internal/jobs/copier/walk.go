package copier

import (
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// item is a file of the source, or a directory that could not be listed.
type item struct {
	name, target string
	index        int // in the walk
	stat         func() (fs.FileInfo, error)
	err          error
	planned      bool // it existed when the part was planned, which may be long ago
}

// walk yields the files to be copied, those of a directory in the order of vfs.List.
func (c *copier) walk(name, target string, info fs.FileInfo) iter.Seq[item] {
	return func(yield func(item) bool) {
		index := 0
		yieldIndexed := func(i item) bool {
			i.index = index
			index++
			return c.ctx.Err() == nil && yield(i)
		}
		if info.IsDir() {
			c.walkDir(name, target, yieldIndexed)
			return
		}
		yieldIndexed(item{name: name, target: target, stat: func() (fs.FileInfo, error) { return info, nil }})
	}
}

func (c *copier) walkDir(name, target string, yield func(item) bool) bool {
	for entries, err := range vfs.List(c.src, name) {
		if err != nil {
			return yield(item{name: name, err: err})
		}
		if c.Select != nil {
			entries = c.Select(name, entries)
		}
		if !c.walkEntries(name, target, entries, yield) {
			return false
		}
	}
	return true
}

func (c *copier) walkEntries(name, target string, entries []fs.DirEntry, yield func(item) bool) bool {
	for _, e := range entries {
		from, to := join(name, e.Name()), join(target, e.Name())
		if e.IsDir() {
			if !c.walkDir(from, to, yield) {
				return false
			}
			continue
		}
		stat := func() (fs.FileInfo, error) { return fs.Stat(c.src, from) }
		if !yield(item{name: from, target: to, stat: stat}) {
			return false
		}
	}
	return true
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// count counts the files to be copied and their bytes. It runs beside the copy, so that progress can be shown.
func (c *copier) count(walk iter.Seq[item]) {
	size := func(i item) int64 {
		if i.err != nil {
			return -1
		}
		info, err := i.stat()
		if err != nil {
			return -1
		}
		return info.Size()
	}
	for n := range parallel.InOrder(walk, c.Depth, size) {
		if n >= 0 {
			c.Stats.FoundFiles.Add(1)
			c.Stats.FoundBytes.Add(n)
		}
	}
	c.Stats.Counted.Store(true)
}
