package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Open opens a file, whose format it recognises by the first bytes, or a directory of TIFF, PNG or JPEG files. Each of
// those is a plane. They are ordered by the numbers in their names. A file with several points in time is an error.
func Open(path string) (*Array, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openWith(openDirectory, directory{os.DirFS(path), ".", path}, ".")
	}
	a, err := openWith(openFile, parent(path), filepath.Base(path))
	if err == nil && a.Times > 0 {
		a.Close() // read-only: nothing can be lost
		return nil, severalTimes(a)
	}
	return a, err
}

// OpenFS is [Open] for a file or directory of a file system, with a slash-separated name. A file may have several
// points in time.
func OpenFS(fsys fs.FS, name string) (*Array, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openWith(openDirectory, directory{fsys, name, name}, ".")
	}
	dir := path.Dir(name)
	return openWith(openFile, directory{fsys, dir, dir}, path.Base(name))
}

// parent returns the directory of a file.
func parent(path string) directory {
	dir := filepath.Dir(path)
	return directory{os.DirFS(dir), ".", dir}
}

// openWith returns an array that open has opened, in a directory. If open fails, openWith closes the files.
func openWith(open func(*Array, string) error, dir directory, name string) (*Array, error) {
	a := &Array{dir: dir}
	if err := open(a, name); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// startSize is the number of bytes that suffice to recognise a format, and for a header of NIfTI or MRC.
const startSize = mrcSize

func openFile(a *Array, name string) error {
	f, err := a.open(name)
	if err != nil {
		return err
	}
	start, err := f.start()
	if err != nil {
		return err
	}
	if by, ok := formatOf(start); ok {
		return by.open(a, input{file: f, start: start})
	}
	if bytes.HasPrefix(start, []byte(gzipMagic)) {
		return openGzip(a, f)
	}
	if header, ok := headerOf(a, name); ok {
		return openFile(a, header)
	}
	at, ok, err := findHDF5(f)
	switch {
	case err != nil:
		return err
	case ok:
		return &volume.UnsupportedError{File: f.Name(), Part: "HDF5", Offset: at,
			Expected: "an array of its own, such as an .npy file that h5py and numpy write", Found: "an HDF5 file"}
	}
	if err := refuseForeign(f.Name(), start); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", f.Name(), ErrNotRecognised)
}

// hdf5Magic is the start of the superblock of an HDF5 file: "HDF5 File Format Specification", II.A.
const hdf5Magic = "\x89HDF\r\n\x1a\n"

// findHDF5 looks for a superblock. It is at the start of the file, or at 512 bytes, or at a power of two after that.
func findHDF5(f *file) (at int64, ok bool, err error) {
	b := make([]byte, len(hdf5Magic))
	for at := int64(0); at <= f.size-int64(len(b)); at = max(512, 2*at) {
		if _, err := f.ReadAt(b, at); err != nil {
			return 0, false, err
		}
		if string(b) == hdf5Magic {
			return at, true, nil
		}
	}
	return 0, false, nil
}

const gzipMagic = "\x1f\x8b"

// openGzip opens a file that is compressed as a whole.
func openGzip(a *Array, f *file) error {
	packed, err := openStream(f, 0, gzipEncoding)
	if err != nil {
		return err
	}
	start := make([]byte, startSize)
	n, err := packed.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	// The voxels follow in the same stream, but they may start before the last byte that was read.
	if packed, err = openStream(f, 0, gzipEncoding); err != nil {
		return err
	}
	if by, ok := formatOf(start[:n]); ok && by.packs {
		return by.open(a, input{f, start[:n], packed})
	}
	return fmt.Errorf("%s: expected NIfTI or MRC in a file that is compressed by gzip; gunzip expands others", f.Name())
}

// headerOf returns the name of the NIfTI header that belongs to a file of voxels.
func headerOf(a *Array, name string) (string, bool) {
	suffix := path.Ext(name)
	if !strings.EqualFold(suffix, ".img") {
		return "", false
	}
	header := strings.TrimSuffix(name, suffix) + ".hdr"
	if suffix == ".IMG" {
		header = strings.TrimSuffix(name, suffix) + ".HDR"
	}
	_, err := fs.Stat(a.dir.FS, path.Join(a.dir.name, header))
	return header, err == nil
}

// byteOrder returns big-endian or little-endian.
func byteOrder(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
