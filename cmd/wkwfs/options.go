package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// settings is what the user asked of a mount, by flags or by -o words.
type settings struct {
	source, mountpoint string
	from               sourceFlags

	foreground bool
	cacheSize  byteSize // of decoded blocks
	allowOther bool
	readAhead  uint32 // KiB; 0 = leave the kernel's
	logFile    string // "" = stderr, or syslog in the background
	debug      bool
	kernel     []string // -o words that are passed on
}

// defaultCacheSize has room for two slabs of most layers.
const defaultCacheSize = 1 << 30

// register defines the flags that fill s.
func (s *settings) register(flags *pflag.FlagSet) {
	s.cacheSize = defaultCacheSize
	flags.BoolVarP(&s.foreground, "foreground", "f", false, "stay in the foreground, log to stderr")
	s.from.register(flags)
	flags.Var(&s.cacheSize, "cache-size", "memory for decoded blocks, such as 512MiB or 4GB")
	flags.BoolVar(&s.allowOther, "allow-other", false, "let other users in, as far as the source's permissions do")
	flags.Uint32Var(&s.readAhead, "read-ahead", 0, "let the kernel read `KiB` ahead (0: leave its default)")
	flags.StringVar(&s.logFile, "log-file", "", "append the log to `FILE` (else: stderr, or syslog in the background)")
	flags.BoolVar(&s.debug, "debug", false, "log every request")
	flags.VarP(&mountWords{flags: flags, kernel: &s.kernel}, "options", "o", "mount options `OPT,...` as in fstab")
}

// byteSize is a number of bytes that is written as people write it.
type byteSize int64

// maxByteSize leaves room for what is added to a size: no sum of a size and some
// overhead overflows.
const maxByteSize = math.MaxInt64 / 2

func (b *byteSize) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	switch {
	case err != nil || strings.Contains(text, ","):
		return usageError("write it like 512MiB, 1GiB or 4GB", "%q is not a size", text)
	case n > maxByteSize:
		return usageError("", "%q is more than this machine can address", text)
	}
	*b = byteSize(n)
	return nil
}

func (b *byteSize) String() string { return strings.ReplaceAll(humanize.IBytes(uint64(*b)), " ", "") }
func (b *byteSize) Type() string   { return "SIZE" }

// mountWords is the value of -o. A word that is also a flag sets the flag, so
// that there is one place where values are checked.
type mountWords struct {
	flags  *pflag.FlagSet
	kernel *[]string
}

func (w *mountWords) String() string { return "" }
func (w *mountWords) Type() string   { return "OPT,..." }

// Set takes the words of one -o.
func (w *mountWords) Set(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		if word == "" { // "a,,b" and a list that is empty are fine with mount(8) too
			continue
		}
		if err := w.take(word); err != nil {
			return err
		}
	}
	return nil
}

// flagWords are the -o words that are flags under the same name, with dashes.
var flagWords = []string{"allow_other", "cache_size", "read_ahead", "log_file", "debug"}

// settledWords are accepted and change nothing: the mount is always so, or they
// concern who mounts and when, which is over when they arrive here.
var settledWords = []string{
	"ro", "default_permissions", "nosuid", "nodev", "noexec",
	"atime", "noatime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime",
	"diratime", "nodiratime",
	"defaults", "auto", "noauto", "nofail", "_netdev", "user", "users", "nouser", "owner", "group", "auto_unmount",
}

// labelWords set the security label of the mount; the kernel does it.
var labelWords = []string{"context", "fscontext", "defcontext", "rootcontext"}

// refusedWords ask for something that the mount never is.
var refusedWords = map[string]string{
	"rw":   "the mount is read-only",
	"suid": "the mount is always nosuid",
	"dev":  "the mount is always nodev",
	"exec": "the mount is always noexec",
}

// take takes one word.
func (w *mountWords) take(word string) error {
	name, value, hasValue := strings.Cut(word, "=")
	switch {
	case strings.HasPrefix(name, "x-") || name == "comment": // notes for other programs
		return nil
	case slices.Contains(flagWords, name):
		return w.setFlag(name, value, hasValue)
	case slices.Contains(labelWords, name) && hasValue:
		*w.kernel = append(*w.kernel, word)
		return nil
	case hasValue:
		return unknownWord(word, name)
	case slices.Contains(settledWords, name):
		return nil
	case refusedWords[name] != "":
		return usageError("leave it out", "-o %s: %s", name, refusedWords[name])
	}
	return unknownWord(word, name)
}

// setFlag sets the flag of the same name as the word.
func (w *mountWords) setFlag(name, value string, hasValue bool) error {
	flag := w.flags.Lookup(strings.ReplaceAll(name, "_", "-"))
	switch isSwitch := flag.NoOptDefVal != ""; {
	case isSwitch && hasValue:
		return usageError("", "-o %s takes no value", name)
	case isSwitch:
		value = flag.NoOptDefVal
	case value == "":
		return usageError("", "-o %s needs a value: %s=…", name, name)
	}
	if err := w.flags.Set(flag.Name, value); err != nil {
		return flagError("-o "+name, err)
	}
	return nil
}

func unknownWord(word, name string) error {
	if slices.Contains(settledWords, name) {
		return usageError("", "-o %s takes no value", name)
	}
	known := slices.Concat(flagWords, settledWords, labelWords)
	hint := "wkwfs mount --help lists the options"
	if near := nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return usageError(hint, "unknown option -o %s", word)
}

// flagError turns what pflag says about a value into one of ours: where is the
// flag or word as it was written.
func flagError(where string, err error) error {
	var f *failure
	if errors.As(err, &f) {
		return &failure{Err: fmt.Errorf("%s: %w", where, f.Err), Hint: f.Hint, Usage: true}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usageError("", "%s: %q is not a %s", where, invalid.GetValue(), describe(invalid.GetFlag()))
	}
	return usageError("", "%w", err)
}

// describe says in words what a flag takes.
func describe(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "uint32":
		return "whole number"
	case "bool":
		return "boolean (true or false)"
	}
	return flag.Value.Type()
}
