package copier

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// fake is a file system. The bytes of its files encode their file and offset.
type fake struct {
	dirs fstest.MapFS // the names, for listings
	all  map[string]*fakeFile
}

type fakeFile struct {
	name    string
	size    int64
	holes   [][2]int64
	version byte
	mtime   time.Time
	// reading is called before each read, if it is not nil. The read returns its error.
	reading func(off, n int64) error
	// onPush is called with the function that writes pushed bytes, if it is not nil.
	onPush func(write func(p []byte, off int64) bool)

	mu             sync.Mutex
	reads          [][2]int64 // start and end
	content        []byte     // nil: not generated yet
	contentVersion byte
}

var fakeTime = time.Date(2020, 2, 29, 12, 30, 45, 123456789, time.UTC)

func newFake(files ...*fakeFile) *fake {
	f := &fake{dirs: fstest.MapFS{}, all: map[string]*fakeFile{}}
	for _, file := range files {
		if file.mtime.IsZero() {
			file.mtime = fakeTime
		}
		f.all[file.name] = file
		f.dirs[file.name] = &fstest.MapFile{}
	}
	return f
}

func (f *fake) ReadDir(name string) ([]fs.DirEntry, error) { return f.dirs.ReadDir(name) }

func (f *fake) Stat(name string) (fs.FileInfo, error) {
	if file := f.all[name]; file != nil {
		return fakeInfo{file}, nil
	}
	return f.dirs.Stat(name)
}

func (f *fake) Open(name string) (fs.File, error) {
	if file := f.all[name]; file != nil {
		return &fakeOpen{file}, nil
	}
	return f.dirs.Open(name)
}

type fakeInfo struct{ f *fakeFile }

func (i fakeInfo) Name() string       { return path.Base(i.f.name) }
func (i fakeInfo) Size() int64        { return i.f.size }
func (i fakeInfo) Mode() fs.FileMode  { return 0o440 }
func (i fakeInfo) ModTime() time.Time { return i.f.mtime }
func (i fakeInfo) IsDir() bool        { return false }
func (i fakeInfo) Sys() any           { return nil }
func (i fakeInfo) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return vfs.Version{i.f.version} }}
}

type fakeOpen struct{ f *fakeFile }

func (o *fakeOpen) Stat() (fs.FileInfo, error) { return fakeInfo{o.f}, nil }
func (o *fakeOpen) Read([]byte) (int, error)   { panic("read without an offset") }
func (o *fakeOpen) Close() error               { return nil }

func (o *fakeOpen) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	f := o.f
	end := off + int64(len(p))
	for _, h := range f.holes {
		if off < h[1] && end > h[0] {
			return 0, fmt.Errorf("read of %d to %d overlaps a hole", off, end)
		}
	}
	if f.reading != nil {
		if err := f.reading(off, int64(len(p))); err != nil {
			return 0, err
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	f.reads = append(f.reads, [2]int64{off, end})
	f.mu.Unlock()
	n := copy(p, f.bytes()[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (o *fakeOpen) Push(to vfs.Sink) {
	if o.f.onPush != nil {
		o.f.onPush(to.Write)
	}
}

func (o *fakeOpen) ReadOnce() bool { return false }

func (o *fakeOpen) SeekData(off int64) (int64, error) {
	for _, h := range o.f.holes {
		if off >= h[0] && off < h[1] {
			off = h[1]
		}
	}
	if off >= o.f.size {
		return 0, io.EOF
	}
	return off, nil
}

func (o *fakeOpen) SeekHole(off int64) (int64, error) {
	for _, h := range o.f.holes {
		if off < h[1] {
			return max(off, h[0]), nil
		}
	}
	return o.f.size, nil
}

// bytes returns the content: lines with the name and version of the file and the offset of the line.
func (f *fakeFile) bytes() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.content != nil && f.contentVersion == f.version {
		return f.content
	}
	var b bytes.Buffer
	for int64(b.Len()) < f.size {
		fmt.Fprintf(&b, "%s %d %d\n", f.name, f.version, b.Len())
	}
	f.content, f.contentVersion = b.Bytes()[:f.size], f.version
	for _, h := range f.holes {
		clear(f.content[h[0]:h[1]])
	}
	return f.content
}

// rangesRead returns the numbers of the ranges that were read, sorted and without duplicates.
func (f *fakeFile) rangesRead(size int64) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []int64
	for _, r := range f.reads {
		all = append(all, r[0]/size)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// outputLines collects the calls of Failed and Notice.
type outputLines struct {
	mu    sync.Mutex
	lines []string
}

func (o *outputLines) add(name, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, name+": "+text)
}

func (o *outputLines) String() string {
	slices.Sort(o.lines)
	return strings.Join(o.lines, "\n")
}
