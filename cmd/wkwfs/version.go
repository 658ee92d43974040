package main

import (
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// releaseVersion is set when a release is built:
// -ldflags "-X main.releaseVersion=v1.2.3".
var releaseVersion string

// build describes how this program was built.
type build struct {
	Version      string            `json:"version"`
	Revision     string            `json:"revision,omitempty"` // of the repository
	Modified     bool              `json:"modified,omitempty"` // after that revision
	Go           string            `json:"go"`
	Dependencies map[string]string `json:"dependencies"`
}

// version returns how this program was built.
func version() build {
	b := build{Version: releaseVersion, Dependencies: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	b.Go = info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, dep := range info.Deps {
		b.Dependencies[dep.Path] = dep.Version
	}
	return b
}

// String returns one fact per line.
func (b build) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "wkwfs %s\n", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = " and later changes"
		}
		fmt.Fprintf(&text, "revision %s%s\n", b.Revision, changed)
	}
	fmt.Fprintf(&text, "%s\n", b.Go)
	for _, path := range slices.Sorted(maps.Keys(b.Dependencies)) {
		fmt.Fprintf(&text, "%s %s\n", path, b.Dependencies[path])
	}
	return text.String()
}

func newVersionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of wkwfs, Go and its modules",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout(), version(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printVersion(w io.Writer, b build, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(w, b.String())
		return err
	}
	return printJSON(w, b, "  ")
}
