package main

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/log"
)

// newLogger returns the logger of a server, and where it logs. It also receives the panics that the server recovers
// from.
func newLogger(o log.Options, stderr io.Writer) (*slog.Logger, log.Place, error) {
	logger, place, err := log.New(o, stderr)
	if err == nil {
		guard.LogTo(logger)
	}
	return logger, place, err
}

// registerLog defines the log flags of all servers.
func registerLog(flags *pflag.FlagSet, o *log.Options) {
	o.Format = log.Text
	flags.Var(&o.Format, "log-format", "write log lines as text or json")
	flags.BoolVar(&o.Debug, "debug", false, "log every request")
}
