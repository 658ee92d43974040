//go:build !linux

package save

import (
	"os"
	"syscall"
)

// createUnnamed makes a file without a name on the disk of a directory.
func createUnnamed(dir string) (*os.File, error) { return createAndRemove(dir) }

// Sys has the owner.
func (s *spool) Sys() any { return &syscall.Stat_t{Uid: s.uid, Gid: s.gid} }
