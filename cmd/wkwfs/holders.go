package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// procfs is where the kernel tells of processes.
const procfs = "/proc"

// maxNamed is how many things an error names before it only counts them.
const maxNamed = 5

// holdersOf names the processes that have a file below the mountpoint open or mapped, or
// work there, such as "bash (4711)". It leaves out those that this user may not look at,
// and this process. It reads links and tables of the kernel alone: nothing of the mount,
// whose server may hang.
func holdersOf(proc, mountpoint string) []string {
	dirs, _ := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	var all []string
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if pid == strconv.Itoa(os.Getpid()) || !holds(dir, mountpoint) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue // it has ended
		}
		all = append(all, fmt.Sprintf("%s (%s)", strings.TrimSpace(string(name)), pid))
	}
	return all
}

// holds reports whether the process in a directory of procfs keeps the mount in use.
func holds(process, mountpoint string) bool {
	links, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	for _, link := range append(links, filepath.Join(process, "cwd"), filepath.Join(process, "root")) {
		if path, err := os.Readlink(link); err == nil && isBelow(path, mountpoint) {
			return true
		}
	}
	// A file that is mapped may be closed; numpy leaves none open.
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

// isBelow reports whether the path is the directory or below it.
func isBelow(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// listed joins names, the first few of them.
func listed(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}
