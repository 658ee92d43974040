package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// settings is what the user asked of a mount, by flags or by -o words.
type settings struct {
	source, mountpoint string
	from               sourceFlags
	config             configFlag

	foreground bool
	cacheSize  byteSize // of decoded blocks
	allowOther bool
	readAhead  uint32 // KiB; 0 = leave the kernel's
	log        logFlags
	metrics    metricsAddress
	uid, gid   ownerID
	umask      permissionMask
	kernel     []string // -o words that are passed on
}

// defaultCacheSize has room for two slabs of most layers.
const defaultCacheSize = 1 << 30

// defaultReadAhead, in KiB, is half of the kernel's own. The kernel reads that much around
// each page that is missing, which costs those who map a file and look at a plane of it; who reads
// from end to end finds what follows in the page cache already, without being read ahead.
const defaultReadAhead = 64

// register defines the flags that fill s.
func (s *settings) register(flags *pflag.FlagSet) {
	s.cacheSize = defaultCacheSize
	flags.BoolVarP(&s.foreground, "foreground", "f", false, "stay in the foreground, log to stderr")
	s.from.register(flags)
	s.config.register(flags)
	flags.Var(&s.cacheSize, "cache-size", "memory for decoded blocks, such as 512MiB or 4GB")
	flags.BoolVar(&s.allowOther, "allow-other", false, "let other users in, as far as the source's permissions do")
	flags.Uint32Var(&s.readAhead, "read-ahead", defaultReadAhead, "let the kernel read `KiB` ahead (0: leave its default)")
	s.log.register(flags)
	flags.StringVar(&s.log.file, "log-file", "", "append the log to `FILE`, which is renamed when it is large (else: stderr, or in the background the journal or syslog)")
	flags.Var(&s.metrics, "metrics", "serve metrics for Prometheus, and pprof, at unix:`PATH` or 127.0.0.1:PORT")
	flags.Var(&s.uid, "uid", "show all as files of the user with this number")
	flags.Var(&s.gid, "gid", "show all as files of the group with this number")
	flags.Var(&s.umask, "umask", "show all as readable, but for these octal bits, whatever the source's permissions")
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

// String is the size as people write it, unless that would be another one.
func (b *byteSize) String() string {
	text := strings.ReplaceAll(humanize.IBytes(uint64(*b)), " ", "")
	if n, err := humanize.ParseBytes(text); err == nil && n == uint64(*b) {
		return text
	}
	return fmt.Sprintf("%dB", *b)
}

func (b *byteSize) Type() string { return "SIZE" }

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
