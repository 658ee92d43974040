package daemon

import "golang.org/x/sys/unix"

// duplicate makes descriptor to another name of what from is. Not all processors have dup2(2).
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
