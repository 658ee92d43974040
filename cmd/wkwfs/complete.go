package main

import (
	"io/fs"
	"log/slog"
	"path"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/view"
)

// completions says, for each command, what a shell offers for its arguments, one after
// the other.
var completions = map[string][]cobra.CompletionFunc{
	"mount":  {completeFiles, completeDirectories},
	"umount": {completeMountpoints},
	"status": {completeMountpoints},
	"cp":     {completeFiles, completePaths, completeFiles},
	"serve":  {completeFiles},
	"info":   {completeFiles},
	"check":  {completeFiles},
	"sample": {completeDirectories},

	"version": {},
}

// completeArguments lets shells complete the arguments of all commands below root. Where
// there is no further argument, none is offered. Of a command that is not listed, shells
// complete all as files.
func completeArguments(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if f := cmd.Flags().Lookup("log-format"); f != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeFormats) // fails for flags that do not exist
		}
		of, ok := completions[cmd.Name()]
		if !ok {
			continue
		}
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) >= len(of) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return of[len(args)](cmd, args, begun)
		}
	}
}

// A source may be a file, and so may what is copied to.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func completeDirectories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeFormats(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{string(logText), string(logJSON)}, cobra.ShellCompDirectiveNoFileComp
}

// completeMountpoints offers the mounts of wkwfs. Shells offer files where none of them
// begins so, as that of a relative path.
func completeMountpoints(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	table, err := mountTable()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var points []cobra.Completion
	for _, m := range table {
		if m.Type == fsnode.Type {
			points = append(points, m.Point)
		}
	}
	return points, cobra.ShellCompDirectiveDefault
}

// completePaths offers what is in the tree of the source.
func completePaths(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	followLinks, err := cmd.Flags().GetBool("follow-links")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	paths, err := pathsBelow(args[0], sourceFlags{followLinks: followLinks}, begun)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	// No space: who completed a directory goes on in it.
	return paths, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// pathsBelow lists the directory of the tree that the begun path is in.
func pathsBelow(source string, from sourceFlags, begun string) ([]cobra.Completion, error) {
	opened, err := openSource(source, from, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	dir, _ := path.Split(begun)
	entries, err := fs.ReadDir(view.New(opened.Root, view.Options{Log: slog.New(slog.DiscardHandler)}), path.Clean(dir))
	if err != nil {
		return nil, err
	}
	var paths []cobra.Completion
	for _, e := range entries {
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		paths = append(paths, name)
	}
	return paths, nil
}
