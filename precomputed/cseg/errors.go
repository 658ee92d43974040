package cseg

import "fmt"

// FormatError says where and how a chunk breaks the format.
type FormatError struct {
	What     string // the field at fault
	Offset   int    // in bytes from the chunk's begin
	Expected string
	Found    string
}

// Error names the field, the byte offset, and both values.
func (e *FormatError) Error() string {
	return fmt.Sprintf("compressed_segmentation: %s at byte %d: expected %s, found %s", e.What, e.Offset, e.Expected, e.Found)
}
