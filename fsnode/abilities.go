//go:build linux

package fsnode

import "github.com/wkwfs/wkwfs/internal/vfs"

// A ListFS is a file system that lists a directory of any size without holding all of its entries in memory:
//
//	List(dir string) iter.Seq2[[]fs.DirEntry, error]
//
// List yields the entries in batches. All but the last have 4,096 entries. Each batch is sorted by name. An error
// comes with the last batch.
type ListFS = vfs.ListFS

// Optional abilities of open files.
type (
	// A ContextReaderAt is a file whose reads can be canceled:
	//
	//	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
	//
	// ReadAtContext is ReadAt of [io.ReaderAt], but returns early with ctx.Err() when ctx is done. It must
	// not write to p after it has returned.
	ContextReaderAt = vfs.ContextReaderAt

	// A HoleSeeker is a file that knows its holes, for SEEK_DATA and SEEK_HOLE of lseek(2):
	//
	//	SeekData(off int64) (int64, error)
	//	SeekHole(off int64) (int64, error)
	//
	// SeekData returns the first offset ≥ off that is not in a hole, or io.EOF if there is none. SeekHole
	// returns the first offset ≥ off that is in a hole, or the size of the file. Offsets are in bytes, and
	// off is inside the file.
	HoleSeeker = vfs.HoleSeeker

	// A Pusher is a file that decodes bytes before they are read, and pushes them to the page cache:
	//
	//	Push(to Sink)
	//	ReadOnce() bool
	//
	// Push is called at most once, before the first read. ReadOnce reports whether programs usually read the file once,
	// all of it and in large pieces: then its first reader may read it past the page cache, and there is no sink.
	Pusher = vfs.Pusher

	// A Writer is a file whose bytes can be written, while its size never changes:
	//
	//	WriteAtContext(ctx context.Context, p []byte, off int64) error
	//	Sync(ctx context.Context) error
	//
	// Sync returns when all that was written survives a power failure.
	Writer = vfs.Writer

	// A Saver is a file system in which programs save whole files: over one that is there, or as a new one that they
	// rename.
	Saver = vfs.Saver

	// A Sink takes the bytes of a [Pusher]. Its fields are
	//
	//	All   bool  // it takes all decoded bytes, not only those that would have to be decoded again
	//	Page  int64 // it takes whole pages of this many bytes
	//	Piece int64 // the best size of a write in bytes, a multiple of Page
	//	Ahead int64 // reads may be in flight up to this many bytes after the last one: do not push there
	//	Write func(p []byte, off int64) (more bool)
	//
	// Write takes bytes at an offset of the file, and returns whether it takes more. It refuses bytes that are
	// not whole pages of the file: see Takes. It does not keep p. It may wait for reads of the file. Several
	// goroutines may call it until Close of the file has returned.
	Sink = vfs.Sink
)

type (
	// A DetailedInfo is the fs.FileInfo of a file, and knows more about it:
	//
	//	Details() Details
	DetailedInfo = vfs.DetailedInfo

	// Details are what is known about a file. Fields that are not known are nil or false:
	//
	//	Version    func() Version           // of the content
	//	Stored     func() int64             // bytes that the file occupies in storage
	//	Source     fs.FileInfo              // of a stored file that this one is made of; the kernel does not see it
	//	Attributes func() map[string]string // extended attributes, by their full names, such as "user.comment"
	//	Live       bool                     // the content describes the server itself
	//	Writable   bool                     // the file may be a Writer
	//
	// Without Version, the version is a hash of the size, the modification time and, in a *syscall.Stat_t, the device,
	// inode number and change time. Without Stored, the number of allocated blocks in a *syscall.Stat_t counts, or the
	// size.
	//
	// Each open of a live file returns new content, of a size that is unknown before, so it is read past the
	// page cache. Its owner and permissions are never replaced, and its reads are not observed. A writable file has one
	// node, whatever it contains, and no version.
	Details = vfs.Details

	// A Version identifies the content of a file: while the version is the same, so are the bytes. It is a
	// [16]byte.
	Version = vfs.Version
)
