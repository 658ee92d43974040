package main

import (
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/log"
)

// registerLog defines the log flags of all servers.
func registerLog(flags *pflag.FlagSet, o *log.Options) {
	o.Format = log.Text
	flags.Var(&o.Format, "log-format", "write log lines as text or json")
	flags.BoolVar(&o.Debug, "debug", false, "log every request")
}
