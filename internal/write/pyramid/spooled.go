package pyramid

import (
	"context"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/volume"
)

// spooled is a slab of a source in a file without a name. Any box of it can be read.
type spooled struct {
	src   Source
	size  volume.Vec // of the source
	voxel int
	jobs  int
	file  *os.File
	first int // plane of the source that is first in the file
}

func newSpooled(src Source, w *writer, voxel int) (*spooled, error) {
	f, err := tempFile(w.layer.Temp)
	if err != nil {
		return nil, err
	}
	s := &spooled{src: src, size: w.layer.Box.Size(), voxel: voxel, jobs: 1, file: f}
	if !src.Sequential() { // whole planes: as many as fit
		plane := max(1, int64(s.size[0])*int64(s.size[1])*int64(voxel))
		s.jobs = int(max(1, min(int64(w.layer.Jobs), w.tile/plane)))
	}
	return s, nil
}

// load replaces the content by the planes from first up to end that the source has.
func (s *spooled) load(ctx context.Context, first, end int) error {
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	s.first = max(first, 0)
	box := volume.Box{Min: volume.Vec{0, 0, s.first}, Max: volume.Vec{s.size[0], s.size[1], min(end, s.size[2])}}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(s.jobs)
	for part := range s.parts(box) {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			b := make([]byte, bytesOf(part, s.voxel))
			if err := s.src.Read(running, part, b); err != nil {
				return err
			}
			_, err := s.file.WriteAt(b, s.offset(part.Min))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// parts yields what is read at a time: planes of a source that decodes whole planes, else some rows.
func (s *spooled) parts(box volume.Box) func(func(volume.Box) bool) {
	if !s.src.WholePlanes() {
		return pieces(box, s.voxel)
	}
	return func(yield func(volume.Box) bool) {
		for z := box.Min[2]; z < box.Max[2]; z++ {
			plane := box
			plane.Min[2], plane.Max[2] = z, z+1
			if !yield(plane) {
				return
			}
		}
	}
}

func (s *spooled) offset(at volume.Vec) int64 {
	at[2] -= s.first
	return int64(at.Index(s.size)) * int64(s.voxel)
}

// Read implements Source.
func (s *spooled) Read(ctx context.Context, box volume.Box, dst []byte) error {
	size := box.Size()
	rows := 1 // that are contiguous
	if size[0] == s.size[0] {
		rows = size[1]
	}
	n := rows * size[0] * s.voxel
	for z := box.Min[2]; z < box.Max[2]; z++ {
		for y := box.Min[1]; y < box.Max[1]; y += rows {
			if _, err := s.file.ReadAt(dst[:n], s.offset(volume.Vec{box.Min[0], y, z})); err != nil {
				return err
			}
			dst = dst[n:]
		}
	}
	return ctx.Err()
}

// Sequential implements Source.
func (s *spooled) Sequential() bool { return false }

// WholePlanes implements Source.
func (s *spooled) WholePlanes() bool { return false }

func (s *spooled) close() { s.file.Close() }

// tempFile creates a file without a name.
func tempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
