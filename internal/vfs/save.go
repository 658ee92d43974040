package vfs

import (
	"context"
	"io/fs"
	"time"
)

// Saver is a file system in which programs save whole files: over one that is there, or as a new one that they rename.
// Names are those of an [fs.FS]. A name of a new file is found, opened and listed as others are.
type Saver interface {
	// Rewrite returns an empty file, which takes the place of a file when it is committed. It returns nil if the file
	// is written in place.
	Rewrite(name string) (SavedFile, error)
	// Create makes a new file of this owner in a directory. It fails with syscall.EROFS where there are none.
	Create(name string, mode fs.FileMode, uid, gid uint32) (SavedFile, error)
	// Rename gives a new file another name. If there is a file with the name, the new one takes its place, and what it
	// has is durable.
	Rename(ctx context.Context, from, to string) error
	// Remove removes a new file. It hides the name of a file that can be written, until a new file gets the name.
	Remove(name string) error
}

// SavedFile is an open file that a program is writing. Stat returns a [SavedInfo].
type SavedFile interface {
	fs.File
	ContextReaderAt
	// WriteAtContext writes all of p at byte offset off. The file grows as far as needed.
	WriteAtContext(ctx context.Context, p []byte, off int64) error
	// Truncate sets the size.
	Truncate(size int64) error
	// Commit has the file take the place of that with its name, if it is to and something was written since the last
	// time. What it has is durable then. If it cannot be, nothing has changed, and the error wraps [fs.ErrInvalid].
	Commit(ctx context.Context) error
}

// SavedInfo describes a file that a program is writing. Its answers are always current.
type SavedInfo interface {
	fs.FileInfo
	// SetMode sets the permissions.
	SetMode(mode fs.FileMode)
	// SetModTime sets the time of the last change.
	SetModTime(t time.Time)
	// Truncate sets the size.
	Truncate(size int64) error
}
