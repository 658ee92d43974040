package filesource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Options say how files are shown. The zero value is useful.
type Options struct {
	As     As     // what the header does not say, for a file, or a folder that is one layer
	Unpack string // directory for unpacked streams; empty: TMPDIR, or else /var/tmp
	// Indexes keeps where compressed streams can be read from the middle; may be nil.
	Indexes IndexStore
	Log     *slog.Logger // gets what was assumed; may be nil

	blockBytes int // 0 means the constant
}

// IndexStore keeps indexes of compressed streams.
type IndexStore = arrayfile.IndexStore

// Index is an index of an IndexStore.
type Index = arrayfile.Index

// ErrNotRecognised is the error of a file or directory that has no array.
var ErrNotRecognised = errors.New("no file of voxels that is known")

// suffixes are the ends of the names of files that are shown in a folder, in lower case. Others are not opened.
var suffixes = []string{
	".npy", ".nrrd", ".nhdr", ".mha", ".mhd", ".nii", ".nii.gz", ".hdr", ".mrc", ".mrc.gz", ".rec", ".st", ".ali",
	".map",
	".tif", ".tiff", ".btf", ".tf2", ".tf8", ".png", ".jpg", ".jpeg",
}

// IsNamed reports whether a file has the name of an array.
func IsNamed(name string) bool {
	name = strings.ToLower(path.Base(name))
	return !strings.HasPrefix(name, ".") && slices.ContainsFunc(suffixes,
		func(s string) bool { return strings.HasSuffix(name, s) })
}

// IsForeign reports whether a file has the name of a format that is known, and not read: [Recognise] says so.
func IsForeign(name string) bool { return arrayfile.IsForeign(name) }

// Recognise opens a file, or a folder of files, as a layer or a dataset. If it has no array, the error is
// [ErrNotRecognised].
func Recognise(fsys fs.FS, name string, o Options) (root volume.Root, err error) {
	o.Unpack = cmp.Or(o.Unpack, os.Getenv("TMPDIR"), "/var/tmp")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return root, ErrNotRecognised
	case info.IsDir():
		return recogniseFolder(fsys, name, o)
	}
	layers, err := openLayers(fsys, name, o)
	if err != nil {
		return root, err
	}
	return rootOf(fsys, name, layers), nil
}

// rootOf returns the layers of a file as a source: one, or one for each time.
func rootOf(fsys fs.FS, name string, layers []*layer) volume.Root {
	if len(layers) == 1 {
		return volume.Root{Layer: layers[0]}
	}
	d := &dataset{fsys: fsys, dir: name, layers: map[string]*layer{}}
	d.add("", layers)
	return volume.Root{Dataset: d}
}

// openLayers opens a file or a folder of pictures as a layer, or as one for each point in time.
func openLayers(fsys fs.FS, name string, o Options) ([]*layer, error) {
	s, err := newStack(fsys, name, o)
	if errors.Is(err, arrayfile.ErrNotRecognised) {
		return nil, ErrNotRecognised
	}
	if err != nil {
		return nil, err
	}
	a := s.current.Load()
	all := make([]*layer, max(1, a.Times))
	for t := range all {
		if all[t], err = s.layer(t, o); err != nil {
			return nil, err
		}
	}
	for _, text := range a.Warnings {
		o.Log.Warn(text, "file", name)
	}
	if a.PositionErr != nil {
		o.Log.Warn("the position in the header is not used: "+a.PositionErr.Error(), "file", name)
	}
	if p, ok := a.Packed(); ok {
		level := slog.LevelWarn
		if p.Indexed {
			level = slog.LevelInfo
		}
		o.Log.Log(context.Background(), level, tellPacked(p, o.Unpack), "file", name)
	}
	return all, nil
}

// plainSpeed is how many plain bytes one processor gets out of a compressed stream in a second, by its compression, for
// estimates.
var plainSpeed = map[string]int64{"gzip": 250 << 20, "zlib": 250 << 20, "bzip2": 25 << 20}

// tellPacked says what reads of a stream cost.
func tellPacked(p arrayfile.Packed, dir string) string {
	if p.Indexed {
		return fmt.Sprintf(
			"the voxels are one stream of %s, which has an index: reads unpack the parts that they need, up to %d bytes in %s",
			p.Compression, p.Bytes, dir)
	}
	seconds := (p.Bytes + plainSpeed[p.Compression] - 1) / plainSpeed[p.Compression]
	return fmt.Sprintf(
		"the voxels are one stream of %s without random access: the first read of its end takes about %d s of a processor; "+
			"reads unpack it once, up to %d bytes in %s", p.Compression, seconds, p.Bytes, dir)
}

// layer returns a point in time as a layer.
func (s *stack) layer(t int, o Options) (*layer, error) {
	l, a := &layer{stack: s}, s.current.Load()
	for n := range 1 + len(a.Coarser) {
		m, err := s.mag(n, t, o)
		if err != nil {
			return nil, err
		}
		if n > 0 && m.about.Factor == l.mags[n-1].about.Factor {
			break
		}
		l.mags = append(l.mags, m)
	}
	return l, nil
}

// maxNamed is the number of files of a folder that are shown.
const maxNamed = 10_000

// recogniseFolder opens a folder of pictures as a layer, and another one as a dataset.
func recogniseFolder(fsys fs.FS, dir string, o Options) (root volume.Root, err error) {
	var names, foreign []string
	for entries, err := range vfs.List(fsys, dir) {
		if err != nil {
			return root, ErrNotRecognised
		}
		for _, e := range entries {
			switch {
			case !e.Type().IsRegular():
			case IsNamed(e.Name()):
				names = append(names, e.Name())
			case IsForeign(e.Name()) && len(foreign) < maxNamed:
				foreign = append(foreign, e.Name())
			}
		}
		if len(names) > maxNamed && !slices.ContainsFunc(names, isPicture) {
			return root, ErrNotRecognised
		}
	}
	slices.Sort(names)
	slices.Sort(foreign)
	if len(names) == 0 && len(foreign) > 0 {
		return root, arrayfile.RefuseName(foreign[0])
	}
	if len(names) == 0 {
		return root, ErrNotRecognised
	}
	other := func(name string) bool { return !isPicture(name) }
	if len(names) > 1 && !slices.ContainsFunc(names, other) && !isSet(fsys, path.Join(dir, names[0])) {
		layers, err := openLayers(fsys, dir, o)
		if err == nil {
			return rootOf(fsys, dir, layers), nil
		}
		if !isTIFF(names[0]) || errors.Is(err, fs.ErrPermission) {
			return root, err
		}
	}
	if err := o.As.check(dir); err != nil {
		return root, err
	}
	d := newDataset(fsys, dir, names, o)
	for _, name := range foreign {
		d.left = append(d.left, volume.Omission{Name: name, Reason: arrayfile.RefuseName(name).Error()})
	}
	return volume.Root{Dataset: d}, nil
}

// isSet reports whether a file is an OME-TIFF with planes in other files.
func isSet(fsys fs.FS, name string) bool {
	if !isTIFF(name) {
		return false
	}
	a, err := arrayfile.OpenFS(fsys, name)
	if err != nil {
		return false
	}
	defer a.Close() // read-only: nothing can be lost
	return len(a.Names()) > 1
}

func isTIFF(name string) bool {
	return slices.Contains([]string{".tif", ".tiff"}, strings.ToLower(path.Ext(name)))
}

// isPicture reports whether a file may be one plane of a volume.
func isPicture(name string) bool {
	return isTIFF(name) || slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(path.Ext(name)))
}
