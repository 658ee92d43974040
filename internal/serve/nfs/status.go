package nfs

import (
	"errors"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// status is an nfsstat3 (2.6). As an error it is the status of the reply.
type status uint32

const (
	statusOK          status = 0
	statusIO          status = 5
	statusNoEntry     status = 2
	statusAccess      status = 13
	statusNotDir      status = 20
	statusIsDir       status = 21
	statusInvalid     status = 22
	statusReadOnly    status = 30
	statusNameTooLong status = 63
	statusStale       status = 70
	statusBadHandle   status = 10001
	statusBadCookie   status = 10003
	statusTooSmall    status = 10005
	statusJukebox     status = 10008 // "try again later"
)

func (s status) Error() string { return fmt.Sprintf("NFS status %d", uint32(s)) }

// statusOf returns the status for an error of the file system.
func statusOf(err error) status {
	var s status
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &s):
		return s
	}
	switch vfs.Classify(err) {
	case vfs.NotExist:
		return statusNoEntry
	case vfs.NotDirectory:
		return statusNotDir
	case vfs.NameTooLong:
		return statusNameTooLong
	case vfs.Permission:
		return statusAccess
	case vfs.Invalid:
		return statusInvalid
	case vfs.Changed:
		return statusStale
	case vfs.Exhausted, vfs.Interrupted:
		return statusJukebox
	}
	return statusIO
}

// ofHandle returns the error for an entry that a handle names. The client did not give a name, so an entry that does
// not exist, or is of another kind, makes the handle stale.
func ofHandle(err error) error {
	var kind *vfs.KindError
	if s := statusOf(err); s == statusNoEntry || s == statusNotDir || errors.As(err, &kind) {
		return statusStale
	}
	return err
}

// isFault reports whether a status shows a fault of the source, not of the request.
func isFault(s status) bool { return s == statusIO || s == statusJukebox || s == statusNameTooLong }
