package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// writtenBytes is what was written into the voxels of a file. Bytes that were not written are -1.
type writtenBytes struct {
	all    []int
	writes int
	synced volume.Box
	about  described
	failed error
}

func (w *writtenBytes) Patch(_ context.Context, _ volume.Box, p []byte, off int64) error {
	for i := range p {
		if b := w.all[off+int64(i)]; b >= 0 {
			p[i] = byte(b)
		}
	}
	return w.failed
}

func (w *writtenBytes) Write(_ context.Context, _ volume.Box, p []byte, off int64) error {
	w.writes++
	for i, b := range p {
		w.all[off+int64(i)] = int(b)
	}
	return w.failed
}

func (w *writtenBytes) Check(volume.Box, []byte, int64) error { return w.failed }

func (w *writtenBytes) Sync(_ context.Context, box volume.Box) error { w.synced = box; return w.failed }
func (w *writtenBytes) Info() fs.FileInfo                            { return w.about }
func (w *writtenBytes) Changed() time.Time                           { return w.about.time }

// described describes a file of an operating system.
type described struct {
	fs.FileInfo
	mode     fs.FileMode
	uid, gid uint32
	time     time.Time
	none     bool // the system says no more
}

func (d described) Mode() fs.FileMode  { return d.mode }
func (d described) ModTime() time.Time { return d.time }
func (d described) Size() int64        { return 1 }
func (d described) Sys() any {
	if d.none {
		return nil
	}
	return &syscall.Stat_t{Uid: d.uid, Gid: d.gid}
}

// plainVoxels is a voxelReader of bytes.
type plainVoxels []byte

func (v plainVoxels) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return copy(p, v[off:]), nil
}
func (v plainVoxels) Size() int64 { return int64(len(v)) }
func (plainVoxels) Push(vfs.Sink) {}
func (plainVoxels) Close()        {}

// newEdited returns a file with a head, voxels and a tail of some lengths, and its content.
func newEdited(head, voxels, tail int) (*editedFile, *writtenBytes, []byte) {
	content := make([]byte, head+voxels+tail)
	for i := range content {
		content[i] = byte(i + 1)
	}
	layout := header.Layout{Head: content[:head:head], TailSize: int64(tail)}
	if tail > 0 {
		layout.Tail = bytes.NewReader(bytes.Clone(content[head+voxels:]))
	}
	var r voxelReader
	if voxels > 0 {
		r = plainVoxels(bytes.Clone(content[head : head+voxels]))
	}
	w := &writtenBytes{all: make([]int, voxels)}
	for i := range w.all {
		w.all[i] = -1
	}
	under := newFile(info{size: int64(len(content)), source: described{}}, layout, r, func() {})
	return newEditedFile(under, volume.Box{Max: volume.Cube(3)}, w), w, content
}

// TestEditedFiles writes each range of files with all small heads, voxels and tails: as it is, and with each byte
// changed. A change of the head or the tail, and a write past the end, are refused, and change nothing.
func TestEditedFiles(t *testing.T) {
	for head := range 4 {
		for voxels := range 4 {
			for tail := range 3 {
				size := head + voxels + tail
				for off := range size + 2 {
					for n := range size + 2 - off {
						for changed := -1; changed < n; changed++ {
							tryWrite(t, [3]int{head, voxels, tail}, off, n, changed)
						}
					}
				}
			}
		}
	}
}

// tryWrite writes n bytes, of which one may be changed, and reads all ranges.
func tryWrite(t *testing.T, parts [3]int, off, n, changed int) {
	t.Helper()
	f, w, content := newEdited(parts[0], parts[1], parts[2])
	what := fmt.Sprintf("parts of %v, %d bytes at %d, byte %d changed", parts, n, off, changed)
	size := len(content)
	p := make([]byte, n)
	copy(p, content[min(off, size):])
	var want error
	if off+n > size {
		want = vfs.ErrSize
	}
	if changed >= 0 {
		p[changed] ^= 0x80
		if at := off + changed; want == nil && (at < parts[0] || at >= parts[0]+parts[1]) {
			want = fs.ErrInvalid
		}
	}
	if err := f.WriteAtContext(t.Context(), p, int64(off)); !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("%s: got %v, expected %v", what, err, want)
	}
	if want != nil && w.writes != 0 {
		t.Fatalf("%s: something was written", what)
	}
	if want == nil {
		copy(content[min(off, size):], p)
	}
	for from := range size + 1 {
		got := make([]byte, size+1-from)
		read, err := f.ReadAtContext(t.Context(), got, int64(from))
		if err != io.EOF || !bytes.Equal(got[:read], content[from:]) {
			t.Fatalf("%s: read at %d: got %v, %v, expected %v", what, from, got[:read], err, content[from:])
		}
	}
}

// TestEditedFileErrors: an error of what was written is that of the read, write or sync, and a sync is for the box.
func TestEditedFileErrors(t *testing.T) {
	f, w, _ := newEdited(2, 3, 1)
	if err := f.Sync(t.Context()); err != nil || w.synced != f.box {
		t.Errorf("sync of %v: %v", w.synced, err)
	}
	w.failed = syscall.ENOSPC
	if n, err := f.ReadAtContext(t.Context(), make([]byte, 4), 0); n != 0 || !errors.Is(err, w.failed) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := f.ReadAtContext(t.Context(), make([]byte, 2), 0); err != nil {
		t.Errorf("read of the head: %v", err)
	}
	for off, want := range []error{nil, nil, w.failed, w.failed, w.failed, nil} {
		if err := f.WriteAtContext(t.Context(), []byte{byte(off + 1)}, int64(off)); !errors.Is(err, want) {
			t.Errorf("write at %d: got %v, expected %v", off, err, want)
		}
	}
	if err := f.Sync(t.Context()); !errors.Is(err, w.failed) {
		t.Errorf("sync: %v", err)
	}
	if err := f.WriteAtContext(t.Context(), []byte{1}, -1); !errors.Is(err, vfs.ErrSize) {
		t.Errorf("write at -1: %v", err)
	}
}

// TestEditedInfo: who may write the directory of the edits may write the file, and who may read the layer may read it.
func TestEditedInfo(t *testing.T) {
	old, late := time.Unix(100, 0), time.Unix(200, 0)
	for what, c := range map[string]struct {
		layer, edits described
		mode         fs.FileMode
		uid, gid     uint32
		time         time.Time
	}{
		"one owner": {described{mode: 0o640, uid: 1, gid: 2}, described{mode: 0o755, uid: 1, gid: 2}, 0o640, 1, 2,
			time.Time{}},
		"a group that writes": {described{mode: 0o444, uid: 1, gid: 2}, described{mode: 0o775, uid: 1, gid: 2}, 0o664,
			1, 2,
			time.Time{}},
		"another owner, who may not read": {described{mode: 0o440, uid: 1, gid: 2},
			described{mode: 0o700, uid: 5, gid: 2}, 0o240, 5, 2, time.Time{}},
		"another owner": {described{mode: 0o444, uid: 1, gid: 2}, described{mode: 0o700, uid: 5, gid: 6}, 0o644, 5, 6,
			time.Time{}},
		"another group": {described{mode: 0o440, uid: 1, gid: 2}, described{mode: 0o770, uid: 1, gid: 6}, 0o620, 1, 6,
			time.Time{}},
		"written later":  {described{mode: 0o400, time: old}, described{mode: 0o500, time: late}, 0o400, 0, 0, late},
		"written before": {described{mode: 0o400, time: late}, described{mode: 0o500, time: old}, 0o400, 0, 0, late},
		"a layer in a store": {described{mode: 0o444, none: true}, described{mode: 0o755, uid: 5}, 0o644, 0, 0,
			time.Time{}},
	} {
		i := editedInfoOf(info{size: 9, mode: c.layer.mode, source: c.layer}, &writtenBytes{about: c.edits})
		if i.Mode() != c.mode || !i.ModTime().Equal(c.time) || !i.Details().Writable || i.Size() != 9 {
			t.Errorf("%s: got %v, %v, expected %v, %v", what, i.Mode(), i.ModTime(), c.mode, c.time)
		}
		st, ok := i.Sys().(*syscall.Stat_t)
		if ok == c.layer.none || ok && (st.Uid != c.uid || st.Gid != c.gid) {
			t.Errorf("%s: got %+v, expected %d:%d", what, st, c.uid, c.gid)
		}
	}
}
