package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// mountWords is the value of -o. A word that is also a flag sets the flag, so
// that there is one place where values are checked.
type mountWords struct {
	flags  *pflag.FlagSet
	kernel *[]string
	helper bool // the words come from mount(8), which adds what it takes for usual
	sloppy bool // words that are unknown are passed over
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
var flagWords = wordsOf(append([]string{configName}, mountSettings...))

func wordsOf(flags []string) []string {
	words := make([]string, len(flags))
	for i, name := range flags {
		words[i] = strings.ReplaceAll(name, "-", "_")
	}
	return words
}

// settledWords are accepted and change nothing: the mount is always so, or they
// concern who mounts and when, which is over when they arrive here.
var settledWords = []string{
	"ro", "default_permissions", "nosuid", "nodev", "noexec",
	"atime", "noatime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime",
	"diratime", "nodiratime",
	"async", "silent", "loud", "defaults", "auto", "noauto", "nofail", "_netdev", "user", "users", "nouser", "owner", "group", "auto_unmount",
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

// wrongWords ask for something that cannot be done, from whomever they come.
var wrongWords = map[string]string{
	"remount": "unmount it, and mount it again",
	"bind":    "mount --bind does that, with the mount as what is bound",
}

// take takes one word.
func (w *mountWords) take(word string) error {
	name, value, hasValue := strings.Cut(word, "=")
	switch {
	case strings.HasPrefix(name, "x-"), strings.HasPrefix(name, "X-"), name == "comment", name == "user" && w.helper: // notes for other programs
		return nil
	case slices.Contains(flagWords, name):
		return w.setFlag(name, value, hasValue)
	case slices.Contains(labelWords, name) && hasValue:
		*w.kernel = append(*w.kernel, word)
		return nil
	case !hasValue && wrongWords[name] != "":
		return usageError(wrongWords[name], "-o %s is not possible", name)
	case !hasValue && slices.Contains(settledWords, name), w.helper && !hasValue && refusedWords[name] != "", w.sloppy:
		return nil
	case !hasValue && refusedWords[name] != "":
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
	return setFrom(w.flags, flag.Name, value, "-o "+name)
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
