//go:build !linux

package main

import (
	"io"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

const noMountsText = "wkwfs mounts on Linux only"

// noMounts returns the error of what needs mounts.
func noMounts() error {
	return hint.Errorf("wkwfs nfs, wkwfs serve and wkwfs cp need no mount", noMountsText)
}

func mount(mountSettings, io.Writer, io.Writer) error { return noMounts() }

func unmount(string, bool) error { return noMounts() }

func findMount(string) (string, error) { return "", noMounts() }

func fetchStatus(string) ([]byte, error) { return nil, noMounts() }

func mountpoints() ([]string, error) { return nil, nil }
