//go:build docs

package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// Texts of the man pages that are not in the commands.

var exitStatus = []item{
	{"0", "Done."},
	{"1", "Failed. The error is on standard error."},
	{"2", "The command line is wrong."},
}

// otherExitStatus has the exit status of commands that have another one.
var otherExitStatus = map[string][]item{
	"diff": {
		{"0", "Both sources are equal."},
		{"1", "They differ."},
		{"2",
			"The command line is wrong, or something cannot be compared. The error is on standard error, or is one of the lines."},
	},
}

// tuning has the variables of commands that decode voxels.
var tuning = []item{
	{"GOMEMLIMIT",
		"Limit of the Go heap, such as 2GiB (default: --cache-size and 64 MiB). Blocks of 4 KiB or more are not on the heap."},
	{"GOGC", "Garbage that the Go heap may have, in percent of the memory in use (default: 50)."},
	{"GOMAXPROCS", "Processors to use at once."},
}

// settable has the variables that set flags.
var settable = []item{
	{settings.Variable("cache-size"), "As --cache-size, if that is not given. Other settings have variables like it."},
	{settings.Variable(settings.ConfigFlag), "As --config."},
}

// tasks has the variables that number the tasks of a job.
var tasks = []item{
	{"SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_MIN, SLURM_ARRAY_TASK_MAX, SLURM_ARRAY_TASK_STEP, SLURM_ARRAY_TASK_COUNT",
		"For --part auto, the task and its array. Slurm sets them."},
	{"JOB_COMPLETION_INDEX", "For --part auto/N, the number of the task, from 0. Kubernetes sets it in indexed Jobs."},
}

var environment = map[string][]item{
	"mount":  slices.Concat(settable, service, logDirectories, tuning),
	"cp":     slices.Concat(settable, tasks, tuning),
	"check":  tasks,
	"diff":   slices.Concat(settable, tuning),
	"import": tasks,
	"info":   screens,
	"view": slices.Concat(settable, []item{{"DISPLAY, WAYLAND_DISPLAY", "Whether there is a display for a browser."},
		{"SSH_CONNECTION", "The address of this machine, for the line of ssh."}}, tuning),
	"serve": slices.Concat([]item{{settings.TokenVariable, "The token, unless --token or --token-file gives one."}},
		settable, service[:1], tuning),
	"nfs": slices.Concat(settable, service[:1], tuning),
}

// screens has the variables that say what a terminal can show.
var screens = []item{
	{"NO_COLOR", "If it is not empty, --preview writes text without colours."},
	{"TERM",
		"The kind of the terminal. A preview on a dumb one is text. Others are asked if they have graphics, and have two seconds to answer."},
	{"COLORTERM", "If it is truecolor or 24bit, half blocks have all colours, else those of a palette of 256."},
	{"COLUMNS, LINES",
		"The size of a preview that is not written to a terminal, or to one that does not know its size. The default is 80 and 24."},
}

// service has the variables that systemd sets for a server with --foreground or --wait.
var service = []item{
	{"NOTIFY_SOCKET", "Where the server reports its state. See sd_notify(3)."},
	{"WATCHDOG_USEC", "How often the server reports that it is alive. See sd_watchdog_enabled(3)."},
	{"JOURNAL_STREAM", "Whether standard error is the journal. Log lines then have levels. See systemd.exec(5)."},
}

// logDirectories has the variables that locate the log file of a server in the background.
var logDirectories = []item{
	{"STATE_DIRECTORY",
		"The directory of the log of a server in the background, where there is no journal and no syslog. See systemd.exec(5)."},
	{"XDG_STATE_HOME", "The directory above that directory, for users other than root. The default is ~/.local/state."},
}

var configFiles = []item{
	{"~/.config/" + settings.UserFile,
		"Settings in YAML, by the names of their flags. The key sources has settings for single sources, by path."},
	{settings.SystemFile, "The same, for all users."},
}

var sourceFiles = []item{
	{"datasource-properties.json", "In a dataset: layers, boxes and the voxel size. Optional."},
	{"header.wkw", "In a mag: the type of the voxels, the sizes of blocks and cubes. Optional."},
	{"zZ/yY/xX.wkw", "In a mag: a cube."},
	{"info", "In a Neuroglancer Precomputed volume: its metadata."},
}

var diskCacheFiles = []item{
	{"/var/cache/wkwfs", "With --disk-cache=auto, what root has read from URLs. It can be removed at any time."},
	{"~/.cache/wkwfs", "The same for other users. If XDG_CACHE_HOME is set, it stands for ~/.cache."},
}

var editFiles = []item{
	{"DIR/.wkwfs-edit.lock", "Who writes to DIR has the lock of this file."},
	{"DIR/NAME.nml", "The layers that the blocks lie over."},
	{"DIR/data_ID_LAYER/MAG/zZ/yY/xX.wkw", "A block."},
}

var mountFiles = []item{
	{"/dev/fuse", "The FUSE device. It must exist."},
	{"/etc/fuse.conf", "Must contain the line user_allow_other for --allow-other, unless root mounts."},
	{"/proc/self/mountinfo", "The table of mounts."},
}

var statusFiles = []item{
	{status.StatusFile,
		"In a mount, but in no listing: the status of the server as JSON, at the time of opening. Only the user who mounted can read it."},
	{status.MetricsFile, "Beside it: metrics in the text format of Prometheus."},
}

var logFiles = []item{
	{"FILE.1, FILE.2, FILE.3", "Older parts of --log-file, which is rotated at 16 MiB. FILE.1 is the newest."},
	{"/var/log/wkwfs/wkwfs.log",
		"The log of mounts of root in the background, where there is no journal and no syslog. In a service with StateDirectory=, it is there."},
	{"~/.local/state/wkwfs/wkwfs.log",
		"The same for other users. If XDG_STATE_HOME is set, it stands for ~/.local/state."},
}

var files = map[string][]item{
	"wkwfs":  sourceFiles,
	"mount":  slices.Concat(configFiles, statusFiles, logFiles, diskCacheFiles, mountFiles),
	"status": slices.Concat(statusFiles, mountFiles[2:]),
	"serve":  slices.Concat(configFiles, diskCacheFiles),
	"check":  diskCacheFiles,
	"diff":   slices.Concat(configFiles, diskCacheFiles),
	"nfs":    configFiles,
	"edit":   editFiles,
	"revert": editFiles[:1],
	"view":   slices.Concat(configFiles, diskCacheFiles),
	"umount": mountFiles[2:],
	"cp": append([]item{{"DEST.part", "An incomplete copy. The same command resumes it."},
		{"DEST/.wkwfs-part-I-of-N",
			"With --part, the incomplete files of a part. It is removed when all are complete."}},
		slices.Concat(configFiles, diskCacheFiles)...),
}

// helperPage returns the man page of the helper of mount(8).
func helperPage(date string) page {
	p := newPage("mount.fuse.wkwfs", 8, "Mount datasets with mount(8) and fstab(5)", date)
	p.heading("SYNOPSIS")
	p.line(".B " + escape("mount -t fuse.wkwfs [-o OPT,...] SOURCE MOUNTPOINT"))
	p.heading("DESCRIPTION")
	p.prose(`mount(8) runs this helper for file systems of the type fuse.wkwfs or wkwfs. Both give
mounts of the type fuse.wkwfs, as wkwfs-mount(1) does. Users do not run it.`, "")
	p.heading("OPTIONS")
	flags := newMountCommand().Flags()
	for _, word := range settings.FlagWords {
		f := flags.Lookup(strings.ReplaceAll(word, "_", "-"))
		term := word
		if f.NoOptDefVal == "" {
			term += "=..."
		}
		p.item(term, "As --"+f.Name+" of wkwfs-mount(1).")
	}
	p.item(strings.Join(settings.LabelWords, "=..., ")+"=...", "The security label of the mount. For the kernel.")
	p.item(strings.Join(settings.AcceptedWords, ", "),
		"Accepted without effect: every mount is like this, or the option is for other programs.")
	p.item(strings.Join(slices.Sorted(maps.Keys(settings.RefusedWords)), ", "),
		"Accepted without effect, because mount(8) adds them. Every mount is nosuid, nodev and noexec.")
	p.item("-s", "Ignore unknown options.")
	p.item("-f", "Check the options, mount nothing.")
	p.item("-v", "Print where the log is.")
	p.item("-n, -t TYPE", "Accepted without effect.")
	p.heading("EXAMPLES")
	p.verbatim(`  # mount -t fuse.wkwfs -o allow_other,cache_size=4GiB /data/cortex /mnt/cortex`)
	p.line(".PP")
	p.prose("In /etc/fstab:", "")
	p.line(".PP")
	p.verbatim(
		`  /data/cortex  /mnt/cortex  fuse.wkwfs  nofail,_netdev,x-systemd.automount,allow_other,cache_size=4GiB  0  0`)
	p.items("FILES", append([]item{{"/etc/fstab", "The mounts of the machine."}}, mountFiles...))
	p.items("ENVIRONMENT", slices.Concat(settable, tuning))
	p.items("EXIT STATUS", []item{
		{"0", "Mounted."},
		{"1", "The options are wrong. The error is on standard error."},
		{"32", "The mount failed. The error is on standard error."},
	})
	p.heading("SEE ALSO")
	p.references([]string{"wkwfs-mount(1)", "mount(8)", "fstab(5)"})
	return p
}
