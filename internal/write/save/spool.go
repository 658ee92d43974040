package save

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// space is the place for what is being saved.
type space struct {
	dir   string
	limit int64 // bytes

	used atomic.Int64
}

// spool is what a program saves: a file on the disk without a name. It describes itself. It is closed when nobody uses
// it, and then the disk has nothing of it.
type spool struct {
	space    *space
	file     *os.File
	version  vfs.Version // of the node, not of the content
	uid, gid uint32
	target   bool // it takes the place of a file of the tree when it is closed

	size     atomic.Int64
	writes   atomic.Uint64 // that were made
	stored   atomic.Uint64 // of these, those that the file of the tree has
	broken   atomic.Bool   // a write has failed since it was empty
	finished atomic.Bool   // it has taken the place of another file, and has no name

	mu    sync.Mutex
	name  string
	mode  fs.FileMode
	time  time.Time // of the last change
	users int       // its name, open files and those that read it
}

var (
	_ vfs.SavedInfo    = (*spool)(nil)
	_ vfs.DetailedInfo = (*spool)(nil)
	_ vfs.SavedFile    = (*opened)(nil)
)

// spool makes an empty file.
func (p *space) spool(name string, mode fs.FileMode, uid, gid uint32) (*spool, error) {
	file, err := createUnnamed(p.dir)
	if err != nil {
		return nil, err
	}
	s := &spool{space: p, file: file, name: name, mode: mode.Perm(), uid: uid, gid: gid, time: time.Now()}
	rand.Read(s.version[:]) // never fails
	return s, nil
}

// keep adds a user.
func (s *spool) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// drop removes a user. The last one frees the space.
func (s *spool) drop() {
	if s.last() {
		s.space.used.Add(-s.size.Load())
		s.file.Close() // nobody reads it again
	}
}

func (s *spool) last() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	return s.users == 0
}

func (s *spool) setName(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

// grow reserves the space for at least some bytes, and makes the file so long if it is shorter.
func (s *spool) grow(size int64) error {
	for {
		old := s.size.Load()
		if size <= old {
			return nil
		}
		if used := s.space.used.Add(size - old); used > s.space.limit {
			s.space.used.Add(old - size)
			return fmt.Errorf("%d bytes are being saved: expected at most %d: %w", used, s.space.limit, syscall.ENOSPC)
		}
		if s.size.CompareAndSwap(old, size) {
			return nil
		}
		s.space.used.Add(old - size) // another write was faster
	}
}

// write writes p at byte off.
func (s *spool) write(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	end := off + int64(len(p))
	if off < 0 || end < off {
		return fmt.Errorf("%d bytes at byte %d: %w", len(p), off, vfs.ErrSize)
	}
	if s.finished.Load() {
		return fmt.Errorf("%s: it was renamed over another file before: %w", s.Name(), syscall.EROFS)
	}
	if err := s.grow(end); err != nil {
		s.broken.Store(true)
		return err
	}
	s.changed()
	if _, err := s.file.WriteAt(p, off); err != nil {
		s.broken.Store(true)
		return err
	}
	return nil
}

// changed records a change.
func (s *spool) changed() {
	s.writes.Add(1)
	s.SetModTime(time.Now())
}

// Truncate implements [vfs.SavedInfo].
func (s *spool) Truncate(size int64) error {
	old := s.size.Load()
	switch {
	case size < 0:
		return fmt.Errorf("%d bytes: %w", size, vfs.ErrSize)
	case size == old:
		return nil
	case size > old:
		if err := s.grow(size); err != nil {
			return err
		}
	case !s.size.CompareAndSwap(old, size):
		return s.Truncate(size) // a write was faster
	default:
		s.space.used.Add(size - old)
	}
	s.changed()
	if err := s.file.Truncate(size); err != nil {
		s.broken.Store(true)
		return err
	}
	if size == 0 {
		s.broken.Store(false)
	}
	return nil
}

func (s *spool) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

func (s *spool) Mode() fs.FileMode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

func (s *spool) ModTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

// SetMode implements [vfs.SavedInfo].
func (s *spool) SetMode(mode fs.FileMode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode.Perm()
}

// SetModTime implements [vfs.SavedInfo].
func (s *spool) SetModTime(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.time = t
}

func (s *spool) Size() int64 { return s.size.Load() }
func (s *spool) IsDir() bool { return false }

// Details implements [vfs.DetailedInfo].
func (s *spool) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return s.version }, Stored: s.Size, Writable: true}
}

// opened is an open file that a program saves.
type opened struct {
	*spool
	in   *FS
	name string // when it was opened
	once sync.Once
	at   int64 // of the next Read
}

func (s *spool) open(in *FS, name string) *opened {
	s.keep()
	return &opened{spool: s, in: in, name: name}
}

// Stat implements fs.File.
func (o *opened) Stat() (fs.FileInfo, error) { return o.spool, nil }

// Read implements fs.File.
func (o *opened) Read(p []byte) (int, error) {
	n, err := o.ReadAt(p, o.at)
	o.at += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (o *opened) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.file.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if n == len(p) {
		return n, nil
	}
	if size := o.size.Load(); off+int64(n) < size { // a write that is in progress, or has failed
		more := int(min(size-off, int64(len(p))))
		clear(p[n:more])
		n = more
	}
	return n, err
}

// ReadAtContext implements [vfs.ContextReaderAt].
func (o *opened) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return o.ReadAt(p, off)
}

// WriteAtContext implements [vfs.SavedFile].
func (o *opened) WriteAtContext(_ context.Context, p []byte, off int64) error { return o.write(p, off) }

// Commit implements [vfs.SavedFile].
func (o *opened) Commit(ctx context.Context) error {
	if !o.target || o.writes.Load() == o.stored.Load() {
		return nil
	}
	if err := o.in.store(ctx, o.name, o.spool); err != nil {
		return err
	}
	o.in.forget(o.name, o.spool)
	o.in.show(o.name)
	return nil
}

// Close implements fs.File. A file that could not take the place of another one loses its name with its last user.
func (o *opened) Close() error {
	o.once.Do(func() {
		if o.target && o.isLastOpen() {
			o.in.forget(o.name, o.spool)
			o.in.show(o.name)
		}
		o.drop()
	})
	return nil
}

// isLastOpen reports whether only this open file and a name use the spool.
func (o *opened) isLastOpen() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.users <= 2
}
