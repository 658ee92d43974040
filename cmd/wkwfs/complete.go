package main

import (
	"log/slog"
	"path"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/small/log"
)

// completions has a function for each argument of a command, which returns what a shell offers.
var completions = map[string][]cobra.CompletionFunc{
	"mount":  {completeFiles, completeDirectories},
	"umount": {completeMountpoints},
	"status": {completeMountpoints},
	"cp":     {completeFiles, completePaths, completeFiles},
	"serve":  {completeFiles},
	"nfs":    {completeFiles},
	"view":   {completeFiles},
	"info":   {completeFiles, completeLayers},
	"check":  {completeFiles},
	"diff":   {completeFiles, completeFiles},
	"sample": {completeDirectories},

	"revert": {completeDirectories},

	"version": {},
}

// completeArguments lets shells complete the arguments of all commands. For a command that is not
// in completions, shells complete every argument as a file.
func completeArguments(root *cobra.Command) {
	for _, cmd := range allCommands(root) {
		if f := cmd.Flags().Lookup("log-format"); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeFormats) // fails only for unknown flags
		}
		if f := cmd.Flags().Lookup("unit"); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeUnits) // fails only for unknown flags
		}
		if f := cmd.Flags().Lookup("preview"); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completePreviews) // fails only for unknown flags
		}
		if f := cmd.Flags().Lookup("axes"); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeAxes) // fails only for unknown flags
		}
		of, ok := completions[cmd.Name()]
		if !ok {
			continue
		}
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			if len(args) >= len(of) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return of[len(args)](cmd, args, prefix)
		}
	}
}

// allCommands returns the commands of a command, and theirs.
func allCommands(of *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range of.Commands() {
		all = append(append(all, cmd), allCommands(cmd)...)
	}
	return all
}

// completeFiles is for sources, which may be files, and for destinations.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func completeDirectories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeUnits(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return settings.Units, cobra.ShellCompDirectiveNoFileComp
}

func completeFormats(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{string(log.Text), string(log.JSON)}, cobra.ShellCompDirectiveNoFileComp
}

// completeAxes offers the usual orders of axes.
func completeAxes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"xyz", "zyx", "xy", "yx", "cxyz", "zyxc", "czyx", "xyzc"},
		cobra.ShellCompDirectiveNoFileComp
}

func completePreviews(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return previewForms(), cobra.ShellCompDirectiveNoFileComp
}

// completeLayers offers the layers of the dataset for a preview.
func completeLayers(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if !cmd.Flags().Changed("preview") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	opened, err := sourceFlags{}.open(args[0], nil)
	if err != nil || opened.Root.Dataset == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := opened.Root.Dataset.Layers()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeMountpoints offers the mounts of wkwfs. Where none matches, as for a relative path, shells
// offer files.
func completeMountpoints(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	points, err := mountpoints()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return points, cobra.ShellCompDirectiveDefault
}

// completePaths offers paths in the tree of the source.
func completePaths(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	followLinks, err := cmd.Flags().GetBool("follow-links")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	paths, err := pathsBelow(args[0], sourceFlags{followLinks: followLinks}, prefix)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	// No space, because a path may continue after a directory.
	return paths, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// pathsBelow lists the directory of the tree that contains the beginning of a path, at most some thousand entries.
func pathsBelow(source string, from sourceFlags, prefix string) ([]cobra.Completion, error) {
	opened, err := from.open(source, nil)
	if err != nil {
		return nil, err
	}
	dir, _ := path.Split(prefix)
	tree := view.New(opened.Root, view.Options{Log: slog.New(slog.DiscardHandler)})
	var paths []cobra.Completion
	for entries, err := range tree.List(path.Clean(dir)) {
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := dir + e.Name()
			if e.IsDir() {
				name += "/"
			}
			paths = append(paths, name)
		}
		break
	}
	return paths, nil
}
