package main

import (
	"io"
	"log/slog"
	"log/syslog"
	"os"
	"runtime/debug"
)

// newLogger returns where the server's messages go: the log file, else stderr in
// the foreground and syslog in the background, where there is one. Whoever mounts
// lives until the process ends, and so do the files behind the logger.
func newLogger(s settings, background bool, stderr io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if s.debug {
		options.Level = slog.LevelDebug
	}
	switch {
	case s.logFile != "":
		f, err := os.OpenFile(s.logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return nil, err
		}
		// What the runtime has to say when it dies would go to /dev/null.
		if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
			return nil, err
		}
		return slog.New(slog.NewTextHandler(f, options)), nil
	case !background:
		return slog.New(slog.NewTextHandler(stderr, options)), nil
	}
	w, err := syslog.New(syslog.LOG_DAEMON|syslog.LOG_INFO, "wkwfs")
	if err != nil { // no syslog here, and nobody to tell
		return slog.New(slog.DiscardHandler), nil
	}
	options.ReplaceAttr = withoutTime // syslog writes its own
	return slog.New(slog.NewTextHandler(w, options)), nil
}

// withoutTime leaves out a record's time.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
