package chunked

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"unicode/utf8"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// MaxNodes limits the arrays and groups of a source, and the directories of a group.
const MaxNodes = 1000

// Add adds a layer. If another one has its name, it is omitted.
func (d *Dataset) Add(name string, l volume.Layer) {
	if _, err := d.Layer(name); err == nil {
		d.Omit(name, errors.New("another layer has this name"))
		return
	}
	d.List = append(d.List, NamedLayer{Name: name, Layer: l})
}

// Omit records that something is not shown, and why.
func (d *Dataset) Omit(name string, err error) {
	if !utf8.ValidString(name) {
		err = errors.New("its name is not UTF-8")
	}
	d.Left = append(d.Left, volume.Omission{Name: jsonlimit.Abbreviate(name), Reason: err.Error()})
}

// Root returns the dataset as a source: a layer without a name is the source itself. It fails if there is no layer.
func (d *Dataset) Root(file string) (volume.Root, error) {
	switch {
	case len(d.List) == 0:
		return volume.Root{}, errors.New(file + ": no array can be read" + Reasons(d.Left))
	case len(d.List) == 1 && d.List[0].Name == "":
		return volume.Root{Layer: d.List[0].Layer}, nil
	}
	return volume.Root{Dataset: d}, nil
}

// ReadRoot reads the metadata of a source with read, whose error is fs.ErrNotExist if there are none. Then, and if the
// source is not a directory, ReadRoot returns notRecognised.
func ReadRoot[N any](fsys fs.FS, name string, read func(fs.FS, string) (N, error), notRecognised error) (n N,
	err error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return n, err
	}
	if !info.IsDir() {
		return n, notRecognised
	}
	if n, err = read(fsys, name); errors.Is(err, fs.ErrNotExist) {
		err = notRecognised
	}
	return n, err
}

// Subdirs yields the names of the directories in dir, and of links to directories, up to MaxNodes. A directory whose
// name is not UTF-8 cannot be opened.
func Subdirs(fsys fs.FS, dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		found := 0
		for entries := range vfs.ListDir(fsys, dir) {
			for _, e := range entries {
				if e.Type().IsRegular() {
					continue
				}
				isDir := e.IsDir()
				if utf8.ValidString(e.Name()) {
					info, err := fs.Stat(fsys, path.Join(dir, e.Name()))
					isDir = err == nil && info.IsDir()
				}
				if !isDir {
					continue
				}
				if found++; found > MaxNodes || !yield(e.Name()) {
					return
				}
			}
		}
	}
}

// Join returns the name of a layer in a group. The name of the source is "".
func Join(group, name string) string {
	if group == "" {
		return name
	}
	return group + "_" + name
}
