package hdfsource

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// ErrNotRecognised is the error of a file that is not HDF5.
var ErrNotRecognised = errors.New("not an HDF5 file")

const magic = "\x89HDF\r\n\x1a\n"

// suffixes are the ends of the names of files of HDF5, in lower case.
var suffixes = []string{".h5", ".hdf", ".hdf5", ".he5", ".ims", ".mat", ".nc", ".nwb", ".h5ad", ".n5h5"}

// IsNamed reports whether a file has the name of a file of HDF5.
func IsNamed(name string) bool { return slices.Contains(suffixes, strings.ToLower(path.Ext(name))) }

// Options say how a file is shown. The zero value is useful.
type Options struct {
	Log *slog.Logger // gets what is unusual; may be nil

	pieceBytes int // 0 means the constant
	maxTimes   int // 0 means the constant
}

// Recognise opens a file as a dataset. close closes the file; it is nil after an error. If the file is not HDF5, the
// error is [ErrNotRecognised].
func Recognise(fsys fs.FS, name string, o Options) (root volume.Root, close func() error, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.pieceBytes == 0 {
		o.pieceBytes = pieceBytes
	}
	if o.maxTimes == 0 {
		o.maxTimes = maxTimes
	}
	if !hasMagic(fsys, name) {
		return root, nil, ErrNotRecognised
	}
	s := &source{fsys: fsys, name: name, pieceBytes: o.pieceBytes}
	f, err := s.parse()
	if err != nil {
		return root, nil, err
	}
	s.current.Store(f)
	if f.OpenForWriting() {
		o.Log.Warn(
			"a program has this file open for writing, or died and left it open: what is read may not fit together",
			"file", name)
	}
	d, err := newDataset(s, f, o)
	if err != nil {
		s.close()
		return root, nil, err
	}
	return volume.Root{Dataset: d}, s.close, nil
}

// hasMagic reports whether a file has the signature of HDF5 at one of its places ("HDF5 File Format Specification",
// II.A).
func hasMagic(fsys fs.FS, name string) bool {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return false
	}
	defer f.Close() // read-only: nothing can be lost
	return userBlockOf(vfs.ReaderAt{File: f}, info.Size()) >= 0
}

// userBlockOf returns how many bytes there are before the signature, or −1 if there is none.
func userBlockOf(r io.ReaderAt, size int64) int64 {
	b := make([]byte, len(magic))
	for at := int64(0); at <= size-int64(len(b)); at = max(512, 2*at) {
		if n, err := r.ReadAt(b, at); n < len(b) && err != nil {
			return -1
		}
		if string(b) == magic {
			return at
		}
	}
	return -1
}

// dataset is a file whose datasets are layers.
type dataset struct {
	*source
	names  []string
	layers map[string]*layer
	left   []volume.Omission
}

var (
	_ volume.Dataset = (*dataset)(nil)
	_ volume.Omitter = (*dataset)(nil)
)

// newDataset finds the layers of a file. It fails if there is none.
func newDataset(s *source, f *opened, o Options) (*dataset, error) {
	t := &tree{source: s, file: f, seen: map[uint64]bool{}, layers: map[string]*layer{}, maxTimes: o.maxTimes}
	if !t.bigDataViewer(o.pieceBytes) && !t.imaris(o.pieceBytes) {
		root, err := f.Root()
		if err != nil {
			return nil, s.located(err)
		}
		t.walk(root, "/", 0)
		t.plain(o.pieceBytes)
	}
	d := &dataset{source: s, names: t.names, layers: t.layers, left: t.left}
	slices.Sort(d.names)
	if len(d.names) == 0 {
		return nil, fmt.Errorf("%s: the HDF5 file has no volume%s", s.name, reasons(t.left))
	}
	return d, nil
}

// reasons returns the text of the first omissions.
func reasons(left []volume.Omission) string {
	const limit = 3
	var b strings.Builder
	for _, o := range left[:min(len(left), limit)] {
		fmt.Fprintf(&b, "; %s: %s", o.Name, o.Reason)
	}
	return b.String()
}

// Layers returns the names of the layers: paths in the file, with _ for /.
func (d *dataset) Layers() ([]string, error) { return slices.Clone(d.names), nil }

// Layer returns the layer with a name.
func (d *dataset) Layer(name string) (volume.Layer, error) {
	l, ok := d.layers[name]
	if !ok {
		return nil, fmt.Errorf("layer %s: %w", name, fs.ErrNotExist)
	}
	return l, nil
}

// Omitted returns the datasets that are not shown.
func (d *dataset) Omitted() []volume.Omission { return d.left }

// Files returns a file system without files.
func (d *dataset) Files() fs.FS { return vfs.NoFiles{} }
