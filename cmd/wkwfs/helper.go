package main

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// helperNames are the names under which mount(8) starts this program, for mounts of the types
// fuse.wkwfs and wkwfs.
var helperNames = []string{"mount.fuse.wkwfs", "mount.wkwfs"}

// The exit codes of mount(8). It returns those of its helpers.
const (
	mountExitUsage  = 1
	mountExitFailed = 32
)

// runAs runs the program that args[0] names.
func runAs(args []string, stdout, stderr io.Writer) int {
	name := filepath.Base(args[0])
	if !slices.Contains(helperNames, name) {
		return run(args[1:], stdout, stderr)
	}
	asServer := daemon.IsServer() // this program expects its own exit codes
	cmd := newHelperCommand(name)
	cmd.SetArgs(args[1:])
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	code := report(stderr, cmd.Execute())
	switch {
	case code == exitUsage && !asServer:
		return mountExitUsage
	case code == exitFailed && !asServer:
		return mountExitFailed
	}
	return code
}

// newHelperCommand returns the command that mount(8) starts: mount.TYPE SOURCE MOUNTPOINT [-sfnv]
// [-N namespace] [-o options] [-t type]. Its flags differ from those of wkwfs mount.
func newHelperCommand(name string) *cobra.Command {
	var s mountSettings
	var words []string
	var sloppy, fake, verbose bool
	var namespace string
	settable := pflag.NewFlagSet(name, pflag.ContinueOnError)
	s.register(settable)
	cmd := &cobra.Command{
		Use:   name + " SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE]",
		Short: "Mount datasets for mount(8) and fstab(5)",
		Args:  exactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if namespace != "" {
				return hint.Usagef("nsenter --mount=… wkwfs mount", "-N %s: cannot mount in another namespace",
					namespace)
			}
			s.source, s.mountpoint = args[0], args[1]
			w := settings.Words{Flags: settable, Kernel: &s.kernel, Helper: true, Sloppy: sloppy}
			for _, list := range words {
				if err := w.Set(list); err != nil {
					return err
				}
			}
			if err := settings.Settle(settable, s.source); err != nil || fake {
				return err
			}
			if err := fitCache(settable, &s.cacheSize, thisMemory()); err != nil {
				return err
			}
			stdout := io.Discard
			if verbose {
				stdout = cmd.OutOrStdout()
			}
			return mount(s, stdout, cmd.ErrOrStderr())
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(flagParseError)
	flags := cmd.Flags()
	flags.StringArrayVarP(&words, "options", "o", nil, "mount options `OPT,...`")
	flags.BoolVarP(&sloppy, "sloppy", "s", false, "ignore unknown options")
	flags.BoolVarP(&fake, "fake", "f", false, "check the options, mount nothing")
	flags.StringVarP(&namespace, "namespace", "N", "", "refused: mount in another namespace")
	flags.BoolVarP(&verbose, "verbose", "v", false, "print where the log is")
	// These have no effect.
	flags.BoolP("no-mtab", "n", false, "accepted: there is no mtab")
	flags.StringP("types", "t", "", "accepted: there is only one `TYPE`")
	return cmd
}
