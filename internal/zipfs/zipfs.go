// Package zipfs reads a zip archive as an [fs.FS], such as a zipped OME-Zarr (.ozx) or Zarr (.zarr.zip). Its files can be read at any
// offset, so they must be stored without compression, as the programs that write such archives do.
//
// The specification is APPNOTE.TXT of PKWARE. Checksums of entries are not verified: reads are of parts.
package zipfs

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// FS is an open archive. Files and directories have the owner, the permissions and the time that the archive has now. When the
// archive is changed or replaced, everything fails with vfs.ErrChanged: the offsets of its entries are those of the old one.
type FS struct {
	fsys    fs.FS // that has the archive
	name    string
	archive fs.File
	info    fs.FileInfo // of the archive when it was opened
	nodes   map[string]*node
}

// node is a file or a directory.
type node struct {
	name  string    // the last element of the path
	entry *zip.File // nil for a directory
	below []*node   // of a directory, sorted by name
}

var (
	_ fs.ReadDirFS     = (*FS)(nil)
	_ fs.StatFS        = (*FS)(nil)
	_ vfs.LateReporter = (*FS)(nil)
)

// Open opens an archive, which must be an [io.ReaderAt]. The memory is in proportion to the directory of the archive. An archive is
// refused if it has a path twice, a path that leads out of it, or a file and a directory of the same name.
func Open(fsys fs.FS, name string) (*FS, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	a := &FS{fsys: fsys, name: name, archive: f, info: info, nodes: map[string]*node{".": {name: "."}}}
	if err := a.readDirectory(); err != nil {
		f.Close() // read-only: nothing can be lost
		return nil, err
	}
	return a, nil
}

// readDirectory reads the directory of the archive.
func (a *FS) readDirectory() error {
	r, ok := a.archive.(io.ReaderAt)
	if !ok {
		return &fs.PathError{Op: "readat", Path: a.name, Err: fs.ErrInvalid}
	}
	z, err := zip.NewReader(r, a.info.Size())
	if err != nil {
		return &volume.FormatError{File: a.name, Part: "zip directory", Offset: -1, Err: err}
	}
	for _, e := range z.File {
		if err := a.add(e); err != nil {
			return err
		}
	}
	for _, n := range a.nodes {
		slices.SortFunc(n.below, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return nil
}

// add adds an entry, and the directories above it.
func (a *FS) add(e *zip.File) error {
	name, isDir := strings.CutSuffix(e.Name, "/")
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) {
		return a.broken(e, "a path in the archive", "another")
	}
	n := a.nodes[name]
	switch {
	case n == nil && isDir:
		_, err := a.dir(e, name)
		return err
	case n == nil:
		above, err := a.dir(e, path.Dir(name))
		if err == nil {
			a.nodes[name] = &node{name: path.Base(name), entry: e}
			above.below = append(above.below, a.nodes[name])
		}
		return err
	case isDir && n.entry == nil: // it was there for another entry
		return nil
	}
	return a.broken(e, "each path once", "a second one")
}

// dir returns a directory, which it adds unless it exists.
func (a *FS) dir(e *zip.File, name string) (*node, error) {
	if n := a.nodes[name]; n != nil {
		if n.entry != nil {
			return nil, a.broken(e, "a directory above", fmt.Sprintf("the file %q", name))
		}
		return n, nil
	}
	above, err := a.dir(e, path.Dir(name))
	if err != nil {
		return nil, err
	}
	n := &node{name: path.Base(name)}
	a.nodes[name] = n
	above.below = append(above.below, n)
	return n, nil
}

func (a *FS) broken(e *zip.File, expected, found string) error {
	return &volume.FormatError{File: a.name, Part: fmt.Sprintf("zip entry %.200q", e.Name), Offset: -1, Expected: expected, Found: found}
}

// stat returns the attributes of the archive. They may have other permissions than before, but must be of the same content. What is in
// an archive that is gone is not absent, because then it would read as zeros: it has changed.
func (a *FS) stat() (fs.FileInfo, error) {
	now, err := fs.Stat(a.fsys, a.name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (now.Size() != a.info.Size() || !now.ModTime().Equal(a.info.ModTime())) {
		err = vfs.ErrChanged
	}
	return now, err
}

// find returns the node at a path and its attributes.
func (a *FS) find(op, name string) (*node, info, error) {
	archive, err := a.stat()
	n := a.nodes[name]
	if err == nil && (n == nil || !fs.ValidPath(name)) {
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
	n, found, err := a.find("readdir", name)
	if err == nil {
		err = vfs.CheckKind(name, found, fs.ModeDir)
	}
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(n.below))
	for i, child := range n.below {
		entries[i] = fs.FileInfoToDirEntry(info{found.FileInfo, child})
	}
	return entries, nil
}

// Late implements [vfs.LateReporter].
func (a *FS) Late() bool { return vfs.IsLate(a.fsys) }

// Near implements [vfs.NearReporter].
func (a *FS) Near() bool { return vfs.IsNear(a.fsys) }

// AnswersAtOnce implements [vfs.AtOnceReporter].
func (a *FS) AnswersAtOnce() bool { return vfs.AnswersAtOnce(a.fsys) }

// Remote implements [vfs.RemoteReporter].
func (a *FS) Remote() bool { return vfs.IsRemote(a.fsys) }

// LongRead implements [vfs.LongReader].
func (a *FS) LongRead() int { return vfs.LongRead(a.fsys) }

// Roots returns the directories in which an array or a group may lie: the archive, or else its only directory.
func (a *FS) Roots() []string {
	top := a.nodes["."].below
	if len(top) == 1 && top[0].entry == nil {
		return []string{".", top[0].name}
	}
	return []string{"."}
}

// Close closes the archive.
func (a *FS) Close() error { return a.archive.Close() }
