package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/serve/status"
	"github.com/wkwfs/wkwfs/internal/small/log"
	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// mountSettings are the settings of a mount.
type mountSettings struct {
	source, mountpoint string
	from               sourceFlags
	diskCache          diskCacheFlags
	edit               editFlags

	foreground bool
	wait       bool          // stand for a server in the background
	quiet      bool          // print only errors
	cacheSize  settings.Size // bytes of decoded blocks
	allowOther bool
	readAhead  uint32 // KiB; 0: the kernel's default
	log        log.Options
	metrics    status.Address
	uid, gid   settings.Owner
	umask      settings.Mask
	unit       settings.Unit // of lengths in headers
	fsName     string        // the source in the table of mounts; "": SOURCE
	kernel     []string      // words of -o for the kernel
}

// defaultCacheSize has room for two slabs of most layers.
const defaultCacheSize = 1 << 30

// defaultReadAhead, in KiB, is half of the kernel's default. The kernel reads this much around each
// missing page of a mapped file, which makes planes of mapped files expensive. Sequential readers
// do not need it: the server pushes what follows into the page cache.
const defaultReadAhead = 64

// register defines the flags that fill s.
func (s *mountSettings) register(flags *pflag.FlagSet) {
	s.cacheSize = defaultCacheSize
	flags.BoolVarP(&s.foreground, "foreground", "f", false, "stay in the foreground and log to stderr")
	flags.BoolVar(&s.wait, "wait", false, "return when the mount is removed, not when it answers: for service managers")
	s.from.register(flags)
	s.diskCache.register(flags)
	flags.Var(&s.edit, "edit",
		"let programs write `LAYER=DIR`: a segmentation, whose changes are kept in the directory; may be repeated, or have ; between several")
	settings.RegisterConfig(flags)
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only errors")
	flags.Var(&s.cacheSize, cacheSizeFlag, "memory for decoded blocks, such as 512MiB or 4GB")
	flags.BoolVar(&s.allowOther, "allow-other", false, "let other users read what the permissions of the source allow")
	flags.Uint32Var(&s.readAhead, "read-ahead", defaultReadAhead,
		"how many `KiB` the kernel reads ahead (0: its default)")
	registerLog(flags, &s.log)
	flags.StringVar(&s.log.File, "log-file", "",
		"append the log to `FILE`, and rotate it at 16 MiB (else: stderr; in the background the journal, syslog, or a file that wkwfs status names)")
	flags.Var(&s.metrics, "metrics", "serve Prometheus metrics and pprof at `ADDRESS`: unix:PATH or 127.0.0.1:PORT")
	flags.Var(&s.uid, "uid", "show all files as owned by this user number")
	flags.Var(&s.gid, "gid", "show all files as owned by this group number")
	flags.Var(&s.umask, "umask",
		"make all files readable except for these octal bits, instead of the permissions of the source")
	registerUnit(flags, &s.unit)
	flags.StringVar(&s.fsName, "fsname", "",
		"the `NAME` of the source in the table of mounts, as mount and df show it (else: SOURCE)")
	flags.VarP(&settings.Words{Flags: flags, Kernel: &s.kernel}, "options", "o", "mount options `OPT,...` as in fstab")
}

// editFlags are layers that can be written, each as LAYER=DIR. As one text, they have ; between them.
type editFlags []string

func (e *editFlags) String() string { return strings.Join(*e, betweenTables) }
func (e *editFlags) Type() string   { return "LAYER=DIR" }

// Set adds layers.
func (e *editFlags) Set(s string) error {
	if s == "" {
		return nil
	}
	for one := range strings.SplitSeq(s, betweenTables) {
		layer, dir, ok := strings.Cut(one, "=")
		if !ok || layer == "" || dir == "" {
			return fmt.Errorf("expected LAYER=DIR, found %q", one)
		}
		for _, other := range *e {
			if strings.HasPrefix(other, layer+"=") {
				return fmt.Errorf("layer %s is given twice", layer)
			}
		}
		*e = append(*e, one)
	}
	return nil
}

// makeEditsAbsolute makes the directories of edits independent of the working directory.
func (s *mountSettings) makeEditsAbsolute() error {
	for i, one := range s.edit {
		layer, dir, ok := strings.Cut(one, "=")
		if !ok || paths.IsURL(dir) {
			continue
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("--edit: %w", err)
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // SOURCE is compared with it
		}
		s.edit[i] = layer + "=" + dir
	}
	return nil
}
