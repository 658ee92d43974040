package main

import (
	"io"
	"log/slog"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/spf13/pflag"
)

// logFlags is where messages go, and how they look.
type logFlags struct {
	file   string // "" = stderr; in the background, the journal or syslog
	format logFormat
	debug  bool
}

// register defines the flags of all servers.
func (l *logFlags) register(flags *pflag.FlagSet) {
	l.format = logText
	flags.Var(&l.format, "log-format", "write each event to the log as a line of text or json")
	flags.BoolVar(&l.debug, "debug", false, "log every request")
}

// logFormat is how a line of the log looks.
type logFormat string

const (
	logText logFormat = "text"
	logJSON logFormat = "json"
)

func (f *logFormat) String() string { return string(*f) }
func (f *logFormat) Type() string   { return "FORMAT" }

func (f *logFormat) Set(text string) error {
	switch format := logFormat(text); format {
	case logText, logJSON:
		*f = format
		return nil
	}
	return usageError("write text or json", "%q is not a format of logs", text)
}

// newLogger returns where a server's messages go: the log file, else stderr in the
// foreground, and in the background the journal or syslog, whichever there is. Whoever
// serves lives until the process ends, and so do the files behind the logger.
func newLogger(l logFlags, background bool, stderr io.Writer) (*slog.Logger, error) {
	if l.file != "" {
		f, err := openLogFile(l.file)
		if err != nil {
			return nil, err
		}
		return slog.New(l.handler(f, true)), nil
	}
	// Under systemd stderr is the journal too, but would not know levels.
	inJournal, err := journal.StderrIsJournalStream()
	if err != nil {
		inJournal = false
	}
	switch {
	case !background && !inJournal:
		return slog.New(l.handler(stderr, true)), nil
	case journal.Enabled():
		return slog.New(l.sender(sendToJournal)), nil
	case !background:
		return slog.New(l.handler(stderr, true)), nil
	}
	send, err := dialSyslog()
	if err != nil { // no syslog here, and nobody to tell
		return slog.New(slog.DiscardHandler), nil
	}
	return slog.New(l.sender(send)), nil
}

// handler writes lines in the format that was asked for. Those who have times of their own
// are given none.
func (l logFlags) handler(w io.Writer, timed bool) slog.Handler {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if l.debug {
		options.Level = slog.LevelDebug
	}
	if !timed {
		options.ReplaceAttr = withoutTime
	}
	if l.format == logJSON {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}

// withoutTime leaves out a record's time.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
