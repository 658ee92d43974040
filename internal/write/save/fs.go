package save

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/read/writable"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// FS is a tree with the new files of programs. It implements [vfs.Saver]. All methods may be called by several
// goroutines at once.
type FS struct {
	fs.FS // the tree
	space *space
	log   *slog.Logger
	limits

	mu     sync.Mutex
	files  map[string]*spool // that have a name
	hidden []string          // names of files of the tree that programs have removed, in this order
}

// limits bound what programs can leave. Tests make them small.
type limits struct {
	files int   // that are new
	bytes int64 // of all files that are being saved
	names int   // that are hidden; more show the oldest again
	piece int   // bytes of voxels that are read and written at a time
}

var usual = limits{files: 1000, bytes: 1 << 40, names: 1000, piece: 4 << 20}

var (
	_ vfs.Saver    = (*FS)(nil)
	_ vfs.ListFS   = (*FS)(nil)
	_ fs.ReadDirFS = (*FS)(nil)
	_ fs.StatFS    = (*FS)(nil)
)

// New returns a tree whose files can be saved. dir is a directory on the disk that has what is being saved.
func New(tree fs.FS, dir string, log *slog.Logger) *FS { return newFS(tree, dir, log, usual) }

func newFS(tree fs.FS, dir string, log *slog.Logger, l limits) *FS {
	return &FS{FS: tree, space: &space{dir: dir, limit: l.bytes}, log: log, limits: l, files: map[string]*spool{}}
}

// Close logs the names of the new files that were never renamed. They are lost.
func (f *FS) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range f.files {
		f.log.Warn("a new file was not renamed over another one, and is lost", "path", name, "bytes", s.Size())
	}
}

// named returns the new file with a name, or nil. hidden reports whether the tree has one that programs have removed.
func (f *FS) named(name string) (s *spool, hidden bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files[name], slices.Contains(f.hidden, name)
}

// take returns the new file with a name, or nil. The caller drops it.
func (f *FS) take(name string) *spool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.files[name]
	if s != nil {
		s.keep()
	}
	return s
}

// Stat implements fs.StatFS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	s, hidden := f.named(name)
	switch {
	case s != nil:
		return s, nil
	case hidden:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fs.Stat(f.FS, name)
}

// Open implements fs.FS.
func (f *FS) Open(name string) (fs.File, error) {
	s := f.take(name)
	_, hidden := f.named(name)
	switch {
	case s != nil:
		defer s.drop()
		return s.open(f, name), nil
	case hidden:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.FS.Open(name)
}

// target opens a file of the tree that can be written. It fails with syscall.EROFS if the file is none.
func (f *FS) target(name string) (writable.File, error) {
	opened, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	file, ok := opened.(writable.File)
	if !ok {
		opened.Close() // read-only: nothing can be lost
		return nil, &fs.PathError{Op: "save", Path: name, Err: syscall.EROFS}
	}
	return file, nil
}

// kindOf says what the tree has of a name.
func (f *FS) kindOf(name string) (kind, error) {
	info, err := fs.Stat(f.FS, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.kindOfNew(name)
	case err != nil:
		return fixed, err
	case !info.IsDir() && vfs.DetailsOf(info).Writable:
		return voxels, nil
	}
	return fixed, nil
}

// kind is what the tree has of a name.
type kind int

const (
	fixed  kind = iota // a file or directory that cannot be written, or a place where programs cannot make files
	voxels             // a file that can be written
	free               // nothing
)

// kindOfNew says whether programs can make a file that the tree does not have. It fails for names of boxes and of
// volumes: the layer does not have them.
func (f *FS) kindOfNew(name string) (kind, error) {
	dir, err := fs.Stat(f.FS, path.Dir(name))
	if err != nil {
		return fixed, err
	}
	if !dir.IsDir() || !vfs.DetailsOf(dir).Writable {
		return fixed, nil
	}
	base := path.Base(name)
	stem, _, _ := strings.Cut(base, ".")
	if _, isBox := tree.ParseBox(stem); isBox || tree.IsVolume(base) {
		return fixed, fmt.Errorf("%s: the layer has no such box, or the format does not exist: %w", name, fs.ErrInvalid)
	}
	return free, nil
}

// Rewrite implements [vfs.Saver].
func (f *FS) Rewrite(name string) (vfs.SavedFile, error) {
	if path.Ext(name) == tree.Raw {
		return nil, nil
	}
	s, err := f.space.spool(path.Base(name), 0o600, 0, 0)
	if err != nil {
		return nil, err
	}
	s.target = true
	return s.open(f, name), nil
}

// Create implements [vfs.Saver].
func (f *FS) Create(name string, mode fs.FileMode, uid, gid uint32) (vfs.SavedFile, error) {
	kind, err := f.kindOf(name)
	switch {
	case err != nil:
		return nil, err
	case kind == fixed:
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.EROFS}
	}
	s, err := f.space.spool(path.Base(name), mode, uid, gid)
	if err != nil {
		return nil, err
	}
	s.target = kind == voxels
	opened := s.open(f, name)
	if err := f.add(name, s); err != nil {
		opened.Close() // nothing was written
		return nil, err
	}
	return opened, nil
}

// add gives a new file a name.
func (f *FS) add(name string, s *spool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.files[name] != nil:
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	case len(f.files) >= f.limits.files:
		return fmt.Errorf("%s: expected at most %d new files: %w", name, f.limits.files, syscall.ENOSPC)
	}
	f.files[name] = s
	s.keep()
	return nil
}

// forget takes the name from a file, if it has it.
func (f *FS) forget(name string, s *spool) {
	if f.remove(name, s) {
		s.drop()
	}
}

// remove removes a name of a file, and reports whether the file had it.
func (f *FS) remove(name string, s *spool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files[name] != s {
		return false
	}
	delete(f.files, name)
	return true
}

// Rename implements [vfs.Saver].
func (f *FS) Rename(ctx context.Context, from, to string) error {
	s := f.take(from)
	if s == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: syscall.EROFS}
	}
	defer s.drop()
	if s.target {
		return &fs.PathError{Op: "rename", Path: from, Err: syscall.EROFS}
	}
	kind, err := f.kindOf(to)
	switch {
	case err != nil:
		return err
	case kind == fixed:
		return &fs.PathError{Op: "rename", Path: to, Err: syscall.EROFS}
	case kind == free:
		return f.move(from, to, s)
	}
	if err := f.store(ctx, to, s); err != nil {
		return err
	}
	s.finished.Store(true)
	f.forget(from, s)
	f.show(to)
	return nil
}

// move gives a new file another name.
func (f *FS) move(from, to string, s *spool) error {
	if !f.remove(from, s) {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	s.setName(path.Base(to))
	if old := f.put(to, s); old != nil {
		old.drop()
	}
	return nil
}

// put gives a file a name, and returns the one that had it.
func (f *FS) put(name string, s *spool) (old *spool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, f.files[name] = f.files[name], s
	return old
}

// Remove implements [vfs.Saver].
func (f *FS) Remove(name string) error {
	if s, _ := f.named(name); s != nil {
		f.forget(name, s)
		return nil
	}
	kind, err := f.kindOf(name)
	switch {
	case err != nil:
		return err
	case kind == free:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	case kind == fixed:
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.EROFS}
	}
	f.hide(name)
	return nil
}

// hide hides the name of a file of the tree.
func (f *FS) hide(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.hidden, name) {
		return
	}
	f.hidden = append(f.hidden, name)
	if more := len(f.hidden) - f.names; more > 0 {
		f.hidden = slices.Delete(f.hidden, 0, more)
	}
}

// show shows the name of a file of the tree again.
func (f *FS) show(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hidden = slices.DeleteFunc(f.hidden, func(s string) bool { return s == name })
}
