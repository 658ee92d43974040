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

// names makes a mag of very many cubes, which are names of few files.
func (b *bench) names(ctx context.Context) (mag, error) {
	m, err := b.sizes.manyCubes().make(ctx, b.dir, b.say)
	if err != nil {
		return m, err
	}
	return m.repeat("names", b.sizes.many, os.Link)
}

// mounting is how long it takes until a mount of 100,000 cubes answers: until the
// command returns.
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

func (b *bench) mountOnce(m mag) (t turn, err error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return t, err
	}
	args := b.mountCommand(b.program, m, dir, b.cache)
	start := time.Now()
	err = finish(args[0], args[1:]...)
	t.values = []float64{time.Since(start).Seconds() * 1000}
	if on, _ := isMountpoint(dir); on { // the server ends by itself then
		err = errors.Join(err, unmount(dir))
	}
	return t, errors.Join(err, os.Remove(dir))
}

// listing is how long it takes to list the directories of 100,000 cubes: each has a file
// and a directory.
func (b *bench) listing() job {
	names := 2 * b.sizes.many[0] * b.sizes.many[1]
	return b.lists("listing 100,000 cubes, ls z0/y*/", figure{"s", []bound{atMost(2, "")}}, func(ctx context.Context, root string) error {
		rows, err := filepath.Glob(filepath.Join(root, "z0", "y*"))
		if err != nil {
			return err
		}
		n, err := ls(ctx, rows...)
		if err == nil && n < names {
			err = fmt.Errorf("ls told %d names, not %d", n, names)
		}
		return err
	})
}

// listingBlocks is the same for all that is below a hundredth of them: their blocks, too.
func (b *bench) listingBlocks() job {
	return b.lists("listing 1,000 cubes and their blocks, ls -R z0/y0", figure{unit: "s"}, func(ctx context.Context, root string) error {
		_, err := ls(ctx, "-R", filepath.Join(root, "z0", "y0"))
		return err
	})
}

// lists is a job that lists something below the mount of very many cubes.
func (b *bench) lists(name string, f figure, list func(ctx context.Context, root string) error) job {
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

// ls lists directories as the program does, and returns how many lines that gave.
func ls(ctx context.Context, args ...string) (int, error) {
	output, err := command(ctx, "ls", args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("ls: %w: %s", err, failed.Stderr)
	}
	return bytes.Count(output, []byte{'\n'}), err
}
