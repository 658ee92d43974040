package precomputed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// files stores each chunk in a file (volume.md, "Unsharded chunk storage"). The file has the chunk's name, or one of
// the suffixes of [forms] if it is compressed. If several exist, the first one of these is read.
type files struct {
	fsys  fs.FS
	dir   string
	scale *scaleInfo
	limit int // of positions
	all   *lattice.Budget

	mu      sync.Mutex
	found   lattice.Positions
	err     error       // a lattice.TooManyError, or nil
	version vfs.Version // of the directory, when it was listed
	listed  time.Time
	checked time.Time // when the version was last compared
}

// timeResolution is the coarsest resolution of file times. A directory that changes again within this time may keep its
// modification time, so a listing made within it is not final.
const timeResolution = 2 * time.Second

// Positions implements [lattice.Store].
func (f *files) Positions(fresh bool) (lattice.Positions, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !fresh && ttl.IsRecent(f.checked) {
		return f.found, f.err
	}
	info, err := fs.Stat(f.fsys, f.dir)
	if err = vfs.CheckAbsent(f.fsys, ".", f.dir, err); vfs.NothingListed(err) {
		return lattice.Positions{Lattice: f.scale.lattice}, nil // no chunk was written yet
	}
	if err != nil {
		return lattice.Positions{}, err
	}
	if err := vfs.CheckKind(f.dir, info, fs.ModeDir); err != nil {
		return lattice.Positions{}, err
	}
	now, version := time.Now(), vfs.VersionOf(info)
	if f.listed.IsZero() || version != f.version || !vfs.HasModTime(info) ||
		f.listed.Sub(info.ModTime()) < timeResolution || lattice.HasPassed(f.err) {
		f.found.Release()
		f.found = lattice.Positions{}
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
	found := f.all.Collect(f.scale.lattice, f.limit)
	for e, err := range f.entries {
		if err != nil {
			found.Drop()
			return lattice.Positions{}, err
		}
		if err := found.Add(e.at); err != nil {
			return lattice.Positions{Lattice: f.scale.lattice}, err
		}
	}
	return found.Positions(), nil
}

// Walk implements [lattice.Store].
func (f *files) Walk(yield func(volume.Vec, error) bool) {
	for e, err := range f.entries {
		if err == nil && f.standsIn(e) {
			continue
		}
		if !yield(e.at, err) {
			return
		}
	}
}

// standsIn reports whether another file than an entry is read for its chunk.
func (f *files) standsIn(e chunkEntry) bool {
	for _, form := range forms {
		if form.suffix == e.suffix {
			break
		}
		if _, err := fs.Lstat(f.fsys, f.path(e.at)+form.suffix); err == nil {
			return true
		}
	}
	return false
}

// chunkEntry is an entry of the directory that stands for a chunk.
type chunkEntry struct {
	at     volume.Vec
	suffix string // of a compression, in its name
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
			if c, ok := f.scale.parseChunkName(name); ok && !yield(chunkEntry{c, e.Name()[len(name):]}, nil) {
				return
			}
		}
	}
}

func (f *files) path(c volume.Vec) string { return path.Join(f.dir, f.scale.chunkName(c)) }

func (f *files) stat(c volume.Vec) (found fs.FileInfo, err error) {
	err = f.look("stat", c, func(name string, _ compression) error {
		info, err := fs.Stat(f.fsys, name)
		if err == nil {
			if err = vfs.CheckKind(name, info, 0); err == nil {
				found = f.describe(c, info)
				return nil
			}
		}
		return f.checkAbsent(name, err)
	})
	return found, err
}

// checkAbsent returns an error that says whether a file is absent, or there and cannot be found.
func (f *files) checkAbsent(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return vfs.CheckAbsent(f.fsys, ".", name, err)
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// describe returns the attributes of chunk c, which is a file. Its version names the voxels: a file may be linked as
// several chunks, and of several volumes, but a chunk at the end of the scale has other voxels of the same bytes.
func (f *files) describe(c volume.Vec, file fs.FileInfo) fs.FileInfo {
	s, version := f.scale, vfs.VersionOf(file)
	sum := sha256.Sum256(fmt.Appendf(version[:], "%v %v %d %s %v %v", s.grid().Size, s.dataType, s.channels,
		s.encoding.name, s.block, s.chunkBox(c).Size()))
	return vfs.WithVersion(file, vfs.Version(sum[:16]))
}

// Describe implements [lattice.Store].
func (f *files) Describe() func(volume.Vec) (fs.FileInfo, error) { return f.stat }

func (f *files) open(c volume.Vec) (opened *storedChunk, err error) {
	err = f.look("open", c, func(name string, by compression) error {
		file, err := lattice.OpenFile(f.fsys, name)
		if err != nil {
			return f.checkAbsent(name, err)
		}
		f.scale.unpacking.Store(max(f.scale.unpacking.Load(), int64(f.scale.unpackMemory(by))))
		opened = &storedChunk{file, f.describe(c, file.Info), 0, file.Info.Size(), by}
		return nil
	})
	return opened, err
}

// listedAs returns nil if a chunk is listed, or if it is not known which chunks are. The error for one that is not is
// fs.ErrNotExist.
func (f *files) listedAs(op string, c volume.Vec) error {
	for _, fresh := range []bool{false, true} { // a cached listing may be older than the file
		found, err := f.Positions(fresh)
		if lattice.IsTooMany(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !found.Contains(c) {
			return notExist(op, f.path(c))
		}
	}
	return nil
}

// missing returns the error for a chunk that has none of the names that are read.
func (f *files) missing(op string, c volume.Vec) error {
	name := f.path(c)
	for _, form := range forms {
		name := name + form.suffix
		if err := vfs.CheckAbsent(f.fsys, ".", name, notExist(op, name)); !isAbsent(err) {
			return err
		}
	}
	if found, err := f.Positions(false); err == nil && found.Contains(c) {
		return fmt.Errorf("%s.*: a file has this name with a suffix that is not known: expected none, or one of %s",
			name, knownSuffixes())
	}
	return notExist(op, name)
}

func knownSuffixes() string {
	var all []string
	for _, form := range forms[1:] {
		all = append(all, form.suffix)
	}
	return strings.Join(all, ", ")
}
