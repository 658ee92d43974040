// Package log sends the messages of a server to a file, to stderr, to the journal of systemd or
// to syslog. Faults logs each fault of a file once.
//
// A log file is rotated here, and not by logrotate or a library. A server that has given up
// its privileges may be unable to rename its file. It must then append to the old file, but
// libraries lose lines. They also rename devices, and they do not redirect the crash report of
// the Go runtime to the new file.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - If the disk of the log is full, log lines are lost and nothing else changes.
//     `TestFullLog`
package log

import (
	"io"
	"log/slog"
	"os"
	"runtime"

	"github.com/coreos/go-systemd/v22/journal"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Options configures a logger.
type Options struct {
	File       string // "": stderr; in the background the journal, syslog or a file of its own
	Format     Format
	Debug      bool // with messages of level debug
	Background bool // stderr is not to be used
}

// Format is the format of log lines. The zero Format is Text.
type Format string

// The formats, as users write them.
const (
	Text Format = "text"
	JSON Format = "json"
)

// String returns the name of the format. With Type and Set, a Format is the value of a flag.
func (f *Format) String() string { return string(*f) }

// Type returns what a value is called in help texts.
func (f *Format) Type() string { return "FORMAT" }

// Set takes the name of a format.
func (f *Format) Set(text string) error {
	switch format := Format(text); format {
	case Text, JSON:
		*f = format
		return nil
	}
	return hint.Usagef("write text or json", "%q is not a format of logs", text)
}

// New returns the logger of a server, and where it logs. It logs to the file, if one is named. In the foreground it
// logs to stderr otherwise, or to the journal if stderr is the journal. In the background it logs to the journal, else
// to syslog, else to a file of its own in the state directory of the user. If that cannot be opened, messages are lost,
// and the place says why. The logger is never closed: a server logs until its process ends.
func New(o Options, stderr io.Writer) (*slog.Logger, Place, error) {
	if o.File != "" {
		f, err := openFile(o.File)
		if err != nil {
			return nil, Place{}, err
		}
		return slog.New(o.handler(f, nil)), Place{Kind: File, File: o.File}, nil
	}
	// Under systemd stderr is the journal too, but lines of stderr have no levels there.
	inJournal, err := journal.StderrIsJournalStream()
	if err != nil {
		inJournal = false
	}
	switch {
	case !o.Background && !inJournal:
		return slog.New(o.handler(stderr, nil)), Place{Kind: Stderr}, nil
	case journal.Enabled():
		return slog.New(o.sender(sendToJournal)), Place{Kind: Journal}, nil
	case !o.Background:
		return slog.New(o.handler(stderr, nil)), Place{Kind: Stderr}, nil
	}
	logger, place := o.inBackground()
	return logger, place, nil
}

// inBackground returns the logger of a server in the background, for which there is no journal.
func (o Options) inBackground() (*slog.Logger, Place) {
	// macOS has a syslog, too, but its messages are in a database where few users look.
	if send, err := dialSyslog(); err == nil && runtime.GOOS != "darwin" {
		return slog.New(o.sender(send)), Place{Kind: Syslog}
	}
	f, err := openOwn()
	if err != nil {
		return slog.New(slog.DiscardHandler), Place{Kind: Nowhere, Err: err}
	}
	// All servers of the user share the file.
	return slog.New(o.handler(f, nil)).With("pid", os.Getpid()), Place{Kind: File, File: f.path}
}

// handler returns a handler that writes lines to w. The function replace may change or remove
// attributes, as in slog.HandlerOptions.
func (o Options) handler(w io.Writer, replace func(groups []string, a slog.Attr) slog.Attr) slog.Handler {
	options := &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: replace}
	if o.Debug {
		options.Level = slog.LevelDebug
	}
	if o.Format == JSON {
		return slog.NewJSONHandler(escaped{w}, options)
	}
	return slog.NewTextHandler(w, options)
}

// escaped writes lines of JSON without characters that a terminal would obey or hide. Package slog itself escapes them
// in text.
type escaped struct{ io.Writer }

// Write implements [io.Writer].
func (e escaped) Write(line []byte) (int, error) {
	if _, err := e.Writer.Write(hint.EscapeJSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
