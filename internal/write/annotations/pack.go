package annotations

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
)

// Packed is what Pack has written.
type Packed struct {
	Volumes, Blocks int
	Bytes           int64 // of the archive
}

// Options says how to pack.
type Options struct {
	Replace bool          // an existing file
	DryRun  bool          // read all, and write nothing
	Block   func(n int64) // called for each file of a volume with its bytes; may be nil
}

// Pack writes an annotation as an archive. The file appears when it is complete and on the disk. If it exists, the
// error is [fs.ErrExist], unless the options replace it.
func Pack(ctx context.Context, a *annotation.Dataset, to string, o Options) (p Packed, err error) {
	if _, err := os.Lstat(to); err == nil && !o.Replace {
		return p, &fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}
	}
	if o.DryRun {
		err = pack(ctx, a, io.Discard, os.TempDir(), &p, o)
		return p, err
	}
	f, err := atomicfile.Create(to, 0o666)
	if err != nil {
		return p, err
	}
	if err = errors.Join(pack(ctx, a, f, filepath.Dir(to), &p, o), f.Sync(), f.Close()); err == nil {
		rename := atomicfile.RenameNew
		if o.Replace {
			rename = os.Rename
		}
		err = rename(f.Name(), to)
	}
	if err != nil {
		return p, errors.Join(err, removed(f.Name()))
	}
	return p, atomicfile.SyncDir(filepath.Dir(to))
}

// removed removes a file, if it still exists.
func removed(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// counter counts what is written.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}

// pack writes the archive. Temporary files without a name are in a directory.
func pack(ctx context.Context, a *annotation.Dataset, to io.Writer, temp string, p *Packed, o Options) error {
	out := &counter{Writer: to}
	z := zip.NewWriter(out)
	fsys, dir, file := a.Place()
	text, err := fs.ReadFile(fsys, path.Join(dir, file))
	if err != nil {
		return err
	}
	volumes := make([]*packed, len(a.Volumes))
	taken := map[string]bool{file: true}
	var also []string // archives of edges
	for i, v := range a.Volumes {
		if volumes[i], err = packVolume(ctx, v, temp, o); err != nil {
			return fmt.Errorf("volume %s: %w", v.As, err)
		}
		defer volumes[i].file.Close()
		if taken[volumes[i].location] {
			return fmt.Errorf("volume %s: location %s: expected a name of its own", v.As, volumes[i].location)
		}
		taken[volumes[i].location] = true
		p.Blocks += volumes[i].blocks
	}
	text, err = nml.Change(text, func(i int, have map[string]string) (map[string]string, error) {
		if i >= len(volumes) {
			return nil, errors.New("the NML file has changed")
		}
		if edges := have["editedMappingEdgesLocation"]; edges != "" && !taken[edges] {
			taken[edges], also = true, append(also, edges)
		}
		return volumes[i].attributes(have), nil
	})
	if err != nil {
		return err
	}
	if err := add(z, file, text); err != nil {
		return err
	}
	for _, v := range volumes {
		if err := v.addTo(z); err != nil {
			return err
		}
	}
	for _, name := range also {
		b, err := readSmall(fsys, path.Join(dir, name))
		if err != nil {
			return err
		}
		if err := add(z, name, b); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	p.Volumes, p.Bytes = len(volumes), out.n
	return nil
}

// maxSmall limits a file that is held in memory.
const maxSmall = 64 << 20

// readSmall reads a file beside the blocks.
func readSmall(fsys fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("%s: expected at most %d bytes, found more", name, maxSmall)
	}
	return b, err
}

// packed is the archive of a volume.
type packed struct {
	location string   // in the outer archive
	file     *os.File // without a name
	size     int64
	sum      uint32 // CRC-32
	blocks   int
	largest  uint64 // id
}

// attributes returns what changes in the NML file.
func (v *packed) attributes(have map[string]string) map[string]string {
	changes := map[string]string{}
	if have["location"] != v.location {
		changes["location"] = v.location
	}
	nml.RaiseLargestID(have, changes, v.largest)
	return changes
}

// addTo adds the archive to another one. It is not compressed again.
func (v *packed) addTo(z *zip.Writer) error {
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: v.location, Flags: flags(v.location), Method: zip.Store, CRC32: v.sum, CompressedSize64: uint64(v.size),
		UncompressedSize64: uint64(v.size),
	})
	if err == nil {
		_, err = v.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.CopyN(w, v.file, v.size)
	}
	return err
}

// flags returns the flag of a name that is UTF-8 and not ASCII.
func flags(name string) uint16 {
	if utf8.ValidString(name) && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return 0x800
	}
	return 0
}

// add adds a file to an archive, compressed if that makes it smaller.
func add(z *zip.Writer, name string, b []byte) error {
	h := &zip.FileHeader{Name: name, Flags: flags(name), CRC32: crc32.ChecksumIEEE(b),
		UncompressedSize64: uint64(len(b))}
	var small bytes.Buffer
	d, err := flate.NewWriter(&small, flate.DefaultCompression)
	if err != nil {
		return err
	}
	if _, err := d.Write(b); err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	if h.Method = zip.Store; small.Len() < len(b) {
		h.Method, b = zip.Deflate, small.Bytes()
	}
	h.CompressedSize64 = uint64(len(b))
	w, err := z.CreateRaw(h)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// packVolume makes the archive of a volume.
func packVolume(ctx context.Context, v *annotation.Layer, temp string, o Options) (p *packed, err error) {
	if v.Err != nil {
		return nil, v.Err
	}
	p = &packed{location: v.Location}
	if !strings.EqualFold(path.Ext(p.location), ".zip") {
		p.location += ".zip"
	}
	if p.file, err = unnamed(temp); err != nil {
		return nil, err
	}
	sum := crc32.NewIEEE()
	out := &counter{Writer: io.MultiWriter(p.file, sum)}
	z := zip.NewWriter(out)
	err = errors.Join(p.addFiles(ctx, z, v, o), z.Close())
	if err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	p.size, p.sum = out.n, sum.Sum32()
	return p, nil
}

// unnamed returns a temporary file without a name.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".annotation.*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
