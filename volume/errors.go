package volume

import (
	"fmt"
	"strings"
)

// FormatError reports stored data that breaks its format. All format packages return it.
type FormatError struct {
	File string // as it was opened; empty in an error of a decoder, which knows no file
	Part string // the header field, block, chunk or table entry at fault
	// of Part, in bytes from the start of the file, or of the data where File is empty; negative if unknown
	Offset   int64
	Expected string
	Found    string
	Err      error // the error of a decoder, instead of Expected and Found; else nil
}

// Error names the file, the part and the byte offset, as far as they are known, and what is wrong.
func (e *FormatError) Error() string { return e.text("") }

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }

// UnsupportedError reports stored data that may obey its format, but that this program cannot read: another version,
// or a block too large for memory. Its fields are those of FormatError.
type UnsupportedError FormatError

// Error is that of FormatError, with the word "unsupported" before the part.
func (e *UnsupportedError) Error() string { return (*FormatError)(e).text("unsupported ") }

// Unwrap returns Err.
func (e *UnsupportedError) Unwrap() error { return e.Err }

func (e *FormatError) text(adjective string) string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	b.WriteString(adjective + e.Part)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	} else {
		fmt.Fprintf(&b, ": expected %s, found %s", e.Expected, e.Found)
	}
	return b.String()
}
