package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// state is what the page cache has of a file before it is read.
type state int

const (
	cold        state = iota // nothing
	decodedCold              // what it is computed from, but none of its own pages
	warm                     // all of it
)

func (s state) String() string { return [...]string{"cold", "decoded-cold", "warm"}[s] }

// dropFile empties the page cache, of everybody, of clean pages.
const dropFile = "/proc/sys/vm/drop_caches"

func dropCaches() error {
	unix.Sync()
	if err := os.WriteFile(dropFile, []byte("3"), 0); err != nil {
		return fmt.Errorf("empty the page cache: %w", err)
	}
	return nil
}

// cannotDrop says why dropCaches would fail; empty if it would not.
func cannotDrop() string {
	f, err := os.OpenFile(dropFile, os.O_WRONLY, 0)
	if err != nil {
		return "needs root: " + err.Error()
	}
	f.Close() // nothing was written
	return ""
}

// cacheFiles has the page cache hold files.
func cacheFiles(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := readThrough(ctx, path, func([]byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// readThrough shows a file from one end to the other, piece by piece.
func readThrough(ctx context.Context, path string, use func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p := make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := f.Read(p)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := errors.Join(err, use(p[:n])); err != nil {
			return err
		}
	}
	return ctx.Err()
}
