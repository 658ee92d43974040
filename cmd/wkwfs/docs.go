//go:build docs

package main

// The completions are those of cobra, the man pages are not. Package cobra/doc reads the text of a command as Markdown:
// it breaks the first line of indented tables, writes "--anonymous[=false]" for a flag, leaves dashes that become
// hyphens, and has neither exit codes, environment and files, nor the page mount.fuse.wkwfs(8). It would also add two
// modules to go.sum.

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// main, with the tag docs, is another program. It generates the man pages and completions of wkwfs
// from its commands, and writes them to man and completions below its argument.
func main() {
	if len(os.Args) != 2 {
		os.Exit(report(os.Stderr, hint.Usagef("go run -tags docs ./cmd/wkwfs DIR", "expected one directory")))
	}
	os.Exit(report(os.Stderr, writeDocs(os.Args[1])))
}

func writeDocs(dir string) error {
	date, err := sourceDate()
	if err != nil {
		return err
	}
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root := newRootCommand()
	pages := []page{helperPage(date)}
	for _, cmd := range append([]*cobra.Command{root}, allCommands(root)...) {
		pages = append(pages, commandPage(cmd, date))
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(man, p.file()), []byte(p.text.String()), 0o644); err != nil {
			return err
		}
	}
	return writeCompletions(root, completions)
}

// writeCompletions writes files with the names that shells look for.
func writeCompletions(root *cobra.Command, dir string) error {
	if err := root.GenBashCompletionFileV2(filepath.Join(dir, "wkwfs"), true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(filepath.Join(dir, "_wkwfs")); err != nil {
		return err
	}
	return root.GenFishCompletionFile(filepath.Join(dir, "wkwfs.fish"), true)
}

// sourceDate returns the date of all pages. It is not today, so that the pages are reproducible.
func sourceDate() (string, error) {
	const variable = "SOURCE_DATE_EPOCH"
	seconds, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	if err != nil {
		return "", hint.Errorf(variable+"=$(git log -1 --format=%ct)", "%s: %w", variable, err)
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly), nil
}

// commandPage returns the man page of a command.
func commandPage(cmd *cobra.Command, date string) page {
	p := newPage(cmd.CommandPath(), 1, cmd.Short, date)
	p.heading("SYNOPSIS")
	use := cmd.UseLine()
	if cmd.HasSubCommands() {
		use += " COMMAND [ARGUMENT...]"
	}
	p.line(".B " + escape(use))
	p.heading("DESCRIPTION")
	p.prose(cmd.Long, cmd.Short+".")
	if cmd.HasSubCommands() {
		p.heading("COMMANDS")
		for _, c := range cmd.Commands() {
			p.item(c.Name(), c.Short+".")
		}
	}
	cmd.InitDefaultHelpFlag()
	p.heading("OPTIONS")
	p.options(cmd.LocalFlags())
	if cmd.Example != "" {
		p.heading("EXAMPLES")
		p.verbatim(cmd.Example)
	}
	p.items("FILES", files[cmd.Name()])
	p.items("ENVIRONMENT", environment[cmd.Name()])
	status := exitStatus
	if other, ok := otherExitStatus[cmd.Name()]; ok {
		status = other
	}
	p.items("EXIT STATUS", status)
	p.heading("SEE ALSO")
	p.references(related(cmd))
	return p
}

// related returns the names of related pages.
func related(cmd *cobra.Command) []string {
	if cmd.HasParent() {
		all := []string{"wkwfs(1)"}
		for _, c := range cmd.Commands() {
			all = append(all, strings.ReplaceAll(c.CommandPath(), " ", "-")+"(1)")
		}
		if cmd.Name() == "mount" || cmd.Name() == "umount" {
			all = append(all, "mount.fuse.wkwfs(8)", "fusermount3(1)")
		}
		return all
	}
	var all []string
	for _, c := range cmd.Commands() {
		all = append(all, "wkwfs-"+c.Name()+"(1)")
	}
	return append(all, "mount.fuse.wkwfs(8)")
}
