package vfstest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"sync"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Name is the file in an [Inside] of [NewInside].
const Name = "file"

// Inside is a file system with all abilities, for the inside of a wrapper. What it reports changes with Says.
type Inside struct {
	fs.FS
	Says bool // what it and its files report

	mu    sync.Mutex
	calls map[string]int // of abilities
}

// NewInside returns an [Inside] with the file [Name].
func NewInside(content []byte) *Inside {
	return Around(fstest.MapFS{Name: {Data: content, Mode: 0o644, ModTime: time.Unix(1e9, 0)}})
}

// Around adds all abilities to a file system.
func Around(fsys fs.FS) *Inside { return &Inside{FS: fsys, calls: map[string]int{}} }

// called counts a call of an ability.
func (i *Inside) called(ability string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calls[ability]++
}

func (i *Inside) count(ability string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[ability]
}

func (i *Inside) says(ability string) bool { i.called(ability); return i.Says }

// length returns 0 or another number of bytes.
func (i *Inside) length(ability string) int {
	if i.says(ability) {
		return 1234
	}
	return 0
}

// The abilities of a file system.
func (i *Inside) Speed() vfs.Speed { i.called("tree.Speed"); return i.speed() }
func (i *Inside) ChecksKind() bool { return i.says("tree.ChecksKind") }

func (i *Inside) speed() vfs.Speed {
	return vfs.Speed{Late: i.Says, Near: i.Says, AtOnce: i.Says, Remote: i.Says, Long: i.length(""), Doubled: i.Says}
}

// Open opens a file with all abilities.
func (i *Inside) Open(name string) (fs.File, error) {
	f, err := i.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	return &insideFile{f, i}, nil
}

// Stat describes a file with all abilities.
func (i *Inside) Stat(name string) (fs.FileInfo, error) {
	i.called("tree.Stat")
	return i.describe(fs.Stat(i.FS, name))
}

// Lstat is Stat: there are no links.
func (i *Inside) Lstat(name string) (fs.FileInfo, error) {
	i.called("tree.Lstat")
	return i.describe(fs.Stat(i.FS, name))
}

// ReadLink fails.
func (i *Inside) ReadLink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}

// ReadDir lists a directory.
func (i *Inside) ReadDir(name string) ([]fs.DirEntry, error) {
	i.called("tree.ReadDir")
	return fs.ReadDir(i.FS, name)
}

// List implements [vfs.ListFS].
func (i *Inside) List(name string) iter.Seq2[[]fs.DirEntry, error] {
	i.called("tree.List")
	return vfs.List(i.FS, name)
}

// Describe implements [vfs.DescribeFS].
func (i *Inside) Describe(name string, wanted func(string) bool) iter.Seq2[[]vfs.Described, error] {
	i.called("tree.Describe")
	return vfs.Describe(i.FS, name, wanted)
}

func (i *Inside) describe(of fs.FileInfo, err error) (fs.FileInfo, error) {
	if err != nil || of.IsDir() {
		return of, err
	}
	return insideInfo{of, i}, nil
}

// insideInfo is an fs.FileInfo with all abilities.
type insideInfo struct {
	fs.FileInfo
	i *Inside
}

func (n insideInfo) Details() vfs.Details {
	n.i.called("info.Source")
	return vfs.Details{
		Version:    func() vfs.Version { return vfs.Version{byte(n.i.length("info.Version"))} },
		Stored:     func() int64 { return int64(n.i.length("info.Stored")) },
		Source:     n,
		Attributes: func() map[string]string { n.i.called("info.Attributes"); return map[string]string{"user.inside": "1"} },
		Live:       n.i.says("info.Live"),
		Writable:   n.i.says("info.Writable"),
	}
}

// insideFile is an open file with all abilities.
type insideFile struct {
	fs.File
	i *Inside
}

func (f *insideFile) Speed() vfs.Speed    { f.i.called("file.Speed"); return f.i.speed() }
func (f *insideFile) ReadOnce() bool      { return f.i.says("file.ReadOnce") }
func (f *insideFile) Push(vfs.Sink)       { f.i.called("file.Push") }
func (f *insideFile) WillNeed(_, _ int64) { f.i.called("file.WillNeed") }

func (f *insideFile) WriteAtContext(context.Context, []byte, int64) error {
	f.i.called("file.WriteAtContext")
	return nil
}

func (f *insideFile) Sync(context.Context) error { f.i.called("file.Sync"); return nil }

func (f *insideFile) Stat() (fs.FileInfo, error) { return f.i.describe(f.File.Stat()) }

func (f *insideFile) Seek(off int64, whence int) (int64, error) {
	f.i.called("file.Seek")
	return f.File.(io.Seeker).Seek(off, whence)
}

func (f *insideFile) ReadAt(p []byte, off int64) (int, error) {
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// ReadAtContext cancels a context with a cancelKey, and waits until it is canceled.
func (f *insideFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	f.i.called("file.ReadAtContext")
	cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc)
	if !ok {
		return f.ReadAt(p, off)
	}
	cancel()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(10 * time.Second):
		return 0, errors.New("the read was not canceled")
	}
}

func (f *insideFile) ReadRanges(ctx context.Context, ranges []vfs.Range) {
	f.i.called("file.ReadRanges")
	for i := range ranges {
		ranges[i].Err = vfs.ReadFull(ctx, f.File, ranges[i].P, ranges[i].Off)
	}
}

func (f *insideFile) ReadParts(ctx context.Context, ranges []vfs.Range) error {
	f.i.called("file.ReadParts")
	for _, r := range ranges {
		if err := vfs.ReadFull(ctx, f.File, r.P, r.Off); err != nil {
			return err
		}
	}
	return nil
}

func (f *insideFile) ReadCached(p []byte, off int64) bool {
	return f.i.says("file.ReadCached") && vfs.ReadFull(context.Background(), f.File, p, off) == nil
}

func (f *insideFile) SeekData(off int64) (int64, error) {
	f.i.called("file.SeekData")
	return off + int64(f.i.length("")), nil
}

func (f *insideFile) SeekHole(off int64) (int64, error) {
	f.i.called("file.SeekHole")
	return off + int64(f.i.length("")), nil
}
