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
	decodedCold              // the compressed file, but no page of the file itself
	warm                     // the whole file
)

func (s state) String() string { return [...]string{"cold", "decoded-cold", "warm"}[s] }

// dropFile drops the clean pages of the whole machine from the page cache.
const dropFile = "/proc/sys/vm/drop_caches"

// dropCaches drops the page cache of the whole machine.
func dropCaches() error {
	unix.Sync()
	if err := os.WriteFile(dropFile, []byte("3"), 0); err != nil {
		return fmt.Errorf("drop the page cache: %w", err)
	}
	return nil
}

// cannotDrop returns why dropCaches would fail, or "".
func cannotDrop() string {
	f, err := os.OpenFile(dropFile, os.O_WRONLY, 0)
	if err != nil {
		return "needs root: " + err.Error()
	}
	f.Close() // nothing was written
	return ""
}

// cacheFiles reads files into the page cache.
func cacheFiles(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := readThrough(ctx, path, func([]byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// readThrough calls use with all pieces of a file in order.
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
