package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// source is what wkwfs mounts.
type source struct {
	stored []string // files with its voxels
	open   func(context.Context) (*opened, error)
}

// opened is a source that can be mounted.
type opened struct {
	path  string
	flags []string // of wkwfs
	stop  func() error
}

func (o *opened) close() error {
	if o.stop == nil {
		return nil
	}
	return o.stop()
}

// local returns a file, or a mag with one cube.
func local(path string, stored ...string) source {
	if len(stored) == 0 {
		stored = []string{cubeOf(path)}
	}
	return source{stored, func(context.Context) (*opened, error) { return &opened{path: path}, nil }}
}

// names returns a mag of many cubes that are not read.
func names(path string) source {
	s := local(path)
	s.stored = nil
	return s
}

// serveLate is the first argument that makes the program a file system that answers late: see package latefs.
const serveLate = "serve-late"

// late returns a source through a file system that delays the answer to each read, and to each other request.
func (s source) late(reads, metadata time.Duration) source {
	return source{s.stored, func(ctx context.Context) (*opened, error) {
		o, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		m, err := serve(ctx, true, func(dir string) []string {
			return []string{self, serveLate, "-read", reads.String(), "-metadata", metadata.String(), o.path, dir}
		})
		if err != nil {
			return nil, err
		}
		return &opened{path: m.dir, stop: m.close}, nil
	}}
}

// lateAndPrompt returns wkwfs with a source that answers late, wkwfs with one that does not, and the wkwfs of -before.
func (b *bench) lateAndPrompt(s source, file string, reads, metadata time.Duration) []contender {
	all := b.pair(s.late(reads, metadata), file)
	prompt := b.wkwfs(s.late(0, 0), file)
	prompt.Name = promptName
	return append(all[:1:1], append([]contender{prompt}, all[1:]...)...)
}

// onS3 returns the source from an S3 server that answers late. Nothing of it may be stored elsewhere than below its path.
func (b *bench) onS3(s source, late time.Duration) source {
	return source{s.stored, func(ctx context.Context) (*opened, error) {
		o, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		server, err := b.startS3(ctx, o.path, late)
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		return &opened{path: "s3://" + bucket, flags: []string{"--anonymous", "--endpoint", server.url}, stop: server.close}, nil
	}}
}

// cloudDelay is how late the S3 server of the benchmark answers.
const cloudDelay = 50 * time.Millisecond

// fromS3 returns wkwfs with the mag of a dataset on S3.
func (b *bench) fromS3(d *dataset, file string, flags ...string) contender {
	c := b.wkwfs(b.onS3(local(d.mag), cloudDelay), file, flags...)
	c.Absent = noGateway()
	return c
}

// S3 peers: programs that mount the bucket with the plain file.
const (
	rcloneName = "rclone of a raw object, vfs-cache full"
	s3fsName   = "s3fs of a raw object"
)

// flatOnS3 returns a program that mounts a bucket with the plain file. args returns its arguments.
func (b *bench) flatOnS3(d *dataset, name, program string, args func(url, cache, dir string) []string) contender {
	c := d.plain()
	c.Name, c.Absent = name, missing(program)
	if c.Absent == "" {
		c.Absent = noGateway()
	}
	bucketDir := filepath.Dir(d.flat)
	c.file = filepath.Base(d.flat)
	c.mount = func(ctx context.Context) (*mounted, error) {
		s, err := b.startS3(ctx, bucketDir, cloudDelay)
		if err != nil {
			return nil, err
		}
		m, err := serve(ctx, false, func(dir string) []string {
			clean := []string{"env", "-u", "AWS_CA_BUNDLE", "-u", "NOTIFY_SOCKET", program}
			return append(clean, args(s.url, s.state, dir)...)
		})
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		m.below = s.close
		return m, nil
	}
	return c
}

// rclone returns rclone with the plain file on S3.
func (b *bench) rclone(d *dataset) contender {
	return b.flatOnS3(d, rcloneName, "rclone", func(url, cache, dir string) []string {
		remote := fmt.Sprintf(`:s3,provider=Other,endpoint="%s",force_path_style=true:%s`, url, bucket)
		return []string{"mount", "--config", "", "--read-only", "--vfs-cache-mode", "full", "--cache-dir", cache, remote, dir}
	})
}

// s3fs returns s3fs with the plain file on S3.
func (b *bench) s3fs(d *dataset) contender {
	return b.flatOnS3(d, s3fsName, "s3fs", func(url, _, dir string) []string {
		return []string{bucket, dir, "-f", "-o", "url=" + url + ",use_path_request_style,public_bucket=1,ro"}
	})
}
