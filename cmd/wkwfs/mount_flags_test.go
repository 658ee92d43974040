package main

import (
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/serve/status"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/log"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
)

// parse returns the settings in the arguments of a mount command.
func parse(args ...string) (mountSettings, error) {
	var s mountSettings
	cmd := &cobra.Command{Use: "mount", SilenceErrors: true, SilenceUsage: true, Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.SetFlagErrorFunc(flagParseError)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	s.register(cmd.Flags())
	cmd.SetArgs(args)
	return s, cmd.Execute()
}

func owner(id uint32) settings.Owner { return settings.Owner{ID: &id} }

func mask(bits fs.FileMode) settings.Mask { return settings.Mask{Bits: &bits} }

// TestFlagsAndWordsAgree: a flag and the -o word of the same name give the same setting.
func TestFlagsAndWordsAgree(t *testing.T) {
	defaults := mountSettings{
		cacheSize: defaultCacheSize, readAhead: defaultReadAhead, from: sourceFlags{ioDepth: store.DefaultDepth,
			file: fileFlags{rawFlags: rawFlags{channels: 1}}, timeout: settings.Timeout(time.Minute)},
		diskCache: diskCacheFlags{size: 50 << 30, minFree: settings.Free{Percent: 5}},
		log:       log.Options{Format: log.Text},
	}
	tests := []struct {
		name string
		args []string
		want func(*mountSettings)
	}{
		{"nothing", nil, func(*mountSettings) {}},
		{"empty words", []string{"-o", ",,", "-o", ""}, func(*mountSettings) {}},
		{"cache", []string{"--cache-size", "512MiB"}, func(s *mountSettings) { s.cacheSize = 512 << 20 }},
		{"cache word", []string{"-o", "cache_size=512MiB"}, func(s *mountSettings) { s.cacheSize = 512 << 20 }},
		{"no cache", []string{"-o", "cache_size=0"}, func(s *mountSettings) { s.cacheSize = 0 }},
		{"allow other", []string{"--allow-other"}, func(s *mountSettings) { s.allowOther = true }},
		{"allow other word", []string{"-oallow_other"}, func(s *mountSettings) { s.allowOther = true }},
		{"read ahead", []string{"--read-ahead=1024"}, func(s *mountSettings) { s.readAhead = 1024 }},
		{"name in the table of mounts", []string{"-o", "fsname=cortex"},
			func(s *mountSettings) { s.fsName = "cortex" }},
		{"quiet", []string{"-q"}, func(s *mountSettings) { s.quiet = true }},
		{"read ahead word", []string{"-o", "read_ahead=1024"}, func(s *mountSettings) { s.readAhead = 1024 }},
		{"log file", []string{"--log-file", "/a b"}, func(s *mountSettings) { s.log.File = "/a b" }},
		{"log file word", []string{"-o", "log_file=/a b"}, func(s *mountSettings) { s.log.File = "/a b" }},
		{"log file with =", []string{"-o", "log_file=/a=b"}, func(s *mountSettings) { s.log.File = "/a=b" }},
		{"log format", []string{"--log-format", "json"}, func(s *mountSettings) { s.log.Format = log.JSON }},
		{"log format word", []string{"-o", "log_format=json"}, func(s *mountSettings) { s.log.Format = log.JSON }},
		{"metrics", []string{"--metrics", "unix:m.sock"},
			func(s *mountSettings) { s.metrics = status.Address{Network: "unix", Address: "m.sock"} }},
		{"metrics word", []string{"-o", "metrics=[::1]:9100"},
			func(s *mountSettings) { s.metrics = status.Address{Network: "tcp", Address: "[::1]:9100"} }},
		{"metrics by name", []string{"--metrics", "localhost:0"},
			func(s *mountSettings) { s.metrics = status.Address{Network: "tcp", Address: "127.0.0.1:0"} }},
		{"debug", []string{"--debug"}, func(s *mountSettings) { s.log.Debug = true }},
		{"debug word", []string{"-o", "debug"}, func(s *mountSettings) { s.log.Debug = true }},
		{"foreground", []string{"-f"}, func(s *mountSettings) { s.foreground = true }},
		{"the last one counts", []string{"-o", "cache_size=1KiB,cache_size=2KiB", "--cache-size=3KiB"},
			func(s *mountSettings) { s.cacheSize = 3 << 10 }},
		{"several", []string{"-o", "allow_other,debug", "-o", "read_ahead=64"},
			func(s *mountSettings) { s.allowOther, s.log.Debug, s.readAhead = true, true, 64 }},
		{"fstab", []string{"-o", "defaults,nofail,_netdev,user,users,nouser,auto,noauto,auto_unmount"},
			func(*mountSettings) {}},
		{"notes", []string{"-o", "x-systemd.automount,x-gvfs-show,x-y=z,comment=for us"}, func(*mountSettings) {}},
		{"times", []string{"-o", "noatime,relatime,nodiratime,strictatime,lazytime"}, func(*mountSettings) {}},
		{"always on", []string{"-o", "ro,nosuid,nodev,noexec,default_permissions"}, func(*mountSettings) {}},
		{"owner", []string{"--uid=1000", "--gid", "0"},
			func(s *mountSettings) { s.uid, s.gid = owner(1000), owner(0) }},
		{"owner words", []string{"-o", "uid=1000,gid=0"},
			func(s *mountSettings) { s.uid, s.gid = owner(1000), owner(0) }},
		{"mask", []string{"--umask=077"}, func(s *mountSettings) { s.umask = mask(0o77) }},
		{"mask word", []string{"-o", "umask=0027"}, func(s *mountSettings) { s.umask = mask(0o27) }},
		{"links word", []string{"-o", "follow_links"}, func(s *mountSettings) { s.from.followLinks = true }},
		{"disk cache", []string{"--disk-cache=d", "--disk-cache-size=1GiB", "--disk-cache-min-free=2GiB"},
			func(s *mountSettings) {
				s.diskCache = diskCacheFlags{dir: "d", size: 1 << 30, minFree: settings.Free{Bytes: 2 << 30}}
			}},
		{"disk cache words", []string{"-o", "disk_cache=auto,disk_cache_size=1GiB,disk_cache_min_free=0%"},
			func(s *mountSettings) { s.diskCache = diskCacheFlags{dir: autoDir, size: 1 << 30} }},
		{"depth", []string{"--io-depth=1"}, func(s *mountSettings) { s.from.ioDepth = 1 }},
		{"depth word", []string{"-o", "io_depth=1024"}, func(s *mountSettings) { s.from.ioDepth = 1024 }},
		{"shape word", []string{"-o", "shape=7x5x3,dtype=uint16,voxel_size=8x8x30"}, func(s *mountSettings) {
			s.from.file.shape, s.from.file.dtype, s.from.file.voxelSize = &volume.Vec{7, 5, 3}, "uint16",
				[3]float64{8, 8, 30}
		}},
		{"config word", []string{"-o", "config=/a"}, func(*mountSettings) {}},
		{"label", []string{"-o", "ro,context=system_u:object_r:t:s0"},
			func(s *mountSettings) { s.kernel = []string{"context=system_u:object_r:t:s0"} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parse(test.args...)
			if err != nil {
				t.Fatal(err)
			}
			want := defaults
			test.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestEveryFlagWordIsAFlag: each word in settings.FlagWords has a flag.
func TestEveryFlagWordIsAFlag(t *testing.T) {
	cmd := newMountCommand()
	for _, word := range settings.FlagWords {
		if cmd.Flags().Lookup(strings.ReplaceAll(word, "_", "-")) == nil {
			t.Errorf("-o %s has no flag", word)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	const (
		addressHint = "write it like unix:/run/wkwfs.sock or 127.0.0.1:9100"
		kibHint     = "it is a number of KiB, such as 1024 for 1 MiB"
	)
	tests := []struct {
		args       []string
		want, hint string
	}{
		{[]string{"-o", "alow_other"}, "unknown option -o alow_other", "did you mean allow_other?"},
		{[]string{"-o", "ro,cache-size=1GiB"}, "unknown option -o cache-size=1GiB", "did you mean cache_size?"},
		{[]string{"-o", "qqqqq"}, "unknown option -o qqqqq", "wkwfs mount --help lists the options"},
		{[]string{"-o", "context"}, "unknown option -o context", "did you mean context?"},
		{[]string{"-o", "rw"}, "-o rw: the mount is read-only", "leave it out"},
		{[]string{"-o", "suid"}, "-o suid: the mount is always nosuid", "leave it out"},
		{[]string{"-o", "dev"}, "-o dev: the mount is always nodev", "leave it out"},
		{[]string{"-o", "exec"}, "-o exec: the mount is always noexec", "leave it out"},
		{[]string{"-o", "remount,ro"}, "-o remount is not possible", "unmount it, and mount it again"},
		{[]string{"-o", "uid=alice"}, `-o uid: "alice" is not the number of a user or group`,
			"id -u NAME and id -g NAME print it"},
		{[]string{"--gid=4294967295"}, `--gid: "4294967295" is not the number of a user or group`,
			"id -u NAME and id -g NAME print it"},
		{[]string{"-o", "umask=9"}, `-o umask: "9" is not a mask of permissions`, "write it like 022 or 077"},
		{[]string{"--umask=1777"}, `--umask: "1777" is not a mask of permissions`, "write it like 022 or 077"},
		{[]string{"-o", "ro=1"}, "-o ro takes no value", ""},
		{[]string{"-o", "allow_other=1"}, "-o allow_other takes no value", ""},
		{[]string{"-o", "cache_size"}, "-o cache_size needs a value: cache_size=…", ""},
		{[]string{"-o", "log_file="}, "-o log_file needs a value: log_file=…", ""},
		{[]string{"-o", "cache_size=much"}, `-o cache_size: "much" is not a size`, "write it like 512MiB, 1GiB or 4GB"},
		{[]string{"--cache-size", "much"}, `--cache-size: "much" is not a size`, "write it like 512MiB, 1GiB or 4GB"},
		{[]string{"-o", "read_ahead=-1"}, `-o read_ahead: "-1" is not a whole number`, kibHint},
		{[]string{"--read-ahead", "1MiB"}, `--read-ahead: "1MiB" is not a whole number`, kibHint},
		{[]string{"--read-ahead", "5000000000"}, `--read-ahead: "5000000000" is not a whole number`, kibHint},
		{[]string{"--cache-size", "4"}, `--cache-size: "4" has no unit`,
			"write it like 4GiB or 4MiB; 4B if you mean bytes"},
		{[]string{"-o", "io_depth=0"}, `-o io_depth: "0" is not a number from 1 to 1024`, ""},
		{[]string{"--io-depth=1025"}, `--io-depth: "1025" is not a number from 1 to 1024`, ""},
		{[]string{"--io-depth", "many"}, `--io-depth: "many" is not a number from 1 to 1024`, ""},
		{[]string{"--debug=maybe"}, `--debug: "maybe" is not a boolean (true or false)`, ""},
		{[]string{"--log-format=xml"}, `--log-format: "xml" is not a format of logs`, "write text or json"},
		{[]string{"--metrics=9100"}, `--metrics: "9100" is not an address for metrics`, addressHint},
		{[]string{"--metrics=example.org:9100"}, `--metrics: "example.org:9100" is not an address for metrics`,
			addressHint},
		{[]string{"-o", "metrics=unix:"}, `-o metrics: "unix:" names no socket`, addressHint},
		{[]string{"--metrics=0.0.0.0:9100"}, "--metrics: 0.0.0.0:9100 can be reached from other machines",
			addressHint + "; for other machines, put a proxy with authentication in front"},
		{[]string{"--cache-sise", "1"}, "unknown flag: --cache-sise", "did you mean --cache-size?"},
		{[]string{"-x"}, "unknown shorthand flag: 'x' in -x", "mount --help lists the flags"},
		{[]string{"--log-file"}, "flag needs an argument: --log-file", "mount --help"},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			_, err := parse(test.args...)
			var f *hint.Error
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want a failure", err)
			}
			if f.Error() != test.want || f.Hint != test.hint || !f.Usage {
				t.Errorf("got %q, hint %q, usage %v\nwant %q, hint %q, usage true", f, f.Hint, f.Usage, test.want,
					test.hint)
			}
			if err != error(f) {
				t.Errorf("the failure is wrapped: %q", err)
			}
		})
	}
}
