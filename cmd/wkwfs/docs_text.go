//go:build docs

package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/status"
)

// What the man pages tell that is not in the commands.

var exitStatus = []item{
	{"0", "Done."},
	{"1", "Failed; standard error says why."},
	{"2", "The command line is wrong."},
}

// tuning is read by every command that decodes voxels.
var tuning = []item{
	{"GOMEMLIMIT", "Memory that Go's heap is not to exceed, such as 2GiB (default: --cache-size and 64 MiB). Blocks of 4 KiB or more are not on the heap."},
	{"GOGC", "Garbage that the heap may have, in percent of what is in use (default: 50)."},
	{"GOMAXPROCS", "Processors to use at once."},
}

// settable is how settings can be given without flags.
var settable = []item{
	{variableOf("cache-size"), "As --cache-size, where that is not given; and so for other settings."},
	{variableOf(configName), "As --config."},
}

var environment = map[string][]item{
	"mount": slices.Concat(settable, service, tuning),
	"cp":    slices.Concat(settable, tuning),
	"serve": slices.Concat([]item{{tokenVariable, "The token that lets in, unless --token or --token-file gives one."}}, settable, service[:1], tuning),
}

// service is what systemd says to those that it starts, with --foreground.
var service = []item{
	{"NOTIFY_SOCKET", "Where to tell that it is ready; see sd_notify(3)."},
	{"WATCHDOG_USEC", "How often to tell that it lives; see sd_watchdog_enabled(3)."},
	{"JOURNAL_STREAM", "Whether standard error is the journal, which then is told levels too; see systemd.exec(5)."},
}

var configFiles = []item{
	{"~/.config/" + userConfig, "Settings by the names of their flags, as YAML; under sources, more of them by the path of a source."},
	{systemConfig, "The same, for all users."},
}

var sourceFiles = []item{
	{"datasource-properties.json", "In a dataset: its layers, their boxes and the size of a voxel. It may be missing."},
	{"header.wkw", "In a mag: the type of its voxels, and the sizes of its blocks and cubes. It may be missing."},
	{"zZ/yY/xX.wkw", "In a mag: a cube."},
	{"info", "In a Neuroglancer Precomputed volume: what is in it."},
}

var mountFiles = []item{
	{"/dev/fuse", "Has to be there."},
	{"/etc/fuse.conf", "Has to have the line user_allow_other for --allow-other, unless root mounts."},
	{"/proc/self/mountinfo", "The table of mounts."},
}

var statusFiles = []item{
	{status.StatusFile, "In a mount, and in no listing: what its server does, as JSON, new for each who opens it. For who has mounted only."},
	{status.MetricsFile, "Beside it: the same and more, in the text format of Prometheus."},
}

var logFiles = []item{
	{"FILE.1, FILE.2, FILE.3", "Of --log-file: what was FILE until it had 16 MiB, the latest first."},
}

var files = map[string][]item{
	"wkwfs":  sourceFiles,
	"mount":  slices.Concat(configFiles, statusFiles, logFiles, mountFiles),
	"status": slices.Concat(statusFiles, mountFiles[2:]),
	"serve":  configFiles,
	"umount": mountFiles[2:],
	"cp":     append([]item{{"DEST.part", "A copy that is not whole. The same command goes on with it."}}, configFiles...),
}

// helperPage is the man page of the helper of mount(8).
func helperPage(date string) page {
	p := newPage("mount.fuse.wkwfs", 8, "Mount WKW datasets with mount(8) and fstab(5)", date)
	p.heading("SYNOPSIS")
	p.line(".B " + escape("mount -t fuse.wkwfs [-o OPT,...] SOURCE MOUNTPOINT"))
	p.heading("DESCRIPTION")
	p.prose(`The command mount(8) calls this helper for file systems of the type fuse.wkwfs or wkwfs,
which is the same: the mount has the type fuse.wkwfs. What it mounts, and how, is what
wkwfs-mount(1) does. It is not meant to be called by hand.`, "")
	p.heading("OPTIONS")
	flags := newMountCommand().Flags()
	for _, word := range flagWords {
		f := flags.Lookup(strings.ReplaceAll(word, "_", "-"))
		term := word
		if f.NoOptDefVal == "" {
			term += "=..."
		}
		p.item(term, "As --"+f.Name+" of wkwfs-mount(1).")
	}
	p.item(strings.Join(labelWords, "=..., ")+"=...", "The security label of the mount, which the kernel sets.")
	p.item(strings.Join(settledWords, ", "), "Accepted: the mount is so anyway, or they are for others.")
	p.item(strings.Join(slices.Sorted(maps.Keys(refusedWords)), ", "), "Accepted, as mount(8) adds them, and not done: the mount is read-only, nosuid, nodev and noexec.")
	p.item("-s", "Options that do not exist are passed over.")
	p.item("-f", "Everything is checked, and nothing mounted.")
	p.item("-n, -v, -t TYPE", "Accepted: there is nothing to do for them.")
	p.heading("EXAMPLES")
	p.verbatim(`  # mount -t fuse.wkwfs -o allow_other,cache_size=4GiB /data/cortex /mnt/cortex`)
	p.line(".PP")
	p.prose("In /etc/fstab:", "")
	p.line(".PP")
	p.verbatim(`  /data/cortex  /mnt/cortex  fuse.wkwfs  nofail,_netdev,x-systemd.automount,allow_other,cache_size=4GiB  0  0`)
	p.items("FILES", append([]item{{"/etc/fstab", "What is mounted when the machine starts."}}, mountFiles...))
	p.items("ENVIRONMENT", slices.Concat(settable, tuning))
	p.items("EXIT STATUS", []item{
		{"0", "Mounted."},
		{"1", "What was asked makes no sense; standard error says why."},
		{"32", "The mount failed; standard error says why."},
	})
	p.heading("SEE ALSO")
	p.references([]string{"wkwfs-mount(1)", "mount(8)", "fstab(5)"})
	return p
}
