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

// Options says what may be done beyond the volume's directory.
type Options struct {
	// Outside opens the directory that the key of a scale leads to when it leaves the
	// volume, such as "../other/8_8_8"; the key is relative to the directory of the
	// volume. Nil where such keys are not followed.
	Outside func(key string) (fs.FS, error)
}

// layer is a volume. It implements volume.Layer.
type layer struct {
	fsys    fs.FS
	dir     string
	scales  []*scale // finest first
	omitted []volume.Omission
}

var (
	_ volume.Layer   = (*layer)(nil)
	_ volume.Omitter = (*layer)(nil)
)

// Recognise finds out whether the directory at name in fsys has the info file of a
// volume, and reads it. The error is ErrNotRecognised where it has none, and another
// one where not a single scale can be shown.
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
		return volume.Root{}, fmt.Errorf("%s: no scale can be shown%s", file, reasons(l.omitted))
	}
	return volume.Root{Layer: l}, nil
}

// readInfo reads the info file, which may not be very long.
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

// reasons lists the first omissions.
func reasons(omitted []volume.Omission) string {
	const most = 3
	var b strings.Builder
	for _, o := range omitted[:min(len(omitted), most)] {
		fmt.Fprintf(&b, "; %s: %s", o.Name, o.Reason)
	}
	return b.String()
}

func newLayer(fsys fs.FS, dir string, info *info, o Options) *layer {
	l := &layer{fsys: fsys, dir: dir, omitted: info.omitted}
	for _, s := range info.scales {
		below, at, err := l.find(s.key, o)
		if err != nil {
			l.omitted = append(l.omitted, volume.Omission{Name: s.name, Reason: err.Error()})
			continue
		}
		l.scales = append(l.scales, newScale(below, at, s, info.category, l.Stat))
	}
	slices.SortStableFunc(l.scales, func(a, b *scale) int {
		return cmp.Compare(a.resolution.voxel(), b.resolution.voxel())
	})
	return l
}

// find returns where the chunks of the scale with the key are.
func (l *layer) find(key string, o Options) (fs.FS, string, error) {
	if !leavesVolume(key) {
		return l.fsys, path.Join(l.dir, key), nil
	}
	if o.Outside == nil {
		return nil, "", fmt.Errorf("its key %q leads out of the volume", key)
	}
	fsys, err := o.Outside(key)
	if err != nil {
		return nil, "", fmt.Errorf("its key %q leads out of the volume: %w", key, err)
	}
	return fsys, ".", nil
}

// Stat describes the directory of the volume.
func (l *layer) Stat() (fs.FileInfo, error) { return fs.Stat(l.fsys, l.dir) }

// Mags lists the names of the scales that can be shown.
func (l *layer) Mags() ([]string, error) {
	var names []string
	for _, s := range l.scales {
		names = append(names, s.name)
	}
	return names, nil
}

// Mag returns the scale with the name.
func (l *layer) Mag(name string) (volume.Mag, error) {
	for _, s := range l.scales {
		if s.name == name {
			return s, nil
		}
	}
	return nil, notExist("scale", name)
}

// Omitted lists the scales that are not shown.
func (l *layer) Omitted() []volume.Omission { return l.omitted }
