// Package hint holds errors that know what the user can do about them, and helps to write
// such hints: words for a shell, short lists, the name that a wrong one was meant to be.
package hint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
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

// OneLine joins the lines of a message with semicolons, makes blanks of tabs, and escapes the rest. Messages of other programs may have several
// lines.
func OneLine(message string) string {
	lines := strings.FieldsFunc(message, func(r rune) bool { return r == '\n' || r == '\r' })
	return Escape(strings.ReplaceAll(strings.Join(lines, "; "), "\t", " "))
}

// Escape escapes the control characters of s as in Go, such as the ends of lines in the name of a file: a terminal would obey them.
func Escape(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
