package status

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Paths of the status files in a mount.
const (
	Dir         = tree.Server
	StatusFile  = Dir + "/status.json"
	MetricsFile = Dir + "/metrics"
)

// Around returns fsys with the directory [Dir] in its root, which no listing shows. It has the files
// [StatusFile], a [Status], and [MetricsFile], in the text format of Prometheus. Their content is that of the
// time of the open. Only the user of the process may read them, because they contain names that may be secret
// to others. fsys has no entry of that name: [tree.ForRoot].
func (m *Meter) Around(fsys fs.FS) fs.FS {
	return &statusFS{fsys, map[string]func() ([]byte, error){
		StatusFile:  m.statusJSON,
		MetricsFile: m.metricsText,
	}}
}

func (m *Meter) statusJSON() ([]byte, error) {
	b, err := json.MarshalIndent(m.Status(), "", "  ")
	return append(b, '\n'), err
}

// statusFS is a file system with the status files.
type statusFS struct {
	fs.FS
	content map[string]func() ([]byte, error) // of the status files, by path
}

var (
	_ fs.StatFS    = (*statusFS)(nil)
	_ fs.ReadDirFS = (*statusFS)(nil)
	_ vfs.ListFS   = (*statusFS)(nil)
)

// isStatus reports whether a path is that of a status file or of their directory.
func isStatus(name string) bool { return name == Dir || strings.HasPrefix(name, Dir+"/") }

// Open implements fs.FS.
func (t *statusFS) Open(name string) (fs.File, error) {
	if !isStatus(name) {
		return t.FS.Open(name)
	}
	info, err := t.describe("open", name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &openDir{info: info, rest: t.list()}, nil
	}
	content, err := t.content[name]()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{bytes.NewReader(content), info}, nil
}

// Stat implements fs.StatFS.
func (t *statusFS) Stat(name string) (fs.FileInfo, error) {
	if !isStatus(name) {
		return fs.Stat(t.FS, name)
	}
	return t.describe("stat", name)
}

// ReadDir implements fs.ReadDirFS.
func (t *statusFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if !isStatus(name) {
		return fs.ReadDir(t.FS, name)
	}
	info, err := t.describe("readdir", name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	return t.list(), nil
}

// List implements vfs.ListFS.
func (t *statusFS) List(name string) iter.Seq2[[]fs.DirEntry, error] {
	if !isStatus(name) {
		return vfs.List(t.FS, name)
	}
	return func(yield func([]fs.DirEntry, error) bool) { yield(t.ReadDir(name)) }
}

// describe describes a status file or their directory.
func (t *statusFS) describe(op, name string) (fs.FileInfo, error) {
	switch _, ok := t.content[name]; {
	case ok:
		return newInfo(name, 0o400), nil
	case name == Dir:
		return newInfo(name, fs.ModeDir|0o500), nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// list lists the directory of the status files.
func (t *statusFS) list() []fs.DirEntry {
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(t.content)) {
		entries = append(entries, fs.FileInfoToDirEntry(newInfo(name, 0o400)))
	}
	return entries
}
