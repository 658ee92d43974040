// Package zipfs reads a zip archive as an [fs.FS], such as a zipped OME-Zarr (.ozx) or Zarr (.zarr.zip). Files that
// are stored without compression, as usual in such archives, are read at any offset. [OpenWhole] also reads deflated
// files: it unpacks a file when it is opened.
//
// The specification is APPNOTE.TXT of PKWARE. Checksums of entries are verified only when they are read as a whole.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - An array or a group in an archive reads as in a directory, with the permissions of the archive. After a change
//     of the archive, reads are errors until it is mounted again. An archive with a path twice, or with one that leads
//     out, is refused.
//     `TestArchive`, `TestArchives`, `TestArchiveErrors`, `TestRefused`, `TestExtents`, `TestChanged`,
//     `TestAgreesWithZip`, `TestZip64`
//   - A zip archive takes memory for 1.1 times its directory, and time in proportion to it. Archives with a
//     directory of more than 256 MiB, and paths of more than 4,096 bytes, are refused.
//     `TestManyDirectories`, `TestManyShortNames`, `TestLimits`
package zipfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// FS is an open archive. Files and directories have the owner, the permissions and the time that the archive has now.
// When the archive is changed or replaced, everything fails with vfs.ErrChanged: the offsets of its entries are those
// of the old one.
type FS struct {
	fsys    fs.FS // that has the archive
	name    string
	archive fs.File
	info    fs.FileInfo // of the archive when it was opened
	index   *index
	whole   *Whole // nil: files are read where they are
}

// node is a file or a directory.
type node struct {
	name  string  // the last element of the path
	entry *record // nil for a directory
}

var (
	_ fs.ReadDirFS      = (*FS)(nil)
	_ fs.StatFS         = (*FS)(nil)
	_ vfs.SpeedReporter = (*FS)(nil)
)

// Open opens an archive, which must be an [io.ReaderAt]. The memory is at most 1.1 times the directory of the archive,
// which has up to 256 MiB. An archive is refused if it has a path twice, a path that leads out of it or is longer than
// 4,096 bytes, or a file and a directory of the same name.
func Open(fsys fs.FS, name string) (*FS, error) { return openWithin(fsys, name, usual) }

func openWithin(fsys fs.FS, name string, l limits) (*FS, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	a := &FS{fsys: fsys, name: name, archive: f, info: info}
	if err := a.readDirectory(l); err != nil {
		f.Close() // read-only: nothing can be lost
		return nil, err
	}
	return a, nil
}

// readDirectory reads the directory of the archive.
func (a *FS) readDirectory(l limits) (err error) {
	r, ok := a.archive.(io.ReaderAt)
	if !ok {
		return &fs.PathError{Op: "readat", Path: a.name, Err: fs.ErrInvalid}
	}
	if a.index, err = readIndex(r, a.info.Size(), l); err != nil {
		return &volume.FormatError{File: a.name, Part: "zip directory", Offset: -1, Err: err}
	}
	return a.index.check(a.name)
}

// node returns the file or the directory at a valid path, or nil.
func (a *FS) node(name string) *node {
	n := &node{name: path.Base(name), entry: a.index.file(name)}
	if n.entry == nil && !a.index.isDir(name) {
		return nil
	}
	return n
}

// stat returns the attributes of the archive. They may have other permissions than before, but must be of the same
// content. What is in an archive that is gone is not absent, because then it would read as zeros: it has changed.
func (a *FS) stat() (fs.FileInfo, error) {
	now, err := fs.Stat(a.fsys, a.name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (now.Size() != a.info.Size() ||
		!now.ModTime().Equal(a.info.ModTime())) {
		err = vfs.ErrChanged
	}
	return now, err
}

// find returns the node at a path and its attributes.
func (a *FS) find(op, name string) (*node, info, error) {
	if !fs.ValidPath(name) {
		return nil, info{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	archive, err := a.stat()
	n := a.node(name)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, info{}, &fs.PathError{Op: op, Path: path.Join(a.name, name), Err: err}
	}
	return n, info{archive, n}, nil
}

// Stat implements [fs.StatFS].
func (a *FS) Stat(name string) (fs.FileInfo, error) {
	_, info, err := a.find("stat", name)
	if err != nil {
		return nil, err
	}
	return info, nil
}

// ReadDir implements [fs.ReadDirFS].
func (a *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	_, found, err := a.find("readdir", name)
	if err == nil {
		err = vfs.CheckKind(name, found, fs.ModeDir)
	}
	if err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	a.index.children(name, func(n *node) bool {
		entries = append(entries, fs.FileInfoToDirEntry(info{found.FileInfo, n}))
		return true
	})
	vfs.SortByName(entries)
	return entries, nil
}

// Speed implements [vfs.SpeedReporter].
func (a *FS) Speed() vfs.Speed { return vfs.SpeedOf(a.fsys) }

// Roots returns the directories in which an array or a group may lie: the archive, or else its only directory.
func (a *FS) Roots() []string {
	var top []*node
	a.index.children(".", func(n *node) bool {
		top = append(top, n)
		return len(top) < 2
	})
	if len(top) == 1 && top[0].entry == nil {
		return []string{".", top[0].name}
	}
	return []string{"."}
}

// Files yields the paths of the files, in the order of their bytes.
func (a *FS) Files(yield func(string) bool) {
	for i := range a.index.starts {
		if name := string(a.index.header(i).name()); !strings.HasSuffix(name, "/") && !yield(name) {
			return
		}
	}
}

// Close closes the archive.
func (a *FS) Close() error { return a.archive.Close() }
