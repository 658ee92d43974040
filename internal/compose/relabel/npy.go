package relabel

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// npyPage is the ids in a page of an .npy file.
const npyPage = 1 << 15

// maxScan is the longest .npy file that is read as a whole to find its greatest id, in bytes.
const maxScan = 256 << 20

// OpenNPY opens an .npy file with one axis of integers: entry i is what id i becomes. It reads nothing.
func OpenNPY(name string, fsys fs.FS, file string) *Table {
	t := &Table{Name: name, files: statOf(fsys, file)}
	t.read = func(last *state) (*state, error) { return readNPY(fsys, file, last) }
	return t
}

// statOf returns a function that describes files, as far as they exist.
func statOf(fsys fs.FS, files ...string) func() []fs.FileInfo {
	return func() (found []fs.FileInfo) {
		for _, name := range files {
			if info, err := fs.Stat(fsys, name); err == nil {
				found = append(found, info)
			}
		}
		return found
	}
}

// npy is the header of an .npy file (numpy.lib.format).
type npy struct {
	fsys      fs.FS
	name      string
	version   vfs.Version
	kind      volume.Type
	bigEndian bool
	start     int64 // of the values, in bytes
	n         uint64
}

var npyHeader = regexp.MustCompile(`'descr': *'([^']*)'.*'shape': *\(([0-9, ]*)\)`)

func readNPY(fsys fs.FS, name string, last *state) (*state, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &npy{fsys: fsys, name: name, version: vfs.VersionOf(info)}
	if last != nil && last.version == t.version {
		return last, nil
	}
	if err := t.parse(f, info.Size()); err != nil {
		return nil, err
	}
	most := mostOfType(t.kind)
	if int64(t.n)*int64(t.kind.Size()) <= maxScan {
		if most, err = t.scan(); err != nil {
			return nil, err
		}
	}
	return newList(t.version, most, t.n, npyPage, t.page)
}

// parse parses the header.
func (t *npy) parse(f io.Reader, size int64) error {
	const fixed, maxHeader = 10, 1 << 16
	b := make([]byte, min(size, fixed+2+maxHeader))
	if _, err := io.ReadFull(f, b); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	if len(b) < fixed+2 || string(b[:6]) != "\x93NUMPY" {
		return broken(t.name, "magic", "an .npy file", "another")
	}
	length, at := int64(binary.LittleEndian.Uint16(b[8:])), int64(fixed)
	if b[6] > 1 {
		length, at = int64(binary.LittleEndian.Uint32(b[8:])), fixed+2
	}
	if t.start = at + length; t.start > int64(len(b)) {
		return broken(t.name, "header", fmt.Sprintf("at most %d bytes", int64(len(b))-at), fmt.Sprint(length))
	}
	m := npyHeader.FindSubmatch(b[at:t.start])
	if m == nil {
		return broken(t.name, "header", "descr, fortran_order and shape", "others")
	}
	shape := regexp.MustCompile(`[0-9]+`).FindAllString(string(m[2]), -1)
	if len(shape) != 1 {
		return broken(t.name, "shape", "one axis, entry i for id i", fmt.Sprintf("(%.100s)", m[2]))
	}
	n, err := strconv.ParseUint(shape[0], 10, 48)
	if err != nil {
		return broken(t.name, "shape", "less than 2^48 entries", fmt.Sprintf("%.100s", shape[0]))
	}
	if t.kind, t.bigEndian, err = volume.ParseDescr(string(m[1])); err != nil || !t.kind.IsInteger() {
		return broken(t.name, "descr", "an integer", fmt.Sprintf("%.100q", m[1]))
	}
	t.n = n
	if want := t.start + int64(n)*int64(t.kind.Size()); size < want {
		return broken(t.name, "size", fmt.Sprintf("%d bytes", want), fmt.Sprint(size))
	}
	return nil
}

// scan returns the greatest id.
func (t *npy) scan() (most uint64, err error) {
	for p := range t.n/npyPage + 1 {
		ids, err := t.page(context.Background(), p)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			most = max(most, id)
		}
	}
	return most, nil
}

// page reads a part of the file.
func (t *npy) page(ctx context.Context, p uint64) ([]uint64, error) {
	f, info, err := vfs.OpenRegular(t.fsys, t.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if vfs.VersionOf(info) != t.version {
		return nil, fmt.Errorf("%s: %w", t.name, vfs.ErrChanged)
	}
	ids := make([]uint64, min(npyPage, t.n-min(t.n, p*npyPage)))
	b := make([]byte, len(ids)*t.kind.Size())
	if err := vfs.ReadFull(ctx, f, b, t.start+int64(p*npyPage)*int64(t.kind.Size())); err != nil && len(b) > 0 {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return ids, decodeIDs(ids, b, t.kind, t.bigEndian)
}
