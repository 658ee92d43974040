package voxeltest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// Large returns n, a number of values that would fill the memory. With the race detector it returns less: the test then
// looks for races only.
func Large(n int) int {
	if Race {
		return n / 50
	}
	return n
}

// Many is a file system with a directory of many files, which exist only as a number. It is for tests of memory. It
// implements fs.FS and fs.StatFS.
type Many struct {
	Dir     string               // the directory, such as z0/y0
	N       int                  // the files in it
	Name    func(i int) string   // of file i; the files are listed from the last one to the first
	Number  func(string) int     // the file of a name; negative: none
	Content []byte               // of each file
	Others  map[string][]byte    // files beside the first component of Dir, by name
	Listed  func(first, end int) // is called when files are listed; nil: nothing is called
}

// ManyCubes is Many with cubes z0/y0/x0.wkw, x1.wkw and so on. content is that of each cube.
func ManyCubes(n int, content, header []byte) *Many {
	return &Many{
		Dir: "z0/y0", N: n, Content: content, Others: map[string][]byte{"header.wkw": header},
		Name: func(i int) string { return fmt.Sprintf("x%d.wkw", i) },
		Number: func(name string) int {
			digits, ok := strings.CutSuffix(strings.TrimPrefix(name, "x"), ".wkw")
			i, valid := volume.ParseIndex(digits)
			if !ok || !valid || name[0] != 'x' {
				return -1
			}
			return i
		},
	}
}

// Stat implements fs.StatFS.
func (m *Many) Stat(name string) (fs.FileInfo, error) {
	if b, ok := m.Others[name]; ok {
		return manyInfo{path.Base(name), int64(len(b)), 0o444}, nil
	}
	if name == "." || name == m.Dir || strings.HasPrefix(m.Dir, name+"/") {
		return manyInfo{path.Base(name), 0, fs.ModeDir | 0o555}, nil
	}
	if dir, base := path.Split(name); path.Clean(dir) == m.Dir {
		if i := m.Number(base); i >= 0 && i < m.N {
			return manyInfo{base, int64(len(m.Content)), 0o444}, nil
		}
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// Lstat is Stat.
func (m *Many) Lstat(name string) (fs.FileInfo, error) { return m.Stat(name) }

// ReadLink fails: there are no links.
func (m *Many) ReadLink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: syscall.EINVAL}
}

// Open implements fs.FS.
func (m *Many) Open(name string) (fs.File, error) {
	info, err := m.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &manyDir{m: m, name: name, info: info}, nil
	}
	content, other := m.Others[name]
	if !other {
		content = m.Content
	}
	return struct {
		fs.File
		io.ReaderAt
	}{manyFile{bytes.NewReader(content), info}, bytes.NewReader(content)}, nil
}

type manyFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f manyFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f manyFile) Close() error               { return nil }

// manyDir is an open directory.
type manyDir struct {
	m    *Many
	name string
	info fs.FileInfo
	next int
}

func (d *manyDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *manyDir) Close() error               { return nil }
func (d *manyDir) Read([]byte) (int, error)   { return 0, syscall.EISDIR }

// ReadDir implements fs.ReadDirFile.
func (d *manyDir) ReadDir(n int) ([]fs.DirEntry, error) {
	all := d.m.N
	if d.name != d.m.Dir {
		all = 1 // the component of Dir
		if d.name == "." {
			all += len(d.m.Others)
		}
	}
	end := all
	if n > 0 {
		end = min(d.next+n, all)
	}
	var entries []fs.DirEntry
	if d.name != d.m.Dir {
		if d.next == 0 && end > 0 {
			entries = d.few()[:end]
		}
	} else {
		if d.m.Listed != nil {
			d.m.Listed(d.next, end)
		}
		entries = make([]fs.DirEntry, 0, end-d.next)
		for i := d.next; i < end; i++ {
			entries = append(entries, fs.FileInfoToDirEntry(manyInfo{d.m.Name(all - 1 - i), int64(len(d.m.Content)),
				0o444}))
		}
	}
	d.next = end
	if n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}

// few returns the entries of a directory above Dir.
func (d *manyDir) few() []fs.DirEntry {
	rest := d.m.Dir
	if d.name != "." {
		rest = strings.TrimPrefix(rest, d.name+"/")
	}
	first, _, _ := strings.Cut(rest, "/")
	entries := []fs.DirEntry{fs.FileInfoToDirEntry(manyInfo{first, 0, fs.ModeDir | 0o555})}
	if d.name == "." {
		for name, b := range d.m.Others {
			entries = append(entries, fs.FileInfoToDirEntry(manyInfo{name, int64(len(b)), 0o444}))
		}
	}
	return entries
}

type manyInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i manyInfo) Name() string       { return i.name }
func (i manyInfo) Size() int64        { return i.size }
func (i manyInfo) Mode() fs.FileMode  { return i.mode }
func (i manyInfo) ModTime() time.Time { return time.Unix(1e9, 0) }
func (i manyInfo) IsDir() bool        { return i.mode.IsDir() }
func (i manyInfo) Sys() any           { return nil }

// PeakHeap calls f and returns by how many bytes the heap grew meanwhile, at most. It measures many times a second.
// Garbage counts, but the collector runs early.
func PeakHeap(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before, peak := sample[0].Value.Uint64(), uint64(0)
	measure := func() {
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64())
	}
	done := make(chan struct{})
	var measuring sync.WaitGroup
	measuring.Go(func() {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				measure()
			case <-done:
				measure()
				return
			}
		}
	})
	f()
	close(done)
	measuring.Wait()
	return max(peak, before) - before
}
