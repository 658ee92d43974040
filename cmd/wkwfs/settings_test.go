package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// settle returns the settings in the arguments, the environment and the files.
func settle(t *testing.T, source string, args ...string) (mountSettings, *pflag.FlagSet, error) {
	t.Helper()
	var s mountSettings
	flags := pflag.NewFlagSet("mount", pflag.ContinueOnError)
	s.register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s, flags, settings.Settle(flags, source)
}

func writeText(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestWaysOfSetting: each setting can be given in four ways, and its origin is known.
func TestWaysOfSetting(t *testing.T) {
	values := map[string]string{
		"allow-other": "true", "anonymous": "true", "cache-size": "1234567B", "debug": "true",
		"disk-cache": "/var/tmp/a b", "disk-cache-min-free": "7%", "disk-cache-size": "77GiB", "edit": "a=/b;c=/d e",
		"endpoint": "http://h:1", "follow-links": "true", "gid": "7", "io-depth": "9",
		"log-file": "/a b#c: d", "log-format": "json", "metrics": "unix:/a b", "fsname": "cortex of mouse 3",
		"over": "/data/a b", "relabel": "segmentation=/a b.npy", "read-ahead": "64", "region": "eu-west-1",
		"timeout": "5m0s", "uid": "0", "umask": "027", "unit": "um",
		"axes": "xyz", "big-endian": "true", "channels": "3", "dtype": "uint16", "offset": "1x2x3", "shape": "4x5x6",
		"voxel-size": "11.24x11.24x25",
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range settings.Mount {
		value, ok := values[name]
		if !ok {
			t.Fatalf("no value for %s", name)
		}
		want, _, err := settle(t, "", "--"+name+"="+value)
		if err != nil {
			t.Fatal(err)
		}
		file := writeText(t, filepath.Join(t.TempDir(), "c.yaml"), name+": '"+value+"'\n")
		word := strings.ReplaceAll(name, "-", "_")
		assignment := word + "=" + value
		if value == "true" {
			assignment = word
		}
		ways := []struct {
			from, variable string
			args           []string
		}{
			{"--" + name, "", []string{"--" + name + "=" + value}},
			{"-o " + word, "", []string{"-o", assignment}},
			{settings.Variable(name), value, nil},
			{file + ":1: " + name, "", []string{"--config", file}},
		}
		for _, way := range ways {
			t.Run(name+"/"+way.from, func(t *testing.T) {
				t.Setenv(settings.Variable(name), way.variable)
				got, flags, err := settle(t, "", way.args...)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if from := settings.Origin(flags.Lookup(name)); from != way.from {
					t.Errorf("origin %q, want %q", from, way.from)
				}
			})
		}
	}
}

// TestOrderOfSettings lists which of several origins of a setting counts.
func TestOrderOfSettings(t *testing.T) {
	home, source := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	user := writeText(t, filepath.Join(home, settings.UserFile),
		"read-ahead: 5\nsources:\n  "+source+"/:\n    read-ahead: 4\n")
	file := writeText(t, filepath.Join(home, "other.yaml"), "sources: {/: {read-ahead: 9}}\nread-ahead: 3\n")
	tests := []struct {
		name, source, variable string
		args                   []string
		want                   uint32
		from                   string
	}{
		{"file", "/", "", nil, 5, user + ":1: read-ahead"},
		{"section of the source", source, "", nil, 4, user + ":4: read-ahead"},
		{"the file that is named, alone", source, "", []string{"--config", file}, 3, file + ":2: read-ahead"},
		{"its section", "/", "", []string{"-o", "config=" + file}, 9, file + ":1: read-ahead"},
		{"environment", source, "2", []string{"--config", file}, 2, "WKWFS_READ_AHEAD"},
		{"word", source, "2", []string{"-o", "read_ahead=1"}, 1, "-o read_ahead"},
		{"flag", source, "2", []string{"--read-ahead=1"}, 1, "--read-ahead"},
		{"flag after word", source, "", []string{"-o", "read_ahead=1", "--read-ahead=8"}, 8, "--read-ahead"},
		{"word after flag", source, "", []string{"--read-ahead=8", "-o", "read_ahead=1"}, 1, "-o read_ahead"},
		{"default on the command line", source, "2", []string{"--read-ahead=0"}, 0, "--read-ahead"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("WKWFS_READ_AHEAD", test.variable)
			s, flags, err := settle(t, test.source, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if from := settings.Origin(flags.Lookup("read-ahead")); s.readAhead != test.want || from != test.from {
				t.Errorf("got %d from %q, want %d from %q", s.readAhead, from, test.want, test.from)
			}
		})
	}
	t.Run("the environment names the file", func(t *testing.T) {
		t.Setenv("WKWFS_CONFIG", file)
		if s, _, err := settle(t, source); err != nil || s.readAhead != 3 {
			t.Errorf("got %d, %v; want 3", s.readAhead, err)
		}
	})
}

// TestUserFile: the user's file is found by an absolute path only. The working directory is no home.
func TestUserFile(t *testing.T) {
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, ".config", settings.UserFile), "read-ahead: 5")
	writeText(t, filepath.Join(dir, settings.UserFile), "read-ahead: 6")
	t.Chdir(dir)
	for _, test := range []struct {
		name, home, config string
		want               uint32
	}{
		{"home", dir, "", 5},
		{"XDG_CONFIG_HOME", "/nowhere", dir, 6},
		{"relative home", ".", "", defaultReadAhead},
		{"no home", "", "", defaultReadAhead},
		{"relative XDG_CONFIG_HOME", dir, ".", defaultReadAhead},
		{"relative both", ".", ".", defaultReadAhead},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("HOME", test.home)
			t.Setenv("XDG_CONFIG_HOME", test.config)
			if s, flags, err := settle(t, "/"); err != nil || s.readAhead != test.want {
				t.Errorf("got %d from %s, %v; expected %d", s.readAhead, settings.Origin(flags.Lookup("read-ahead")),
					err, test.want)
			}
		})
	}
}

// TestPrintedSettingsGiveTheSame: printed settings are a configuration file that gives them again.
func TestPrintedSettingsGiveTheSame(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, args := range [][]string{
		{},
		{"--cache-size=1234567", "--uid=0", "--umask=0", "--log-file= a: #b'\"", "-o", "allow_other,debug"},
		{"--log-file=null", "--read-ahead=64"},
		{"--log-file=~"},
	} {
		want, flags, err := settle(t, "", args...)
		if err != nil {
			t.Fatal(err)
		}
		var printed bytes.Buffer
		if err := settings.Write(&printed, flags); err != nil {
			t.Fatal(err)
		}
		got, _, err := settle(t, "", "--config", writeText(t, filepath.Join(t.TempDir(), "c.yaml"), printed.String()))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v, want %+v; printed\n%s", args, got, err, want, &printed)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct{ text, want, hint string }{
		{"cache_size: 1", "c.yaml:1: unknown setting cache_size", "did you mean cache-size?"},
		{"\n\nqqqqq: 1", "c.yaml:3: unknown setting qqqqq", "wkwfs mount --print-config lists the settings"},
		{"token: abc", "c.yaml:1: unknown setting token", "wkwfs mount --print-config lists the settings"},
		{"sources: {/a: {uit: 1}}", "c.yaml:1: unknown setting uit", "did you mean uid?"},
		{"sources: {/a: {sources: {}}}", "c.yaml:1: unknown setting sources",
			"wkwfs mount --print-config lists the settings"},
		{"sources:\n  a: {}", `c.yaml:2: source "a": expected a path that begins with /, or a URL`, ""},
		{"sources: 1", "c.yaml:1: expected sources by name", "write them like cache-size: 4GiB"},
		{"- debug", "c.yaml:1: expected settings by name", "write them like cache-size: 4GiB"},
		{"sources: {/a: [debug]}", "c.yaml:1: expected settings by name", "write them like cache-size: 4GiB"},
		{"uid: 1\nuid: 1", "c.yaml:2: uid is there twice", ""},
		{"uid: 1\ncache-size: much", `c.yaml:2: cache-size: "much" is not a size`, "write it like 512MiB, 1GiB or 4GB"},
		{"debug: 2", `c.yaml:1: debug: "2" is not a boolean (true or false)`, ""},
		{"uid: {}", "c.yaml:1: uid: expected a word or a list of words", ""},
		{"uid: [[]]", "c.yaml:1: uid: expected a list of words", ""},
		{"uid: &a 1\ngid: *a", "c.yaml:2: gid: expected a word or a list of words", ""},
		{"<<: {}", "c.yaml:1: unknown setting <<", "wkwfs mount --print-config lists the settings"},
		{"uid: 1\n---\nuid: 2", "c.yaml: expected one document, found more", ""},
		{"uid: 'a", "c.yaml: yaml: ", ""},
		{"\x00", "c.yaml: yaml: ", ""},
	}
	t.Chdir(t.TempDir())
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			writeText(t, "c.yaml", test.text)
			_, _, err := settle(t, "", "--config=c.yaml")
			var f *hint.Error
			if !errors.As(err, &f) || !f.Usage || f.Hint != test.hint {
				t.Fatalf("got %#v, want a failure with hint %q", err, test.hint)
			}
			if got := f.Error(); got != test.want &&
				!(strings.HasSuffix(test.want, " ") && strings.HasPrefix(got, test.want)) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "sources:\n", "uid:\n", "sources: {/a: }",
		"listen: :1\nallow-origin: [a, b]"} {
		writeText(t, "c.yaml", text)
		if _, _, err := settle(t, "", "--config=c.yaml"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := settle(t, "", "--config=none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestFlagsAreSettings: each flag of a command with a configuration file is a setting, except those
// that are only for one run of the command.
func TestFlagsAreSettings(t *testing.T) {
	once := []string{"all", "annotation", "blocks", settings.ConfigFlag, "dry-run", "force", "foreground", "json",
		"layer", "mag", "merge", "options", "part", "preview", "print-config", "quiet", "token", "wait", "z"}
	for _, cmd := range newRootCommand().Commands() {
		if cmd.Flags().Lookup(settings.ConfigFlag) == nil {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(settings.All, f.Name) && !slices.Contains(once, f.Name) {
				t.Errorf("%s --%s is not a setting", cmd.Name(), f.Name)
			}
		})
	}
}

// TestSettingsAreFlags: each setting has a flag.
func TestSettingsAreFlags(t *testing.T) {
	for _, name := range settings.All {
		found := false
		for _, cmd := range newRootCommand().Commands() {
			found = found || cmd.Flags().Lookup(settings.ConfigFlag) != nil && cmd.Flags().Lookup(name) != nil
		}
		if !found {
			t.Errorf("no command has a flag --%s", name)
		}
	}
}
