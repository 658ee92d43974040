package precomputed

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// files is a scale with a file for each chunk (volume.md, "Unsharded chunk storage"):
// under the chunk's name or, as programs write it that mean it to be sent with a
// Content-Encoding, name.gz. If there are both, it is the first.
type files struct {
	fsys  fs.FS
	dir   string
	scale *scaleInfo

	mu      sync.Mutex
	found   positions
	version vfs.Version // of the directory when it was listed
	listed  time.Time
	checked time.Time // when the version was last compared
}

// otherSuffixes are those of compressions that are written by other programs and not
// read by this one. Chunks that have them exist, and must not pass for absent.
var otherSuffixes = []string{".br", ".zstd", ".xz", ".bz2", ".lzma"}

// settled is how old a change of a directory must be for a listing to be sure to have
// all of it: times of files are coarse, up to two seconds.
const settled = 2 * time.Second

func (f *files) positions(fresh bool) (positions, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !fresh && time.Since(f.checked) < recheck {
		return f.found, nil
	}
	info, err := fs.Stat(f.fsys, f.dir)
	if err = absent(f.fsys, f.dir, err); errors.Is(err, fs.ErrNotExist) {
		return positions{lattice: f.scale.lattice}, nil // nothing was ever written
	}
	if err != nil {
		return positions{}, err
	}
	now, version := time.Now(), vfs.VersionOf(info)
	if f.listed.IsZero() || version != f.version || f.listed.Sub(info.ModTime()) < settled {
		if f.found, err = f.list(); err != nil {
			f.listed, f.checked = time.Time{}, time.Time{}
			return positions{}, err
		}
		f.version, f.listed = version, now
	}
	f.checked = now
	return f.found, nil
}

func (f *files) list() (positions, error) {
	entries, err := fs.ReadDir(f.fsys, f.dir)
	if err != nil {
		return positions{}, err
	}
	var found []uint64
	for _, e := range entries {
		if !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if c, ok := f.scale.parseChunkName(withoutSuffix(e.Name())); ok {
			found = append(found, f.scale.lattice.raster(c))
		}
	}
	return newPositions(f.scale.lattice, found), nil
}

// withoutSuffix returns what the name of a file would be without compression.
func withoutSuffix(name string) string {
	if dot := strings.IndexByte(name, '.'); dot >= 0 && (name[dot:] == gzipSuffix || slices.Contains(otherSuffixes, name[dot:])) {
		return name[:dot]
	}
	return name
}

func (f *files) path(c volume.Vec) string { return path.Join(f.dir, f.scale.chunkName(c)) }

func (f *files) stat(c volume.Vec) (fs.FileInfo, error) {
	for _, name := range []string{f.path(c), f.path(c) + gzipSuffix} {
		info, err := fs.Stat(f.fsys, name)
		if err == nil && info.Mode().IsRegular() {
			return info, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, f.missing("stat", c)
}

func (f *files) open(c volume.Vec) (*stored, error) {
	for _, as := range []struct {
		suffix      string
		compression compression
	}{{"", unstated}, {gzipSuffix, gzipped}} {
		name := f.path(c) + as.suffix
		file, info, err := openFile(f.fsys, name)
		if err == nil {
			return &stored{file, name, info, info, 0, info.Size(), as.compression}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, f.missing("open", c)
}

// missing returns the error for a chunk that has neither of the two names: it is
// absent only if the directory has it under no other name, and no link by its name.
func (f *files) missing(op string, c volume.Vec) error {
	name := f.path(c)
	for _, fresh := range []bool{false, true} { // the listing may be older than the file
		found, err := f.positions(fresh)
		if err != nil {
			return err
		}
		if !found.contains(c) {
			return notExist(op, name)
		}
	}
	for _, suffix := range otherSuffixes {
		if _, err := fs.Lstat(f.fsys, name+suffix); err == nil {
			return fmt.Errorf("%s: the compression of a file %s is not supported", name+suffix, suffix)
		}
	}
	for _, name := range []string{name, name + gzipSuffix} {
		if err := absent(f.fsys, name, notExist(op, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return notExist(op, name)
}
