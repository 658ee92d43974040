package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// flatFile writes the voxels of a mag of one cube as a plain file, unless that was done
// before, and returns its path. It is what everybody else is made of, and compared with.
func (m mag) flatFile(ctx context.Context) (string, error) {
	path := filepath.Join(filepath.Dir(m.dir), "x0.raw")
	return path, once(path, m.bytes(), func(part string) error {
		f, err := os.Create(part)
		if err != nil {
			return err
		}
		for slab, err := range m.slabs(ctx) {
			if err != nil {
				return errors.Join(err, f.Close())
			}
			if _, err := f.Write(slab); err != nil {
				return errors.Join(err, f.Close())
			}
		}
		return f.Close()
	})
}

// The settings that squashfs and EROFS are compared with: those of their packages for
// data that is read often.
const (
	squashfsBlock = 128 << 10 // bytes that are compressed together
	erofsCluster  = 64 << 10  // bytes that they are compressed to
)

// squashfsImage and erofsImage put the flat file, alone, into a file system.
func squashfsImage(ctx context.Context, flat string) (string, error) {
	path := filepath.Join(filepath.Dir(flat), "x0.squashfs")
	return path, image(ctx, path, flat, func(part string) []string {
		return []string{"mksquashfs", flat, part, "-comp", "lz4", "-b", strconv.Itoa(squashfsBlock), "-noappend", "-quiet", "-no-progress"}
	})
}

func erofsImage(ctx context.Context, flat string) (string, error) {
	dir := filepath.Dir(flat)
	path := filepath.Join(dir, "x0.erofs")
	return path, image(ctx, path, flat, func(part string) []string {
		return []string{"mkfs.erofs", "--quiet", "-zlz4", "-C" + strconv.Itoa(erofsCluster), `--exclude-regex=^(mag|made|.*\.(squashfs|erofs).*)$`, part, dir}
	})
}

// image runs the program that makes a file system's image, unless that was done before.
func image(ctx context.Context, path, flat string, command func(part string) []string) error {
	info, err := os.Stat(flat)
	if err != nil {
		return err
	}
	return once(path, info.Size(), func(part string) error {
		args := command(part)
		return call(ctx, args[0], args[1:]...)
	})
}

// once has a file of at most n bytes made under another name, and renames it when it is
// complete, unless it is there.
func once(path string, n int64, create func(part string) error) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := needSpace(filepath.Dir(path), n); err != nil {
		return err
	}
	part := path + ".part"
	if err := errors.Join(os.RemoveAll(part), create(part)); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return os.Rename(part, path)
}
