package precomputed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// files stores each chunk in a file (volume.md, "Unsharded chunk storage"). The file has the chunk's name, or name.gz
// if it is meant to be served with a Content-Encoding. If both exist, the file without the suffix is read.
type files struct {
	fsys  fs.FS
	dir   string
	scale *scaleInfo
	limit int // of positions

	mu      sync.Mutex
	found   lattice.Positions
	err     error       // a lattice.TooManyError, or nil
	version vfs.Version // of the directory, when it was listed
	listed  time.Time
	checked time.Time // when the version was last compared
}

// unsupportedSuffixes are those of compressions that this package cannot read. Such a chunk exists: it is an error
// and must not read as zeros.
var unsupportedSuffixes = []string{".br", ".zst", ".zstd", ".xz", ".bz2", ".lzma"}

// timeResolution is the coarsest resolution of file times. A directory that changes again within this time may keep its
// modification time, so a listing made within it is not final.
const timeResolution = 2 * time.Second

func (f *files) positions(fresh bool) (lattice.Positions, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !fresh && time.Since(f.checked) < maxListingAge {
		return f.found, f.err
	}
	info, err := fs.Stat(f.fsys, f.dir)
	if err = vfs.CheckAbsent(f.fsys, ".", f.dir, err); errors.Is(err, fs.ErrNotExist) {
		return lattice.Positions{Lattice: f.scale.lattice}, nil // no chunk was written yet
	}
	if err != nil {
		return lattice.Positions{}, err
	}
	if err := vfs.CheckKind(f.dir, info, fs.ModeDir); err != nil {
		return lattice.Positions{}, err
	}
	now, version := time.Now(), vfs.VersionOf(info)
	if f.listed.IsZero() || version != f.version || !vfs.HasModTime(info) || f.listed.Sub(info.ModTime()) < timeResolution {
		if f.found, err = f.list(); err != nil && !lattice.IsTooMany(err) {
			f.listed, f.checked = time.Time{}, time.Time{}
			return lattice.Positions{}, err
		}
		f.version, f.listed, f.err = version, now, err
	}
	f.checked = now
	return f.found, f.err
}

// list lists the chunks that have an entry in the directory. An entry of the wrong kind counts: it exists and cannot be
// read, so it must not read as zeros.
func (f *files) list() (lattice.Positions, error) {
	var found []uint64
	for e, err := range f.entries {
		if err != nil {
			return lattice.Positions{}, err
		}
		if found = append(found, f.scale.lattice.Raster(e.at)); len(found) > f.limit {
			return lattice.Positions{Lattice: f.scale.lattice}, lattice.TooManyError{Limit: f.limit}
		}
	}
	return lattice.NewPositions(f.scale.lattice, found), nil
}

// walk implements chunkStore.
func (f *files) walk(yield func(volume.Vec, error) bool) {
	for e, err := range f.entries {
		if err == nil && e.suffix {
			if _, lstatErr := fs.Lstat(f.fsys, f.path(e.at)); lstatErr == nil {
				continue // the file without the suffix stands for the chunk
			}
		}
		if !yield(e.at, err) {
			return
		}
	}
}

// chunkEntry is an entry of the directory that stands for a chunk.
type chunkEntry struct {
	at     volume.Vec
	suffix bool // its name has the suffix of a compression
}

// entries yields the entries of the directory that stand for chunks, of whatever kind. An error is the last item.
func (f *files) entries(yield func(chunkEntry, error) bool) {
	for entries, err := range vfs.ListDir(f.fsys, f.dir) {
		if err != nil {
			yield(chunkEntry{}, err)
			return
		}
		for _, e := range entries {
			name := withoutSuffix(e.Name())
			if c, ok := f.scale.parseChunkName(name); ok && !yield(chunkEntry{c, name != e.Name()}, nil) {
				return
			}
		}
	}
}

// withoutSuffix returns the name of a file without the suffix of a compression.
func withoutSuffix(name string) string {
	if dot := strings.IndexByte(name, '.'); dot >= 0 && (name[dot:] == gzipSuffix || slices.Contains(unsupportedSuffixes, name[dot:])) {
		return name[:dot]
	}
	return name
}

func (f *files) path(c volume.Vec) string { return path.Join(f.dir, f.scale.chunkName(c)) }

func (f *files) stat(c volume.Vec) (fs.FileInfo, error) {
	for _, name := range []string{f.path(c), f.path(c) + gzipSuffix} {
		info, err := fs.Stat(f.fsys, name)
		if err == nil {
			if err = vfs.CheckKind(name, info, 0); err == nil {
				return f.describe(c, info), nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, vfs.CheckAbsent(f.fsys, ".", name, err)
		}
	}
	return nil, f.missing("stat", c)
}

// describe returns the attributes of chunk c, which is a file. Its version names the voxels: a file may be linked as several chunks, and of
// several volumes, but a chunk at the end of the scale has other voxels of the same bytes.
func (f *files) describe(c volume.Vec, file fs.FileInfo) fs.FileInfo {
	s, version := f.scale, vfs.VersionOf(file)
	sum := sha256.Sum256(fmt.Appendf(version[:], "%v %v %d %s %v %v", s.grid().Size, s.dataType, s.channels, s.encoding.name, s.block, s.chunkBox(c).Size()))
	return fileInfo{file, vfs.Version(sum[:16])}
}

// fileInfo describes a chunk that is a file.
type fileInfo struct {
	fs.FileInfo
	version vfs.Version
}

// Stored implements [vfs.StoredInfo].
func (i fileInfo) Stored() int64 { return vfs.StoredOf(i.FileInfo) }

// Version implements [vfs.VersionedInfo].
func (i fileInfo) Version() vfs.Version { return i.version }

func (f *files) open(c volume.Vec) (*storedChunk, error) {
	for _, form := range []struct {
		suffix      string
		compression compression
	}{{"", undeclared}, {gzipSuffix, gzipped}} {
		name := f.path(c) + form.suffix
		file, info, err := vfs.OpenRegular(f.fsys, name)
		if err == nil {
			return &storedChunk{file, name, info, f.describe(c, info), 0, info.Size(), form.compression}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, vfs.CheckAbsent(f.fsys, ".", name, err)
		}
	}
	return nil, f.missing("open", c)
}

// missing returns the error for a chunk with neither of the two file names. It is fs.ErrNotExist only if the chunk is
// absent: no file has it in an unsupported compression, and no link has its name.
func (f *files) missing(op string, c volume.Vec) error {
	name := f.path(c)
	for _, fresh := range []bool{false, true} { // a cached listing may be older than the file
		found, err := f.positions(fresh)
		if lattice.IsTooMany(err) {
			break // it is not known which chunks exist
		}
		if err != nil {
			return err
		}
		if !found.Contains(c) {
			return notExist(op, name)
		}
	}
	for _, suffix := range unsupportedSuffixes {
		if _, err := fs.Lstat(f.fsys, name+suffix); err == nil {
			return fmt.Errorf("%s: compression %s is not supported", name+suffix, suffix)
		}
	}
	for _, name := range []string{name, name + gzipSuffix} {
		if err := vfs.CheckAbsent(f.fsys, ".", name, notExist(op, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return notExist(op, name)
}
