package log

import (
	"bytes"
	"context"
	"log/slog"
	"log/syslog"
	"strings"
	"sync"

	"github.com/coreos/go-systemd/v22/journal"
)

// identifier is the name of the program in the journal and in syslog.
const identifier = "wkwfs"

// sender is a slog.Handler that sends each record to a log service, as one line with a level.
type sender struct {
	slog.Handler // writes a line to *line
	mu           *sync.Mutex
	line         *bytes.Buffer
	send         func(level slog.Level, line string) error
}

// sender returns a handler that sends lines by the function. They have no time: the service
// adds its own.
func (o Options) sender(send func(slog.Level, string) error) sender {
	line := new(bytes.Buffer)
	return sender{o.handler(line, withoutTime), new(sync.Mutex), line, send}
}

// withoutTime removes the time of a record.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Handle implements slog.Handler.
func (s sender) Handle(ctx context.Context, r slog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Reset()
	if err := s.Handler.Handle(ctx, r); err != nil {
		return err
	}
	return s.send(r.Level, strings.TrimSuffix(s.line.String(), "\n"))
}

// WithAttrs implements slog.Handler.
func (s sender) WithAttrs(attrs []slog.Attr) slog.Handler {
	s.Handler = s.Handler.WithAttrs(attrs)
	return s
}

// WithGroup implements slog.Handler.
func (s sender) WithGroup(name string) slog.Handler {
	s.Handler = s.Handler.WithGroup(name)
	return s
}

// sendToJournal sends a line to the journal of systemd.
func sendToJournal(level slog.Level, line string) error {
	priority := journal.PriDebug
	switch {
	case level >= slog.LevelError:
		priority = journal.PriErr
	case level >= slog.LevelWarn:
		priority = journal.PriWarning
	case level >= slog.LevelInfo:
		priority = journal.PriInfo
	}
	return journal.Send(line, priority, map[string]string{"SYSLOG_IDENTIFIER": identifier})
}

// dialSyslog connects to the syslog of this machine.
func dialSyslog() (send func(slog.Level, string) error, err error) {
	w, err := syslog.New(syslog.LOG_DAEMON|syslog.LOG_INFO, identifier)
	if err != nil {
		return nil, err
	}
	return func(level slog.Level, line string) error {
		switch {
		case level >= slog.LevelError:
			return w.Err(line)
		case level >= slog.LevelWarn:
			return w.Warning(line)
		case level >= slog.LevelInfo:
			return w.Info(line)
		}
		return w.Debug(line)
	}, nil
}
