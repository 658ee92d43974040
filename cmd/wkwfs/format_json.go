package main

import (
	"errors"

	"github.com/wkwfs/wkwfs/volume"
)

// formatJSON is where and how a file violates its format. It is an interface: programs read it.
type formatJSON struct {
	File     string `json:"file"`             // check: in the source; import: as it was opened
	What     string `json:"what"`             // the field or block at fault
	Offset   *int64 `json:"offset,omitempty"` // of What, in bytes; absent if unknown
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

// formatOf returns the parts of an error of a format; nil where it is none. The error of a decoder has nothing expected
// and found.
func formatOf(err error) *formatJSON {
	format, ok := errors.AsType[*volume.FormatError](err)
	if !ok {
		unsupported, ok := errors.AsType[*volume.UnsupportedError](err)
		if !ok {
			return nil
		}
		format = (*volume.FormatError)(unsupported)
	}
	parts := formatJSON{File: format.File, What: format.Part, Expected: format.Expected, Found: format.Found}
	if format.Offset >= 0 {
		parts.Offset = &format.Offset
	}
	return &parts
}
