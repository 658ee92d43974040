// Package hint holds errors that know what the user can do about them, and helps to write
// such hints: words for a shell, short lists, the name that a wrong one was meant to be.
package hint

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Error is an error with a hint.
type Error struct {
	Err   error
	Hint  string // what to try next, often a command line; may be empty
	Usage bool   // the command line or a configuration file is at fault
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its hint.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a hint. The format is that of fmt.Errorf.
func Errorf(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// Usagef is Errorf for a command line that makes no sense. The hint may be empty.
func Usagef(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint, Usage: true}
}

// Quote returns s as one word of a shell, quoted where it has to be.
func Quote(s string) string {
	if s != "" && !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, isSpecial) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// isSpecial reports whether a character may have a meaning for a shell.
func isSpecial(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("/._-+,", c)
}

// maxListed is the number of names that List writes out.
const maxListed = 5

// List joins names with commas. It writes out the first five and counts the others.
func List(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// OneLine joins the lines of a message with semicolons, makes blanks of tabs, and escapes the rest. Messages of other
// programs may have several lines.
func OneLine(message string) string {
	lines := strings.FieldsFunc(message, func(r rune) bool { return r == '\n' || r == '\r' })
	return Escape(strings.ReplaceAll(strings.Join(lines, "; "), "\t", " "))
}

// Escape escapes the characters of s that nobody sees as what they are, as in Go: control characters, such as the ends
// of lines in the name of a file, which a terminal would obey; format characters, which change the order of others or
// have no width; and bytes that are not UTF-8. It is for all texts of sources that people read.
func Escape(s string) string { return escape(s, "") }

// EscapeLines is Escape for a text that may have several lines, and tabs.
func EscapeLines(s string) string { return escape(s, "\n\t") }

func escape(s, kept string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case isHidden(r) && !strings.ContainsRune(kept, r):
			b.WriteString(quoted(r))
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// quoted returns a character that is not printed, as in Go.
func quoted(r rune) string {
	if unicode.IsPrint(r) { // it has no width
		return fmt.Sprintf(`\u%04x`, r)
	}
	return strings.Trim(strconv.QuoteRune(r), "'")
}

// isHidden reports whether a character is not seen as what it is.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// EscapeJSON returns JSON in which Escape would change nothing: it has \u instead, which means the same. Ends of lines
// between values stay.
func EscapeJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, func(r rune) bool { return r != '\n' && isHidden(r) }) {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, r := range string(b) {
		if r == '\n' || !isHidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
