//go:build linux

// Package mounts handles the mounts of this machine. It prepares mountpoints, checks whether
// mounts answer, and unmounts those of wkwfs.
//
// A mount may be dead, because its server was killed, or stuck, because its server waits for a
// store. Every access to a stuck mount hangs. So the package reads the table of mounts and
// procfs where they are enough, and otherwise waits for a mount only for a bounded time.
package mounts

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Mount is an entry of the table of mounts.
type Mount struct {
	ID     int // unique while the mount exists, and then of another mount
	Point  string
	Type   string
	Source string
	User   string // the number of the user who mounted, for FUSE; else ""
	Device string // the number of the file system, on Linux; unique while it has a server
}

// Table lists mounts, the oldest first.
type Table []Mount

// At returns the mount on the path. Of several mounts there, it returns the last, which hides
// the others.
func (t Table) At(path string) (m Mount, ok bool) {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].Point == path {
			return t[i], true
		}
	}
	return Mount{}, false
}

// Containing returns the mount that contains the path, which must be absolute and free of links.
func (t Table) Containing(path string) (m Mount, ok bool) {
	for {
		if m, ok := t.At(path); ok {
			return m, true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return Mount{}, false
		}
		path = parent
	}
}

// Has reports whether a mount still exists. Its ID is not enough: the kernel gives the ID to the next mount.
func (t Table) Has(m Mount) bool { return slices.Contains(t, m) }

// Find returns a mount whose server lives, as it is now: directories above it may have been renamed.
func (t Table) Find(m Mount) (now Mount, ok bool) {
	i := slices.IndexFunc(t, func(o Mount) bool { return o.ID == m.ID && o.Device == m.Device })
	if i < 0 {
		return Mount{}, false
	}
	return t[i], true
}

// At reads the table and returns the mount on the path.
func At(path string) (m Mount, ok bool, err error) {
	table, err := ReadTable()
	if err != nil {
		return Mount{}, false, err
	}
	m, ok = table.At(path)
	return m, ok, nil
}

// Resolve returns the path made absolute and free of symbolic links. It does not access a file
// system that is mounted on the path: that may be dead or stuck.
func (t Table) Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	const maxLinks = 40 // as in the kernel
	for range maxLinks {
		parent, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(parent, filepath.Base(path))
		if _, ok := t.At(path); ok {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil { // not a link, or absent: the caller finds the error
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		path = target
	}
	return "", &os.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
}
