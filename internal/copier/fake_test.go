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

// fake is a file system of files whose bytes tell where they are.
type fake struct {
	dirs fstest.MapFS // the names, for listings
	mu   sync.Mutex
	all  map[string]*fakeFile
}

type fakeFile struct {
	name    string
	size    int64
	holes   [][2]int64
	version byte
	mtime   time.Time
	// reading is called before each read; an error is that of the read.
	reading func(off, n int64) error
	// offer is called with who takes what is offered, if it is not nil.
	offer func(take func(p []byte, off int64) bool)

	mu     sync.Mutex
	reads  [][2]int64 // begin and end
	made   []byte     // of the version
	madeOf byte
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

func (i fakeInfo) Name() string         { return path.Base(i.f.name) }
func (i fakeInfo) Size() int64          { return i.f.size }
func (i fakeInfo) Mode() fs.FileMode    { return 0o440 }
func (i fakeInfo) ModTime() time.Time   { return i.f.mtime }
func (i fakeInfo) IsDir() bool          { return false }
func (i fakeInfo) Sys() any             { return nil }
func (i fakeInfo) Version() vfs.Version { return vfs.Version{i.f.version} }

type fakeOpen struct{ f *fakeFile }

func (o *fakeOpen) Stat() (fs.FileInfo, error) { return fakeInfo{o.f}, nil }
func (o *fakeOpen) Read([]byte) (int, error)   { panic("read without an offset") }
func (o *fakeOpen) Close() error               { return nil }

func (o *fakeOpen) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	f := o.f
	end := off + int64(len(p))
	for _, h := range f.holes {
		if off < h[1] && end > h[0] {
			return 0, fmt.Errorf("read of %d to %d touches a hole", off, end)
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
	if o.f.offer != nil {
		o.f.offer(to.Write)
	}
}

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

// bytes is what is in the file: its name and version, and the offset of every line.
func (f *fakeFile) bytes() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made != nil && f.madeOf == f.version {
		return f.made
	}
	var b bytes.Buffer
	for int64(b.Len()) < f.size {
		fmt.Fprintf(&b, "%s %d %d\n", f.name, f.version, b.Len())
	}
	f.made, f.madeOf = b.Bytes()[:f.size], f.version
	for _, h := range f.holes {
		clear(f.made[h[0]:h[1]])
	}
	return f.made
}

// read returns which ranges of a size were read, rising, each once.
func (f *fakeFile) read(size int64) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []int64
	for _, r := range f.reads {
		all = append(all, r[0]/size)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// told collects what a copy tells.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (t *told) add(name, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, name+": "+text)
}

func (t *told) String() string {
	slices.Sort(t.lines)
	return strings.Join(t.lines, "\n")
}
