package main

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helperNames are the names under which mount(8) starts this program, to mount what it
// was told, or what fstab(5) says, of type fuse.wkwfs or wkwfs.
var helperNames = []string{"mount.fuse.wkwfs", "mount.wkwfs"}

// mount(8) has exit codes of its own, and passes on those of its helpers.
const (
	mountExitUsage  = 1
	mountExitFailed = 32
)

// runAs is the program under the name by which it was called: args[0].
func runAs(args []string, stdout, stderr io.Writer) int {
	name := filepath.Base(args[0])
	if !slices.Contains(helperNames, name) {
		return run(args[1:], stdout, stderr)
	}
	asServer := startedAsServer() // by ourselves: then the codes are ours
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

// newHelperCommand is what mount(8) starts: mount.TYPE SOURCE MOUNTPOINT [-sfnv]
// [-N namespace] [-o options] [-t type]. The letters mean other things than in wkwfs
// mount.
func newHelperCommand(name string) *cobra.Command {
	var s settings
	var words []string
	var sloppy, fake bool
	var namespace string
	settable := pflag.NewFlagSet(name, pflag.ContinueOnError)
	s.register(settable)
	cmd := &cobra.Command{
		Use:   name + " SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE]",
		Short: "Mount WKW datasets for mount(8) and fstab(5)",
		Args:  exactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if namespace != "" {
				return usageError("nsenter --mount=… wkwfs mount", "-N %s: other namespaces cannot be mounted in", namespace)
			}
			s.source, s.mountpoint = args[0], args[1]
			w := mountWords{flags: settable, kernel: &s.kernel, helper: true, sloppy: sloppy}
			for _, list := range words {
				if err := w.Set(list); err != nil {
					return err
				}
			}
			if err := s.config.settle(settable, s.source); err != nil || fake {
				return err
			}
			return mount(s, cmd.ErrOrStderr())
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(flagParseError)
	flags := cmd.Flags()
	flags.StringArrayVarP(&words, "options", "o", nil, "mount options `OPT,...`")
	flags.BoolVarP(&sloppy, "sloppy", "s", false, "pass over options that do not exist")
	flags.BoolVarP(&fake, "fake", "f", false, "check what was asked, and mount nothing")
	flags.StringVarP(&namespace, "namespace", "N", "", "refused: mount in another namespace")
	// What there is nothing to do for.
	flags.BoolP("no-mtab", "n", false, "accepted: there is no mtab")
	flags.BoolP("verbose", "v", false, "accepted: there is nothing to tell")
	flags.StringP("types", "t", "", "accepted: the `TYPE` is known")
	return cmd
}
