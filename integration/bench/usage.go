package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processTime returns the CPU time of all threads of a process in seconds. It reads the clock of
// clock_getcpuclockid(3), because /proc/PID/stat has a resolution of only 10 ms.
func processTime(pid int) (float64, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: user and system time
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return float64(t.Nano()) / 1e9, nil
}

// ownTime returns the CPU time of this process in seconds.
func ownTime() (float64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, err
}

// peakMemory returns the largest resident memory that a process ever had, in bytes.
func peakMemory(pid int) (int64, error) {
	kib, err := procField(pid, "status", "VmHWM:")
	return kib << 10, err
}

// bytesRead returns the number of bytes that a process has read, including those from the page cache.
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
	return 0, fmt.Errorf("%s: %s is missing", path, name)
}
