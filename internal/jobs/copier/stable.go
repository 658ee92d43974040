package copier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"iter"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// stableTree is the result of [Stable].
type stableTree struct {
	fs.FS
	depth int // requests in flight

	mu   sync.Mutex
	mags map[string]*magVersion // by path
}

// magVersion is the version of a mag when its first file was opened. A later change is found by
// the next process.
type magVersion struct {
	once    sync.Once
	version []byte
	newest  time.Time // of all cubes
	err     error
}

// Stable returns the tree of a mount with versions that are the same in every process and on
// every machine, as long as the source is. A copy that is resumed needs them. The versions of
// the tree itself are for a page cache: they contain device numbers, which differ between
// machines, and those of files that are made of a whole mag differ between processes.
//
// A file that is made of a whole mag gets the time of its newest cube, so that [Copy] recognises
// an old copy of it. Up to depth requests are in flight at once.
func Stable(fsys fs.FS, depth int) fs.FS {
	return &stableTree{FS: fsys, depth: depth, mags: map[string]*magVersion{}}
}

// stableInfo is an fs.FileInfo with another version and time.
type stableInfo struct {
	fs.FileInfo
	version vfs.Version
	time    time.Time
}

func (i stableInfo) ModTime() time.Time { return i.time }

// Details implements vfs.DetailedInfo. What else the view says differs between machines.
func (i stableInfo) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return i.version },
		Source: cmp.Or(vfs.DetailsOf(i.FileInfo).Source, i.FileInfo)}
}

// Stat implements fs.StatFS.
func (t *stableTree) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(t.FS, name)
	if err != nil || info.IsDir() {
		return info, err
	}
	return t.stabilise(name, info)
}

// Open implements fs.FS.
func (t *stableTree) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return f, nil
	}
	if err == nil {
		info, err = t.stabilise(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &stableFile{f, info}, nil
}

// List implements vfs.ListFS.
func (t *stableTree) List(name string) iter.Seq2[[]fs.DirEntry, error] { return vfs.List(t.FS, name) }

// stabilise returns the info of a file with its stable version and time.
func (t *stableTree) stabilise(name string, info fs.FileInfo) (fs.FileInfo, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", name)
	addState(sum, info)
	modified := info.ModTime()
	if mag, ok := tree.MagOf(name); ok {
		m, err := t.mag(mag)
		if err != nil {
			return nil, err
		}
		sum.Write(m.version)
		if m.newest.After(modified) {
			modified = m.newest
		}
	}
	return stableInfo{info, vfs.Version(sum.Sum(nil)[:16]), modified}, nil
}

// mag returns the version of a mag.
func (t *stableTree) mag(name string) (*magVersion, error) {
	t.mu.Lock()
	m := t.mags[name]
	if m == nil {
		m = &magVersion{}
		t.mags[name] = m
	}
	t.mu.Unlock()
	m.once.Do(func() {
		sum := sha256.New()
		m.err = t.addMag(sum, name, &m.newest)
		m.version = sum.Sum(nil)
	})
	return m, m.err
}

// addMag adds the geometry of a mag and the state of each of its cubes to sum, and sets newest
// to the time of the newest cube.
func (t *stableTree) addMag(sum hash.Hash, mag string, newest *time.Time) error {
	geometry, err := fs.ReadFile(t.FS, path.Join(mag, tree.VolumeJSON))
	if err != nil {
		return err
	}
	sum.Write(geometry)
	cubes := func(yield func(string) bool) {
		for _, m := range t.timesOf(mag) {
			if !t.match(m, tree.CubePattern, yield) || !t.match(m, tree.ChunkPattern, yield) {
				return
			}
		}
	}
	type described struct {
		sum  [sha256.Size]byte
		time time.Time
		err  error
	}
	describe := func(name string) described {
		info, err := fs.Stat(t.FS, name)
		if err != nil {
			return described{err: err}
		}
		sum := sha256.New()
		fmt.Fprintf(sum, "%s\n", name)
		addState(sum, info)
		return described{[sha256.Size]byte(sum.Sum(nil)), info.ModTime(), nil}
	}
	var all cubeSum
	for cube := range parallel.InOrder(cubes, t.depth, describe) {
		if errors.Is(cube.err, fs.ErrNotExist) {
			continue
		}
		if cube.err != nil {
			return cube.err
		}
		all.add(cube.sum)
		if cube.time.After(*newest) {
			*newest = cube.time
		}
	}
	fmt.Fprintf(sum, "%x\n", all)
	return nil
}

// timesOf returns the mags of all times, if a directory has a mag at all times. Else it returns the mag.
func (t *stableTree) timesOf(mag string) (mags []string) {
	if _, err := fs.Stat(t.FS, path.Join(mag, tree.Slices)); !errors.Is(err, fs.ErrNotExist) {
		return []string{mag}
	}
	for entries := range vfs.List(t.FS, path.Dir(mag)) {
		for _, e := range entries {
			if tree.IsPoint(e.Name()) {
				mags = append(mags, path.Join(path.Dir(mag), e.Name(), path.Base(mag)))
			}
		}
	}
	if len(mags) == 0 {
		return []string{mag}
	}
	return mags
}

// match yields the paths of the entries below dir that match a pattern of several components. It ignores directories
// that cannot be listed: reading what needs them fails.
func (t *stableTree) match(dir, pattern string, yield func(string) bool) bool {
	first, rest, more := strings.Cut(pattern, "/")
	for entries := range vfs.List(t.FS, dir) {
		for _, e := range entries {
			if ok, _ := path.Match(first, e.Name()); !ok {
				continue
			}
			name := path.Join(dir, e.Name())
			if more && e.IsDir() && !t.match(name, rest, yield) || !more && !yield(name) {
				return false
			}
		}
	}
	return true
}

// cubeSum is the sum of the hashes of cubes, in four parts. It does not depend on their order: that of a large
// directory differs between file systems.
type cubeSum [sha256.Size / 8]uint64

func (s *cubeSum) add(hash [sha256.Size]byte) {
	for i := range s {
		s[i] += binary.LittleEndian.Uint64(hash[8*i:])
	}
}

// addState adds to sum what changes when a file of the source changes, and is the same on all
// machines that see the file.
func addState(sum hash.Hash, info fs.FileInfo) {
	fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() {
		_, _, change := vfs.StatTimes(st)
		fmt.Fprintf(sum, "%d %d %d %d\n", st.Size, st.Ino, change.Sec, change.Nsec)
	}
}

// stableFile is an open file with another fs.FileInfo.
type stableFile struct {
	fs.File
	info fs.FileInfo
}

func (f *stableFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// ReadAtContext implements vfs.ContextReaderAt.
func (f *stableFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return vfs.ReadAt(ctx, f.File, p, off)
}

// Push implements vfs.Pusher.
func (f *stableFile) Push(to vfs.Sink) {
	if p, ok := f.File.(vfs.Pusher); ok {
		p.Push(to)
	}
}

// ReadOnce implements vfs.Pusher.
func (f *stableFile) ReadOnce() bool {
	p, ok := f.File.(vfs.Pusher)
	return ok && p.ReadOnce()
}

// SeekData implements vfs.HoleSeeker.
func (f *stableFile) SeekData(off int64) (int64, error) {
	if h, ok := f.File.(vfs.HoleSeeker); ok {
		return h.SeekData(off)
	}
	return off, nil
}

// SeekHole implements vfs.HoleSeeker.
func (f *stableFile) SeekHole(off int64) (int64, error) {
	if h, ok := f.File.(vfs.HoleSeeker); ok {
		return h.SeekHole(off)
	}
	return f.info.Size(), nil
}
