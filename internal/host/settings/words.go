package settings

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Words is the value of the flag -o, a list of mount options. A word with the name of a setting
// sets the flag of that setting.
type Words struct {
	Flags  *pflag.FlagSet
	Kernel *[]string // words for the kernel are appended to it
	Helper bool      // the words come from mount(8), which adds its usual ones
	Sloppy bool      // unknown words are ignored
}

// String implements pflag.Value. Words have no value of their own.
func (w *Words) String() string { return "" }

// Type implements pflag.Value.
func (w *Words) Type() string { return "OPT,..." }

// Set applies the words of one -o.
func (w *Words) Set(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		if word == "" { // mount(8) accepts "a,,b" too
			continue
		}
		if err := w.apply(word); err != nil {
			return err
		}
	}
	return nil
}

// FlagWords are the words that set a flag. Words have underscores where flags have dashes.
var FlagWords = wordsOf(append([]string{ConfigFlag}, Mount...))

func wordsOf(flags []string) []string {
	words := make([]string, len(flags))
	for i, name := range flags {
		words[i] = strings.ReplaceAll(name, "-", "_")
	}
	return words
}

// AcceptedWords change nothing: every mount is like that, or they are for mount(8) and systemd.
var AcceptedWords = []string{
	"ro", "default_permissions", "nosuid", "nodev", "noexec",
	"atime", "noatime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime",
	"diratime", "nodiratime",
	"async", "silent", "loud", "defaults", "auto", "noauto", "nofail", "_netdev", "user", "users", "nouser", "owner",
	"group", "auto_unmount",
}

// LabelWords set the security label of the mount. They are for the kernel.
var LabelWords = []string{"context", "fscontext", "defcontext", "rootcontext"}

// RefusedWords ask for what no mount is, by the reason. mount(8) adds some of them on its own,
// so they are errors only on our command line.
var RefusedWords = map[string]string{
	"rw":   "the mount is read-only",
	"suid": "the mount is always nosuid",
	"dev":  "the mount is always nodev",
	"exec": "the mount is always noexec",
}

// impossibleWords are always errors. The values are hints.
var impossibleWords = map[string]string{
	"remount": "unmount it, and mount it again",
	"bind":    "use mount --bind on the mount",
}

func (w *Words) apply(word string) error {
	name, value, hasValue := strings.Cut(word, "=")
	switch {
	case isNote(name), name == "user" && w.Helper:
		return nil
	case slices.Contains(FlagWords, name):
		return w.setFlag(name, value, hasValue)
	case slices.Contains(LabelWords, name) && hasValue:
		*w.Kernel = append(*w.Kernel, word)
		return nil
	case !hasValue && impossibleWords[name] != "":
		return hint.Usagef(impossibleWords[name], "-o %s is not possible", name)
	case !hasValue && slices.Contains(AcceptedWords, name), w.Helper && !hasValue && RefusedWords[name] != "", w.Sloppy:
		return nil
	case !hasValue && RefusedWords[name] != "":
		return hint.Usagef("leave it out", "-o %s: %s", name, RefusedWords[name])
	}
	return unknownWord(word, name)
}

// isNote reports whether a word is a note for other programs.
func isNote(name string) bool {
	return strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "X-") || name == "comment"
}

// setFlag sets the flag with the name of the word.
func (w *Words) setFlag(name, value string, hasValue bool) error {
	flag := w.Flags.Lookup(strings.ReplaceAll(name, "_", "-"))
	switch isSwitch := flag.NoOptDefVal != ""; {
	case isSwitch && hasValue:
		return hint.Usagef("", "-o %s takes no value", name)
	case isSwitch:
		value = flag.NoOptDefVal
	case value == "":
		return hint.Usagef("", "-o %s needs a value: %s=…", name, name)
	}
	return setFrom(w.Flags, flag.Name, value, "-o "+name)
}

func unknownWord(word, name string) error {
	if slices.Contains(AcceptedWords, name) {
		return hint.Usagef("", "-o %s takes no value", name)
	}
	known := slices.Concat(FlagWords, AcceptedWords, LabelWords)
	return hint.Usagef(hint.DidYouMean(name, known, "wkwfs mount --help lists the options"), "unknown option -o %s",
		word)
}
