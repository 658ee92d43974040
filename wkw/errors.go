package wkw

import "fmt"

// FormatError says where and how a file breaks the format.
type FormatError struct {
	File     string // as it was opened
	What     string // the field or block at fault
	Offset   int64  // in bytes from the file's begin
	Expected string
	Found    string
}

// Error names the file, the field or block, the byte offset, and both values.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %s at byte %d: expected %s, found %s", e.File, e.What, e.Offset, e.Expected, e.Found)
}

// UnsupportedError says that a file may obey the format but goes beyond what this
// package reads: another version, or blocks too large to be held in memory.
type UnsupportedError FormatError

// Error is that of FormatError and says that the file is not at fault.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: unsupported %s at byte %d: expected %s, found %s", e.File, e.What, e.Offset, e.Expected, e.Found)
}
