// Package object is what remote stores and the code above them agree on: objects below a base URL, which are read in
// ranges and listed by prefix.
package object

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// ErrCannotList is the error of [Bucket.List] where the server has no listing. It is also [errors.ErrUnsupported].
var ErrCannotList error = cannotList{}

type cannotList struct{}

func (cannotList) Error() string { return "the server cannot list" }

// Is implements the convention of [errors.Is].
func (cannotList) Is(target error) bool { return target == errors.ErrUnsupported }

// ErrDirectory is the error of [Bucket.Head] for a key that the server knows as a directory. It is also
// [fs.ErrNotExist].
var ErrDirectory error = isDirectory{}

type isDirectory struct{}

func (isDirectory) Error() string { return "a directory, not an object" }

// Is implements the convention of [errors.Is].
func (isDirectory) Is(target error) bool { return target == fs.ErrNotExist }

// Object describes an object, or a common prefix of keys (a "directory").
type Object struct {
	Key      string    // below the URL of the bucket; elements are separated by "/". A common prefix ends with "/"
	Size     int64     // in bytes; -1 in a listing without sizes or versions: Head knows both
	Modified time.Time // zero if the server does not say

	// Version identifies the content of the key: a strong ETag (S3, HTTP), a generation (GCS) or, if the server has
	// neither, "@", the time of the last change in seconds since 1970 and a weak ETag. It is "" if the server gives
	// nothing.
	Version string
}

// Bucket reads the objects below one base URL. It is safe for concurrent use.
//
// Errors name the URL without credentials or signatures. They wrap fs.ErrNotExist if the server says that there is no
// such object, fs.ErrPermission if it refuses these credentials, and a syscall.Errno such as EIO if it did not answer
// as it should. A method that needs more than one attempt repeats its request until a time that the bucket was made
// with is over. It returns ctx.Err() as soon as ctx is done.
type Bucket interface {
	// URL returns the base: for errors and for the status. It has no credentials. Without a trailing "/".
	URL() string

	// Identity returns the base with all that chooses the objects: the server of S3 and GCS, and a digest of user,
	// password and query of a web server. Buckets with the same identity have the same objects. It has no secret.
	Identity() string

	// Head describes an object.
	Head(ctx context.Context, key string) (Object, error)

	// Read fills p from byte offset off of the object. Only the key, the size and the version of o count. The error
	// wraps vfs.ErrChanged if the object has another size or version now. It is io.ErrUnexpectedEOF if the range ends
	// after o.Size. After an error the content of p is undefined. Nothing writes to p after Read has returned.
	Read(ctx context.Context, o Object, p []byte, off int64) error

	// ReadParts is Read for parts of the object, with one request from the start of the first to the end of the last.
	// There is at least one part. They do not overlap, and their offsets grow. Their errors are not set.
	ReadParts(ctx context.Context, o Object, parts []vfs.Range) error

	// List yields the objects whose keys start with prefix and are greater than after, in batches, in the order of the
	// bytes of their keys. If delimiter is not "", keys that have it after the prefix are yielded as common prefixes,
	// which end with the delimiter, each once. An error is the last item. Web servers list only directories: the
	// delimiter is "/", and the prefix is "" or ends with it.
	List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]Object, error]
}
