package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

const rootHelp = `wkwfs shows WEBKNOSSOS (WKW) datasets, Zarr, OME-Zarr, N5, HDF5, Neuroglancer
Precomputed and other volumes as raw, NumPy, NRRD, NIfTI and TIFF files.

  wkwfs mount /data/cortex ~/cortex     # then open ~/cortex/color/1/volume.raw
  wkwfs umount ~/cortex`

const exitHelp = `Exit codes: 0 done, 1 failed, 2 wrong command line.`

// run runs the program and returns its exit code.
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
		Short:   "Mount WKW, Zarr, N5 and Precomputed volumes as ordinary files",
		Long:    rootHelp,
		Version: version().Version,
		Args:    cobra.ArbitraryArgs, // an unknown command is an argument of the root
		RunE:    withoutCommand,

		// report prints all errors, in one form.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagParseError)
	root.SetUsageTemplate(root.UsageTemplate() + "\n" + exitHelp + "\n")
	root.AddCommand(
		newMountCommand(), newUmountCommand(), newStatusCommand(), newCopyCommand(), newImportCommand(),
		newServeCommand(), newNFSCommand(), newViewCommand(), newInfoCommand(), newCheckCommand(), newDiffCommand(),
		newEditCommand(), newSampleCommand(), newVersionCommand(),
	)
	completeArguments(root)
	return root
}

// otherNames has words of other programs for commands whose names are not near them.
var otherNames = map[string]string{"copy": "cp", "export": "cp", "convert": "cp", "ls": "info", "show": "view",
	"verify": "check", "compare": "diff", "fsck": "check"}

// withoutCommand returns the error for a command line without a command, or with an unknown one.
func withoutCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return hint.Usagef("wkwfs mount SOURCE MOUNTPOINT, or wkwfs --help", "no command")
	}
	if name, ok := otherNames[args[0]]; ok {
		return hint.Usagef("did you mean "+name+"?", "unknown command %q", args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return hint.Usagef(hint.DidYouMean(args[0], names, "wkwfs --help lists the commands"), "unknown command %q",
		args[0])
}

// exactArgs requires one argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		advice := cmd.CommandPath() + " --help"
		switch {
		case len(args) < len(names):
			return hint.Usagef(advice, "%s: missing %s", cmd.Name(), strings.Join(names[len(args):], " "))
		case len(args) > len(names):
			return hint.Usagef(advice, "%s: unexpected argument %q", cmd.Name(), args[len(names)])
		}
		return nil
	}
}

// flagParseError converts an error of pflag.
func flagParseError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var word *hint.Error
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() != (*settings.Words)(nil).Type():
		return settings.FlagError("--"+invalid.GetFlag().Name, err)
	case errors.As(err, &word): // an error of -o, which names the word
		return word
	}
	return hint.Usagef(cmd.CommandPath()+" --help", "%w", err)
}

// unknownFlag returns an error with the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	advice := cmd.CommandPath() + " --help lists the flags"
	if near := hint.Nearest(err.GetSpecifiedName(), names); near != "" {
		advice = "did you mean --" + near + "?"
	}
	return hint.Usagef(advice, "%w", err)
}
