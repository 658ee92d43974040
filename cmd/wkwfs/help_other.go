//go:build !linux

package main

// Parts of help texts that are about mounts.
const (
	mountHelp = noMountsText + `.`

	umountHelp = mountHelp

	lazyHelp = "unmount even if it is in use"

	statusHelp = mountHelp
)
