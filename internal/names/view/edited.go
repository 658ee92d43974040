package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/read/writable"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// editedFile is a file of voxels that can be written. Its reads have what it contains when they are made: the voxels of
// the mag under the edits, and over them what was written.
type editedFile struct {
	*io.SectionReader // Read and Seek, through ReadAt
	under             *openFile
	info              editedInfo
	box               volume.Box // in absolute voxels of the mag
	voxels            writable.Voxels
}

var (
	_ vfs.Writer          = (*editedFile)(nil)
	_ vfs.ContextReaderAt = (*editedFile)(nil)
	_ writable.File       = (*editedFile)(nil)
)

// newEditedFile returns a file of the voxels of a box over f, which has those under the edits.
func newEditedFile(f fs.File, box volume.Box, voxels writable.Voxels) *editedFile {
	opened := f.(*openFile)
	e := &editedFile{under: opened, info: editedInfoOf(opened.info, voxels), box: box, voxels: voxels}
	e.SectionReader = io.NewSectionReader(background{e}, 0, opened.info.size)
	return e
}

func (f *editedFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close closes the file under the edits.
func (f *editedFile) Close() error { return f.under.Close() }

// ReadAtContext implements vfs.ContextReaderAt.
func (f *editedFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := f.under.ReadAtContext(ctx, p, off)
	if err != nil && err != io.EOF {
		return n, err
	}
	middle := f.under.middle()
	part := span.Of(off, int64(n)).Clip(middle)
	if part.Empty() {
		return n, err
	}
	if failed := f.voxels.Patch(ctx, f.box, p[part.Start()-off:part.End()-off],
		part.Start()-middle.Start()); failed != nil {
		return 0, failed
	}
	return n, err
}

// WriteAtContext implements vfs.Writer. Bytes of the head and the tail have to be as they are.
func (f *editedFile) WriteAtContext(ctx context.Context, p []byte, off int64) error {
	size := f.under.info.size
	if off < 0 || off > size || int64(len(p)) > size-off {
		return fmt.Errorf("%d bytes at byte %d of %d: %w", len(p), off, size, vfs.ErrSize)
	}
	middle := f.under.middle()
	part := span.Of(off, int64(len(p))).Clip(middle)
	if part.Empty() {
		return f.compare(ctx, p, off)
	}
	head, tail := p[:part.Start()-off], p[part.End()-off:]
	if err := errors.Join(f.compare(ctx, head, off), f.compare(ctx, tail, part.End())); err != nil {
		return err
	}
	return f.voxels.Write(ctx, f.box, p[len(head):len(p)-len(tail)], part.Start()-middle.Start())
}

// compare returns an error if p is not what the head or the tail has at byte off.
func (f *editedFile) compare(ctx context.Context, p []byte, off int64) error {
	has := make([]byte, len(p))
	if n, err := f.under.ReadAtContext(ctx, has, off); n < len(p) && err != io.EOF {
		return err
	}
	if bytes.Equal(p, has) {
		return nil
	}
	i := 0
	for p[i] == has[i] {
		i++
	}
	return fmt.Errorf(
		"header, byte %d: expected %#02x, found %#02x: the shape, the type and the rest of the header cannot change: %w",
		off+int64(i), has[i], p[i], fs.ErrInvalid)
}

// Grid implements writable.File.
func (f *editedFile) Grid() volume.Grid { return *f.info.array }

// Check implements writable.File.
func (f *editedFile) Check(p []byte, off int64) error { return f.voxels.Check(f.box, p, off) }

// WriteVoxels implements writable.File.
func (f *editedFile) WriteVoxels(ctx context.Context, p []byte, off int64) error {
	return f.voxels.Write(ctx, f.box, p, off)
}

// Sync implements vfs.Writer.
func (f *editedFile) Sync(ctx context.Context) error { return f.voxels.Sync(ctx, f.box) }

// editedInfo describes a file that can be written, or a directory of such files. Who may write the directory of the
// edits may write the file.
type editedInfo struct {
	info
	edits   fs.FileInfo
	changed time.Time
}

func editedInfoOf(i info, v writable.Voxels) editedInfo { return editedInfo{i, v.Info(), v.Changed()} }

// Details implements vfs.DetailedInfo.
func (i editedInfo) Details() vfs.Details {
	d := i.info.Details()
	d.Writable = true
	return d
}

// ModTime is that of the last write.
func (i editedInfo) ModTime() time.Time {
	if m := i.info.ModTime(); m.After(i.changed) {
		return m
	}
	return i.changed
}

// Mode has the permission to write of the directory of the edits, and to read of the layer. Where their owners or
// groups differ, those of the directory are others for the layer.
func (i editedInfo) Mode() fs.FileMode {
	mode, read := i.info.Mode(), i.info.Mode().Perm()&0o555
	others := read & 0o005
	layer, ok := i.info.Sys().(*syscall.Stat_t)
	edits, both := i.edits.Sys().(*syscall.Stat_t)
	if ok && both && layer.Uid != edits.Uid {
		read = read&^0o500 | others<<6
	}
	if ok && both && layer.Gid != edits.Gid {
		read = read&^0o050 | others<<3
	}
	return mode&^fs.ModePerm | read | i.edits.Mode().Perm()&0o222
}

// Sys has the owner and the group of the directory of the edits.
func (i editedInfo) Sys() any {
	layer, ok := i.info.Sys().(*syscall.Stat_t)
	edits, both := i.edits.Sys().(*syscall.Stat_t)
	if !ok || !both {
		return i.info.Sys()
	}
	st := *layer
	st.Uid, st.Gid = edits.Uid, edits.Gid
	return &st
}

// editedDir describes a directory of a mag. If the mag can be written, programs can make files there.
func editedDir(m volume.Mag, described fs.FileInfo, err error) (fs.FileInfo, error) {
	edited, ok := m.(writable.Mag)
	i, plain := described.(info)
	if err != nil || !ok || !plain {
		return described, err
	}
	return editedInfoOf(i, edited.Voxels()), nil
}

// editedArray is an arrayFile of a mag that can be written.
type editedArray struct {
	arrayFile
	mag writable.Mag
}

// node returns the file, or one that can be written if the mag can be and the file has voxels.
func (f arrayFile) node() file {
	m, ok := f.d.m.(writable.Mag)
	if !ok || !isBoxFormat(f.suffix) {
		return f
	}
	f.d.m = m.Under()
	return editedArray{f, m}
}

func (f editedArray) stat() (fs.FileInfo, error) {
	i, err := f.arrayFile.stat()
	if err != nil {
		return nil, err
	}
	return editedInfoOf(i.(info), f.mag.Voxels()), nil
}

func (f editedArray) open() (fs.File, error) {
	snap, c, err := f.current()
	if err != nil {
		return nil, err
	}
	i, err := f.info(snap, c)
	if err != nil {
		return nil, err
	}
	snap.Open()
	return newEditedFile(f.openVoxels(snap, c, i), c.box, f.mag.Voxels()), nil
}

// editedCube is a cube of a mag that can be written, which exists under the edits.
type editedCube struct {
	cubeFile
	mag writable.Mag
}

// node returns the file, or one that can be written.
func (f *cubeFile) node() file {
	m, ok := f.m.(writable.Mag)
	if !ok {
		return f
	}
	under := *f
	under.m = m.Under()
	if _, err := under.source(); err != nil {
		return f // only the edits have it, or the error is also that of f
	}
	return &editedCube{under, m}
}

func (f *editedCube) stat() (fs.FileInfo, error) {
	i, err := f.cubeFile.stat()
	if err != nil {
		return nil, err
	}
	return editedInfoOf(i.(info), f.mag.Voxels()), nil
}

func (f *editedCube) open() (fs.File, error) {
	var box volume.Box
	opened, err := f.openBox(func(g volume.Grid, source fs.FileInfo) (volume.Box, info) {
		part := f.box(g)
		box = part.Add(g.CubeBox(f.at).Min)
		return part, f.info(g, source)
	})
	if err != nil {
		return nil, err
	}
	return newEditedFile(opened, box, f.mag.Voxels()), nil
}
