// Package settings sets the flags of a command from the environment and from configuration
// files, too. A setting is a flag, so values are checked in one place. The first of these that
// has a setting counts:
//
//	--cache-size 4GiB, -o cache_size=4GiB    on the command line; the last one
//	WKWFS_CACHE_SIZE=4GiB                    in the environment
//	cache-size: 4GiB                         in a configuration file, in the section of the source
//	cache-size: 4GiB                         in a configuration file
//
// The user's configuration file comes before that of the system. Every flag remembers where its
// value comes from.
//
// # Decisions
//
// A setting is a flag. -o, environment and files set the flag of the same name. So one place checks a value, and
// each flag knows where its value came from.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Flags, `-o`, environment and configuration files give the same settings, in this order. A misspelt setting
//     is an error.
//     `TestWaysOfSetting`, `TestOrderOfSettings`, `TestConfigErrors`, `TestCheckVariables`
//   - The user's configuration file is read from an absolute path only. If `HOME` or `XDG_CONFIG_HOME` is relative
//     or empty, nothing in the working directory is read.
//     `TestUserFile`
//   - The output of `--print-config` is a configuration file that gives the same settings.
//     `TestPrintedSettingsGiveTheSame`
package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Mount lists the settings of a mount.
var Mount = []string{
	"allow-other", "anonymous", "axes", "big-endian", "cache-size", "channels", "debug", "disk-cache",
	"disk-cache-min-free", "disk-cache-size", "dtype", "edit", "endpoint",
	"follow-links", "fsname", "gid", "io-depth", "log-file", "log-format", "metrics", "offset", "over", "read-ahead",
	"region", "relabel", "shape", "timeout",
	"uid", "umask", "unit", "voxel-size",
}

// All lists the settings of all commands. They share configuration files, and each command
// takes the settings that it has flags for.
var All = append([]string{"allow-origin", "host", "jobs", "list-blocks", "listen", "neuroglancer", "token-file",
	"trust-clients"}, Mount...)

const (
	// ConfigFlag is the flag for the configuration file.
	ConfigFlag = "config"
	// SystemFile is the configuration file of the system.
	SystemFile = "/etc/wkwfs.yaml"
	// UserFile is the configuration file of the user, below [os.UserConfigDir] if that is an absolute path.
	UserFile = "wkwfs/config.yaml"

	variablePrefix = "WKWFS_"

	// TokenVariable has the token of wkwfs serve.
	TokenVariable = variablePrefix + "TOKEN"
	// readyVariable is that of package daemon.
	readyVariable = variablePrefix + "READY_PIPE"
)

// Variable returns the environment variable of a setting.
func Variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// RegisterConfig defines the flag for the configuration file.
func RegisterConfig(flags *pflag.FlagSet) {
	flags.String(ConfigFlag, "", "read settings from `FILE` (else: from "+SystemFile+
		", and config.yaml in ~/.config/wkwfs)")
}

// Settle sets the flags that the command line does not set, from the environment and from
// configuration files. [RegisterConfig] must have been called for the flags. The source, a path,
// selects sections of the files.
func Settle(flags *pflag.FlagSet, source string) error {
	if err := checkVariables(os.Environ()); err != nil {
		return err
	}
	for _, name := range append([]string{ConfigFlag}, All...) {
		if value := os.Getenv(Variable(name)); value != "" {
			if err := setDefault(flags, name, value, Variable(name)); err != nil {
				return err
			}
		}
	}
	files, err := readFiles(flags.Lookup(ConfigFlag).Value.String())
	if err != nil {
		return err
	}
	for _, f := range files {
		entries, err := f.of(source)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := setDefault(flags, e.name, e.value, f.at(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readFiles reads the configuration files, the most important first.
func readFiles(named string) ([]*file, error) {
	if named != "" {
		f, err := readFile(named)
		return []*file{f}, err
	}
	paths := []string{SystemFile}
	if user, ok := userFile(); ok {
		paths = []string{user, SystemFile}
	}
	var files []*file
	for _, path := range paths {
		f, err := readFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, fs.ErrPermission) && path != SystemFile:
			continue // the home of another user, as after sudo -u
		case err != nil:
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// userFile returns the path of the user's configuration file. It returns false if the environment gives no absolute
// path for it: the working directory is not the home of the user, and others may write to it.
func userFile() (string, bool) {
	dir, err := os.UserConfigDir() // fails if XDG_CONFIG_HOME is relative, or if there is no home
	if err != nil || !filepath.IsAbs(dir) {
		return "", false
	}
	return filepath.Join(dir, UserFile), true
}

// checkVariables returns an error for a variable whose name is almost that of a setting. Other
// variables with the prefix may belong to other programs.
func checkVariables(environ []string) error {
	variables := []string{Variable(ConfigFlag), TokenVariable, readyVariable}
	for _, name := range All {
		variables = append(variables, Variable(name))
	}
	var known []string // without the prefix
	for _, v := range variables {
		known = append(known, strings.TrimPrefix(v, variablePrefix))
	}
	for _, assignment := range environ {
		variable, _, _ := strings.Cut(assignment, "=")
		name, ours := strings.CutPrefix(variable, variablePrefix)
		if !ours || slices.Contains(known, name) {
			continue
		}
		if near := hint.Nearest(name, known); near != "" {
			return hint.Usagef("did you mean "+variablePrefix+near+"?", "unknown variable %s", variable)
		}
	}
	return nil
}

// originAnnotation is the annotation of a flag with the origin of its value, and that value. If
// the flag has another value, it was set again on the command line.
const originAnnotation = "from"

// setFrom sets a flag to a value with an origin, such as "-o uid".
func setFrom(flags *pflag.FlagSet, name, value, origin string) error {
	if err := flags.Set(name, value); err != nil {
		return FlagError(origin, err)
	}
	return flags.SetAnnotation(name, originAnnotation, []string{origin, flags.Lookup(name).Value.String()})
}

// setDefault is setFrom for a flag that exists and was not set before.
func setDefault(flags *pflag.FlagSet, name, value, origin string) error {
	if f := flags.Lookup(name); f == nil || f.Changed {
		return nil
	}
	return setFrom(flags, name, value, origin)
}

// Origin returns where the value of a flag comes from.
func Origin(f *pflag.Flag) string {
	origin := f.Annotations[originAnnotation]
	switch {
	case !f.Changed:
		return "default"
	case len(origin) == 2 && origin[1] == f.Value.String():
		return origin[0]
	}
	return "--" + f.Name
}

// Write writes the settings of a mount as a configuration file. Comments say where each setting
// comes from.
func Write(w io.Writer, flags *pflag.FlagSet) error {
	file := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range Mount {
		f := flags.Lookup(name)
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: name}
		value := &yaml.Node{Kind: yaml.ScalarNode, Value: f.Value.String(), LineComment: Origin(f)}
		switch {
		case value.Value == "":
			value.Value = "null"
		case f.Value.Type() == "string": // else a file named "null" would be no file
			value.Tag = "!!str"
		}
		file.Content = append(file.Content, key, value)
	}
	b, err := yaml.Marshal(file)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	_, err = w.Write(b)
	return err
}

// FlagError returns an error for a value that a flag does not take. The origin is the flag or
// word as the user wrote it. A hint in err is kept.
func FlagError(origin string, err error) error {
	var f *hint.Error
	if errors.As(err, &f) {
		return &hint.Error{Err: fmt.Errorf("%s: %w", origin, f.Err), Hint: f.Hint, Usage: true}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		unit, _ := pflag.UnquoteUsage(invalid.GetFlag())
		advice := ""
		if unit == "KiB" {
			advice = "it is a number of KiB, such as 1024 for 1 MiB"
		}
		return hint.Usagef(advice, "%s: %q is not a %s", origin, invalid.GetValue(), describeType(invalid.GetFlag()))
	}
	return hint.Usagef("", "%w", err)
}

// describeType returns what values a flag takes.
func describeType(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "int", "uint32":
		return "whole number"
	case "bool":
		return "boolean (true or false)"
	}
	return flag.Value.Type()
}
