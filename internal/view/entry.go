package view

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const errNotDir = syscall.ENOTDIR

// info describes an entry of the tree: a name, size and kind of its own, the rest
// from the file or directory of the source that it is made of.
type info struct {
	name   string
	size   int64
	stored int64 // bytes that it takes in the source
	mode   fs.FileMode
	base   fs.FileInfo

	version vfs.Version  // of the content; zero: that of base
	array   *volume.Grid // of a file of voxels: what they are
}

// fileInfo describes a file of size bytes made of base.
func fileInfo(name string, size int64, base fs.FileInfo) info {
	return info{name: name, size: size, stored: vfs.StoredOf(base), mode: base.Mode().Perm() &^ 0o333, base: base}
}

// dirInfo describes a directory made of base. Where base is a file, who may read
// the file may look into the directory.
func dirInfo(name string, base fs.FileInfo) info {
	perm := base.Mode().Perm() &^ 0o222
	if !base.IsDir() {
		perm &= 0o444
		perm |= perm >> 2
	}
	return info{name: name, mode: fs.ModeDir | perm, base: base}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.base.ModTime() }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return i.base.Sys() }

// Stored implements vfs.StoredInfo.
func (i info) Stored() int64 { return i.stored }

// Version implements vfs.VersionedInfo.
func (i info) Version() vfs.Version {
	if i.version != (vfs.Version{}) {
		return i.version
	}
	return vfs.VersionOf(i.base)
}

// Attributes implements vfs.AttributedInfo: numpy's name of the type, the extent on
// x, y, z and the channels of the array, its order, the position of its first voxel
// in voxels of the mag, and the size of a voxel in nm where it is known.
func (i info) Attributes() map[string]string {
	if i.array == nil {
		return nil
	}
	g := i.array
	all := map[string]string{
		"user.wkwfs.dtype":    g.Type.String(),
		"user.wkwfs.shape":    g.Size.String(),
		"user.wkwfs.channels": strconv.Itoa(g.Channels),
		"user.wkwfs.order":    "F",
		"user.wkwfs.origin":   g.Origin.String(),
	}
	if g.Spacing != ([3]float64{}) {
		all["user.wkwfs.voxel_size"] = fmt.Sprintf("%v,%v,%v nm", g.Spacing[0], g.Spacing[1], g.Spacing[2])
	}
	return all
}

// entry is a name in a listing; what else there is to know is looked up when asked.
type entry struct {
	name string
	node node
}

func (e entry) Name() string               { return e.name }
func (e entry) Info() (fs.FileInfo, error) { return e.node.stat() }
func (e entry) IsDir() bool                { _, ok := e.node.(directory); return ok }

func (e entry) Type() fs.FileMode {
	if e.IsDir() {
		return fs.ModeDir
	}
	return 0
}

func sortedList(d directory) ([]fs.DirEntry, error) {
	entries, err := d.list()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// listAs makes the entries of children, by their names.
func listAs(d directory, names []string, err error) ([]fs.DirEntry, error) {
	entries := make([]fs.DirEntry, 0, len(names))
	for _, name := range names {
		n, childErr := d.child(name)
		if childErr == nil { // what has gone since it was listed is not listed
			entries = append(entries, entry{name, n})
		}
	}
	return entries, err
}

// openedDir is a directory of the tree that was opened: its entries as they were then.
type openedDir struct {
	info    fs.FileInfo
	entries []fs.DirEntry
}

func openDir(name string, d directory) (fs.File, error) {
	info, err := d.stat()
	if err != nil {
		return nil, err
	}
	entries, err := sortedList(d)
	if err != nil {
		return nil, err
	}
	return &openedDir{info, entries}, nil
}

func (d *openedDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openedDir) Close() error               { return nil }

func (d *openedDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: syscall.EISDIR}
}

// ReadDir follows fs.ReadDirFile.
func (d *openedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(d.entries) {
		if n > 0 && len(d.entries) == 0 {
			return nil, io.EOF
		}
		n = len(d.entries)
	}
	head := d.entries[:n]
	d.entries = d.entries[n:]
	return head, nil
}
