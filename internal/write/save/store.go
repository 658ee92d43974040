package save

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// store writes the voxels that a program has saved into the file with a name, and makes them durable. Before that, it
// reads all of them: if they cannot be those of the file, nothing changes.
func (f *FS) store(ctx context.Context, name string, s *spool) error {
	target, err := f.target(name)
	if err != nil {
		return err
	}
	defer target.Close() // what is written is made durable before
	if s.broken.Load() {
		return refused(name, errors.New("a write has failed before"))
	}
	writes := s.writes.Load()
	in := saved{spool: s, base: path.Base(name), grid: target.Grid(), piece: f.piece}
	err = in.each(ctx, target.Check)
	if err == nil && s.writes.Load() != writes {
		err = errors.New("the file was written while it was read")
	}
	if err != nil {
		return refused(name, err)
	}
	err = in.each(ctx, func(p []byte, off int64) error { return target.WriteVoxels(ctx, p, off) })
	if err = errors.Join(err, target.Sync(ctx)); err == nil {
		s.stored.Store(writes)
	}
	return err
}

// refused returns the error of a file that cannot take the place of another one.
func refused(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s is as before: what was saved over it cannot be: %w: %w", name, err, fs.ErrInvalid)
}

// saved is what a program has saved.
type saved struct {
	*spool
	base  string      // name of the file
	grid  volume.Grid // that the voxels must have
	piece int         // bytes to read at a time
}

// each yields all voxels, in order, in pieces: the bytes from an offset on, in the order of the file without header.
func (s saved) each(ctx context.Context, use func(p []byte, off int64) error) error {
	if path.Ext(s.base) == tree.Raw {
		return s.eachRaw(ctx, use)
	}
	a, err := s.array()
	if err != nil {
		return err
	}
	defer a.Close() // read-only
	for box := range s.boxes {
		size := box.Size()
		p := make([]byte, s.grid.VoxelBytes()*size[0]*size[1]*size[2])
		if err := a.Read(ctx, box, p); err != nil {
			return err
		}
		if err := use(p, int64(box.Min.Index(s.grid.Size))*int64(s.grid.VoxelBytes())); err != nil {
			return err
		}
	}
	return nil
}

// eachRaw is each for a file without a header.
func (s saved) eachRaw(ctx context.Context, use func(p []byte, off int64) error) error {
	want := s.grid.Bytes()
	if found := s.Size(); found != want {
		return fmt.Errorf("expected %d bytes, found %d", want, found)
	}
	p := make([]byte, min(int64(s.piece), want))
	for off := int64(0); off < want; off += int64(len(p)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p = p[:min(int64(len(p)), want-off)]
		if n, err := s.file.ReadAt(p, off); n < len(p) {
			return fmt.Errorf("byte %d: %w", off+int64(n), err)
		}
		if err := use(p, off); err != nil {
			return err
		}
	}
	return nil
}

// boxes yields boxes of whole rows that are a piece of the array, or one row, in the order of the file.
func (s saved) boxes(yield func(volume.Box) bool) {
	size := s.grid.Size
	row := size[0] * s.grid.VoxelBytes()
	rows := min(max(s.piece/row, 1), size[1])
	planes := 1
	if rows == size[1] {
		planes = min(max(s.piece/(row*size[1]), 1), size[2])
	}
	for z := 0; z < size[2]; z += planes {
		for y := 0; y < size[1]; y += rows {
			if !yield(volume.Box{Min: volume.Vec{0, y, z}, Max: volume.Vec{size[0], y + rows, z + planes}.Min(size)}) {
				return
			}
		}
	}
}

// array opens the file as an array of the right format, size and type.
func (s saved) array() (_ *arrayfile.Array, err error) {
	if err := s.checkFormat(); err != nil {
		return nil, err
	}
	a, err := arrayfile.OpenFS(one{s.spool, s.base}, s.base)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.Close() // read-only
		}
	}()
	if a.Times > 0 {
		return nil, fmt.Errorf("expected one volume, found %d points in time", a.Times)
	}
	if axes := axesOfNPY[len(a.Layout.Shape)]; path.Ext(s.base) == ".npy" && axes != "" {
		if err := a.SetAxes(axes); err != nil {
			return nil, err
		}
	}
	want, found := s.grid, a.Grid
	if found.Size != want.Size || found.Type != want.Type || found.Channels != want.Channels {
		return nil, fmt.Errorf("expected %v voxels of %d × %v, found %v of %d × %v", want.Size, want.Channels, want.Type,
			found.Size, found.Channels, found.Type)
	}
	return a, nil
}

// axesOfNPY has the axes of the files of a mount with so many axes, as numpy shows them.
var axesOfNPY = map[int]string{2: "xy", 3: "xyz", 4: "cxyz"}

// starts has the first bytes of the formats.
var starts = map[string][]string{
	".npy":  {"\x93NUMPY"},
	".nrrd": {"NRRD"},
	".nii":  {"\x5c\x01\x00\x00", "\x00\x00\x01\x5c", "\x1c\x02\x00\x00", "\x00\x00\x02\x1c"},
	".tif":  {"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"},
}

// checkFormat returns an error if the file does not start as its name says.
func (s saved) checkFormat() error {
	format := path.Ext(s.base)
	start := make([]byte, 8)
	n, _ := s.file.ReadAt(start, 0) // a shorter file has no format
	for _, want := range starts[format] {
		if bytes.HasPrefix(start[:n], []byte(want)) {
			return nil
		}
	}
	return fmt.Errorf("byte 0: expected the start of a %s file, found %q", format, start[:n])
}

// one is a file system with one file.
type one struct {
	*spool
	name string
}

// Open implements fs.FS.
func (o one) Open(name string) (fs.File, error) {
	if name != o.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &content{opened: opened{spool: o.spool}, info: o.describe()}, nil
}

// Stat implements fs.StatFS.
func (o one) Stat(name string) (fs.FileInfo, error) {
	if name != o.name {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return o.describe(), nil
}

func (o one) describe() fs.FileInfo { return described{o.spool, o.Size(), o.name} }

// content is what a program has saved, to be read. It does not keep the spool.
type content struct {
	opened
	info fs.FileInfo
}

func (c *content) Stat() (fs.FileInfo, error) { return c.info, nil }
func (c *content) Close() error               { return nil }

// described is the description of a file at one time.
type described struct {
	*spool
	size int64
	base string
}

func (d described) Name() string { return d.base }
func (d described) Size() int64  { return d.size }
