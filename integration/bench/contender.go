package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// contender is one way to do a job: a mount, a plain file, or a program.
type contender struct {
	Name    string                                  `json:"name"`
	Absent  string                                  `json:"absent,omitempty"` // why; empty: it is available
	Turns   []turn                                  `json:"turns"`
	mayLack bool                                    // if it fails before its first turn ends, it is not available
	create  func(context.Context) error             // makes its files, unless they exist; nil: nothing to make
	stored  []string                                // the files with its voxels
	file    string                                  // what is read; below the mount, if there is one
	mount   func(context.Context) (*mounted, error) // nil: it has no mount
	do      work                                    // nil: the work of the job
	budget  int                                     // of the cache in MiB; only of the measured wkwfs
}

// work is what a contender does in a turn. It returns the result.
type work func(ctx context.Context, r reading) (turn, error)

// reading is a file that is ready to be read.
type reading struct {
	path string
	grid volume.Grid // of the voxels in it
}

// turn does a task once. It adds the server's CPU time and memory to the result.
func (c contender) turn(ctx context.Context, j task, d *dataset) (t turn, err error) {
	if c.create != nil {
		if err := c.create(ctx); err != nil {
			return t, err
		}
	}
	if err := cacheFiles(c.stored); err != nil {
		return t, err
	}
	r, do := reading{c.file, d.grid}, j.do
	if c.do != nil {
		do = c.do
	}
	m := &mounted{}
	if c.mount != nil {
		if m, err = c.mount(ctx); err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, m.close()) }()
		r.path = filepath.Join(m.dir, c.file)
	}
	if j.cold {
		if err := dropCaches(); err != nil {
			return t, err
		}
	}
	before, _, err := m.usage()
	if err != nil {
		return t, err
	}
	if t, err = do(ctx, r); err != nil {
		return t, err
	}
	after, peak, err := m.usage()
	t.CPU += after - before
	t.Peak, t.budget = peak, int64(c.budget)<<20
	return t, err
}

// named returns the contender with another name, by also with work of its own.
func (c contender) named(name string) contender {
	c.Name = name
	return c
}

func (c contender) by(name string, do work) contender {
	c.Name, c.do = name, do
	return c
}

// The names of contenders in the table.
const (
	wkwfsName      = "wkwfs"
	beforeName     = "wkwfs before"
	promptName     = "wkwfs, not late"
	ddName         = "wkwfs, dd"
	itselfName     = "wkwfs, Q itself"
	nearName       = "wkwfs, a directory" // beside one on S3
	zarrName       = "zarr-python"
	h5pyName       = "h5py, both cores"
	tifffileName   = "tifffile"
	asWKWName      = "wkwfs, the same as WKW"
	plainName      = "plain file"
	oneThread      = "decoding in one thread" // into flat memory that is resident
	squashfuseName = "squashfuse_ll"
	squashfsName   = "squashfs-lz4 128 KiB, kernel"
	erofsName      = "EROFS-lz4 64 KiB, kernel"
)

// wkwfs returns a file or directory in a mount of the measured wkwfs, with flags.
func (b *bench) wkwfs(s source, file string, flags ...string) contender {
	c := contender{Name: wkwfsName, stored: s.stored, file: file, budget: b.cache}
	c.mount = func(ctx context.Context) (*mounted, error) {
		o, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		m, err := serve(ctx, true, func(dir string) []string {
			return b.mountCommand(o, dir, append(slices.Clone(flags), "--foreground")...)
		})
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		m.below = o.close
		return m, nil
	}
	return c
}

// mountCommand returns the command that mounts a source on a directory. The log is written to the directory of the
// data.
func (b *bench) mountCommand(o opened, dir string, flags ...string) []string {
	args := []string{b.program, "mount", "--cache-size", fmt.Sprintf("%dMiB", b.cache), "--log-file",
		b.dir + "/wkwfs.log"}
	return slices.Concat(args, o.flags, flags, []string{o.path, dir})
}

// pair returns the measured wkwfs, and with -before that one.
func (b *bench) pair(s source, file string) []contender {
	all := []contender{b.wkwfs(s, file)}
	if b.before != "" {
		older := &bench{dir: b.dir, program: b.before, cache: b.cache}
		before := older.wkwfs(s, file).named(beforeName)
		before.mayLack, before.budget = true, 0
		all = append(all, before)
	}
	return all
}

// plain returns the plain file.
func (d *dataset) plain() contender {
	return contender{Name: plainName, file: d.flat, stored: []string{d.flat}}
}

// fileSystems returns wkwfs and other file systems that decompress the same plain file.
func fileSystems(b *bench, d *dataset) []contender {
	return append(b.pair(d.source(), cubeFile), otherFileSystems(d.flat)...)
}

// otherFileSystems returns EROFS and squashfs. Their settings are those that their documentation has for data that is
// read often.
func otherFileSystems(flat string) []contender {
	squashfs := image(flat, squashfsName, "mksquashfs", flat, "PART", "-comp", "lz4", "-b", "131072", "-noappend",
		"-quiet",
		"-no-progress")
	erofs := image(flat, erofsName, "mkfs.erofs", "--quiet", "-zlz4", "-C65536", "PART", filepath.Dir(flat))
	byUser := squashfs.named(squashfuseName)
	byUser.mount = func(ctx context.Context) (*mounted, error) {
		program := []string{"squashfuse_ll", "-f", squashfs.stored[0]}
		return serve(ctx, false, func(dir string) []string { return append(program, dir) })
	}
	return []contender{erofs.byKernel("erofs"), squashfs.byKernel("squashfs"), byUser}
}

// image returns a file system image with the plain file, which a program writes to the argument PART.
func image(flat, name, program string, args ...string) contender {
	path := filepath.Join(filepath.Dir(filepath.Dir(flat)), program)
	create := func(ctx context.Context) error {
		return createOnce(path, func(part string) error {
			args := slices.Clone(args)
			args[slices.Index(args, "PART")] = part
			return call(ctx, append([]string{program}, args...)...)
		})
	}
	return contender{Name: name, mayLack: true, Absent: missing(program), create: create,
		stored: []string{path}, file: filepath.Base(flat)}
}

// byKernel returns the image as the kernel mounts it.
func (c contender) byKernel(kind string) contender {
	c.mount = func(context.Context) (*mounted, error) { return kernelMount(kind, c.stored[0]) }
	return c
}
