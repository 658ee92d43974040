package dataset

import (
	"io"
	"io/fs"
	"iter"
	"path"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// Unfinished returns the names of the layers whose import is not finished, also of those that are not shown. The name
// of a layer is "" if d is that layer, or a mag of it. It looks into at most limit directories of a dataset; 0 means
// all.
func (d *Dataset) Unfinished(limit int) (names []string) {
	switch {
	case d.fsys == nil: // a file: nothing is imported into an archive
		return nil
	case d.Root.Dataset != nil:
		for name, unfinished := range parallel.EachOf(upTo(limit, d.layerNames),
			func(name string) bool { return hasJournal(d.fsys, name) }) {
			if unfinished {
				names = append(names, name)
			}
		}
		return names
	case d.Root.Layer != nil && hasJournal(d.fsys, "."), d.Root.Mag != nil && d.parentHasJournal():
		return []string{""}
	}
	return nil
}

// layerNames yields the directories of a dataset. If a store has no listings, it yields the layers that are shown.
func (d *Dataset) layerNames(yield func(string) bool) {
	for entries, err := range vfs.ListDir(d.fsys, ".") {
		for _, e := range entries {
			if !e.Type().IsRegular() && !yield(e.Name()) {
				return
			}
		}
		if err == nil || !vfs.CannotList(err) {
			continue
		}
		for name := range volume.EachLayer(d.Dataset) {
			if !yield(name) {
				return
			}
		}
	}
}

// parentHasJournal reports whether the layer of a mag has a journal. Like its dataset, it lies outside of the source.
func (d *Dataset) parentHasJournal() bool {
	fsys, err := d.openParent(dirOf(d.path))
	if err != nil {
		return false
	}
	if c, ok := fsys.(io.Closer); ok {
		defer c.Close() // read-only: an error loses no data
	}
	return hasJournal(fsys, ".")
}

// hasJournal reports whether a directory is that of a layer whose import is not finished.
func hasJournal(fsys fs.FS, dir string) bool {
	_, err := fs.Lstat(fsys, path.Join(dir, webknossos.JournalFile))
	return err == nil
}

// upTo yields the first items of a sequence; all of them if limit is 0.
func upTo(limit int, items iter.Seq[string]) iter.Seq[string] {
	if limit == 0 {
		return items
	}
	return func(yield func(string) bool) {
		n := 0
		for item := range items {
			if n++; n > limit || !yield(item) {
				return
			}
		}
	}
}
