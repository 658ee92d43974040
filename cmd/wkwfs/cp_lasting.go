package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// lasting is the tree with versions that another process, on another machine, finds
// again: a copy that is gone on with must be of the same source. The versions of the
// tree itself are for a page cache: they name devices, which differ between machines,
// and for what is made of a whole mag they are new with each process.
//
// What is made of a mag has the time of the cube that changed last, so that a copy of
// it is known to be old.
type lasting struct {
	fs.FS
	depth int // cubes that are looked at at once
	mu    sync.Mutex
	mags  map[string]*magState
}

// magState is what a mag was when it was first looked at. It is not looked at again:
// a change in between is found by the next process.
type magState struct {
	once    sync.Once
	version []byte
	newest  time.Time
	err     error
}

func newLasting(tree fs.FS, depth int) *lasting {
	return &lasting{FS: tree, depth: depth, mags: map[string]*magState{}}
}

// lastingInfo is an fs.FileInfo with another version and time.
type lastingInfo struct {
	fs.FileInfo
	version vfs.Version
	time    time.Time
}

func (i lastingInfo) Version() vfs.Version { return i.version }
func (i lastingInfo) ModTime() time.Time   { return i.time }

// Stat implements fs.StatFS.
func (l *lasting) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(l.FS, name)
	if err != nil || info.IsDir() {
		return info, err
	}
	return l.info(name, info)
}

// Open opens a file whose Stat knows the lasting version.
func (l *lasting) Open(name string) (fs.File, error) {
	f, err := l.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return f, nil
	}
	if err == nil {
		info, err = l.info(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &lastingFile{f, info}, nil
}

func (l *lasting) info(name string, info fs.FileInfo) (fs.FileInfo, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", name)
	addState(sum, info)
	modified := info.ModTime()
	if mag := magOf(name); mag != "" {
		state, err := l.mag(mag)
		if err != nil {
			return nil, err
		}
		sum.Write(state.version)
		if state.newest.After(modified) {
			modified = state.newest
		}
	}
	return lastingInfo{info, vfs.Version(sum.Sum(nil)[:16]), modified}, nil
}

// magOf returns the mag whose cubes a file is made of, by the file's name; empty
// where it is made of one file of the source.
func magOf(name string) string {
	dir := path.Dir(name)
	switch {
	case strings.HasPrefix(path.Base(name), "volume."):
		return dir
	case path.Base(dir) == "slices", path.Base(dir) == "box":
		return path.Dir(dir)
	case path.Base(path.Dir(dir)) == "precomputed":
		return path.Join(path.Dir(path.Dir(dir)), path.Base(dir))
	}
	return ""
}

func (l *lasting) mag(name string) (*magState, error) {
	l.mu.Lock()
	m := l.mags[name]
	if m == nil {
		m = &magState{}
		l.mags[name] = m
	}
	l.mu.Unlock()
	m.once.Do(func() {
		sum := sha256.New()
		m.err = l.addMag(sum, name, &m.newest)
		m.version = sum.Sum(nil)
	})
	return m, m.err
}

// addMag adds the geometry of the mag and the state of each of its cubes, and finds
// when one of them was written last.
func (l *lasting) addMag(sum hash.Hash, mag string, newest *time.Time) error {
	about, err := fs.ReadFile(l.FS, path.Join(mag, "volume.json"))
	if err != nil {
		return err
	}
	sum.Write(about)
	below, err := fs.Sub(l.FS, mag) // its name is no pattern
	if err != nil {
		return err
	}
	cubes, err := fs.Glob(below, "z*/y*/x*.raw")
	if err != nil {
		return err
	}
	chunks, err := fs.Glob(below, "chunks/*.raw") // where they are stored so
	if err != nil {
		return err
	}
	look := func(name string) looked {
		info, err := fs.Stat(l.FS, path.Join(mag, name))
		return looked{name, info, err}
	}
	for cube := range parallel.InOrder(slices.Values(append(cubes, chunks...)), l.depth, look) {
		if errors.Is(cube.err, fs.ErrNotExist) {
			continue
		}
		if cube.err != nil {
			return cube.err
		}
		fmt.Fprintf(sum, "%s\n", cube.name)
		addState(sum, cube.info)
		if cube.info.ModTime().After(*newest) {
			*newest = cube.info.ModTime()
		}
	}
	return nil
}

// looked is a file that was looked at.
type looked struct {
	name string
	info fs.FileInfo
	err  error
}

// addState adds what changes when a file of the source does, and is the same on all
// machines that see it.
func addState(sum hash.Hash, info fs.FileInfo) {
	fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() {
		fmt.Fprintf(sum, "%d %d %d %d\n", st.Size, st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
	}
}

// lastingFile is an open file with another description.
type lastingFile struct {
	fs.File
	info fs.FileInfo
}

func (f *lastingFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// ReadAtContext implements vfs.ContextReaderAt.
func (f *lastingFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return vfs.ReadAt(ctx, f.File, p, off)
}

// Push implements vfs.Pusher.
func (f *lastingFile) Push(to vfs.Sink) {
	if p, ok := f.File.(vfs.Pusher); ok {
		p.Push(to)
	}
}

// SeekData implements vfs.Holed.
func (f *lastingFile) SeekData(off int64) (int64, error) {
	if h, ok := f.File.(vfs.Holed); ok {
		return h.SeekData(off)
	}
	return off, nil
}

// SeekHole implements vfs.Holed.
func (f *lastingFile) SeekHole(off int64) (int64, error) {
	if h, ok := f.File.(vfs.Holed); ok {
		return h.SeekHole(off)
	}
	return f.info.Size(), nil
}
