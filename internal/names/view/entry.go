package view

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const errNotDir = syscall.ENOTDIR

// info describes an entry of the tree. Owner, times and permissions are those of the file or directory of the source
// that the entry is made of.
type info struct {
	name   string
	size   int64 // bytes
	stored int64 // bytes that the voxels take in the source
	mode   fs.FileMode
	source fs.FileInfo

	version vfs.Version  // of the content; zero: that of source
	array   *volume.Grid // of a file of voxels: their geometry; else nil
	times   int          // volumes of array in the file; 0: one
	unit    header.Unit  // of the lengths in the header; empty: there are none
}

// fileInfo describes a file of size bytes that is made of source.
func fileInfo(name string, size int64, source fs.FileInfo) info {
	return info{name: name, size: size, stored: vfs.StoredOf(source), mode: source.Mode().Perm() &^ 0o333,
		source: source}
}

// dirInfo describes a directory that is made of source. If source is a file, users who may read it may list and search
// the directory.
func dirInfo(name string, source fs.FileInfo) info {
	perm := source.Mode().Perm() &^ 0o222
	if !source.IsDir() {
		perm &= 0o444
		perm |= perm >> 2
	}
	return info{name: name, mode: fs.ModeDir | perm, source: source}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.source.ModTime() }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return i.source.Sys() }

// Details implements vfs.DetailedInfo.
func (i info) Details() vfs.Details {
	return vfs.Details{Version: i.versionOf, Stored: func() int64 { return i.stored }, Source: i.source,
		Attributes: i.attributes}
}

func (i info) versionOf() vfs.Version {
	if i.version != (vfs.Version{}) {
		return i.version
	}
	return vfs.VersionOf(i.source)
}

// attributes returns numpy's name of the voxel type, the shape on x, y, z, the channels, the order, the origin in
// absolute voxels of the mag and, if known, the size of a voxel in nm. The unit is that of the lengths in the header.
func (i info) attributes() map[string]string {
	all := map[string]string{}
	if i.unit != "" {
		all["user.wkwfs.unit"] = string(i.unit)
	}
	g := i.array
	if g == nil {
		return all
	}
	all["user.wkwfs.dtype"] = g.Type.String()
	all["user.wkwfs.shape"] = g.Size.String()
	all["user.wkwfs.channels"] = strconv.Itoa(g.Channels)
	all["user.wkwfs.order"] = "F"
	if i.times > 0 {
		all["user.wkwfs.times"] = strconv.Itoa(i.times)
	}
	all["user.wkwfs.origin"] = g.Origin.String()
	if g.Spacing != ([3]float64{}) {
		all["user.wkwfs.voxel_size"] = fmt.Sprintf("%v,%v,%v nm", g.Spacing[0], g.Spacing[1], g.Spacing[2])
	}
	return all
}

// entry is an entry of a listing. Info looks up the rest.
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

// batches yields the entries of a directory as vfs.List does, size at a time.
func batches(d directory, size int) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		var batch []fs.DirEntry
		for e, err := range d.list {
			if err != nil {
				vfs.SortByName(batch)
				yield(batch, err)
				return
			}
			if len(batch) == size {
				if vfs.SortByName(batch); !yield(batch, nil) {
					return
				}
				batch = make([]fs.DirEntry, 0, size)
			}
			batch = append(batch, e)
		}
		if len(batch) > 0 {
			vfs.SortByName(batch)
			yield(batch, nil)
		}
	}
}

// yieldChildren yields the entries of children by name. It omits those that have been removed since they were listed.
// It returns false if yield does.
func yieldChildren(d directory, names []string, yield func(entry, error) bool) bool {
	for _, name := range names {
		if n, err := d.child(name); err == nil && !yield(entry{name, n}, nil) {
			return false
		}
	}
	return true
}

// openedDir is an open directory.
type openedDir struct {
	info    fs.FileInfo
	entries []fs.DirEntry // that were listed but not read
	err     error         // after these entries; io.EOF at the end
	next    func() ([]fs.DirEntry, error, bool)
	stop    func()
}

func openDir(d directory) (fs.File, error) {
	info, err := d.stat()
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(batches(d, vfs.BatchSize))
	opened := &openedDir{info: info, next: next, stop: stop}
	if opened.fill(); opened.err != nil && opened.err != io.EOF {
		stop()
		return nil, opened.err
	}
	return opened, nil
}

// fill lists the next batch.
func (d *openedDir) fill() {
	batch, err, ok := d.next()
	if err == nil && !ok {
		err = io.EOF
	}
	d.entries, d.err = append(d.entries, batch...), err
}

func (d *openedDir) Stat() (fs.FileInfo, error) { return d.info, nil }

// Close ends the listing.
func (d *openedDir) Close() error {
	d.stop()
	return nil
}

func (d *openedDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: syscall.EISDIR}
}

// ReadDir implements fs.ReadDirFile.
func (d *openedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	for d.err == nil && (n <= 0 || len(d.entries) < n) {
		d.fill()
	}
	if d.err != io.EOF && (n <= 0 || len(d.entries) == 0) {
		return nil, d.err
	}
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
