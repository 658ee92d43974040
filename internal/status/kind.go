package status

import (
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Kind is what sort of thing a request failed of.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not_found"   // there is nothing of the name
	Permission  Kind = "permission"  // the server may not read it
	Interrupted Kind = "interrupted" // the reader went away
	Changed     Kind = "changed"     // the source is no longer what it was when it was opened
	Invalid     Kind = "invalid"     // the request makes no sense
	Exhausted   Kind = "exhausted"   // the server has too many files open, or too little memory
	Disk        Kind = "disk"        // the operating system cannot read the source
	Damaged     Kind = "damaged"     // what is stored breaks its format, or is of a version that is not known
)

// kinds are all of them.
var kinds = []Kind{Damaged, Disk, Changed, Permission, Exhausted, Interrupted, Invalid, NotFound}

// Kinds returns all kinds, those that ask for somebody to look after them first.
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
	}
	return Damaged
}
