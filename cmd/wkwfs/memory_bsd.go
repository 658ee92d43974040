//go:build darwin || freebsd

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// machineMemory returns the memory of this machine, in bytes.
func machineMemory() (int64, error) {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize" // hw.physmem has 32 bits there
	}
	n, err := unix.SysctlUint64(name)
	return int64(n), err
}
