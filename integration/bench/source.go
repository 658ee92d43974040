package main

import (
	"context"
	"os"
	"slices"
	"time"
)

// source is what wkwfs mounts.
type source struct {
	stored []string // files with its voxels
	open   func(context.Context) (opened, error)
}

// opened is a source that can be mounted.
type opened struct {
	path  string
	flags []string // of wkwfs
	close func() error
}

func nothing() error { return nil }

// local returns a source on the disk.
func local(path string, stored ...string) source {
	return source{stored, func(context.Context) (opened, error) { return opened{path, nil, nothing}, nil }}
}

// source returns the mag on the disk.
func (d *dataset) source() source { return local(d.mag, d.stored...) }

// serveLate is the first argument that makes the program a file system that answers late: see package latefs.
const serveLate = "serve-late"

// readsLate is how late the source of a job answers reads.
const readsLate = 5 * time.Millisecond

// late returns the mag through a file system that delays the answer to each read.
func (d *dataset) late(reads time.Duration) source {
	return source{d.stored, func(ctx context.Context) (opened, error) {
		self, err := os.Executable()
		if err != nil {
			return opened{}, err
		}
		m, err := serve(ctx, true, func(dir string) []string {
			return []string{self, serveLate, "-read", reads.String(), d.mag, dir}
		})
		if err != nil {
			return opened{}, err
		}
		return opened{m.dir, nil, m.close}, nil
	}}
}

// lateAndPrompt returns the contenders of a job whose source answers late: also wkwfs with one that does not.
func lateAndPrompt(file string) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		return slices.Insert(b.pair(d.late(readsLate), file), 1, b.wkwfs(d.late(0), file).named(promptName))
	}
}
