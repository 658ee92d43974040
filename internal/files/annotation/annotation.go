package annotation

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/internal/stores/zipfs"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// ErrNotRecognised is the error of [Open] for a directory that has no NML file with a volume or a tree.
var ErrNotRecognised = errors.New("not an annotation of WEBKNOSSOS")

// The files of an archive that are held in memory, or on a disk, while they are open.
var (
	outerFiles = zipfs.Whole{Memory: 64 << 20, Disk: 16 << 30}
	innerFiles = zipfs.Whole{Memory: 16 << 20}
)

// Dataset is the volumes of an annotation as the layers of a dataset. There are none if it has trees only. It
// implements [volume.Dataset].
type Dataset struct {
	NML     *nml.Annotation
	Volumes []*Layer // in the order of the file
	file    string   // the NML file
	fsys    fs.FS
	dir     string
	closers []func() error

	skeletons *skeletons // nil if there are no trees
}

// Layer is a volume of an annotation.
type Layer struct {
	nml.Volume
	// the name of the layer: that of the volume, with a number if it is not the first one of this name
	As   string
	Data volume.Layer // nil if Err is set
	Err  error        // why its data cannot be read

	fsys     fs.FS // of the data; nil if Err is set
	dir      string
	unpacked bool // the data are beside the NML file
}

// Files returns the directory that has the files of the data: the mags, or the metadata and the layer of Zarr. There is
// none if the data cannot be read.
func (l *Layer) Files() (fsys fs.FS, dir string) { return l.fsys, l.dir }

// Unpacked reports whether the data lie in a directory beside the NML file, and not in an archive.
func (l *Layer) Unpacked() bool { return l.unpacked && l.fsys != nil }

// Place returns the directory that has the NML file, and the name of the file in it.
func (d *Dataset) Place() (fsys fs.FS, dir, file string) { return d.fsys, d.dir, d.file }

// maxSeen is the number of entries of a directory among which an NML file is looked for.
const maxSeen = 4000

// OpenArchive opens an annotation in an archive. Close closes it. What is no archive is not recognised.
func OpenArchive(fsys fs.FS, name string, log *slog.Logger) (*Dataset, error) {
	a, err := zipfs.OpenWhole(fsys, name, outerFiles)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRecognised, err)
	}
	d, err := openIn(a, directories(a), log)
	if err != nil {
		a.Close() // read-only: nothing can be lost
		if !errors.Is(err, ErrNotRecognised) {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, err
	}
	d.closers = append(d.closers, a.Close)
	return d, nil
}

// Open opens an annotation in a directory. Close closes it.
func Open(fsys fs.FS, dir string, log *slog.Logger) (*Dataset, error) {
	return openIn(fsys, []string{dir}, log)
}

// OpenFile opens an annotation whose NML file has a name. The data of volumes are beside it. Close closes it.
func OpenFile(fsys fs.FS, name string, log *slog.Logger) (*Dataset, error) {
	d, err := open(fsys, path.Dir(name), path.Base(name), log)
	if errors.Is(err, ErrNotRecognised) {
		err = fmt.Errorf("%s: the annotation has neither volumes nor trees", name)
	}
	return d, err
}

// directories returns where the files of an archive may be: at its top, or in a directory there. Programs of a Mac add
// directories and files of their own.
func directories(a fs.FS) []string {
	dirs := []string{"."}
	entries, err := fs.ReadDir(a, ".")
	if err != nil {
		return dirs
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "__MACOSX" && len(dirs) < 100 {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs
}

// openIn opens the annotation in the first directory that has an NML file. It looks at the first some thousand entries:
// a directory of another format may have millions.
func openIn(fsys fs.FS, dirs []string, log *slog.Logger) (*Dataset, error) {
	for _, dir := range dirs {
		var found []string
		seen := 0
		for entries, err := range vfs.ListDir(fsys, dir) {
			if err != nil {
				break // what cannot be listed is perhaps another format
			}
			for _, e := range entries {
				if seen++; seen > maxSeen {
					break
				}
				if IsFile(e.Name()) && !e.IsDir() {
					found = append(found, e.Name())
				}
			}
			if seen > maxSeen {
				break
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return open(fsys, dir, found[0], log)
		}
		slices.Sort(found)
		return nil, fmt.Errorf("%s: expected one NML file, found %d: %s, %s", dir, len(found), found[0], found[1])
	}
	return nil, ErrNotRecognised
}

// open opens the volumes of an NML file.
func open(fsys fs.FS, dir, file string, log *slog.Logger) (*Dataset, error) {
	info, err := fs.Stat(fsys, path.Join(dir, file))
	if err != nil {
		return nil, err
	}
	a, err := nml.Read(fsys, path.Join(dir, file))
	if err != nil {
		return nil, err
	}
	if len(a.Volumes) == 0 && len(a.Trees) == 0 {
		return nil, ErrNotRecognised
	}
	d := &Dataset{NML: a, file: file, fsys: fsys, dir: dir}
	d.skeletons = newSkeletons(only{fsys, dir, file}, a, vfs.VersionOf(info))
	taken := map[string]int{}
	for _, v := range a.Volumes {
		l := &Layer{Volume: v, As: v.Name}
		if l.As == "" {
			l.As = "Volume"
		}
		for base := l.As; taken[l.As] > 0; {
			taken[base]++
			l.As = fmt.Sprintf("%s_%d", base, taken[base])
		}
		taken[l.As]++
		if l.Err = d.openVolume(l); l.Err != nil {
			l.Data, l.fsys = nil, nil
		} else if v.Edited {
			log.Warn("the mapping was edited: segments are shown as they were before", "volume", l.As)
		}
		d.Volumes = append(d.Volumes, l)
	}
	return d, nil
}

// IsFile reports whether a file has the name of an NML file.
func IsFile(name string) bool {
	return strings.EqualFold(path.Ext(name), ".nml") && !strings.HasPrefix(path.Base(name), ".")
}

// openVolume opens the data of a volume: an archive, or the directory that it was unpacked to.
func (d *Dataset) openVolume(l *Layer) error {
	v := l.Volume
	name := path.Join(d.dir, v.Location)
	switch {
	case v.Location == "":
		return errors.New("the data of the volume were left out at download")
	case !fs.ValidPath(v.Location) || !fs.ValidPath(name):
		return &volume.FormatError{
			File: path.Join(d.dir, d.file), Part: "location", Offset: -1, Expected: "a path beside the file",
			Found: fmt.Sprintf("%.100q", v.Location),
		}
	}
	info, err := fs.Stat(d.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		dir := strings.TrimSuffix(name, path.Ext(name))
		if unpacked, failed := fs.Stat(d.fsys, dir); failed == nil && unpacked.IsDir() && dir != name {
			l.unpacked = true
			return l.openIn(d.fsys, dir, d.NML.Spacing)
		}
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		l.unpacked = true
		return l.openIn(d.fsys, name, d.NML.Spacing)
	}
	a, err := zipfs.OpenWhole(d.fsys, name, innerFiles)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, a.Close)
	for _, dir := range directories(a) {
		if err := l.openIn(a, dir, d.NML.Spacing); !errors.Is(err, errNoData) {
			return err
		}
	}
	l.Data, l.fsys, l.dir = noMags{a}, a, "."
	return nil
}

// openIn opens the data in a directory.
func (l *Layer) openIn(fsys fs.FS, dir string, spacing [3]float64) (err error) {
	l.fsys, l.dir = fsys, dir
	l.Data, err = openData(fsys, dir, spacing)
	return err
}

// Close closes the archives.
func (d *Dataset) Close() error {
	var all []error
	for _, c := range slices.Backward(d.closers) {
		all = append(all, c())
	}
	return errors.Join(all...)
}
