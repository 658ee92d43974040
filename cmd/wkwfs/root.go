package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootHelp = `wkwfs shows WKW datasets (webKNOSSOS wrapper) as flat raw files, read-only.

  wkwfs mount /data/cortex ~/cortex     # then open ~/cortex/color/1/volume.raw
  wkwfs umount ~/cortex`

const exitHelp = `Exit codes: 0 done, 1 failed, 2 wrong command line.`

// run is the program: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return report(stderr, root.Execute())
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "wkwfs",
		Short:   "Mount WKW datasets as flat raw files",
		Long:    rootHelp,
		Version: version().Version,
		Args:    cobra.ArbitraryArgs, // an unknown command arrives as one
		RunE:    withoutCommand,

		// Errors are printed by report, in one place and one form.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagParseError)
	root.SetUsageTemplate(root.UsageTemplate() + "\n" + exitHelp + "\n")
	root.AddCommand(newMountCommand(), newUmountCommand(), newStatusCommand(), newCopyCommand(), newImportCommand(), newServeCommand(), newInfoCommand(), newCheckCommand(), newSampleCommand(), newVersionCommand())
	completeArguments(root)
	return root
}

// withoutCommand says what to type to somebody who named no command, or one that
// does not exist.
func withoutCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError("wkwfs mount SOURCE MOUNTPOINT, or wkwfs --help", "no command")
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	hint := "wkwfs --help lists the commands"
	if near := nearest(args[0], names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return usageError(hint, "unknown command %q", args[0])
}

// exactArgs demands one argument for every name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := cmd.CommandPath() + " --help"
		switch {
		case len(args) < len(names):
			return usageError(hint, "%s: missing %s", cmd.Name(), strings.Join(names[len(args):], " "))
		case len(args) > len(names):
			return usageError(hint, "%s: unexpected argument %q", cmd.Name(), args[len(names)])
		}
		return nil
	}
}

// flagParseError puts what pflag says in our form.
func flagParseError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var word *failure
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() != (*mountWords)(nil).Type():
		return flagError("--"+invalid.GetFlag().Name, err)
	case errors.As(err, &word): // of -o, and it says so itself
		return word
	}
	return usageError(cmd.CommandPath()+" --help", "%w", err)
}

// unknownFlag names the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := cmd.CommandPath() + " --help lists the flags"
	if near := nearest(err.GetSpecifiedName(), names); near != "" {
		hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return usageError(hint, "%w", err)
}
