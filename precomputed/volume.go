package precomputed

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Options are the options of Recognise. The zero Options are safe for untrusted volumes.
type Options struct {
	// Outside opens the directory of a scale with a key that points outside the volume, such as "../other/8_8_8". The
	// key is relative to the directory of the volume. If Outside is nil or fails, the scale is omitted.
	Outside func(key string) (fs.FS, error)
}

// layer is a volume. It implements [volume.Layer].
type layer struct {
	fsys    fs.FS
	dir     string
	scales  []*scale // finest first
	byName  map[string]*scale
	omitted []volume.Omission
}

var (
	_ volume.Layer   = (*layer)(nil)
	_ volume.Omitter = (*layer)(nil)
)

// Recognise opens the volume in directory name of fsys: it reads the info file. The Layer of the result has a mag for
// each scale. A scale that this package cannot read is omitted; the Layer is a [volume.Omitter] that lists the
// reasons.
//
// The files of fsys must be an [io.ReaderAt]. Recognise returns [ErrNotRecognised] if there is no info file of a
// volume. It returns another error if the info file cannot be read or parsed, or if no scale can be read.
func Recognise(fsys fs.FS, name string, o Options) (volume.Root, error) {
	stat, err := fs.Stat(fsys, name)
	if err != nil {
		return volume.Root{}, err
	}
	file := path.Join(name, infoFile)
	found, err := fs.Stat(fsys, file)
	if !stat.IsDir() || errors.Is(err, fs.ErrNotExist) || err == nil && !found.Mode().IsRegular() {
		return volume.Root{}, ErrNotRecognised
	}
	b, err := readInfo(fsys, file)
	if err != nil {
		return volume.Root{}, err
	}
	info, err := parseInfo(b)
	if err != nil {
		return volume.Root{}, fmt.Errorf("%s: %w", file, err)
	}
	l := newLayer(fsys, name, info, o)
	if len(l.scales) == 0 {
		return volume.Root{}, fmt.Errorf("%s: no scale can be read%s", file, reasons(l.omitted))
	}
	return volume.Root{Layer: l}, nil
}

// readInfo reads an info file of at most maxInfoBytes.
func readInfo(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInfoBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxInfoBytes {
		return nil, fmt.Errorf("%s: %w: longer than %d bytes", name, ErrNotRecognised, maxInfoBytes)
	}
	return b, nil
}

// reasons returns the text of the first omissions.
func reasons(omitted []volume.Omission) string {
	const limit = 3
	var b strings.Builder
	for _, o := range omitted[:min(len(omitted), limit)] {
		fmt.Fprintf(&b, "; %s: %s", o.Name, o.Reason)
	}
	return b.String()
}

func newLayer(fsys fs.FS, dir string, info *info, o Options) *layer {
	l := &layer{fsys: fsys, dir: dir, byName: map[string]*scale{}, omitted: info.omitted}
	for _, s := range info.scales {
		chunks, dir, err := l.openScale(s.key, o)
		if err == nil && s.sharding != nil {
			err = s.sharding.checkVersion(chunks, dir)
		}
		if err != nil {
			l.omitted = append(l.omitted, volume.Omission{Name: s.name, Reason: err.Error()})
			continue
		}
		opened := newScale(l, chunks, dir, s, info.category)
		l.scales, l.byName[s.name] = append(l.scales, opened), opened
	}
	slices.SortStableFunc(l.scales, func(a, b *scale) int {
		return cmp.Compare(a.resolution.volume(), b.resolution.volume())
	})
	return l
}

// openScale returns the file system and the directory with the chunks of a scale.
func (l *layer) openScale(key string, o Options) (fs.FS, string, error) {
	if !leavesVolume(key) {
		return l.fsys, path.Join(l.dir, key), nil
	}
	if o.Outside == nil {
		return nil, "", fmt.Errorf("its key %q points outside the volume", key)
	}
	fsys, err := o.Outside(key)
	if err != nil {
		return nil, "", fmt.Errorf("its key %q points outside the volume: %w", key, err)
	}
	return fsys, ".", nil
}

// statInfo describes the info file.
func (l *layer) statInfo() (fs.FileInfo, error) { return fs.Stat(l.fsys, path.Join(l.dir, infoFile)) }

// Stat describes the directory of the volume.
func (l *layer) Stat() (fs.FileInfo, error) { return fs.Stat(l.fsys, l.dir) }

// Mags lists the names of the scales, finest first.
func (l *layer) Mags() ([]string, error) {
	var names []string
	for _, s := range l.scales {
		names = append(names, s.name)
	}
	return names, nil
}

// Mag returns the scale with a name.
func (l *layer) Mag(name string) (volume.Mag, error) {
	if s := l.byName[name]; s != nil {
		return s, nil
	}
	return nil, notExist("scale", name)
}

// Omitted lists the scales that cannot be read.
func (l *layer) Omitted() []volume.Omission { return l.omitted }
