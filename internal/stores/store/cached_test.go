package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// halfCached is a file whose even blocks of 10 bytes are on a disk, with a letter in the place of the source's.
type halfCached struct {
	fs.File
	broken bool // the source fails
}

var errBroken = errors.New("broken")

func (f *halfCached) ReadAt(p []byte, off int64) (int, error) {
	if f.broken {
		return 0, errBroken
	}
	for i := range p {
		p[i] = byte(off) + byte(i)
	}
	return len(p), nil
}

func (f *halfCached) ReadCached(p []byte, off int64) bool {
	if off/10%2 != 0 {
		clear(p)
		return false
	}
	for i := range p {
		p[i] = 'c'
	}
	return true
}

func (f *halfCached) ReadParts(_ context.Context, ranges []vfs.Range) error {
	for _, r := range ranges {
		if _, err := f.ReadAt(r.P, r.Off); err != nil {
			return err
		}
	}
	return nil
}

type halfCachedFS struct {
	fs.FS
	broken bool
}

func (f halfCachedFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	return &halfCached{file, f.broken}, err
}

// TestReadCached checks that ranges on a disk are read there, and the others from the source, each with its own error.
func TestReadCached(t *testing.T) {
	for _, broken := range []bool{false, true} {
		s := Schedule(halfCachedFS{fstest.MapFS{"f": {Data: make([]byte, 100)}}, broken}, Options{Remote: true})
		f, err := s.Open("f")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var ranges []vfs.Range
		for off := range int64(10) {
			ranges = append(ranges, vfs.Range{Off: 10 * off, P: make([]byte, 10), Err: errors.New("not set")})
		}
		vfs.ReadRanges(t.Context(), f, ranges)
		for i, r := range ranges {
			cached := i%2 == 0
			switch {
			case cached && (r.Err != nil || !bytes.Equal(r.P, bytes.Repeat([]byte{'c'}, 10))):
				t.Errorf("range %d: %q, %v", i, r.P, r.Err)
			case !cached && broken && !errors.Is(r.Err, errBroken):
				t.Errorf("range %d: got %v", i, r.Err)
			case !cached && !broken && (r.Err != nil || r.P[9] != byte(10*i+9)):
				t.Errorf("range %d: %v, %v", i, r.P, r.Err)
			}
		}
	}
}
