//go:build linux

package fsnode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// source is a file system in memory. A test sets the errors of its calls and the optional abilities of its
// files.
type source struct {
	fstest.MapFS
	err      error                                    // of each call of the kind fails
	fails    string                                   // kind of call: stat, open, fstat, list, read, seek, close
	describe map[string]func(fs.FileInfo) fs.FileInfo // by path: adds abilities to a description
	file     func(fs.File) fs.File                    // adds abilities to an open file
	mu       sync.Mutex
	open     int // files that were opened and not closed
}

// modTime is the time of the files of newSource.
var modTime = time.Date(2020, 2, 29, 12, 0, 0, 123456789, time.UTC)

// newSource returns a source with the files, each with its name as content.
func newSource(names ...string) *source {
	s := &source{MapFS: fstest.MapFS{}, describe: map[string]func(fs.FileInfo) fs.FileInfo{}}
	for _, name := range names {
		s.MapFS[name] = &fstest.MapFile{Data: []byte(name), Mode: 0o640, ModTime: modTime}
	}
	return s
}

// errPanic makes calls panic.
var errPanic = errors.New("panic")

// fail returns the error of a call of a kind.
func (s *source) fail(kind string) error {
	switch {
	case kind != s.fails:
		return nil
	case s.err == errPanic:
		panic("in " + kind)
	}
	return s.err
}

// described adds the abilities of a path to its description.
func (s *source) described(name string, info fs.FileInfo, err error) (fs.FileInfo, error) {
	if add := s.describe[name]; add != nil && err == nil {
		return add(info), nil
	}
	return info, err
}

func (s *source) Stat(name string) (fs.FileInfo, error) {
	if err := s.fail("stat"); err != nil {
		return nil, err
	}
	info, err := s.MapFS.Stat(name)
	return s.described(name, info, err)
}

func (s *source) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.fail("list"); err != nil {
		return nil, err
	}
	return s.MapFS.ReadDir(name)
}

func (s *source) Open(name string) (fs.File, error) {
	if err := s.fail("open"); err != nil {
		return nil, err
	}
	f, err := s.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	s.count(1)
	opened := fs.File(&sourceFile{f, s, name})
	if s.file != nil {
		opened = s.file(opened)
	}
	return opened, nil
}

func (s *source) count(files int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += files
}

// sourceFile is an open file of a source.
type sourceFile struct {
	fs.File
	of   *source
	name string
}

func (f *sourceFile) Stat() (fs.FileInfo, error) {
	if err := f.of.fail("fstat"); err != nil {
		return nil, err
	}
	info, err := f.File.Stat()
	return f.of.described(f.name, info, err)
}

func (f *sourceFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.of.fail("read"); err != nil {
		return 0, err
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

func (f *sourceFile) Close() error {
	f.of.count(-1)
	if err := f.of.fail("close"); err != nil {
		return err
	}
	return f.File.Close()
}

// cancellable is a file whose reads end with their context. It implements vfs.ContextReaderAt.
type cancellable struct{ *sourceFile }

func (f cancellable) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return f.ReadAt(p, off)
}

// pushing is a file that keeps its sinks. It implements vfs.Pusher.
type pushing struct {
	*sourceFile
	sinks *[]vfs.Sink
}

func (f pushing) Push(to vfs.Sink) { *f.sinks = append(*f.sinks, to) }
func (f pushing) ReadOnce() bool   { return false }

// sparse is a file with data only in some ranges of bytes, in their order. It implements vfs.HoleSeeker.
type sparse struct {
	*sourceFile
	data [][2]int64
}

func (f sparse) SeekData(off int64) (int64, error) {
	if err := f.of.fail("seek"); err != nil {
		return 0, err
	}
	for _, d := range f.data {
		if off < d[1] {
			return max(off, d[0]), nil
		}
	}
	return 0, io.EOF
}

func (f sparse) SeekHole(off int64) (int64, error) {
	if err := f.of.fail("seek"); err != nil {
		return 0, err
	}
	for _, d := range f.data {
		if off >= d[0] && off < d[1] {
			return d[1], nil
		}
	}
	return off, nil
}

// The optional abilities of a description.
type (
	versioned struct {
		fs.FileInfo
		version vfs.Version
	}
	stored struct {
		fs.FileInfo
		bytes int64
	}
	attributed struct {
		fs.FileInfo
		values map[string]string
	}
	live struct{ fs.FileInfo }
)

func (v versioned) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return v.version }}
}
func (s stored) Details() vfs.Details {
	return vfs.Details{Stored: func() int64 { return s.bytes }}
}
func (a attributed) Details() vfs.Details {
	return vfs.Details{Attributes: func() map[string]string { return a.values }}
}
func (live) Details() vfs.Details { return vfs.Details{Live: true} }
