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

// flatFile writes the voxels of a mag of one cube to a plain file, unless it exists, and returns its path. All
// other file systems are made from this file and compared with it.
func (m mag) flatFile(ctx context.Context) (string, error) {
	path := filepath.Join(filepath.Dir(m.dir), "x0.raw")
	return path, createOnce(path, m.bytes(), func(part string) error {
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

// The settings of squashfs and EROFS, in bytes. They are those that their documentation has for data that is read often.
const (
	squashfsBlock = 128 << 10 // length before compression
	erofsCluster  = 64 << 10  // largest length after compression
)

// squashfsImage and erofsImage make the image of a file system that contains only the flat file.
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
		return []string{"mkfs.erofs", "--quiet", "-zlz4", "-C" + strconv.Itoa(erofsCluster), `--exclude-regex=^(mag|made|zarr[23].*|.*\.(gz|squashfs|erofs).*)$`, part, dir}
	})
}

// image runs a program that makes an image, unless the image exists.
func image(ctx context.Context, path, flat string, command func(part string) []string) error {
	info, err := os.Stat(flat)
	if err != nil {
		return err
	}
	return createOnce(path, info.Size(), func(part string) error {
		args := command(part)
		return call(ctx, args[0], args[1:]...)
	})
}

// createOnce calls create with a temporary name and renames the file when it is complete. It does nothing if
// the file exists. The file has at most n bytes.
func createOnce(path string, n int64, create func(part string) error) error {
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
