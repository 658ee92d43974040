package status

import (
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Kind is the kind of an error that made a request fail.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not_found"   // the name does not exist
	Permission  Kind = "permission"  // the server has no permission
	Interrupted Kind = "interrupted" // the reader was interrupted
	Changed     Kind = "changed"     // the source changed while it was open
	Invalid     Kind = "invalid"     // the request is invalid
	Exhausted   Kind = "exhausted"   // the server has too many files open, or too little memory
	Disk        Kind = "disk"        // the operating system cannot read the source
	Damaged     Kind = "damaged"     // the stored bytes violate their format or have an unknown version
	Panicked    Kind = "panic"       // a fault of the server
)

// kinds holds all kinds. Those that need an administrator most come first.
var kinds = []Kind{Panicked, Damaged, Disk, Changed, Permission, Exhausted, Interrupted, Invalid, NotFound}

// Kinds returns all kinds. Those that need an administrator most come first.
func Kinds() []Kind { return slices.Clone(kinds) }

// kindOf returns the kind of an error.
func kindOf(err error) Kind {
	switch vfs.Classify(err) {
	case vfs.NotExist, vfs.NotDirectory:
		return NotFound
	case vfs.Permission:
		return Permission
	case vfs.Interrupted:
		return Interrupted
	case vfs.Changed:
		return Changed
	case vfs.Invalid, vfs.NameTooLong:
		return Invalid
	case vfs.Exhausted:
		return Exhausted
	case vfs.IO:
		return Disk
	case vfs.Panicked:
		return Panicked
	}
	return Damaged
}
