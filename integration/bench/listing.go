package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// names makes a mag of very many cubes. The cubes are links to few files.
func (b *bench) names(ctx context.Context) (mag, error) {
	m, err := b.sizes.manyCubes().make(ctx, b.dir, b.progress)
	if err != nil {
		return m, err
	}
	return m.repeat("names", b.sizes.many, os.Link)
}

// mounting measures the time until a mount of 100,000 cubes answers, which is when the command returns.
func (b *bench) mounting() job {
	return job{
		name:    "mounting 100,000 cubes",
		figures: []figure{{"ms", []bound{atMost(50, "")}}},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.names(ctx)
			return []contender{{name: "wkwfs", turn: func(context.Context) (turn, error) { return b.mountOnce(m) }}}, err
		},
	}
}

// mountOnce mounts and unmounts a mag, and measures the time of mounting.
func (b *bench) mountOnce(m mag) (t turn, err error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return t, err
	}
	args := b.mountCommand(b.program, m, dir, b.cache)
	start := time.Now()
	err = callToEnd(args[0], args[1:]...)
	t.values = []float64{time.Since(start).Seconds() * 1000}
	if on, _ := isMountpoint(dir); on { // after this the server ends
		err = errors.Join(err, unmount(dir))
	}
	return t, errors.Join(err, os.Remove(dir))
}

// listing measures the time to list the directories of 100,000 cubes. Each cube has a file and a directory.
func (b *bench) listing() job {
	return b.listJob("listing 100,000 cubes, ls z0/y*/", figure{"s", []bound{atMost(2, "")}}, b.listNames)
}

// listNames lists the directories of very many cubes in a mount.
func (b *bench) listNames(ctx context.Context, root string) error {
	rows, err := filepath.Glob(filepath.Join(root, "z0", "y*"))
	if err != nil {
		return err
	}
	n, err := ls(ctx, rows...)
	if want := 2 * b.sizes.many[0] * b.sizes.many[1]; err == nil && n < want {
		err = fmt.Errorf("ls printed %d names, expected %d", n, want)
	}
	return err
}

// listingBlocks measures the time to list 1,000 cubes with all of their blocks.
func (b *bench) listingBlocks() job {
	return b.listJob("listing 1,000 cubes and their blocks, ls -R z0/y0", figure{unit: "s"}, func(ctx context.Context, root string) error {
		_, err := ls(ctx, "-R", filepath.Join(root, "z0", "y0"))
		return err
	})
}

// listJob returns a job that lists directories in the mount of very many cubes.
func (b *bench) listJob(name string, f figure, list func(ctx context.Context, root string) error) job {
	return job{
		name:    name,
		figures: []figure{f},
		setup: func(ctx context.Context) ([]contender, error) {
			m, err := b.names(ctx)
			p := b.wkwfs(m, "", b.cache)
			p.stored = nil // no file is read
			return []contender{p.reads(decodedCold, func(ctx context.Context, r reading) (turn, error) {
				start := time.Now()
				err := list(ctx, r.path)
				return turn{values: []float64{time.Since(start).Seconds()}}, err
			})}, err
		},
	}
}

// ls lists directories with the program ls, and returns the number of lines.
func ls(ctx context.Context, args ...string) (int, error) {
	output, err := command(ctx, "ls", args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("ls: %w: %s", err, failed.Stderr)
	}
	return bytes.Count(output, []byte{'\n'}), err
}
