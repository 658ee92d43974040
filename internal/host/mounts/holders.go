//go:build linux

package mounts

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// procfs is where the kernel lists processes.
const procfs = "/proc"

// holders returns the processes that keep a mount in use, such as "bash (4711)": they have a
// file below the mountpoint open or mapped, or work there. It omits this process, and those
// that this user may not inspect. It reads only procfs and never the mount, whose server may
// hang.
func holders(proc, mountpoint string) []string {
	dirs, _ := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	var all []string
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if pid == strconv.Itoa(os.Getpid()) || !holds(dir, mountpoint) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue // the process has ended
		}
		all = append(all, fmt.Sprintf("%s (%s)", strings.TrimSpace(string(name)), pid))
	}
	return all
}

// holds reports whether the process with this directory in procfs keeps the mount in use.
func holds(process, mountpoint string) bool {
	links, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	for _, link := range append(links, filepath.Join(process, "cwd"), filepath.Join(process, "root")) {
		if path, err := os.Readlink(link); err == nil && isBelow(path, mountpoint) {
			return true
		}
	}
	// A mapped file may be closed, as after numpy.memmap.
	maps, err := os.Open(filepath.Join(process, "maps"))
	if err != nil {
		return false
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if _, path, ok := strings.Cut(lines.Text(), " /"); ok && isBelow("/"+path, mountpoint) {
			return true
		}
	}
	return false
}

// isBelow reports whether the path is the directory or below it, by name.
func isBelow(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/')
}
