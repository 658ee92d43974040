package main

import (
	"bytes"
	"context"
	"log/slog"
	"log/syslog"
	"strings"
	"sync"

	"github.com/coreos/go-systemd/v22/journal"
)

// logName is what the journal and syslog call us.
const logName = "wkwfs"

// sender is a slog.Handler that sends each record, as one line with its level, to a
// service for logs.
type sender struct {
	slog.Handler // writes a line to *line
	mu           *sync.Mutex
	line         *bytes.Buffer
	send         func(level slog.Level, line string) error
}

func (l logFlags) sender(send func(slog.Level, string) error) sender {
	line := new(bytes.Buffer)
	return sender{l.handler(line, false), new(sync.Mutex), line, send}
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
	return journal.Send(line, priority, map[string]string{"SYSLOG_IDENTIFIER": logName})
}

// dialSyslog connects to the machine's syslog.
func dialSyslog() (send func(slog.Level, string) error, err error) {
	w, err := syslog.New(syslog.LOG_DAEMON|syslog.LOG_INFO, logName)
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
