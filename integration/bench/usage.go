package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tick is the unit of CPU time in /proc: a hundredth of a second on every Linux.
const tick = 0.01

// processTime returns the CPU seconds that a process has taken, all threads.
func processTime(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(b, []byte(") ")) // the name before may have blanks
	fields := strings.Fields(string(after))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, b)
	}
	var ticks int64
	for _, field := range fields[11:13] { // utime, stime: fields 14 and 15 of proc(5)
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return float64(ticks) * tick, nil
}

// ownTime returns the CPU seconds that we have taken ourselves.
func ownTime() (float64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, err
}

// peakMemory returns the most bytes that a process ever had in memory.
func peakMemory(pid int) (int64, error) {
	kib, err := procField(pid, "status", "VmHWM:")
	return kib << 10, err
}

// bytesRead returns how many bytes a process has read, from the page cache or not.
func bytesRead(pid int) (int64, error) { return procField(pid, "io", "rchar:") }

// procField returns the number after a name in a file of /proc/PID.
func procField(pid int, file, name string) (int64, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			return strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s: no %s", path, name)
}
