package main

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
)

// A setting is a flag that can also be given in other ways. The first of these that
// gives it counts:
//
//	--cache-size 4GiB, -o cache_size=4GiB    on the command line, the last one
//	WKWFS_CACHE_SIZE=4GiB                    in the environment
//	cache-size: 4GiB                         in a configuration file

// mountSettings are the settings of a mount.
var mountSettings = []string{
	"allow-other", "cache-size", "debug", "follow-links", "gid", "io-depth", "log-file", "log-format", "metrics", "read-ahead", "uid", "umask",
}

// allSettings are those of all commands: one file is for all of them, and each takes
// what it has a flag for.
var allSettings = append([]string{"allow-origin", "jobs", "listen", "neuroglancer", "token-file"}, mountSettings...)

const (
	variablePrefix = "WKWFS_"
	configName     = "config"
	systemConfig   = "/etc/wkwfs.yaml"
	userConfig     = "wkwfs/config.yaml" // where the user has configuration
)

// otherVariables are variables of ours that are not settings.
var otherVariables = []string{variableOf(configName), tokenVariable, readyVariable}

func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configFlag is where settings are read from, beside the command line and the environment.
type configFlag struct{ file string }

func (c *configFlag) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.file, configName, "", "read settings from `FILE` (else: from "+systemConfig+", and config.yaml in ~/.config/wkwfs)")
}

// settle gives flags that the command line leaves alone what environment and
// configuration files say of them. The source, a path, may have a section in the files.
func (c *configFlag) settle(flags *pflag.FlagSet, source string) error {
	if err := checkVariables(os.Environ()); err != nil {
		return err
	}
	for _, name := range append([]string{configName}, allSettings...) {
		if value := os.Getenv(variableOf(name)); value != "" {
			if err := setDefault(flags, name, value, variableOf(name)); err != nil {
				return err
			}
		}
	}
	files, err := c.read()
	if err != nil {
		return err
	}
	for _, file := range files {
		for _, e := range file.of(source) {
			if err := setDefault(flags, e.name, e.value, file.at(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads the configuration files, the one that counts first.
func (c *configFlag) read() ([]*configFile, error) {
	if c.file != "" {
		file, err := readConfig(c.file)
		return []*configFile{file}, err
	}
	paths := []string{systemConfig}
	if dir, err := os.UserConfigDir(); err == nil { // who has no home has none of that either
		paths = []string{filepath.Join(dir, userConfig), systemConfig}
	}
	var files []*configFile
	for _, path := range paths {
		file, err := readConfig(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, fs.ErrPermission) && path != systemConfig:
			continue // the home is another user's, as after sudo -u: so are the settings
		case err != nil:
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// checkVariables refuses a variable that is nearly one of ours: others, which only begin
// as ours do, may be anybody's.
func checkVariables(environ []string) error {
	known := slices.Clone(otherVariables)
	for _, name := range allSettings {
		known = append(known, variableOf(name))
	}
	for i, name := range known {
		known[i] = strings.TrimPrefix(name, variablePrefix)
	}
	for _, assignment := range environ {
		variable, _, _ := strings.Cut(assignment, "=")
		name, ours := strings.CutPrefix(variable, variablePrefix)
		if !ours || slices.Contains(known, name) {
			continue
		}
		if near := nearest(name, known); near != "" {
			return usageError("did you mean "+variablePrefix+near+"?", "unknown variable %s", variable)
		}
	}
	return nil
}

// fromAnnotation keeps, with a flag, where its value comes from, and the value: where a
// flag has another one, that was given as a flag.
const fromAnnotation = "from"

// setFrom sets a flag to a value that was given elsewhere.
func setFrom(flags *pflag.FlagSet, name, value, from string) error {
	if err := flags.Set(name, value); err != nil {
		return flagError(from, err)
	}
	return flags.SetAnnotation(name, fromAnnotation, []string{from, flags.Lookup(name).Value.String()})
}

// setDefault is setFrom for a flag that there is, and that nothing has set.
func setDefault(flags *pflag.FlagSet, name, value, from string) error {
	if f := flags.Lookup(name); f == nil || f.Changed {
		return nil
	}
	return setFrom(flags, name, value, from)
}

// whereFrom says where the value of a flag was given.
func whereFrom(f *pflag.Flag) string {
	from := f.Annotations[fromAnnotation]
	switch {
	case !f.Changed:
		return "default"
	case len(from) == 2 && from[1] == f.Value.String():
		return from[0]
	}
	return "--" + f.Name
}

// printSettings writes the settings of a mount as a configuration file that gives the
// same, with where each comes from as a comment.
func printSettings(w io.Writer, flags *pflag.FlagSet) error {
	file := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range mountSettings {
		f := flags.Lookup(name)
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: name}
		value := &yaml.Node{Kind: yaml.ScalarNode, Value: f.Value.String(), LineComment: whereFrom(f)}
		switch {
		case value.Value == "":
			value.Value = "null"
		case f.Value.Type() == "string": // or a file of the name "null" would be none
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
