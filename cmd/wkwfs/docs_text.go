//go:build docs

package main

import "strings"

// What the man pages tell that is not in the commands.

var exitStatus = []item{
	{"0", "Done."},
	{"1", "Failed; standard error says why."},
	{"2", "The command line is wrong."},
}

// tuning is read by every command that decodes voxels.
var tuning = []item{
	{"GOMEMLIMIT", "Memory that is not to be exceeded, such as 2GiB (default: what the cache and its readers need)."},
	{"GOMAXPROCS", "Processors to use at once."},
}

var environment = map[string][]item{
	"mount": tuning,
	"cp":    tuning,
	"serve": append([]item{{tokenVariable, "The token that lets in, unless --token or --token-file gives one."}}, tuning...),
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

var files = map[string][]item{
	"wkwfs":  sourceFiles,
	"mount":  mountFiles,
	"umount": mountFiles[2:],
	"cp":     {{"DEST.part", "A copy that is not whole. The same command goes on with it."}},
}

// helperPage is the man page of the helper of mount(8).
func helperPage(date string) page {
	p := newPage("mount.fuse.wkwfs", 8, "Mount WKW datasets with mount(8) and fstab(5)", date)
	p.heading("SYNOPSIS")
	p.line(".B " + escape("mount -t fuse.wkwfs [-o OPT,...] SOURCE MOUNTPOINT"))
	p.heading("DESCRIPTION")
	p.prose(`The command mount(8) calls this helper for file systems of the type fuse.wkwfs. What it
mounts, and how, is what wkwfs-mount(1) does. It is not meant to be called by hand.`, "")
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
	p.heading("EXAMPLES")
	p.verbatim(`  # mount -t fuse.wkwfs -o allow_other,cache_size=4GiB /data/cortex /mnt/cortex`)
	p.line(".PP")
	p.prose("In /etc/fstab:", "")
	p.line(".PP")
	p.verbatim(`  /data/cortex  /mnt/cortex  fuse.wkwfs  allow_other,cache_size=4GiB,nofail  0  0`)
	p.items("FILES", append([]item{{"/etc/fstab", "What is mounted when the machine starts."}}, mountFiles...))
	p.items("ENVIRONMENT", tuning)
	p.items("EXIT STATUS", exitStatus)
	p.heading("SEE ALSO")
	p.references([]string{"wkwfs-mount(1)", "mount(8)", "fstab(5)"})
	return p
}
