package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"
)

// Where a server tells about itself, below the root of what it serves.
const (
	Dir         = ".wkwfs"
	StatusFile  = Dir + "/status.json"
	MetricsFile = Dir + "/metrics"
)

// Around returns fsys with a directory in its root that no listing shows. It has files,
// each of which is what it was when it was opened: [StatusFile], a [Status], and
// [MetricsFile], in the text format of Prometheus. Only the user whom the process
// belongs to may read them: they name files that others might not be allowed to see. An
// fsys with an entry of this name is refused with fs.ErrExist.
func (m *Meter) Around(fsys fs.FS) (fs.FS, error) {
	if _, err := fs.Stat(fsys, Dir); err == nil {
		return nil, fmt.Errorf("%s: %w", Dir, fs.ErrExist)
	}
	return &tree{fsys, map[string]func() ([]byte, error){
		StatusFile:  m.statusJSON,
		MetricsFile: m.text,
	}}, nil
}

func (m *Meter) statusJSON() ([]byte, error) {
	b, err := json.MarshalIndent(m.Status(), "", "  ")
	return append(b, '\n'), err
}

// tree is another tree, and files that are made when they are opened.
type tree struct {
	fs.FS
	made map[string]func() ([]byte, error) // by path
}

var (
	_ fs.StatFS    = (*tree)(nil)
	_ fs.ReadDirFS = (*tree)(nil)
)

// isOurs reports whether a path is not of the other tree.
func isOurs(name string) bool { return name == Dir || strings.HasPrefix(name, Dir+"/") }

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	if !isOurs(name) {
		return t.FS.Open(name)
	}
	info, err := t.describe("open", name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &openDir{info: info, rest: t.list()}, nil
	}
	content, err := t.made[name]()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{bytes.NewReader(content), info}, nil
}

// Stat implements fs.StatFS.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	if !isOurs(name) {
		return fs.Stat(t.FS, name)
	}
	return t.describe("stat", name)
}

// ReadDir implements fs.ReadDirFS.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	if !isOurs(name) {
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

// describe describes an entry of ours.
func (t *tree) describe(op, name string) (fs.FileInfo, error) {
	switch _, ok := t.made[name]; {
	case ok:
		return newInfo(name, 0o400), nil
	case name == Dir:
		return newInfo(name, fs.ModeDir|0o500), nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// list lists our directory.
func (t *tree) list() []fs.DirEntry {
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(t.made)) {
		entries = append(entries, fs.FileInfoToDirEntry(newInfo(name, 0o400)))
	}
	return entries
}
