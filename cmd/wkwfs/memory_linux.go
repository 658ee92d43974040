package main

import "golang.org/x/sys/unix"

// machineMemory returns the memory of this machine, in bytes.
func machineMemory() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)), nil
}
