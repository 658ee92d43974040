//go:build !linux

package daemon

import "golang.org/x/sys/unix"

// duplicate makes descriptor to another name of what from is.
func duplicate(from, to int) error { return unix.Dup2(from, to) }
