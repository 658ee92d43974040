package nfsmount

import (
	"strconv"
	"strings"
)

// host is where the server listens.
const host = "127.0.0.1"

// source is the source of a mount in the table of mounts: the root of the tree.
const source = host + ":/"

// arguments returns the arguments of mount_nfs(8) of macOS, for a server at a port and a mountpoint.
func arguments(port int, point string) []string {
	p := strconv.Itoa(port)
	options := []string{
		"ro",
		"nobrowse", // the Finder shows no disk, and Spotlight does not read it
		"vers=3", "tcp", "port=" + p, "mountport=" + p,
		"retrycnt=0", // the server listens already
		"nolocks",

		// When the server is gone, or its source does not answer for long, programs get errors, and can be stopped. The mount is removed
		// when the server was silent for so many seconds. timeo is in tenths of a second, and longer than the server waits for a source.
		"soft", "intr", "timeo=900", "retrans=2", "deadtimeout=300",

		// As in a mount of Linux, attributes are trusted for a second. Names that were absent are not: they may be boxes or new cubes.
		"actimeo=1", "nonegnamecache",

		// The kernel lowers rsize to its own limit. It may have so many READs in flight for one reader.
		"rsize=1048576", "readahead=16",
	}
	return []string{"-o", strings.Join(options, ","), source, point}
}
